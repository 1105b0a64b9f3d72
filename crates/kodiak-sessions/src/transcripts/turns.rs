//! Collecting the turns of a session while its records are read.
//!
//! Parsers pass on the contents of records; this module joins records of one message,
//! numbers the turns, leaves out repetitions, redacts everything and bounds it. It also
//! remembers from where a file that grows has to be read again.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::parser::moment;
use super::tool::{self, ToolInput};
use super::turn::{Circumstances, Role, Session, Turn};
use super::waiting::Waiting;
use kodiak::project;
use kodiak_redact::redact;
use kodiak_text::document::Timestamp;

/// How many turns stay open. Records of subagents may stand between the records of one
/// message.
const OPEN: usize = 12;
/// The longest text of a turn, and the numbers of its lines.
const MAX_TEXT_BYTES: usize = 64 * 1024;
const TOOLS: usize = 64;
const OUTPUTS: usize = 8;
const ERRORS: usize = 24;
/// How many texts are remembered to notice that one comes twice.
const RECENT: usize = 8;
/// How many unknown types are named.
const NAMED: usize = 4;

/// The state of a parser between records, also when reading of a file continues later.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Context {
    pub(super) session: Session,
    pub(super) around: Circumstances,
    /// The next position in each part of the session.
    positions: BTreeMap<String, i64>,
    /// The number of turns begun so far.
    pub(super) begun: usize,
    /// The hashes of the last texts.
    recent: Vec<u64>,
    /// Whether the session's own description was read.
    pub(super) described: bool,
    /// Whether the file marks the prompts of the person.
    pub(super) says_prompts: bool,
    /// Records with lower numbers repeat records of the parent.
    pub(super) first_ordinal: i64,
    /// The prompts that wait for the agent.
    #[serde(skip_serializing_if = "Waiting::is_empty")]
    pub(super) waiting: Waiting,
    /// The records so far that could not be used.
    #[serde(skip_serializing_if = "LeftOver::is_empty")]
    pub(super) left_over: LeftOver,
}

/// From where a file has to be read when it has grown.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ResumePoint {
    /// The first byte to read.
    pub(super) offset: u64,
    /// The number of turns before it.
    pub(super) turns: usize,
    /// The end of what was read.
    pub(super) end: u64,
    pub(super) context: Context,
}

/// The content of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Seen {
    /// A type that the parser knows, whether or not it says anything.
    Known,
    /// A type that it does not know.
    Unknown(String),
    /// Not a record at all.
    Broken,
}

/// The records that could not be used.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct LeftOver {
    /// The number of records of each unknown type.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) unknown: BTreeMap<String, usize>,
    /// The number of lines that are not records.
    #[serde(default)]
    pub(super) broken: usize,
    /// Whether the last line is not complete.
    #[serde(default)]
    pub(super) torn: bool,
}

impl LeftOver {
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    fn count(&mut self, seen: Seen) {
        match seen {
            Seen::Known => {}
            Seen::Unknown(kind) => {
                *self.unknown.entry(tool::clean_head(&kind, 40)).or_default() += 1;
            }
            Seen::Broken => self.broken += 1,
        }
    }

    /// Returns a sentence about unusable records, for `status`.
    pub(super) fn problem(&self) -> Option<String> {
        let mut parts = Vec::new();
        let lines = |count: usize| if count == 1 { "1 line" } else { "lines" };
        let counted = |count: usize| match count {
            1 => lines(1).to_owned(),
            count => format!("{count} {}", lines(count)),
        };
        let unknown: usize = self.unknown.values().sum();
        if unknown > 0 {
            let names: Vec<&str> = self
                .unknown
                .keys()
                .take(NAMED)
                .map(String::as_str)
                .collect();
            let names = names.join(", ");
            parts.push(format!("{} of unknown type ({names})", counted(unknown)));
        }
        if self.broken > 0 {
            parts.push(format!("{} that could not be read", counted(self.broken)));
        }
        if self.torn {
            parts.push("an incomplete last line".to_owned());
        }
        (!parts.is_empty()).then(|| format!("left out: {}", parts.join("; ")))
    }
}

impl Circumstances {
    fn hide_secrets(&mut self) {
        let all = [
            &mut self.cwd,
            &mut self.project,
            &mut self.branch,
            &mut self.model,
        ];
        all.into_iter().flatten().for_each(hide_secrets);
    }
}

impl Turn {
    /// Replaces the secrets of all that was said and done.
    pub(super) fn hide_secrets(&mut self) {
        let lines = [&mut self.tools, &mut self.outputs, &mut self.errors];
        lines.into_iter().flatten().for_each(hide_secrets);
        hide_secrets(&mut self.text);
    }
}

struct Open {
    turn: Turn,
    offset: u64,
    before: Context,
}

/// Collects turns and passes on those that are complete.
pub(super) struct Turns<'a> {
    pub(super) context: Context,
    /// Where the record that is being read begins.
    pub(super) offset: u64,
    /// Whether thinking is kept.
    pub(super) thinking: bool,
    open: VecDeque<Open>,
    current: Option<usize>,
    emitted: usize,
    projects: HashMap<String, String>,
    emit: &'a mut dyn FnMut(Turn),
}

impl<'a> Turns<'a> {
    /// Begins to collect, or continues after the turns before a point.
    pub(super) fn new(from: &ResumePoint, thinking: bool, emit: &'a mut dyn FnMut(Turn)) -> Self {
        let mut context = from.context.clone();
        context.left_over.torn = false;
        Self {
            context,
            offset: from.offset,
            thinking,
            open: VecDeque::new(),
            current: None,
            emitted: from.turns,
            projects: HashMap::new(),
            emit,
        }
    }

    /// Begins a turn, or continues with the open one of this name.
    pub(super) fn begin(&mut self, role: Role, id: &str, at: Option<Timestamp>, thread: &str) {
        let id = safe_id(id);
        let same = |open: &Open| open.turn.id == id && open.turn.role == role;
        if let Some(found) = self.open.iter().rposition(same) {
            self.current = Some(found);
            return;
        }
        if self.open.len() >= OPEN {
            self.pass_on_first();
        }
        let before = self.context.clone();
        let position = self.context.positions.entry(thread.to_owned()).or_default();
        let turn = Turn {
            id,
            role,
            at,
            thread: thread.to_owned(),
            position: *position,
            around: self.context.around.clone(),
            ..Turn::default()
        };
        *position += 1;
        self.context.begun += 1;
        self.open.push_back(Open {
            turn,
            offset: self.offset,
            before,
        });
        self.current = Some(self.open.len() - 1);
    }

    /// Begins a turn named by its number.
    pub(super) fn begin_next(&mut self, role: Role, at: Option<Timestamp>) {
        let id = format!("{:05}", self.context.begun);
        self.begin(role, &id, at, "");
    }

    /// Returns the role of the turn that is being filled.
    pub(super) fn role(&self) -> Option<Role> {
        let current = self.current?;
        self.open.get(current).map(|open| open.turn.role)
    }

    /// Sets the position of the turn that is being filled.
    pub(super) fn place(&mut self, position: i64) {
        if let Some(turn) = self.turn() {
            turn.position = position;
        }
    }

    /// Counts a record that could not be used.
    pub(super) fn count(&mut self, seen: Seen) {
        self.context.left_over.count(seen);
    }

    fn turn(&mut self) -> Option<&mut Turn> {
        let current = self.current?;
        self.open.get_mut(current).map(|open| &mut open.turn)
    }

    /// Adds text that was said.
    pub(super) fn text(&mut self, text: &str) {
        let Some(turn) = self.turn() else { return };
        // Secrets go before the text is cut: part of a key does not look like one.
        let room = MAX_TEXT_BYTES.saturating_sub(turn.text.len());
        let text = tool::clean_head(text.trim(), room);
        if text.is_empty() || turn.text.len() >= MAX_TEXT_BYTES || turn.text == text {
            return;
        }
        if !turn.text.is_empty() {
            turn.text.push_str("\n\n");
        }
        turn.text.push_str(&text);
    }

    /// Adds a thought, if thoughts are kept.
    pub(super) fn thought(&mut self, text: &str) {
        if self.thinking {
            self.text(text);
        }
    }

    /// Adds the use of a tool.
    pub(super) fn tool(&mut self, name: &str, input: &ToolInput) {
        let line = input.line(if name.is_empty() { "tool" } else { name });
        let Some(turn) = self.turn() else { return };
        if turn.tools.len() < TOOLS && !turn.tools.contains(&line) {
            turn.tools.push(line);
        }
    }

    /// Adds the output of a tool to the agent's turn.
    pub(super) fn output(&mut self, text: &str, failed: bool) {
        let agent = |open: &Open| open.turn.role == Role::Assistant;
        let Some(found) = self.open.iter().rposition(agent) else {
            return;
        };
        let turn = &mut self.open[found].turn;
        let kept = tool::output(text, failed);
        if !kept.head.is_empty() && kept.errors.is_empty() && turn.outputs.len() < OUTPUTS {
            turn.outputs.push(kept.head);
        }
        for error in kept.errors {
            if turn.errors.len() < ERRORS && !turn.errors.contains(&error) {
                turn.errors.push(error);
            }
        }
    }

    /// Reports whether this text came among the last ones.
    pub(super) fn is_repeated(&self, text: &str) -> bool {
        self.context.recent.contains(&short_hash(text))
    }

    /// Remembers a text. That comes after its turn has begun: otherwise the text
    /// would count as repeated if the file is read again from there.
    pub(super) fn remember(&mut self, text: &str) {
        let recent = &mut self.context.recent;
        if recent.len() >= RECENT {
            recent.remove(0);
        }
        recent.push(short_hash(text));
    }

    /// Passes on all turns. Returns from where to read when the file has grown.
    pub(super) fn finish(mut self) -> ResumePoint {
        let point = match self.open.front() {
            Some(open) => ResumePoint {
                offset: open.offset,
                turns: self.emitted,
                end: self.offset,
                context: open.before.clone(),
            },
            None => ResumePoint {
                offset: self.offset,
                turns: self.emitted,
                end: self.offset,
                context: self.context.clone(),
            },
        };
        // Those that wait are turns only as long as the file ends here: the point is
        // before them.
        for prompt in self.context.waiting.unsaid() {
            self.begin(Role::User, &prompt.id(), moment(&prompt.at), "");
            self.text(&prompt.text);
        }
        // What is said of the session as a whole is the latest.
        let session = self.context.session.clone();
        let mut around = point.context.around.clone();
        around.hide_secrets();
        while !self.open.is_empty() {
            self.pass_on_first();
        }
        ResumePoint {
            context: Context {
                session,
                around,
                ..point.context
            },
            ..point
        }
    }

    fn pass_on_first(&mut self) {
        let Some(Open { mut turn, .. }) = self.open.pop_front() else {
            return;
        };
        self.current = self.current.and_then(|current| current.checked_sub(1));
        if turn.is_empty() {
            return;
        }
        turn.hide_secrets();
        if let Some(cwd) = &turn.around.cwd {
            let known = self.projects.entry(cwd.clone());
            let project = known.or_insert_with(|| project::of(Path::new(cwd)));
            turn.around.project = Some(project.clone());
        }
        turn.around.hide_secrets();
        self.emitted += 1;
        (self.emit)(turn);
    }
}

fn short_hash(text: &str) -> u64 {
    let mut hash = [0; 8];
    hash.copy_from_slice(&blake3::hash(text.trim().as_bytes()).as_bytes()[..8]);
    u64::from_le_bytes(hash)
}

/// Replaces the secrets of a text.
pub(super) fn hide_secrets(text: &mut String) {
    if let std::borrow::Cow::Owned(redacted) = redact(text) {
        *text = redacted;
    }
}

/// Returns an id that is safe in keys: secrets are replaced, so are signs other than letters,
/// digits and `-_.`, and a long id is cut.
pub(super) fn safe_id(id: &str) -> String {
    let safe = |sign: char| {
        if sign.is_ascii_alphanumeric() || matches!(sign, '-' | '_' | '.') {
            sign
        } else {
            '_'
        }
    };
    let id: String = redact(id).chars().take(100).map(safe).collect();
    if id.trim_matches('.').is_empty() {
        return "_".to_owned();
    }
    id
}
