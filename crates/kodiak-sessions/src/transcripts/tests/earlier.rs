//! What agents keep beside their sessions, and what earlier versions of them wrote.

use rusqlite::{Connection, params};

use super::*;

/// Prompts of a session that has a transcript, of one that has a copy, and of one that
/// is gone; a torn line, a line of no session, a bare command, and what is not a prompt.
const CLAUDE_HISTORY: &str = r#"{"display":"Why does the parser fail?","pastedContents":{},"timestamp":1787392800000,"project":"/p/one","sessionId":"s-1"}
{"display":"explain this [Pasted text #1 +2 lines]","pastedContents":{"1":{"id":1,"type":"text","content":"fn main() {\n  token=ghp_16C7e42F292c6912E7710c838347Ae178B4a\n}"},"2":7},"timestamp":1787392861000,"project":"/p/old","sessionId":"gone"}
{"display":"/clear ","pastedContents":{},"timestamp":1787392862000,"project":"/p/old","sessionId":"gone"}
{"display":"/fix the borscht","timestamp":1787392863000,"project":"/p/new","sessionId":"gone"}
{"display":"nobody knows where","timestamp":1787392864000,"project":"/p/old"}
not json
[1, 2]
{"display":null,"timestamp":"soon","sessionId":"gone"}
{"display":"typed in the kept one","timestamp":1787392865000,"project":"/p/one","sessionId":"kept"}
{"display":"torn","timestamp":1787392866000,"sessionId":"go"#;

const SESSION: &str = r#"{"type":"user","uuid":"u1","sessionId":"s-1","timestamp":"2026-08-22T10:00:00Z","cwd":"/p/one","message":{"content":"Why does the parser fail?"}}
"#;

#[test]
fn prompts_of_claude_code_outlive_its_sessions() {
    let desk = Desk::new();
    desk.write("projects/-p-one/s-1.jsonl", SESSION);
    let kept = desk.write(
        "projects/-p-one/kept.jsonl",
        SESSION
            .replace("s-1", "kept")
            .replace("Why does", "How does"),
    );
    assert_eq!(desk.turns(Agent::ClaudeCode).len(), 2);
    fs::remove_file(kept).unwrap();
    let history = desk.write("history.jsonl", CLAUDE_HISTORY);
    let source = desk.source(Agent::ClaudeCode);
    let documents = documents(&source);
    let turns: Vec<String> = documents.iter().map(shown).collect();
    assert_eq!(
        turns,
        [
            "user 10:01:01 /p/old: explain this [Pasted text #1 +2 lines] |  | fn main() { |   \
             token=[redacted:github-token] | }",
            "user 10:01:03 /p/new: /fix the borscht",
            "user 10:00:00 /p/one: How does the parser fail?",
            "user 10:00:00 /p/one: Why does the parser fail?",
        ]
    );
    assert_eq!(documents[0].key, "history/gone/00000");
    assert_eq!(field(&documents[0], "session"), "gone");
    assert!(source.is_original_gone("history/gone"));
    // It is the agent's own list; nothing of it is copied.
    let copies = all_files(&desk.keep());
    assert!(copies.iter().all(|file| !file.ends_with("gone.jsonl")));
    // A prompt that is added is read, and a transcript that appears replaces them.
    let versions = |source: &TranscriptSource| {
        let mut entries = source.list().unwrap().entries;
        entries.retain(|entry| entry.key.starts_with("history/"));
        entries.pop().map(|entry| entry.version)
    };
    let before = versions(&source);
    desk.append(
        "history.jsonl",
        "\n{\"display\":\"more\",\"sessionId\":\"gone\"}\n",
    );
    assert_ne!(versions(&source), before);
    assert_eq!(desk.turns(Agent::ClaudeCode).len(), 5);
    desk.write("projects/-p-one/gone.jsonl", SESSION.replace("s-1", "gone"));
    assert_eq!(versions(&source), None);
    // Without the list there is nothing left of it.
    fs::remove_file(history).unwrap();
    assert_eq!(desk.turns(Agent::ClaudeCode).len(), 3);
}

#[test]
fn what_was_forgotten_does_not_come_back_as_a_prompt() {
    let desk = Desk::new();
    desk.write("history.jsonl", CLAUDE_HISTORY);
    let source = desk.source(Agent::ClaudeCode);
    assert_eq!(source.repeated_threads("s-1"), ["history/s-1"]);
    assert_eq!(
        source.repeated_threads("t-1_r-2"),
        ["history/t-1_r-2", "history/t-1"]
    );
    let of_session = ("mine".to_owned(), "history/gone".to_owned());
    desk.tombstones().add(&[], &[of_session]).unwrap();
    let turns = desk.turns(Agent::ClaudeCode);
    assert_eq!(turns.len(), 2, "{turns:?}");
    assert!(
        turns.iter().all(|turn| !turn.contains("borscht")),
        "{turns:?}"
    );
}

const CODEX: &str = r#"{"timestamp":"2026-08-22T11:00:00Z","type":"session_meta","payload":{"id":"t-1","cwd":"/p/two"}}
{"timestamp":"2026-08-22T11:00:01Z","type":"event_msg","payload":{"type":"user_message","message":"Paint the kettle green."}}
"#;

/// Names of a session, one of no session, and lines that are not names.
const CODEX_INDEX: &str = r#"{"id":"t-1","thread_name":"Kettle","updated_at":"2026-08-22T11:00:00Z"}
{"id":"other","thread_name":"Nobody's","updated_at":"2026-08-22T11:00:00Z"}
nonsense
{"id":"t-1","thread_name":"Paint, token=ghp_16C7e42F292c6912E7710c838347Ae178B4a","updated_at":"2026-08-22T12:00:00Z"}
{"id":7,"thread_name":[]}
{"id":"t-1","thread_na"#;

const CODEX_HISTORY: &str = r#"{"session_id":"t-1","ts":1787396401,"text":"Paint the kettle green."}
{"session_id":"t-9","ts":1787396402,"text":"Where is the ladle?"}
{"session_id":"t-9","ts":1787396403,"text":"/quit"}
"#;

#[test]
fn titles_and_prompts_of_codex() {
    let desk = Desk::new();
    let rollout = "sessions/2026/08/22/rollout-2026-08-22T11-00-00-t-1_r-2.jsonl";
    desk.write(rollout, CODEX);
    desk.write("history.jsonl", CODEX_HISTORY);
    let version = |desk: &Desk| {
        std::thread::sleep(std::time::Duration::from_millis(60));
        let entries = desk.source(Agent::Codex).list().unwrap().entries;
        let mut entries = entries.into_iter();
        entries
            .find(|entry| entry.key == "t-1_r-2")
            .unwrap()
            .version
    };
    let untitled = version(&desk);
    assert_eq!(
        desk.documents(Agent::Codex)[1].title,
        "Paint the kettle green."
    );
    desk.write("session_index.jsonl", CODEX_INDEX);
    assert_ne!(version(&desk), untitled);
    let documents = desk.documents(Agent::Codex);
    let turns: Vec<String> = documents.iter().map(shown).collect();
    assert_eq!(
        turns,
        [
            "user 11:00:02 -: Where is the ladle?",
            "user 11:00:01 /p/two: Paint the kettle green.",
        ]
    );
    assert_eq!(documents[1].title, "Paint, token=[redacted:github-token]");
    assert_eq!(field(&documents[0], "session"), "t-9");
    // The title stays with the copy.
    fs::remove_file(desk.root().join(rollout)).unwrap();
    let documents = desk.documents(Agent::Codex);
    assert_eq!(documents.len(), 2);
    assert_eq!(documents[1].title, "Paint, token=[redacted:github-token]");
}

/// Writes the files of an OpenCode without a database.
fn storage(desk: &Desk) {
    let files = [
        (
            "session/p1/ses_1.json",
            r#"{"id":"ses_1","projectID":"p1","directory":"/p/one","title":"Caching","version":"0.5","time":{"created":1787392800000,"updated":1787392900000}}"#,
        ),
        (
            "session/p1/ses_2.json",
            r#"{"id":"ses_2","projectID":"p1","directory":"/p/one","parentID":"ses_1","title":"Sub","time":{"created":1787392800000}}"#,
        ),
        (
            "session/p1/empty.json",
            r#"{"id":"empty","title":"Nothing was said"}"#,
        ),
        ("session/p1/notes.txt", "not a session"),
        (
            "message/ses_1/msg_2.json",
            r#"{"id":"msg_2","sessionID":"ses_1","role":"assistant","modelID":"kimi","path":{"cwd":"/p/one/sub"},"time":{"created":1787392802000}}"#,
        ),
        (
            "message/ses_1/msg_1.json",
            r#"{"id":"msg_1","sessionID":"ses_1","role":"user","time":{"created":1787392801000}}"#,
        ),
        ("message/ses_1/msg_3.json", "{cut"),
        (
            "message/ses_1/msg_4.json",
            r#"{"id":"msg_4","role":"oracle","time":{"created":1787392809000}}"#,
        ),
        (
            "message/ses_2/msg_9.json",
            r#"{"id":"msg_9","role":"user"}"#,
        ),
        (
            "part/msg_1/prt_1.json",
            r#"{"id":"prt_1","messageID":"msg_1","type":"text","text":"cache the results"}"#,
        ),
        (
            "part/msg_1/prt_2.json",
            r#"{"id":"prt_2","type":"text","text":"Called the Read tool","synthetic":true}"#,
        ),
        (
            "part/msg_2/prt_3.json",
            r#"{"id":"prt_3","type":"reasoning","text":"private thought"}"#,
        ),
        (
            "part/msg_2/prt_4.json",
            r#"{"id":"prt_4","type":"text","text":"Done with caching."}"#,
        ),
        (
            "part/msg_2/prt_5.json",
            r#"{"id":"prt_5","type":"tool","tool":"bash","state":{"status":"error","input":{"command":"npm test"},"error":"Error: exit 1"}}"#,
        ),
        (
            "part/msg_2/prt_6.json",
            r#"{"id":"prt_6","type":"telepathy"}"#,
        ),
        (
            "part/msg_9/prt_7.json",
            r#"{"id":"prt_7","type":"text","text":"Find callers"}"#,
        ),
    ];
    for (name, text) in files {
        desk.write(&format!("storage/{name}"), text);
    }
}

#[test]
fn opencode_before_its_database() {
    let desk = Desk::new();
    storage(&desk);
    let expected = [
        "user 10:00:01 /p/one: cache the results",
        "assistant 10:00:02 /p/one/sub: Done with caching. |  | bash: npm test | Error: exit 1",
        "user - /p/one: Find callers",
    ];
    let documents = desk.documents(Agent::OpenCode);
    let turns: Vec<String> = documents.iter().map(shown).collect();
    assert_eq!(turns, expected);
    let first = &documents[0];
    assert_eq!(
        (first.key.as_str(), first.title.as_str()),
        ("ses_1/msg_1", "Caching")
    );
    assert_eq!(field(&documents[2], "parent"), "ses_1");
    assert_eq!(
        first.problem.as_deref(),
        Some(
            "left out: 2 lines of unknown type (oracle, telepathy); 1 line that could not be read"
        )
    );
    // A link leads nowhere.
    #[cfg(unix)]
    {
        let outside = desk.folder.path().join("outside.json");
        fs::write(&outside, r#"{"role":"user"}"#).unwrap();
        let link = desk.root().join("storage/message/ses_1/msg_8.json");
        std::os::unix::fs::symlink(&outside, link).unwrap();
        assert_eq!(desk.turns(Agent::OpenCode), expected);
    }
    // What was moved to the database is read from there.
    let connection = Connection::open(desk.root().join("opencode.db")).unwrap();
    connection
        .execute_batch(
            "CREATE TABLE session (id TEXT, parent_id TEXT, directory TEXT, title TEXT, time_updated INTEGER);
             CREATE TABLE message (id TEXT, session_id TEXT, time_created INTEGER, time_updated INTEGER, data TEXT);
             CREATE TABLE part (id TEXT, message_id TEXT, data TEXT);
             INSERT INTO session VALUES ('ses_2', NULL, '/p/db', 'Moved', 1);
             INSERT INTO message VALUES ('msg_9', 'ses_2', 1787392803000, 1, '{\"role\":\"user\"}');
             INSERT INTO part VALUES ('prt_7', 'msg_9', '{\"type\":\"text\",\"text\":\"Moved callers\"}');",
        )
        .unwrap();
    drop(connection);
    let turns = desk.turns(Agent::OpenCode);
    assert_eq!(turns[..2], expected[..2]);
    assert_eq!(turns[2..], ["user 10:00:03 /p/db: Moved callers"]);
}

#[test]
fn cursor_of_earlier_versions() {
    let desk = Desk::new();
    let workspace = "workspaceStorage/1f/";
    desk.write(
        &format!("{workspace}workspace.json"),
        r#"{"folder":"file:///p/my%20app"}"#,
    );
    let path = desk.write(&format!("{workspace}state.vscdb"), "");
    let connection = Connection::open(&path).unwrap();
    connection
        .execute_batch(
            "CREATE TABLE ItemTable (key TEXT UNIQUE, value BLOB);
             CREATE TABLE cursorDiskKV (key TEXT UNIQUE, value BLOB);
             INSERT INTO ItemTable VALUES ('cursorAuth/accessToken', 'never read');
             INSERT INTO ItemTable VALUES ('workbench.panel.aichat.other', '{\"tabs\":[{\"tabId\":\"no\"}]}');",
        )
        .unwrap();
    let put = |table: &str, key: &str, value: &str| {
        let sql = format!("INSERT INTO {table} VALUES (?1, ?2)");
        connection
            .execute(&sql, params![key, value.as_bytes()])
            .unwrap();
    };
    put(
        "ItemTable",
        "workbench.panel.aichat.view.aichat.chatdata",
        r#"{"tabs":[{"tabId":"t-1","chatTitle":"Retries","lastSendTime":1787392801000,"bubbles":[
            {"type":"user","id":"b1","text":"how do I add retries?"},
            {"type":"ai","id":"b2","rawText":"With a growing pause."},
            {"type":"oracle","text":"left out"}, 7]},
            {"tabId":"t-2","bubbles":[]}, {"bubbles":[{"type":"user","text":"of no tab"}]}, null]}"#,
    );
    put(
        "cursorDiskKV",
        "composerData:c-1",
        r#"{"composerId":"c-1","createdAt":1787392900000,
            "fullConversationHeadersOnly":[{"bubbleId":"x2","type":2},{"bubbleId":"x9","type":1}],
            "conversationMap":{
                "x3":{"type":1,"text":"and then?","timestamp":1787392903000},
                "x1":{"type":1,"richText":"{\"root\":{\"children\":[{\"type\":\"paragraph\",\"children\":[{\"text\":\"make it \"},{\"text\":\"green\"}]}]}}","timestamp":1787392901000},
                "x2":{"type":2,"text":"It is green."},
                "x4":"not a bubble"}}"#,
    );
    put(
        "cursorDiskKV",
        "composerData:c-2",
        r#"{"composerId":"c-2","createdAt":1787392950000,"richText":"{\"root\":{\"children\":[{\"type\":\"paragraph\",\"children\":[{\"text\":\"a draft\"}]}]}}"}"#,
    );
    drop(connection);
    let documents = desk.documents(Agent::Cursor);
    let turns: Vec<String> = documents.iter().map(shown).collect();
    assert_eq!(
        turns,
        [
            "assistant 10:01:40 -: It is green.",
            "user 10:01:41 -: make it green",
            "user 10:01:43 -: and then?",
            "user 10:02:30 -: a draft",
            "user 10:00:01 /p/my app: how do I add retries?",
            "assistant 10:00:01 /p/my app: With a growing pause.",
        ]
    );
    let tab = &documents[4];
    assert_eq!(
        (tab.key.as_str(), tab.title.as_str()),
        ("t-1/b1", "Retries")
    );
    assert_eq!(
        tab.problem.as_deref(),
        Some("left out: 1 line of unknown type (bubble oracle)")
    );
    // Nothing is left behind beside the database.
    let files = all_files(&desk.root());
    assert_eq!(files.len(), 2, "{files:?}");
    fs::remove_file(&path).unwrap();
    assert_eq!(desk.turns(Agent::Cursor), turns);
}
