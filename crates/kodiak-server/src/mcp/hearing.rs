//! Delivers events to clients, in the form that each era of the protocol and each
//! transport expects.
//!
//! With a handshake, a client says what it wants to hear of with requests of their
//! own. Over streams it is told beside the answers, over HTTP through the streams
//! of its session. In the later era, one long request is both.

use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::call::Wish;
use super::handler::{Answered, Context, Handler, server_info};
use super::jsonrpc::{Id, RpcError, notification};
use crate::failure::Refusal;
use crate::news::{Item, Level, Listener};

const UPDATED: &str = "notifications/resources/updated";
const LIST_CHANGED: &str = "notifications/resources/list_changed";
const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

/// Who listens for a client of the era with a handshake.
#[derive(Clone, Debug)]
pub(super) enum Hearing {
    /// The listener of a session over HTTP, if the request is of one.
    Session(Option<Arc<Listener>>),
    /// The listener of a client over a pair of streams, once it has asked for something.
    Only(Arc<Mutex<Option<Arc<Listener>>>>),
}

/// Tells a client over a pair of streams what it hears, until one of them goes
/// away.
async fn forward(mut items: mpsc::Receiver<Item>, outlet: mpsc::Sender<Value>) {
    while let Some(item) = items.recv().await {
        if outlet.send(message(&item)).await.is_err() {
            return;
        }
    }
}

/// Returns a request that was refused as an error of the protocol.
fn refused(refusal: &Refusal) -> RpcError {
    RpcError::invalid_params(refusal.text())
}

impl Handler {
    /// Returns the listener of the client that sent a request.
    pub(super) fn listener(&self, context: &Context) -> Result<Arc<Listener>, RpcError> {
        let only = match &context.hearing {
            Hearing::Session(listener) => {
                return listener.clone().ok_or_else(|| {
                    let message = "this needs a session: send the header Mcp-Session-Id that the \
                                   answer to initialize had";
                    RpcError::invalid_request(message)
                });
            }
            Hearing::Only(only) => only,
        };
        let mut only = only.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(listener) = &*only {
            return Ok(Arc::clone(listener));
        }
        let joined = self.server().news().join(self.server().caller());
        let listener = joined.map_err(|refusal| refused(&refusal))?;
        tokio::spawn(forward(listener.open(), context.outlet.clone()));
        *only = Some(Arc::clone(&listener));
        Ok(listener)
    }

    /// Adds a document that a client hears of.
    pub(super) async fn subscribe(&self, address: String, context: &Context) -> Answered {
        let listener = self.listener(context)?;
        self.run(
            context,
            Box::new(move |server, _| {
                // What cannot be read now is told of when it can.
                let state = server.state(listener.caller(), &address);
                let added = listener.add(&address, state.unwrap_or_default());
                server.watch();
                added.map_err(|refusal| refused(&refusal))?;
                Ok(json!({}))
            }),
        )
        .await
    }

    /// Tells a client of the later era what it asked for, until it ends that or
    /// the server ends.
    pub(super) async fn listen(&self, id: &Id, wish: Wish, context: &Context) -> Answered {
        let subscription = json!({SUBSCRIPTION: Value::from(id)});
        let taken = json!({"_meta": subscription, "notifications": accepted(&wish)});
        let taken = notification("notifications/subscriptions/acknowledged", Some(taken));
        let _ = context.outlet.send(taken).await;
        let place = self.server().news().streams().take(&context.caller);
        let mut place = place.map_err(|refusal| refused(&refusal))?;
        let joined = self.server().news().join(context.caller.clone());
        // Held until the end, because a listener that is dropped hears nothing.
        let listener = joined.map_err(|refusal| refused(&refusal))?;
        let mut items = listener.open();
        // The client may change something as soon as its wish is taken, and that
        // was a moment ago.
        let begun = kodiak::date::now().saturating_sub(1);
        let told = Arc::clone(&listener);
        self.run(
            context,
            Box::new(move |server, _| {
                for address in &wish.addresses {
                    let state = server.state_before(told.caller(), address, begun);
                    // The wish was bounded when it was read.
                    let _ = told.add(address, state.unwrap_or_default());
                }
                if wish.list
                    && let Ok(state) = server.list_state(told.caller())
                {
                    told.add_list(state);
                }
                server.watch();
                Ok(Value::Null)
            }),
        )
        .await?;
        loop {
            let item = tokio::select! {
                item = items.recv() => item,
                () = context.cancelled() => None,
                () = place.ended() => None,
            };
            let told = match item {
                Some(Item::Updated(address)) => {
                    let params = json!({"_meta": subscription, "uri": address});
                    notification(UPDATED, Some(params))
                }
                Some(Item::Listed) => {
                    notification(LIST_CHANGED, Some(json!({"_meta": subscription})))
                }
                Some(Item::Message { .. }) => continue,
                None => break,
            };
            if context.outlet.send(told).await.is_err() {
                break;
            }
        }
        let mut meta = subscription;
        meta["io.modelcontextprotocol/serverInfo"] = server_info();
        Ok(json!({"resultType": "complete", "_meta": meta}))
    }
}

/// Returns the wish that is fulfilled, in the words of the protocol.
fn accepted(wish: &Wish) -> Value {
    let mut accepted = json!({});
    if wish.list {
        accepted["resourcesListChanged"] = true.into();
    }
    if !wish.addresses.is_empty() {
        accepted["resourceSubscriptions"] = json!(wish.addresses);
    }
    accepted
}

/// Returns the message that tells of an item.
pub(super) fn message(item: &Item) -> Value {
    match item {
        Item::Message { level, text } => {
            let level = match level {
                Level::Debug => "debug",
                Level::Info => "info",
                Level::Notice => "notice",
                Level::Warning => "warning",
                Level::Error => "error",
                Level::Silence => "emergency",
            };
            let params = json!({"level": level, "logger": "kodiak", "data": text});
            notification("notifications/message", Some(params))
        }
        Item::Updated(address) => notification(UPDATED, Some(json!({"uri": address}))),
        Item::Listed => notification(LIST_CHANGED, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_messages_of_the_protocol() {
        assert_eq!(
            message(&Item::Message {
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
            message(&Item::Updated(address.into())),
            json!({
                "jsonrpc": "2.0",
                "method": "notifications/resources/updated",
                "params": {"uri": address},
            })
        );
        assert_eq!(
            message(&Item::Listed)["method"],
            "notifications/resources/list_changed"
        );
    }
}
