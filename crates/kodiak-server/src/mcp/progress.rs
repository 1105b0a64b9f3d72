//! Reports the progress of long work to a client that asked for it.

use std::time::{Duration, Instant};

use kodiak::Event;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::jsonrpc::{Id, notification};

/// How often progress is told at most.
const PROGRESS: Duration = Duration::from_millis(250);
/// The steps that wait to be told.
const MOST_STEPS: usize = 16;

/// A step of long work: how much is done, and in words.
type Step = (u64, String);

/// What hears of long work.
pub(super) struct Progress {
    sender: Option<mpsc::Sender<Step>>,
}

impl Progress {
    /// Returns what hears of the work, and the task that tells the client. The task
    /// ends with the work.
    pub(super) fn of(
        token: Option<Id>,
        outlet: &mpsc::Sender<Value>,
    ) -> (Self, Option<JoinHandle<()>>) {
        let Some(token) = token else {
            return (Self { sender: None }, None);
        };
        let (sender, receiver) = mpsc::channel(MOST_STEPS);
        let telling = tokio::spawn(tell(outlet.clone(), token, receiver));
        let sender = Some(sender);
        (Self { sender }, Some(telling))
    }

    /// Takes note of an event of the work.
    pub(super) fn hear(&self, event: Event<'_>) {
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
async fn tell(outlet: mpsc::Sender<Value>, token: Id, mut steps: mpsc::Receiver<Step>) {
    let mut sent: f64 = 0.0;
    let mut last: Option<Instant> = None;
    while let Some((done, message)) = steps.recv().await {
        if last.is_some_and(|last| last.elapsed() < PROGRESS) {
            continue;
        }
        last = Some(Instant::now());
        // Progress must grow with every message.
        sent = (done as f64).max(sent + 1.0);
        let params = json!({
            "progressToken": Value::from(&token),
            "progress": sent,
            "message": message,
        });
        let told = notification("notifications/progress", Some(params));
        if outlet.send(told).await.is_err() {
            return;
        }
    }
}
