//! Claude Code, Codex, pi and Gemini CLI.

use proptest::prelude::*;

use super::*;

const CLAUDE: &str = r#"{"type":"summary","summary":"An old title","leafUuid":"x"}
{"type":"file-history-snapshot","messageId":"m","snapshot":{}}
{"type":"user","uuid":"u1","parentUuid":null,"sessionId":"s-1","timestamp":"2026-08-22T10:00:00.123Z","cwd":"/p/one","gitBranch":"main","isSidechain":false,"message":{"role":"user","content":"Why does the parser fail?"}}
{"type":"assistant","uuid":"a1","sessionId":"s-1","timestamp":"2026-08-22T10:00:05Z","cwd":"/p/one","message":{"id":"m1","type":"message","role":"assistant","model":"opus","content":[{"type":"thinking","thinking":"Hidden thoughts.","signature":"x"}]}}
{"type":"assistant","uuid":"a2","sessionId":"s-1","timestamp":"2026-08-22T10:00:06Z","cwd":"/p/one","message":{"id":"m1","role":"assistant","model":"opus","content":[{"type":"text","text":"I will run the tests."}]}}
{"type":"assistant","uuid":"a3","sessionId":"s-1","timestamp":"2026-08-22T10:00:07Z","cwd":"/p/one","message":{"id":"m1","role":"assistant","model":"opus","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"cargo test parser","description":"Run tests"}}]}}
{"type":"user","uuid":"u2","sessionId":"s-1","timestamp":"2026-08-22T10:00:09Z","cwd":"/p/one","toolUseResult":{"stdout":1},"message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","is_error":true,"content":[{"type":"text","text":"error[E0308]: mismatched types"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}}]}]}}
{"type":"assistant","uuid":"a4","sessionId":"s-1","timestamp":"2026-08-22T10:00:10Z","cwd":"/p/one","message":{"id":"m1","role":"assistant","model":"opus","content":[{"type":"tool_use","id":"t2","name":"Read","input":{"file_path":"/p/one/src/parser.rs"}}]}}
{"type":"user","uuid":"u3","sessionId":"s-1","timestamp":"2026-08-22T10:01:00Z","isMeta":true,"message":{"role":"user","content":"Caveat nobody said"}}
{"type":"queue-operation","operation":"enqueue","content":"sent later","timestamp":"2026-08-22T10:01:10Z","sessionId":"s-1"}
{"type":"queue-operation","operation":"dequeue","timestamp":"2026-08-22T10:01:11Z","sessionId":"s-1"}
{"type":"queue-operation","operation":"enqueue","content":"and also rename the lexer","timestamp":"2026-08-22T10:01:12Z","sessionId":"s-1"}
{"type":"queue-operation","operation":"remove","timestamp":"2026-08-22T10:01:13Z","sessionId":"s-1"}
{"type":"system","subtype":"compact_boundary","parentUuid":null,"logicalParentUuid":"gone","compactMetadata":{"trigger":"auto","preTokens":1},"timestamp":"2026-08-22T10:02:00Z","sessionId":"s-1"}
{"type":"user","uuid":"u4","isCompactSummary":true,"isVisibleInTranscriptOnly":true,"sessionId":"s-1","timestamp":"2026-08-22T10:02:01Z","message":{"role":"user","content":"This session is being continued: Why does the parser fail?"}}
{"type":"user","uuid":"u5","sessionId":"s-1","timestamp":"2026-08-22T10:03:00Z","cwd":"/p/two","gitBranch":"fix","message":{"role":"user","content":[{"type":"text","text":"<command-name>/review</command-name><command-args>the fix</command-args>"},{"type":"image","source":{"type":"base64","data":"BBBB"}}]}}
not json at all
{"type":"assistant","uuid":"a5","isSidechain":true,"agentId":"side","sessionId":"s-1","timestamp":"2026-08-22T10:03:05Z","cwd":"/p/two","message":{"id":"m2","model":"haiku","content":[{"type":"text","text":"A sidechain in the same file."}]}}
{"type":"hologram","sessionId":"s-1"}
{"type":"ai-title","aiTitle":"Fix the parser","sessionId":"s-1"}
{"type":"assistant","uuid":"a6","sessionId":"s-1","timestamp":"2026-08-22T10:04:00Z","message":{"id":"m3","model":"<synthetic>","content":[{"type":"text","text":"Done."}]}}
{"type":"user","uuid":"u9","sess"#;

const SUBAGENT: &str = r#"{"type":"user","uuid":"b1","isSidechain":true,"agentId":"7f","sessionId":"s-1","timestamp":"2026-08-22T10:00:20Z","cwd":"/p/one","message":{"role":"user","content":"Look for lexers."}}
{"type":"assistant","uuid":"b2","isSidechain":true,"agentId":"7f","sessionId":"s-1","timestamp":"2026-08-22T10:00:25Z","cwd":"/p/one","message":{"id":"n1","model":"haiku","content":[{"type":"text","text":"There are two lexers."}]}}
"#;

#[test]
fn claude_code() {
    let desk = Desk::new();
    desk.write("projects/-p-one/s-1.jsonl", CLAUDE);
    desk.write("projects/-p-one/s-1/subagents/agent-7f.jsonl", SUBAGENT);
    desk.write("projects/-p-one/s-1/subagents/agent-7f.meta.json", "{}");
    desk.write("history.jsonl", "{}");
    let documents = desk.documents(Agent::ClaudeCode);
    let turns: Vec<String> = documents.iter().map(shown).collect();
    assert_eq!(
        turns,
        [
            "user 10:00:00 /p/one: Why does the parser fail?",
            "assistant 10:00:05 /p/one: I will run the tests. |  | Bash: cargo test parser; Run tests | \
             Read: /p/one/src/parser.rs | error[E0308]: mismatched types",
            "user 10:01:13 /p/one: and also rename the lexer",
            "user 10:03:00 /p/two: /review the fix",
            "assistant 10:03:05 /p/two: A sidechain in the same file.",
            "assistant 10:04:00 /p/two: Done.",
            "user 10:00:20 /p/one: Look for lexers.",
            "assistant 10:00:25 /p/one: There are two lexers.",
        ]
    );
    let first = &documents[0];
    assert_eq!(first.key, "s-1/u1");
    assert_eq!(first.title, "Fix the parser");
    assert_eq!(first.kind, KIND);
    assert_eq!(
        (field(first, "session"), field(first, "branch")),
        ("s-1", "main")
    );
    assert_eq!(
        first.problem.as_deref(),
        Some(
            "left out: 1 line of unknown type (hologram); 1 line that could not be read; an incomplete last line"
        )
    );
    assert_eq!(field(&documents[1], "model"), "opus");
    assert_eq!(field(&documents[5], "branch"), "fix");
    let threads: Vec<_> = documents
        .iter()
        .map(|it| it.thread.clone().unwrap())
        .collect();
    let names: Vec<_> = threads
        .iter()
        .map(|it| (it.name.as_str(), it.position.unwrap()))
        .collect();
    assert_eq!(names[4], ("s-1#side", 0));
    assert_eq!(names[5], ("s-1", 4));
    assert_eq!(names[6..], [("s-1/agent-7f", 0), ("s-1/agent-7f", 1)]);
    // A subagent is under its parent, which is the one that can be resumed.
    assert_eq!(
        (
            field(&documents[6], "parent"),
            field(&documents[6], "session")
        ),
        ("s-1", "s-1")
    );
}

#[test]
fn thinking_is_read_only_if_that_is_wanted() {
    let desk = Desk::new();
    desk.write("projects/-p-one/s-1.jsonl", CLAUDE);
    let options = TranscriptOptions {
        thinking: true,
        ..desk.options()
    };
    let source = TranscriptSource::new("mine", Agent::ClaudeCode, &desk.root(), options).unwrap();
    let has = |documents: &[Document]| {
        documents
            .iter()
            .any(|it| it.body.contains("Hidden thoughts"))
    };
    assert!(has(&documents(&source)));
    assert!(!has(&desk.documents(Agent::ClaudeCode)));
}

const CODEX: &str = r##"{"timestamp":"2026-08-22T10:00:00Z","type":"session_meta","payload":{"id":"t-1","timestamp":"x","cwd":"/p/one","source":"cli","git":{"branch":"main","commit_hash":"abc"},"base_instructions":{"text":"secret manual"}}}
{"timestamp":"2026-08-22T10:00:00Z","type":"session_meta","payload":{"id":"of-the-origin","cwd":"/p/other"}}
{"timestamp":"2026-08-22T10:00:01Z","type":"response_item","payload":{"type":"message","role":"developer","content":[{"type":"input_text","text":"Developer rules"}]}}
{"timestamp":"2026-08-22T10:00:01Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"# AGENTS.md instructions for /p/one"}]}}
{"timestamp":"2026-08-22T10:00:02Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Open files: a.rs\nfix the cache"}]}}
{"timestamp":"2026-08-22T10:00:02Z","type":"event_msg","payload":{"type":"user_message","message":"fix the cache","images":[]}}
{"timestamp":"2026-08-22T10:00:03Z","type":"turn_context","payload":{"cwd":"/p/one","model":"gpt-5"}}
{"timestamp":"2026-08-22T10:00:04Z","type":"response_item","payload":{"type":"reasoning","summary":[{"type":"summary_text","text":"Thinking"}],"encrypted_content":"zzz"}}
{"timestamp":"2026-08-22T10:00:05Z","type":"event_msg","payload":{"type":"agent_message","message":"Looking at the cache."}}
{"timestamp":"2026-08-22T10:00:05Z","type":"response_item","metadata":{},"payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Looking at the cache."}],"phase":"commentary"}}
{"timestamp":"2026-08-22T10:00:06Z","type":"response_item","payload":{"type":"function_call","name":"shell","arguments":"{\"command\":[\"bash\",\"-lc\",\"rg cache src\"]}","call_id":"c1"}}
{"timestamp":"2026-08-22T10:00:07Z","type":"response_item","payload":{"type":"function_call_output","call_id":"c1","output":"{\"output\":\"rg: src: No such file or directory\\n\",\"metadata\":{\"exit_code\":2}}"}}
{"timestamp":"2026-08-22T10:00:08Z","type":"response_item","payload":{"type":"custom_tool_call","name":"apply_patch","input":"*** Begin Patch\n*** Update File: cache.rs","call_id":"c2"}}
{"timestamp":"2026-08-22T10:00:09Z","type":"response_item","payload":{"type":"image_generation_call","result":"AAAAAAAA"}}
{"timestamp":"2026-08-22T10:01:00Z","type":"compacted","payload":{"message":"summary","replacement_history":[{"type":"message","role":"user","content":[{"type":"input_text","text":"fix the cache"}]}]}}
{"timestamp":"2026-08-22T10:01:01Z","type":"event_msg","payload":{"type":"token_count","info":null}}
{"timestamp":"2026-08-22T10:01:02Z","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"The cache is fixed."}]}}
{"timestamp":"2026-08-22T10:01:03Z","type":"tarot","payload":{}}
{"timestamp":"2026-08-22T10:01:04Z","type":"response_item","payload":{"type":"divination"}}
"##;

const PAGINATED: &str = r#"{"timestamp":"2026-08-22T11:00:00Z","ordinal":0,"type":"session_meta","payload":{"session_id":"t-1","id":"t-2","parent_thread_id":"t-1","subagent_history_start_ordinal":2,"cwd":"/p/one","history_mode":"paginated","source":{"subagent":"review"}}}
{"timestamp":"2026-08-22T11:00:00Z","ordinal":1,"type":"event_msg","payload":{"type":"item_completed","item":{"type":"UserMessage","content":[{"type":"text","text":"of the parent"}]}}}
{"timestamp":"2026-08-22T11:00:01Z","ordinal":2,"type":"event_msg","payload":{"type":"item_completed","thread_id":"t-2","turn_id":"1","item":{"type":"UserMessage","content":[{"type":"text","text":"review it"}]}}}
{"timestamp":"2026-08-22T11:00:02Z","ordinal":3,"type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"One finding."}]}}
{"timestamp":"2026-08-22T11:00:02Z","ordinal":4,"type":"event_msg","payload":{"type":"item_completed","item":{"type":"AgentMessage","content":[{"type":"Text","text":"One finding."}]}}}
{"timestamp":"2026-08-22T11:00:03Z","ordinal":5,"type":"event_msg","payload":{"type":"item_completed","item":{"type":"CommandExecution","command":["bash","-lc","cargo clippy"],"cwd":"/p/one","status":"failed","exit_code":101,"aggregated_output":"error: unused variable"}}}
{"timestamp":"2026-08-22T11:00:04Z","ordinal":6,"type":"event_msg","payload":{"type":"item_completed","item":{"type":"AgentMessage","content":[{"type":"Text","text":"Only here."}]}}}
"#;

/// A file that Zstandard stores as it is: one frame with one raw block.
fn compressed(text: &str) -> Vec<u8> {
    let mut bytes = vec![0x28, 0xB5, 0x2F, 0xFD, 0xA0];
    bytes.extend_from_slice(&(text.len() as u32).to_le_bytes());
    let mut blocks = text.as_bytes().chunks(100_000).peekable();
    while let Some(block) = blocks.next() {
        let header = u32::from(blocks.peek().is_none()) | (block.len() as u32) << 3;
        bytes.extend_from_slice(&header.to_le_bytes()[..3]);
        bytes.extend_from_slice(block);
    }
    bytes
}

const CODEX_TURNS: [&str; 3] = [
    "user 10:00:02 /p/one: fix the cache",
    "assistant 10:00:05 /p/one: Looking at the cache. |  | shell: rg cache src | \
     apply_patch: *** Begin Patch *** Update File: cache.rs | \
     {\"output\":\"rg: src: No such file or directory\\n\",\"metadata\":{\"exit_code\":2}}",
    "assistant 10:01:02 /p/one: The cache is fixed.",
];

#[test]
fn codex() {
    let desk = Desk::new();
    let name = "rollout-2026-08-22T10-00-00-t-1.jsonl";
    let path = desk.write(&format!("sessions/2026/08/22/{name}"), CODEX);
    desk.write(
        "sessions/2026/08/22/rollout-2026-08-22T11-00-00-t-2.jsonl",
        PAGINATED,
    );
    desk.write("session_index.jsonl", "{}");
    let documents = desk.documents(Agent::Codex);
    let turns: Vec<String> = documents.iter().map(shown).collect();
    assert_eq!(turns[..3], CODEX_TURNS);
    assert_eq!(
        turns[3..],
        [
            "user 11:00:01 /p/one: review it",
            "assistant 11:00:02 /p/one: One finding. |  | shell: cargo clippy | error: unused variable",
            "assistant 11:00:04 /p/one: Only here.",
        ]
    );
    assert_eq!(documents[0].key, "t-1/00000");
    assert_eq!(
        (
            field(&documents[1], "session"),
            field(&documents[1], "model")
        ),
        ("t-1", "gpt-5")
    );
    assert_eq!(
        (
            field(&documents[3], "session"),
            field(&documents[3], "parent")
        ),
        ("t-2", "t-1")
    );
    let problem = documents[0].problem.as_deref();
    assert_eq!(
        problem,
        Some("left out: 2 lines of unknown type (divination, tarot)")
    );

    // An agent that has archived nothing has no folder for that, with or without copies.
    let options = TranscriptOptions::default();
    let source = TranscriptSource::new("mine", Agent::Codex, &desk.root(), options).unwrap();
    assert_eq!(source.extent().unwrap().0, 2);
    assert!(source.list().unwrap().left_out.is_empty());

    // Archived and compressed, it is the same session with the same turns.
    fs::remove_file(path).unwrap();
    desk.write(&format!("archived_sessions/{name}.zst"), compressed(CODEX));
    let again = desk.documents(Agent::Codex);
    assert_eq!(again[..3], documents[..3]);
}

#[test]
fn codex_without_events_or_envelopes() {
    let desk = Desk::new();
    let text = r#"{"id":"old","timestamp":"2026-08-22T10:00:00Z","instructions":null}
{"type":"message","role":"user","content":[{"type":"input_text","text":"<environment_context>x</environment_context>"}]}
{"type":"message","role":"user","content":[{"type":"input_text","text":"hello there"}]}
{"type":"message","role":"assistant","content":[{"type":"output_text","text":"General."}]}
{"type":"message","role":"user","content":[{"type":"input_text","text":"last words"}]}
"#;
    desk.write("sessions/rollout-2025-05-01T10-00-00-old.jsonl", text);
    assert_eq!(
        desk.turns(Agent::Codex),
        [
            "user - -: hello there",
            "assistant - -: General.",
            "user - -: last words"
        ]
    );
}

const PI: &str = r#"{"type":"session","version":3,"id":"p-1","timestamp":"2026-08-22T10:00:00Z","cwd":"/p/one","parentSession":"/x/2026-08-21T00-00-00_p-0.jsonl"}
{"type":"model_change","id":"00000001","parentId":null,"timestamp":"2026-08-22T10:00:00Z","provider":"a","modelId":"sonnet"}
{"type":"message","id":"00000002","parentId":"00000001","timestamp":"2026-08-22T10:00:01Z","message":{"role":"user","content":"Plan a","timestamp":1787392801000}}
{"type":"message","id":"00000003","parentId":"00000002","timestamp":"2026-08-22T10:00:02Z","message":{"role":"assistant","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"Doing a."},{"type":"toolCall","id":"c","name":"bash","arguments":{"command":"make a"}}],"model":"sonnet","stopReason":"toolUse"}}
{"type":"message","id":"00000004","parentId":"00000003","timestamp":"2026-08-22T10:00:03Z","message":{"role":"toolResult","toolCallId":"c","toolName":"bash","content":[{"type":"text","text":"make: no rule"}],"isError":true}}
{"type":"message","id":"00000005","parentId":"00000004","timestamp":"2026-08-22T10:00:04Z","message":{"role":"assistant","content":[{"type":"text","text":"A failed."}]}}
{"type":"branch_summary","id":"00000006","parentId":"00000002","timestamp":"2026-08-22T10:00:05Z","fromId":"00000005","summary":"tried a"}
{"type":"message","id":"00000007","parentId":"00000006","timestamp":"2026-08-22T10:00:06Z","message":{"role":"user","content":[{"type":"text","text":"Plan b instead"}]}}
{"type":"message","id":"00000008","parentId":"00000005","timestamp":"2026-08-22T10:00:07Z","message":{"role":"user","content":"Back to a"}}
{"type":"compaction","id":"00000009","parentId":"00000008","timestamp":"2026-08-22T10:00:08Z","summary":"all of a","firstKeptEntryId":"00000008","tokensBefore":9}
{"type":"message","id":"0000000a","parentId":"00000009","timestamp":"2026-08-22T10:00:09Z","message":{"role":"bashExecution","command":"ls","output":"x","exitCode":0}}
{"type":"custom","id":"0000000b","parentId":"0000000a","customType":"x","data":{}}
{"type":"session_info","id":"0000000c","parentId":"0000000b","name":"Plans"}
{"type":"oracle","id":"0000000d","parentId":"0000000c"}
"#;

#[test]
fn pi() {
    let desk = Desk::new();
    desk.write("sessions/--p-one--/2026-08-22T10-00-00-000Z_p-1.jsonl", PI);
    let documents = desk.documents(Agent::Pi);
    let turns: Vec<String> = documents.iter().map(shown).collect();
    assert_eq!(
        turns,
        [
            "user 10:00:01 /p/one: Plan a",
            "assistant 10:00:02 /p/one: Doing a. |  | bash: make a | make: no rule",
            "assistant 10:00:04 /p/one: A failed.",
            "user 10:00:06 /p/one: Plan b instead",
            "user 10:00:07 /p/one: Back to a",
            "user 10:00:09 /p/one: bash: ls",
        ]
    );
    // Neighbours are those of the tree.
    let threads: Vec<_> = documents
        .iter()
        .map(|it| it.thread.clone().unwrap())
        .collect();
    let places: Vec<_> = threads
        .iter()
        .map(|it| (it.name.as_str(), it.position.unwrap()))
        .collect();
    let main = [("p-1", 0), ("p-1", 1), ("p-1", 2)];
    assert_eq!(places[..3], main);
    assert_eq!(places[3], ("p-1#00000006", 1));
    assert_eq!(places[4..], [("p-1", 3), ("p-1", 4)]);
    assert_eq!(
        (
            field(&documents[0], "parent"),
            field(&documents[0], "model")
        ),
        ("p-0", "sonnet")
    );
    assert_eq!(documents[0].title, "Plans");
    assert_eq!(
        documents[0].problem.as_deref(),
        Some("left out: 1 line of unknown type (oracle)")
    );
}

#[test]
fn pi_of_the_first_version() {
    let desk = Desk::new();
    let text = r#"{"type":"session","id":"p-2","timestamp":"2026-08-22T10:00:00Z","cwd":"/p/one"}
{"type":"message","timestamp":"2026-08-22T10:00:01Z","message":{"role":"user","content":"one"}}
{"type":"message","timestamp":"2026-08-22T10:00:02Z","message":{"role":"assistant","content":[{"type":"text","text":"two"}]}}
"#;
    desk.write("sessions/--p--/x_p-2.jsonl", text);
    assert_eq!(
        desk.turns(Agent::Pi),
        [
            "user 10:00:01 /p/one: one",
            "assistant 10:00:02 /p/one: two"
        ]
    );
}

const GEMINI: &str = r#"{"sessionId":"g-1","projectHash":"h","startTime":"x","directories":["/p/one"],"kind":"main"}
{"id":"1","timestamp":"2026-08-22T10:00:00Z","type":"user","content":"first try"}
{"id":"2","timestamp":"2026-08-22T10:00:01Z","type":"gemini","content":"partial","model":"pro"}
{"id":"2","timestamp":"2026-08-22T10:00:01Z","type":"gemini","content":[{"text":"whole answer"}],"model":"pro","thoughts":[{"subject":"s","description":"d"}],"toolCalls":[{"id":"c","name":"read_file","args":{"path":"a.rs"},"status":"error","resultDisplay":"File not found"}]}
{"id":"3","timestamp":"2026-08-22T10:00:02Z","type":"user","content":"a mistake"}
{"id":"4","timestamp":"2026-08-22T10:00:03Z","type":"gemini","content":"wrong way"}
{"$rewindTo":"3"}
{"id":"5","timestamp":"2026-08-22T10:00:04Z","type":"user","content":[{"text":"expanded @file"},{"inlineData":{"data":"AAAA"}}],"displayContent":"a better question"}
{"$set":{"summary":"About files","lastUpdated":"x"}}
{"id":"6","timestamp":"2026-08-22T10:00:05Z","type":"info","content":"Update available"}
{"mystery":1}
"#;

#[test]
fn gemini() {
    let desk = Desk::new();
    desk.write("tmp/slug/chats/session-2026-08-22T10-00-aaaa.jsonl", GEMINI);
    desk.write(
        "tmp/slug/chats/session-2026-08-22T10-00-aaaa.json",
        r#"{"sessionId":"g-1","messages":[]}"#,
    );
    desk.write(
        "tmp/slug/chats/session-2026-08-21T10-00-bbbb.json",
        r#"{"sessionId":"g-0","messages":[{"id":"1","timestamp":"2026-08-22T09:00:00Z","type":"user","content":"in one object"}]}"#,
    );
    desk.write(
        "tmp/slug/chats/g-1/sub-1.jsonl",
        "{\"sessionId\":\"sub-1\",\"kind\":\"subagent\"}\n{\"id\":\"1\",\"timestamp\":\"2026-08-22T10:00:01Z\",\"type\":\"user\",\"content\":\"look\"}\n\
         {\"$rewindTo\":\"unknown\"}\n{\"$set\":{\"messages\":[{\"id\":\"9\",\"timestamp\":\"2026-08-22T10:00:09Z\",\"type\":\"user\",\"content\":\"checkpoint\"}]}}\n",
    );
    desk.write("tmp/slug/.project_root", "/p/two\n");
    desk.write("tmp/slug/logs.json", "[]");
    let documents = desk.documents(Agent::Gemini);
    let turns: Vec<String> = documents.iter().map(shown).collect();
    assert_eq!(
        turns,
        [
            "user 10:00:09 -: checkpoint",
            "user 09:00:00 /p/two: in one object",
            "user 10:00:00 /p/one: first try",
            "assistant 10:00:01 /p/one: whole answer |  | read_file: a.rs | File not found",
            "user 10:00:04 /p/one: a better question",
        ]
    );
    assert_eq!(field(&documents[0], "parent"), "g-1");
    assert_eq!(
        (field(&documents[2], "session"), documents[2].title.as_str()),
        ("g-1", "About files")
    );
    assert_eq!(
        documents[2].problem.as_deref(),
        Some("left out: 1 line of unknown type (a record)")
    );
}

#[test]
fn hostile_lines_harm_no_other() {
    let desk = Desk::new();
    let said = |id: &str, text: &str| {
        format!(
            "{{\"type\":\"user\",\"uuid\":\"{id}\",\"sessionId\":\"s\",\"message\":{{\"content\":\"{text}\"}}}}\n"
        )
    };
    let image = "A".repeat(10 << 20);
    let mut bytes = said("1", "before").into_bytes();
    bytes.extend_from_slice(b"\n\r\n");
    bytes.extend_from_slice(
        b"{\"type\":\"user\",\"uuid\":\"2\",\"message\":{\"content\":\"caf\xe9 cut\"}}\r\n",
    );
    bytes.extend_from_slice(
        format!("{{\"type\":\"user\",\"uuid\":\"3\",\"message\":{{\"content\":[{{\"type\":\"image\",\"source\":{{\"data\":\"{image}\"}}}},{{\"type\":\"text\",\"text\":\"a picture\"}}]}}}}\n").as_bytes(),
    );
    bytes.extend_from_slice(
        format!("{{\"type\":\"user\",\"message\":{}\n", "[".repeat(500_000)).as_bytes(),
    );
    bytes.extend_from_slice(b"[]\n42\n\"text\"\n\0\0\0\n");
    bytes.extend_from_slice(said("../../etc/passwd", "strange id").as_bytes());
    bytes.extend_from_slice(said("6", "after").as_bytes());
    desk.write("projects/x/s.jsonl", bytes);
    let documents = desk.documents(Agent::ClaudeCode);
    let texts: Vec<&str> = documents.iter().map(|it| it.body.as_str()).collect();
    assert_eq!(
        texts,
        [
            "before",
            "caf\u{fffd} cut",
            "a picture",
            "strange id",
            "after"
        ]
    );
    assert_eq!(documents[3].key, "s/.._.._etc_passwd");
    let problem = documents[0].problem.as_deref();
    assert_eq!(problem, Some("left out: 5 lines that could not be read"));
    let kept: u64 = all_files(&desk.keep())
        .iter()
        .map(|file| fs::metadata(file).unwrap().len())
        .sum();
    assert!(kept < 4096, "{kept}");
}

/// Values that a record may have anywhere.
fn value() -> impl Strategy<Value = String> {
    let plain = prop_oneof![
        Just("null".to_owned()),
        Just("true".to_owned()),
        Just("-1.5e3".to_owned()),
        "\"[a-z<>/ü]{0,12}\"",
        Just("\"2026-08-22T10:00:00Z\"".to_owned()),
        Just("\"user\"".to_owned()),
        Just("\"assistant\"".to_owned()),
        Just("\"text\"".to_owned()),
        Just("\"message\"".to_owned()),
        Just("\"response_item\"".to_owned()),
    ];
    plain.prop_recursive(4, 24, 4, |inner| {
        let names = prop_oneof![
            Just("type"),
            Just("message"),
            Just("content"),
            Just("payload"),
            Just("role"),
            Just("id"),
            Just("uuid"),
            Just("parentId"),
            Just("text"),
            Just("input"),
            Just("$set"),
            Just("messages"),
            Just("timestamp"),
        ];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4)
                .prop_map(|all| format!("[{}]", all.join(","))),
            prop::collection::vec((names, inner), 0..5).prop_map(|all| {
                let fields: Vec<String> = all
                    .iter()
                    .map(|(name, value)| format!("\"{name}\":{value}"))
                    .collect();
                format!("{{{}}}", fields.join(","))
            }),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn any_records_are_read(lines in prop::collection::vec(value(), 0..8), tail in "\\PC{0,20}") {
        let text = lines.join("\n") + "\n" + &tail;
        let places = [
            (Agent::ClaudeCode, "projects/p/s.jsonl"),
            (Agent::Codex, "sessions/rollout-2026-08-22T10-00-00-s.jsonl"),
            (Agent::Pi, "sessions/p/x_s.jsonl"),
            (Agent::Gemini, "tmp/p/chats/session-s.jsonl"),
            (Agent::Cursor, "projects/p/agent-transcripts/s.jsonl"),
        ];
        for (agent, path) in places {
            let desk = Desk::new();
            desk.write(path, &text);
            let first = desk.documents(agent);
            // Reading it again, from where it ended, changes nothing.
            prop_assert_eq!(&desk.documents(agent), &first);
        }
    }
}
