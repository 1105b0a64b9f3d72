//! Answers the requests of the protocol. Blocking work runs on threads of its
//! own, and a cancelled request interrupts it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use kodiak::{Cancel, Event};
use rmcp::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CompleteRequestParams, CompleteResult,
    CompletionInfo, ContentBlock, ErrorData, GetPromptRequestParams, GetPromptResponse,
    GetPromptResult, Implementation, InitializeRequestParams, InitializeResult, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ProgressNotificationParam, ProgressToken, Prompt, PromptArgument, PromptMessage,
    ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, Resource,
    ResourceContents, ResourceTemplate, Role, ServerCapabilities, ServerConfig,
    SubscribeRequestParams, SubscriptionFilter, Tool as ProtocolTool, ToolAnnotations,
    UnsubscribeRequestParams,
};
use rmcp::service::{Peer, RequestContext, RoleServer, SubscriptionContext};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::activity::Activity;
use super::hearing::{self, Hearing};
use crate::failure::Refusal;
use crate::news::Listener;
use crate::prompt;
use crate::resource::{DOCUMENTS, MOST_VALUES, SEARCHES};
use crate::server::{Caller, Server};
use crate::tool::{Effect, Tool, ToolAnswer};

/// How often work is interrupted until it ends: a statement may begin just after
/// an interrupt.
const AGAIN: Duration = Duration::from_millis(20);
/// How often progress is told at most.
const PROGRESS: Duration = Duration::from_millis(250);

/// The steps that wait to be told.
const MOST_STEPS: usize = 16;

/// Answers the requests of clients.
#[derive(Clone, Debug)]
pub struct Handler {
    server: Server,
    activity: Activity,
    hearing: Hearing,
}

impl Handler {
    /// Makes a handler of a server.
    pub fn new(server: Server, activity: Activity) -> Self {
        Self {
            server,
            activity,
            hearing: Hearing::default(),
        }
    }

    /// Returns the server that is called.
    pub(super) fn server(&self) -> &Server {
        &self.server
    }

    /// Returns the listener of the client that sent a request.
    pub(super) fn listener(
        &self,
        context: &RequestContext<RoleServer>,
    ) -> Result<Arc<Listener>, ErrorData> {
        self.hearing.listener(&self.server, context)
    }

    /// Returns who sent a request.
    pub(super) fn caller(&self, context: &RequestContext<RoleServer>) -> Caller {
        super::http::caller(&context.extensions).unwrap_or_else(|| self.server.caller())
    }

    /// Runs blocking work that ends when the request is cancelled.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        context: &RequestContext<RoleServer>,
        work: impl FnOnce(&Server, &Cancel) -> T + Send + 'static,
    ) -> Result<T, ErrorData> {
        let _at_work = self.activity.call();
        let cancel = Cancel::new();
        let (server, heard) = (self.server.clone(), cancel.clone());
        let mut working = tokio::task::spawn_blocking(move || work(&server, &heard));
        let ended = tokio::select! {
            ended = &mut working => ended,
            () = context.ct.cancelled() => loop {
                cancel.cancel();
                tokio::select! {
                    ended = &mut working => break ended,
                    () = tokio::time::sleep(AGAIN) => {}
                }
            },
        };
        ended.map_err(|error| {
            (self.server.options().log)(&format!("a request failed: {error}"));
            ErrorData::internal_error("the request failed; try another one", None)
        })
    }
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_completions()
            .enable_prompts()
            .enable_resources()
            .enable_resources_list_changed()
            .enable_resources_subscribe()
            .enable_tools()
            .build();
        let implementation =
            Implementation::new("kodiak", env!("CARGO_PKG_VERSION")).with_title("Kodiak");
        ServerConfig::new(capabilities)
            .with_server_info(implementation)
            .with_instructions(self.server.instructions())
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        context.peer.set_peer_info(request.clone());
        let mut begun = self.negotiate_initialize(&request)?;
        // Only clients that begin like this set a level.
        begun.capabilities.logging = Some(serde_json::Map::new());
        super::http::open_session(&context.extensions, self.caller(&context));
        Ok(begun)
    }

    async fn set_level(
        &self,
        request: hearing::LevelRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.hear_messages(&request, &context)
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.hear_of(request.uri, &context).await
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.hear_no_more_of(&request.uri, &context)
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        Some(hearing::accepted(requested))
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        self.hear_all(&context).await
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let caller = self.caller(&context);
        let tools = self.server.tools(&caller);
        let described = tools.into_iter().map(described).collect();
        Ok(ListToolsResult::with_all_items(described))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let caller = self.caller(&context);
        let (progress, telling) = Progress::of(&context);
        let name = request.name.clone().into_owned();
        let arguments = request.arguments.unwrap_or_default();
        let answered = self
            .run(&context, move |server, cancel| {
                let listener = |event: Event<'_>| progress.hear(event);
                server.call(&caller, &name, arguments, cancel, &listener)
            })
            .await?;
        // Nothing is told of a request that is answered.
        if let Some(telling) = telling {
            let _ = telling.await;
        }
        match answered {
            Some(answer) => Ok(result(answer).into()),
            None => Err(ErrorData::invalid_params(
                format!(
                    "there is no tool '{:.80}'; tools/list lists them",
                    request.name
                ),
                None,
            )),
        }
    }

    async fn list_resources(
        &self,
        _request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let caller = self.caller(&context);
        // Whoever has the list hears when there is another one, if it can.
        let earlier = !hearing::is_later(&context);
        let listener = earlier.then(|| self.listener(&context).ok()).flatten();
        let listed = self
            .run(&context, move |server, cancel| {
                if let Some(listener) = listener
                    && let Ok(state) = server.list_state(listener.caller())
                {
                    listener.add_list(state);
                    server.watch();
                }
                server.resources(&caller, cancel)
            })
            .await?
            .map_err(|refusal| failed(&refusal))?;
        let resources = listed.into_iter().map(|one| {
            Resource::new(one.uri, one.name)
                .with_title(one.title)
                .with_mime_type(MARKDOWN)
        });
        Ok(ListResourcesResult::with_all_items(resources.collect()))
    }

    async fn list_resource_templates(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let templates = vec![
            ResourceTemplate::new(DOCUMENTS, "document")
                .with_description("A document by its source and key")
                .with_mime_type(MARKDOWN),
            ResourceTemplate::new(SEARCHES, "search")
                .with_description("The best hits of a search")
                .with_mime_type("text/plain"),
        ];
        Ok(ListResourceTemplatesResult::with_all_items(templates))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let caller = self.caller(&context);
        let address = request.uri.clone();
        let read = self
            .run(&context, move |server, cancel| {
                server.resource(&caller, &address, cancel)
            })
            .await?;
        match read {
            Ok(reading) => {
                let text = ResourceContents::text(reading.text, &request.uri);
                let mut contents = vec![text.with_mime_type(MARKDOWN)];
                if let Some(remark) = reading.remark {
                    let remark = ResourceContents::text(remark, &request.uri);
                    contents.push(remark.with_mime_type("text/plain"));
                }
                Ok(ReadResourceResult::new(contents).into())
            }
            Err(refusal) => {
                let data = serde_json::json!({"uri": request.uri});
                Err(ErrorData::resource_not_found(refusal.text(), Some(data)))
            }
        }
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        if request.r#ref.as_resource_uri() != Some(DOCUMENTS) {
            return Ok(CompleteResult::default());
        }
        let caller = self.caller(&context);
        let argument = request.argument;
        let source = request
            .context
            .and_then(|context| context.get_argument("source").cloned());
        let values = self
            .run(&context, move |server, cancel| {
                let source = source.as_deref();
                server.complete(&caller, &argument.name, &argument.value, source, cancel)
            })
            .await?
            .map_err(|refusal| failed(&refusal))?;
        let more = values.len() >= MOST_VALUES;
        let completion = CompletionInfo::with_pagination(values, None, more)
            .map_err(|error| ErrorData::internal_error(error, None))?;
        Ok(CompleteResult::new(completion))
    }

    async fn list_prompts(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let topic = PromptArgument::new(prompt::TOPIC)
            .with_description(prompt::TOPIC_DESCRIPTION)
            .with_required(true);
        let prompt = Prompt::new(prompt::NAME, Some(prompt::DESCRIPTION), Some(vec![topic]));
        Ok(ListPromptsResult::with_all_items(vec![prompt]))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        if request.name != prompt::NAME {
            return Err(ErrorData::invalid_params(
                format!("there is no prompt '{}'", request.name),
                None,
            ));
        }
        let arguments = request.arguments.unwrap_or_default();
        let topic = arguments.get(prompt::TOPIC).and_then(|one| one.as_str());
        let text = prompt::text(topic.unwrap_or_default());
        let message = PromptMessage::new_text(Role::User, text);
        let result = GetPromptResult::new(vec![message]).with_description(prompt::DESCRIPTION);
        Ok(result.into())
    }
}

/// The type of the text of documents.
const MARKDOWN: &str = "text/markdown";

fn failed(refusal: &Refusal) -> ErrorData {
    ErrorData::internal_error(refusal.text(), None)
}

fn described(tool: &'static Tool) -> ProtocolTool {
    let annotations = ToolAnnotations::new()
        .read_only(tool.effect == Effect::Reads)
        .open_world(false);
    let annotations = match tool.effect {
        Effect::Reads => annotations,
        Effect::Adds | Effect::Remembers | Effect::Creates => annotations.destructive(false),
        Effect::Changes => annotations.destructive(true),
    };
    let described = ProtocolTool::new(tool.name, tool.description, Arc::new(tool.input_schema()));
    let described = described.with_annotations(annotations);
    match tool.output_schema() {
        Some(schema) => described.with_raw_output_schema(Arc::new(schema)),
        None => described,
    }
}

fn result(answer: ToolAnswer) -> CallToolResult {
    let content = vec![ContentBlock::text(answer.text)];
    if answer.failed {
        return CallToolResult::error(content);
    }
    let mut result = CallToolResult::success(content);
    result.structured_content = answer.structured;
    result
}

/// A step of long work: how much is done, and in words.
type Step = (u64, String);

/// Tells a client how far long work is, if it asked for that.
struct Progress {
    sender: Option<mpsc::Sender<Step>>,
}

impl Progress {
    /// Returns what hears of the work, and the task that tells the client. The task
    /// ends with the work.
    fn of(context: &RequestContext<RoleServer>) -> (Self, Option<JoinHandle<()>>) {
        let Some(token) = context.meta.get_progress_token() else {
            return (Self { sender: None }, None);
        };
        let (sender, receiver) = mpsc::channel(MOST_STEPS);
        let telling = tokio::spawn(tell(context.peer.clone(), token, receiver));
        let sender = Some(sender);
        (Self { sender }, Some(telling))
    }

    fn hear(&self, event: Event<'_>) {
        let Some(sender) = &self.sender else {
            return;
        };
        let step = match event {
            Event::Waiting { .. } => (0, "waiting for another process".to_owned()),
            Event::Listing { .. } => (0, "looking for changes".to_owned()),
            Event::Indexed { entries, .. } => (entries as u64, "indexing".to_owned()),
            Event::Embedded { chunks, .. } => (chunks as u64, "embedding".to_owned()),
            _ => return,
        };
        // A client that is gone or slow misses it.
        let _ = sender.try_send(step);
    }
}

/// Sends the steps of long work, not too many of them.
async fn tell(peer: Peer<RoleServer>, token: ProgressToken, mut steps: mpsc::Receiver<Step>) {
    let mut sent: f64 = 0.0;
    let mut last: Option<Instant> = None;
    while let Some((done, message)) = steps.recv().await {
        if last.is_some_and(|last| last.elapsed() < PROGRESS) {
            continue;
        }
        last = Some(Instant::now());
        // Progress must grow with every message.
        sent = (done as f64).max(sent + 1.0);
        let told = ProgressNotificationParam::new(token.clone(), sent).with_message(message);
        if peer.notify_progress(told).await.is_err() {
            return;
        }
    }
}
