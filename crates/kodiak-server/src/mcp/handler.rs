//! Answers the requests of the protocol. Blocking work runs on threads of its
//! own, and a cancelled request interrupts it.

use std::time::Duration;

use kodiak::{Cancel, Event};
use serde_json::{Map, Value, json};
use tokio::sync::{mpsc, watch};

use super::activity::Activity;
use super::call::{Call, Completion, Request};
use super::hearing::Hearing;
use super::jsonrpc::{Id, RpcError};
use super::progress::Progress;
use super::revision::{self, RESOURCE_NOT_FOUND, Rules};
use crate::failure::Refusal;
use crate::prompt;
use crate::resource::{DOCUMENTS, MOST_VALUES, SEARCHES};
use crate::server::{Caller, Server};
use crate::tool::{Effect, Tool, ToolAnswer};

/// How often work is interrupted until it ends: a statement may begin just after
/// an interrupt.
const AGAIN: Duration = Duration::from_millis(20);

/// The type of the text of documents.
const MARKDOWN: &str = "text/markdown";

/// The result of a request.
pub(super) type Answered = Result<Value, RpcError>;

/// What is done on a thread of its own.
type Work = Box<dyn FnOnce(&Server, &Cancel) -> Answered + Send>;

/// Answers the requests of clients.
#[derive(Clone, Debug)]
pub(super) struct Handler {
    server: Server,
    activity: Activity,
}

/// What a request is answered with.
#[derive(Debug)]
pub(super) struct Context {
    pub(super) caller: Caller,
    pub(super) rules: Rules,
    pub(super) hearing: Hearing,
    /// Where messages to the client go.
    pub(super) outlet: mpsc::Sender<Value>,
    /// Ends when the request is cancelled.
    pub(super) cancelled: watch::Receiver<()>,
}

impl Context {
    /// Waits until the request is cancelled.
    pub(super) async fn cancelled(&self) {
        let mut cancelled = self.cancelled.clone();
        while cancelled.changed().await.is_ok() {}
    }
}

impl Handler {
    /// Makes a handler of a server.
    pub(super) fn new(server: Server, activity: Activity) -> Self {
        Self { server, activity }
    }

    /// Returns the server that is called.
    pub(super) fn server(&self) -> &Server {
        &self.server
    }

    /// Answers a request.
    pub(super) async fn answer(&self, request: Request, context: &Context) -> Answered {
        let rules = context.rules;
        if !rules.allow(&request.call) {
            return Err(RpcError::no_method(&request.method));
        }
        let form = request.call.form();
        let answered = self.dispatch(request, context).await;
        answered
            .map(|result| rules.result(form, result))
            .map_err(|error| rules.error(error))
    }

    async fn dispatch(&self, request: Request, context: &Context) -> Answered {
        match request.call {
            Call::Initialize { version } => Ok(self.initialize(&version)),
            Call::Discover => Ok(self.discover()),
            Call::ListTools => {
                let tools = self.server.tools(&context.caller);
                Ok(json!({"tools": tools.into_iter().map(described).collect::<Vec<_>>()}))
            }
            Call::Tool { name, arguments } => {
                let token = request.meta.progress_token();
                self.call_tool(name, arguments, token, context).await
            }
            Call::ListResources => self.list_resources(context).await,
            Call::ListTemplates => Ok(json!({"resourceTemplates": [
                {
                    "uriTemplate": DOCUMENTS,
                    "name": "document",
                    "description": "A document by its source and key",
                    "mimeType": MARKDOWN,
                },
                {
                    "uriTemplate": SEARCHES,
                    "name": "search",
                    "description": "The best hits of a search",
                    "mimeType": "text/plain",
                },
            ]})),
            Call::ReadResource { uri } => self.read_resource(uri, context).await,
            Call::ListPrompts => Ok(json!({"prompts": [{
                "name": prompt::NAME,
                "description": prompt::DESCRIPTION,
                "arguments": [{
                    "name": prompt::TOPIC,
                    "description": prompt::TOPIC_DESCRIPTION,
                    "required": true,
                }],
            }]})),
            Call::GetPrompt { name, arguments } => get_prompt(&name, &arguments),
            Call::Complete(completion) => self.complete(completion, context).await,
            Call::SetLevel(level) => {
                self.listener(context)?.set_level(level);
                Ok(json!({}))
            }
            Call::Subscribe { uri } => self.subscribe(uri, context).await,
            Call::Unsubscribe { uri } => {
                self.listener(context)?.remove(&uri);
                Ok(json!({}))
            }
            Call::Listen(wish) => self.listen(&request.id, wish, context).await,
            Call::Ping => Ok(json!({})),
            Call::Unknown => Err(RpcError::no_method(&request.method)),
        }
    }

    /// Runs blocking work that ends when the request is cancelled.
    pub(super) async fn run(&self, context: &Context, work: Work) -> Answered {
        let _at_work = self.activity.call();
        let cancel = Cancel::new();
        let (server, heard) = (self.server.clone(), cancel.clone());
        let mut working = tokio::task::spawn_blocking(move || work(&server, &heard));
        let ended = tokio::select! {
            ended = &mut working => ended,
            () = context.cancelled() => loop {
                cancel.cancel();
                tokio::select! {
                    ended = &mut working => break ended,
                    () = tokio::time::sleep(AGAIN) => {}
                }
            },
        };
        ended.unwrap_or_else(|error| {
            (self.server.options().log)(&format!("a request failed: {error}"));
            Err(RpcError::internal("the request failed; try another one"))
        })
    }

    fn initialize(&self, version: &str) -> Value {
        let mut capabilities = capabilities();
        // Only clients that begin like this set a level.
        capabilities["logging"] = json!({});
        json!({
            "protocolVersion": revision::negotiated(version),
            "capabilities": capabilities,
            "serverInfo": server_info(),
            "instructions": self.server.instructions(),
        })
    }

    fn discover(&self) -> Value {
        json!({
            "resultType": "complete",
            "supportedVersions": revision::KNOWN,
            "capabilities": capabilities(),
            "instructions": self.server.instructions(),
            "ttlMs": 0,
            "cacheScope": "private",
            "_meta": {"io.modelcontextprotocol/serverInfo": server_info()},
        })
    }

    async fn call_tool(
        &self,
        name: String,
        arguments: Map<String, Value>,
        token: Option<Id>,
        context: &Context,
    ) -> Answered {
        let caller = context.caller.clone();
        let (progress, telling) = Progress::of(token, &context.outlet);
        let work: Work = Box::new(move |server, cancel| {
            let listener = |event: Event<'_>| progress.hear(event);
            let answer = server.call(&caller, &name, arguments, cancel, &listener);
            answer.map(result).ok_or_else(|| {
                let message = format!("there is no tool '{name:.80}'; tools/list lists them");
                RpcError::invalid_params(message)
            })
        });
        let answered = self.run(context, work).await;
        // Nothing is told of a request that is answered.
        if let Some(telling) = telling {
            let _ = telling.await;
        }
        answered
    }

    async fn list_resources(&self, context: &Context) -> Answered {
        let caller = context.caller.clone();
        // A client that has the list hears when there is another one, if it can.
        let earlier = !context.rules.later;
        let listener = earlier.then(|| self.listener(context).ok()).flatten();
        let work: Work = Box::new(move |server, cancel| {
            if let Some(listener) = listener
                && let Ok(state) = server.list_state(listener.caller())
            {
                listener.add_list(state);
                server.watch();
            }
            let listed = server.resources(&caller, cancel);
            let resources = listed.map_err(|refusal| failed(&refusal))?;
            let resources = resources.into_iter().map(|one| {
                json!({
                    "uri": one.uri,
                    "name": one.name,
                    "title": one.title,
                    "mimeType": MARKDOWN,
                })
            });
            Ok(json!({"resources": resources.collect::<Vec<_>>()}))
        });
        self.run(context, work).await
    }

    async fn read_resource(&self, uri: String, context: &Context) -> Answered {
        let caller = context.caller.clone();
        let work: Work = Box::new(move |server, cancel| {
            let part = |text: String, kind| json!({"uri": uri, "mimeType": kind, "text": text});
            match server.resource(&caller, &uri, cancel) {
                Ok(reading) => {
                    let mut contents = vec![part(reading.text, MARKDOWN)];
                    contents.extend(reading.remark.map(|remark| part(remark, "text/plain")));
                    Ok(json!({"contents": contents}))
                }
                Err(refusal) => {
                    let error = RpcError::new(RESOURCE_NOT_FOUND, refusal.text());
                    Err(error.with_data(json!({"uri": uri})))
                }
            }
        });
        self.run(context, work).await
    }

    async fn complete(&self, completion: Completion, context: &Context) -> Answered {
        if completion.template.as_deref() != Some(DOCUMENTS) {
            return Ok(json!({"completion": {"values": []}}));
        }
        let caller = context.caller.clone();
        let work: Work = Box::new(move |server, cancel| {
            let Completion {
                variable,
                begun,
                source,
                ..
            } = completion;
            let values = server
                .complete(&caller, &variable, &begun, source.as_deref(), cancel)
                .map_err(|refusal| failed(&refusal))?;
            let more = values.len() >= MOST_VALUES;
            Ok(json!({"completion": {"values": values, "hasMore": more}}))
        });
        self.run(context, work).await
    }
}

/// Returns what the server can do in every era.
fn capabilities() -> Value {
    json!({
        "completions": {},
        "prompts": {},
        "resources": {"subscribe": true, "listChanged": true},
        "tools": {},
    })
}

/// Returns what the server calls itself.
pub(super) fn server_info() -> Value {
    json!({"name": "kodiak", "title": "Kodiak", "version": env!("CARGO_PKG_VERSION")})
}

fn get_prompt(name: &str, arguments: &Map<String, Value>) -> Answered {
    if name != prompt::NAME {
        let message = format!("there is no prompt '{name}'");
        return Err(RpcError::invalid_params(message));
    }
    let topic = arguments.get(prompt::TOPIC).and_then(Value::as_str);
    let text = prompt::text(topic.unwrap_or_default());
    Ok(json!({
        "description": prompt::DESCRIPTION,
        "messages": [{"role": "user", "content": {"type": "text", "text": text}}],
    }))
}

fn failed(refusal: &Refusal) -> RpcError {
    RpcError::internal(refusal.text())
}

fn described(tool: &'static Tool) -> Value {
    let mut annotations = json!({
        "readOnlyHint": tool.effect == Effect::Reads,
        "openWorldHint": false,
    });
    match tool.effect {
        Effect::Reads => {}
        Effect::Adds | Effect::Remembers | Effect::Creates => {
            annotations["destructiveHint"] = false.into();
        }
        Effect::Changes => annotations["destructiveHint"] = true.into(),
    }
    let mut described = json!({
        "name": tool.name,
        "description": tool.description,
        "inputSchema": tool.input_schema(),
        "annotations": annotations,
    });
    if let Some(schema) = tool.output_schema() {
        described["outputSchema"] = schema.into();
    }
    described
}

fn result(answer: ToolAnswer) -> Value {
    let mut result = json!({
        "content": [{"type": "text", "text": answer.text}],
        "isError": answer.failed,
    });
    if let Some(structured) = answer.structured.filter(|_| !answer.failed) {
        result["structuredContent"] = structured;
    }
    result
}
