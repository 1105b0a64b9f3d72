//! OpenCode and Cursor, which use SQLite.

use rusqlite::{Connection, params};

use super::*;

/// Returns the names of the files of the agent.
fn names(desk: &Desk) -> Vec<String> {
    let files = all_files(&desk.root()).into_iter();
    files
        .map(|file| file.file_name().unwrap().to_string_lossy().into_owned())
        .collect()
}

fn opencode(path: &Path) -> Connection {
    let connection = Connection::open(path).unwrap();
    connection
        .execute_batch(
            "PRAGMA journal_mode = WAL;
             CREATE TABLE session (id TEXT PRIMARY KEY, project_id TEXT, parent_id TEXT, directory TEXT,
                title TEXT, time_created INTEGER, time_updated INTEGER);
             CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER,
                time_updated INTEGER, data TEXT);
             CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT,
                time_created INTEGER, time_updated INTEGER, data TEXT);
             CREATE TABLE session_message (id TEXT PRIMARY KEY, session_id TEXT, type TEXT, seq INTEGER,
                time_created INTEGER, time_updated INTEGER, data TEXT);
             INSERT INTO session VALUES ('ses_1', 'p', NULL, '/p/one', 'Caching', 1787392800000, 1787392800000);
             INSERT INTO session VALUES ('ses_2', 'p', 'ses_1', '/p/one', 'Sub', 1787392800000, 1787392800000);
             INSERT INTO session VALUES ('empty', 'p', NULL, '/p/one', 'Nothing', 1, 1);",
        )
        .unwrap();
    let message = |id: &str, session: &str, at: i64, data: &str| {
        connection
            .execute(
                "INSERT INTO message VALUES (?1, ?2, ?3, ?3, ?4)",
                params![id, session, at, data],
            )
            .unwrap();
    };
    let part = |id: &str, message: &str, data: &str| {
        connection
            .execute(
                "INSERT INTO part VALUES (?1, ?2, '', 0, 0, ?3)",
                params![id, message, data],
            )
            .unwrap();
    };
    message(
        "msg_1",
        "ses_1",
        1_787_392_801_000,
        r#"{"role":"user","time":{"created":1787392801000}}"#,
    );
    part(
        "prt_1",
        "msg_1",
        r#"{"type":"text","text":"cache the results"}"#,
    );
    part(
        "prt_2",
        "msg_1",
        r#"{"type":"text","text":"Called the Read tool","synthetic":true}"#,
    );
    part(
        "prt_3",
        "msg_1",
        r#"{"type":"text","text":"ignored text","ignored":true}"#,
    );
    part(
        "prt_4",
        "msg_1",
        r#"{"type":"file","mime":"image/png","url":"data:image/png;base64,AAAA"}"#,
    );
    message(
        "msg_2",
        "ses_1",
        1_787_392_802_000,
        r#"{"role":"assistant","modelID":"kimi","path":{"cwd":"/p/one/sub","root":"/p/one"},"time":{"created":1787392802000},"error":{"name":"ApiError","data":{}}}"#,
    );
    part("prt_5", "msg_2", r#"{"type":"step-start"}"#);
    part(
        "prt_6",
        "msg_2",
        r#"{"type":"reasoning","text":"private thought"}"#,
    );
    part(
        "prt_7",
        "msg_2",
        r#"{"type":"text","text":"Done with caching."}"#,
    );
    part(
        "prt_8",
        "msg_2",
        r#"{"type":"tool","callID":"c","tool":"bash","state":{"status":"error","input":{"command":"npm test"},"error":"Error: exit 1"}}"#,
    );
    part("prt_9", "msg_2", r#"{"type":"telepathy"}"#);
    part("prt_a", "msg_2", "{cut");
    message("msg_3", "ses_2", 1_787_392_803_000, r#"{"role":"user"}"#);
    part(
        "prt_b",
        "msg_3",
        r#"{"type":"subtask","prompt":"Find callers","description":"callers"}"#,
    );
    let later = |id: &str, kind: &str, seq: i64, data: &str| {
        connection
            .execute(
                "INSERT INTO session_message VALUES (?1, 'ses_1', ?2, ?3, 1787392810000, 1787392810000, ?4)",
                params![id, kind, seq, data],
            )
            .unwrap();
    };
    later("msg_1", "user", 1, r#"{"text":"cache the results"}"#);
    later(
        "msg_5",
        "assistant",
        3,
        r#"{"model":{"id":"kimi-2"},"content":[{"type":"text","text":"In the new table."},{"type":"tool","name":"grep","input":{"pattern":"cache"}}]}"#,
    );
    later("msg_4", "user", 2, r#"{"text":"and now?"}"#);
    later("msg_6", "compaction", 4, r#"{"summary":"all"}"#);
    connection
}

const OPENCODE: [&str; 5] = [
    "user 10:00:01 /p/one: cache the results",
    "assistant 10:00:02 /p/one/sub: Done with caching. |  | bash: npm test | Error: exit 1 | ApiError",
    "user 10:00:10 /p/one/sub: and now?",
    "assistant 10:00:10 /p/one/sub: In the new table. |  | grep: cache",
    "user 10:00:03 /p/one: callers |  | Find callers",
];

#[test]
fn opencode_in_every_state_of_its_files() {
    let desk = Desk::new();
    let path = desk.root().join("opencode.db");
    let connection = opencode(&path);
    // In use: the log and its index are there.
    let during = names(&desk);
    let documents = desk.documents(Agent::OpenCode);
    assert_eq!(documents.iter().map(shown).collect::<Vec<_>>(), OPENCODE);
    assert_eq!(names(&desk), during);
    let first = &documents[0];
    assert_eq!(
        (first.key.as_str(), first.title.as_str()),
        ("ses_1/msg_1", "Caching")
    );
    assert_eq!(field(&documents[4], "parent"), "ses_1");
    assert_eq!(field(&documents[3], "model"), "kimi-2");
    assert_eq!(
        first.problem.as_deref(),
        Some("left out: 1 line of unknown type (telepathy); 1 line that could not be read")
    );
    // Closed: there is neither, and none is left behind.
    drop(connection);
    assert_eq!(names(&desk), ["opencode.db"]);
    let bytes = fs::read(&path).unwrap();
    assert_eq!(desk.turns(Agent::OpenCode), OPENCODE);
    assert_eq!(names(&desk), ["opencode.db"]);
    assert_eq!(fs::read(&path).unwrap(), bytes);
    // Deleted: the copies are left.
    fs::remove_file(&path).unwrap();
    assert_eq!(desk.turns(Agent::OpenCode), OPENCODE);
    assert!(desk.source(Agent::OpenCode).is_original_gone("ses_1"));
}

#[test]
fn a_file_that_is_not_a_database_is_left_out() {
    let desk = Desk::new();
    desk.write(
        "opencode.db",
        "not a database, but long enough to be looked at",
    );
    let listing = desk.source(Agent::OpenCode).list().unwrap();
    assert!(listing.entries.is_empty());
    assert_eq!(listing.left_out.len(), 1);
}

#[test]
fn cursor_of_the_editor() {
    let desk = Desk::new();
    let path = desk.write("globalStorage/state.vscdb", "");
    let connection = Connection::open(&path).unwrap();
    connection
        .execute_batch(
            "PRAGMA journal_mode = WAL;
             CREATE TABLE ItemTable (key TEXT UNIQUE, value BLOB);
             CREATE TABLE cursorDiskKV (key TEXT UNIQUE, value BLOB);
             INSERT INTO ItemTable VALUES ('cursorAuth/accessToken', 'never read');
             INSERT INTO cursorDiskKV VALUES ('secret:thing', 'never read');
             INSERT INTO cursorDiskKV VALUES ('composerData:gone', NULL);",
        )
        .unwrap();
    let put = |key: &str, value: &str| {
        // Values are texts or blobs.
        let sql = "INSERT INTO cursorDiskKV VALUES (?1, ?2)";
        connection
            .execute(sql, params![key, value.as_bytes()])
            .unwrap();
    };
    put(
        "composerData:c-1",
        r#"{"composerId":"c-1","name":"Fix layout","createdAt":1787392800000,"lastUpdatedAt":1787392900000,"modelConfig":{"modelName":"fast"},"fullConversationHeadersOnly":[{"bubbleId":"b1","type":1},{"bubbleId":"b2","type":2},{"bubbleId":"b3","type":2},{"bubbleId":"b9","type":1}]}"#,
    );
    put(
        "bubbleId:c-1:b1",
        r#"{"type":1,"text":"the sidebar overlaps","workspaceProjectDir":"/p/one","timestamp":1787392801000}"#,
    );
    put(
        "bubbleId:c-1:b2",
        r#"{"type":2,"rawText":"Use a grid.","createdAt":"2026-08-22T10:00:02Z"}"#,
    );
    put("bubbleId:c-1:b3", r#"{"type":7,"text":"?"}"#);
    put(
        "composerData:c-2",
        r#"{"composerId":"c-2","createdAt":1787392800000,"conversation":[{"type":1,"bubbleId":"x","text":"an older form"}]}"#,
    );
    drop(connection);
    let documents = desk.documents(Agent::Cursor);
    assert_eq!(
        documents.iter().map(shown).collect::<Vec<_>>(),
        [
            "user 10:00:01 /p/one: the sidebar overlaps",
            "assistant 10:00:02 /p/one: Use a grid.",
            "user 10:00:00 -: an older form",
        ]
    );
    assert_eq!(
        (documents[0].key.as_str(), documents[0].title.as_str()),
        ("c-1/b1", "Fix layout")
    );
    assert_eq!(names(&desk), ["state.vscdb"]);
    let kept: String = all_files(&desk.keep())
        .iter()
        .map(|file| fs::read_to_string(file).unwrap())
        .collect();
    assert!(!kept.contains("never read"));
}

#[test]
fn cursor_of_the_command_line() {
    let desk = Desk::new();
    let text = r#"{"role":"user","message":{"content":[{"type":"text","text":"<user_query>\nrename it\n</user_query>"}]}}
{"role":"assistant","message":{"content":[{"type":"text","text":"Renamed."},{"type":"tool_use","name":"Shell","input":{"command":"git mv a b"}}]}}
{"type":"turn_ended"}
{"type":"seance"}
"#;
    desk.write("projects/p-one/agent-transcripts/k-1/k-1.jsonl", text);
    desk.write("projects/p-one/other.jsonl", "{}");
    let documents = desk.documents(Agent::Cursor);
    assert_eq!(
        documents.iter().map(shown).collect::<Vec<_>>(),
        [
            "user - -: rename it",
            "assistant - -: Renamed. |  | Shell: git mv a b"
        ]
    );
    // Without times, that of the file counts.
    assert!(documents[0].updated_at > 1_700_000_000);
    assert_eq!(field(&documents[0], "session"), "k-1");
}
