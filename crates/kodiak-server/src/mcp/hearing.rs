//! How clients hear what happens: in the words of the protocol, by the way of each
//! era and transport.
//!
//! With a handshake, a client says what it wants to hear of with requests of their
//! own. Over streams it is told beside the answers, over HTTP through the streams
//! of its session. In the later era, one long request is both.

// Logging is of the era with a handshake, which is deprecated as a whole.
#![expect(deprecated, reason = "clients of the earlier era use it")]

use std::sync::{Arc, Mutex, PoisonError};

use rmcp::model::{
    ErrorData, LoggingLevel, LoggingMessageNotification, LoggingMessageNotificationParam,
    ProtocolVersion, ResourceListChangedNotification, ResourceUpdatedNotification,
    ResourceUpdatedNotificationParam, ServerJsonRpcMessage, ServerNotification,
    SetLevelRequestMethod, SetLevelRequestParams, SubscriptionFilter,
};
use rmcp::service::{Peer, RequestContext, RoleServer, SubscriptionContext};

use super::handler::Handler;
use crate::failure::Refusal;
use crate::news::{Item, Level, Listener, MOST_ADDRESSES};
use crate::server::Server;

/// The request that sets a level.
pub(super) type LevelRequest = SetLevelRequestParams;

/// Reports whether a request is of the later era, in which a client is told only what
/// it listens for.
pub(super) fn is_later(context: &RequestContext<RoleServer>) -> bool {
    let later =
        |version: ProtocolVersion| version.as_str() >= ProtocolVersion::V_2026_07_28.as_str();
    context.protocol_version().is_some_and(later)
}

/// The listener of a client over a pair of streams, once it has asked for
/// something.
#[derive(Clone, Debug, Default)]
pub(super) struct Hearing {
    only: Arc<Mutex<Option<Arc<Listener>>>>,
}

impl Hearing {
    /// Returns the listener of the client that sent a request.
    pub(super) fn listener(
        &self,
        server: &Server,
        context: &RequestContext<RoleServer>,
    ) -> Result<Arc<Listener>, ErrorData> {
        if let Some(parts) = context.extensions.get::<axum::http::request::Parts>() {
            let found = parts.extensions.get::<Arc<Listener>>().cloned();
            return found.ok_or_else(|| {
                let message = "this needs a session: send the header Mcp-Session-Id that the \
                               answer to initialize had";
                ErrorData::invalid_request(message, None)
            });
        }
        let mut only = self.only.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(listener) = &*only {
            return Ok(Arc::clone(listener));
        }
        let joined = server.news().join(server.caller());
        let listener = joined.map_err(|refusal| refused(&refusal))?;
        let items = listener.open();
        tokio::spawn(forward(items, context.peer.clone()));
        *only = Some(Arc::clone(&listener));
        Ok(listener)
    }
}

/// Tells a client over a pair of streams what it hears, until one of them goes
/// away.
async fn forward(mut items: tokio::sync::mpsc::Receiver<Item>, peer: Peer<RoleServer>) {
    while let Some(item) = items.recv().await {
        if peer.send_notification(notification(&item)).await.is_err() {
            return;
        }
    }
}

/// Returns a request that was refused as an error of the protocol.
fn refused(refusal: &Refusal) -> ErrorData {
    ErrorData::invalid_params(refusal.text(), None)
}

impl Handler {
    /// Sets how serious a message has to be for a client to hear it.
    pub(super) fn hear_messages(
        &self,
        request: &LevelRequest,
        context: &RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        if is_later(context) {
            return Err(ErrorData::method_not_found::<SetLevelRequestMethod>());
        }
        let listener = self.listener(context)?;
        listener.set_level(match request.level {
            LoggingLevel::Debug => Level::Debug,
            LoggingLevel::Info => Level::Info,
            LoggingLevel::Notice => Level::Notice,
            LoggingLevel::Warning => Level::Warning,
            LoggingLevel::Error => Level::Error,
            LoggingLevel::Critical | LoggingLevel::Alert | LoggingLevel::Emergency => {
                Level::Silence
            }
        });
        Ok(())
    }

    /// Adds a document that a client hears of.
    pub(super) async fn hear_of(
        &self,
        address: String,
        context: &RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let listener = self.listener(context)?;
        let added = self
            .run(context, move |server, _| {
                // What cannot be read now is told of when it can.
                let state = server.state(listener.caller(), &address);
                let added = listener.add(&address, state.unwrap_or_default());
                server.watch();
                added
            })
            .await?;
        added.map_err(|refusal| refused(&refusal))
    }

    /// Removes a document that a client hears of.
    pub(super) fn hear_no_more_of(
        &self,
        address: &str,
        context: &RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.listener(context)?.remove(address);
        Ok(())
    }

    /// Tells a client of the later era what it asked for, until it ends that or
    /// the server ends.
    pub(super) async fn hear_all(&self, context: &SubscriptionContext) -> Result<(), ErrorData> {
        let request = context.request_context();
        let place = self.server().news().stream();
        let _place = place.map_err(|refusal| refused(&refusal))?;
        let joined = self.server().news().join(self.caller(request));
        let listener = joined.map_err(|refusal| refused(&refusal))?;
        let mut items = listener.open();
        let filter = context.accepted().clone();
        // The client may change something as soon as its wish is taken, and that
        // was a moment ago.
        let begun = kodiak::date::now().saturating_sub(1);
        self.run(request, move |server, _| {
            for address in filter.resource_subscriptions.iter().flatten() {
                let state = server.state_before(listener.caller(), address, begun);
                // The filter was bounded when it was accepted.
                let _ = listener.add(address, state.unwrap_or_default());
            }
            if filter.resources_list_changed == Some(true)
                && let Ok(state) = server.list_state(listener.caller())
            {
                listener.add_list(state);
            }
            server.watch();
            listener
        })
        .await
        .map(|listener| async move {
            // Held until the end: whoever lets go of it no longer listens.
            let _listener = listener;
            loop {
                let item = tokio::select! {
                    item = items.recv() => item,
                    () = context.cancelled() => None,
                };
                let sink = context.sink();
                let told = match item {
                    Some(Item::Updated(address)) => sink.notify_resource_updated(address).await,
                    Some(Item::Listed) => sink.notify_resource_list_changed().await,
                    Some(Item::Message { .. }) => Ok(()),
                    None => return Ok(()),
                };
                if told.is_err() {
                    return Ok(());
                }
            }
        })?
        .await
    }
}

/// Returns what of a wish of the later era is fulfilled: documents, and the list of
/// them. Tools and prompts never change.
pub(super) fn accepted(requested: &SubscriptionFilter) -> SubscriptionFilter {
    let mut accepted = SubscriptionFilter::new();
    accepted.resources_list_changed = requested.resources_list_changed;
    let addresses = requested.resource_subscriptions.as_ref();
    accepted.resource_subscriptions =
        addresses.map(|addresses| addresses.iter().take(MOST_ADDRESSES).cloned().collect());
    accepted
}

/// Words an item.
fn notification(item: &Item) -> ServerNotification {
    match item {
        Item::Message { level, text } => {
            let level = match level {
                Level::Debug => LoggingLevel::Debug,
                Level::Info => LoggingLevel::Info,
                Level::Notice => LoggingLevel::Notice,
                Level::Warning => LoggingLevel::Warning,
                Level::Error => LoggingLevel::Error,
                Level::Silence => LoggingLevel::Emergency,
            };
            let message = LoggingMessageNotificationParam::new(level, text.as_str().into());
            ServerNotification::LoggingMessageNotification(LoggingMessageNotification::new(
                message.with_logger("kodiak"),
            ))
        }
        Item::Updated(address) => ServerNotification::ResourceUpdatedNotification(
            ResourceUpdatedNotification::new(ResourceUpdatedNotificationParam::new(address)),
        ),
        Item::Listed => ServerNotification::ResourceListChangedNotification(
            ResourceListChangedNotification::default(),
        ),
    }
}

/// Returns the message that tells of an item, as JSON on one line.
pub(super) fn message(item: &Item) -> Option<String> {
    let message = ServerJsonRpcMessage::notification(notification(item));
    serde_json::to_string(&message).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn items_are_messages_of_the_protocol() {
        let told = |item| -> Value { serde_json::from_str(&message(&item).unwrap()).unwrap() };
        assert_eq!(
            told(Item::Message {
                level: Level::Warning,
                text: "two\nlines".into()
            }),
            json!({
                "jsonrpc": "2.0",
                "method": "notifications/message",
                "params": {"level": "warning", "logger": "kodiak", "data": "two\nlines"},
            })
        );
        let address = "kodiak://notes/a.md";
        assert_eq!(
            told(Item::Updated(address.into())),
            json!({
                "jsonrpc": "2.0",
                "method": "notifications/resources/updated",
                "params": {"uri": address},
            })
        );
        assert_eq!(
            told(Item::Listed)["method"],
            "notifications/resources/list_changed"
        );
    }
}
