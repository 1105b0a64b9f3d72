//! Copies: what was read stays, is private, has no secrets, and goes when forgotten.

use super::*;

fn said(id: &str, text: &str) -> String {
    format!(
        "{{\"type\":\"user\",\"uuid\":\"{id}\",\"sessionId\":\"s\",\"cwd\":\"/p\",\"timestamp\":\"2026-08-22T10:00:00Z\",\"message\":{{\"content\":\"{text}\"}}}}\n"
    )
}

fn answered(id: &str, text: &str) -> String {
    format!(
        "{{\"type\":\"assistant\",\"sessionId\":\"s\",\"cwd\":\"/p\",\"timestamp\":\"2026-08-22T10:00:01Z\",\"message\":{{\"id\":\"{id}\",\"content\":[{{\"type\":\"text\",\"text\":\"{text}\"}}]}}}}\n"
    )
}

const FILE: &str = "projects/x/s.jsonl";

#[test]
fn what_was_read_stays_when_the_original_is_gone() {
    let desk = Desk::new();
    let path = desk.write(FILE, said("1", "hello") + &answered("2", "good day"));
    let before = desk.documents(Agent::ClaudeCode);
    let source = desk.source(Agent::ClaudeCode);
    assert!(!source.is_original_gone("s"));
    assert_eq!(source.kept().unwrap().0, 1);
    fs::remove_file(&path).unwrap();
    assert!(source.is_original_gone("s"));
    assert!(matches!(source.presence("s"), Presence::There(_)));
    assert_eq!(desk.documents(Agent::ClaudeCode), before);
    // Also if the whole folder of the agent is gone.
    fs::remove_dir_all(desk.root()).unwrap();
    assert_eq!(desk.documents(Agent::ClaudeCode), before);
    // Without copies it is gone.
    fs::create_dir(desk.root()).unwrap();
    let options = TranscriptOptions::default();
    let source = TranscriptSource::new("mine", Agent::ClaudeCode, &desk.root(), options).unwrap();
    assert!(documents(&source).is_empty());
    assert_eq!(source.presence("s"), Presence::Gone);
}

#[test]
fn an_original_that_shrinks_loses_nothing() {
    let desk = Desk::new();
    desk.write(
        FILE,
        said("1", "one") + &answered("2", "two") + &said("3", "three"),
    );
    assert_eq!(desk.documents(Agent::ClaudeCode).len(), 3);
    desk.write(FILE, said("3", "three") + &answered("4", "four"));
    let texts =
        |documents: Vec<Document>| documents.into_iter().map(|it| it.body).collect::<Vec<_>>();
    assert_eq!(
        texts(desk.documents(Agent::ClaudeCode)),
        ["one", "two", "three", "four"]
    );
    desk.append(FILE, said("5", "five"));
    assert_eq!(
        texts(desk.documents(Agent::ClaudeCode)),
        ["one", "two", "three", "four", "five"]
    );
}

#[test]
fn reading_on_gives_the_same_as_reading_at_once() {
    for agent in [Agent::ClaudeCode, Agent::Codex] {
        let (name, text) = if agent == Agent::ClaudeCode {
            let mut text = String::new();
            for turn in 0..40 {
                text += &said(&format!("u{turn}"), &format!("question {turn}"));
                text += "{\"type\":\"unheard-of\"}\n";
                text += &answered(&format!("a{turn}"), "part one");
                text += &answered(&format!("a{turn}"), &format!("part two of {turn}"));
            }
            (FILE, text)
        } else {
            let mut text = String::from(
                "{\"type\":\"session_meta\",\"payload\":{\"id\":\"s\",\"cwd\":\"/p\"}}\n",
            );
            for turn in 0..40 {
                text += &format!(
                    "{{\"type\":\"response_item\",\"payload\":{{\"type\":\"message\",\"role\":\"user\",\"content\":\"q {turn}\"}}}}\n"
                );
                text += &format!(
                    "{{\"type\":\"event_msg\",\"payload\":{{\"type\":\"user_message\",\"message\":\"q {turn}\"}}}}\n"
                );
                text += &format!(
                    "{{\"type\":\"response_item\",\"payload\":{{\"type\":\"message\",\"role\":\"assistant\",\"content\":\"a {turn}\"}}}}\n"
                );
                text += "{\"type\":\"response_item\",\"payload\":{\"type\":\"function_call\",\"name\":\"x\",\"arguments\":\"{}\"}}\n";
            }
            ("sessions/rollout-2026-08-22T10-00-00-s.jsonl", text)
        };
        let whole = Desk::new();
        whole.write(name, &text);
        let expected = whole.documents(agent);
        assert!(expected.len() >= 80);
        // In pieces of any length, which may end within a line or a character.
        for step in [37, 700, 2500] {
            let desk = Desk::new();
            desk.write(name, "");
            let mut kept = 0;
            for piece in text.as_bytes().chunks(step * 4) {
                desk.append(name, piece);
                let documents = desk.documents(agent);
                assert!(documents.len() >= kept, "{agent:?} {step}");
                kept = documents.len();
            }
            let strip = |mut documents: Vec<Document>| {
                for document in &mut documents {
                    document.updated_at = 0;
                    document.hash = [0; 32];
                }
                documents
            };
            assert_eq!(
                strip(desk.documents(agent)),
                strip(expected.clone()),
                "{agent:?} {step}"
            );
        }
    }
}

#[test]
fn only_the_end_of_a_grown_file_is_read() {
    let desk = Desk::new();
    let mut text = String::new();
    for turn in 0..100 {
        text += &said(&format!("u{turn}"), &format!("question {turn}"));
    }
    let path = desk.write(FILE, &text);
    desk.documents(Agent::ClaudeCode);
    // What was read long ago is not read again: it could not be read any more.
    let mut bytes = text.into_bytes();
    let middle = bytes.len() / 2;
    bytes[middle..middle + 20].fill(b'x');
    fs::write(&path, &bytes).unwrap();
    desk.append(FILE, said("last", "the end"));
    let documents = desk.documents(Agent::ClaudeCode);
    assert_eq!(documents.len(), 101);
    assert!(documents[0].problem.is_none());
}

#[test]
fn copies_are_private_and_without_secrets() {
    let desk = Desk::new();
    let token = format!("ghp_{}", "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1eF3hI5");
    let key = "-----BEGIN RSA PRIVATE KEY-----\\nMIIEpAIBAAKCAQEA\\n-----END RSA PRIVATE KEY-----";
    let call = format!(
        "{{\"type\":\"assistant\",\"cwd\":\"/p/{token}\",\"gitBranch\":\"{token}\",\"message\":{{\"id\":\"m\",\"model\":\"{token}\",\"content\":[{{\"type\":\"tool_use\",\"name\":\"Bash\",\"input\":{{\"command\":\"curl -H 'Authorization: Bearer {token}'\"}}}}]}}}}\n"
    );
    let result = format!(
        "{{\"type\":\"user\",\"message\":{{\"content\":[{{\"type\":\"tool_result\",\"is_error\":true,\"content\":\"error: {token} is not valid\"}}]}}}}\n"
    );
    let title = format!(
        "{{\"type\":\"ai-title\",\"aiTitle\":\"Use {token}\"}}\n{{\"type\":\"{token}\"}}\n"
    );
    desk.write(
        FILE,
        said("1", &format!("my key {token} and {key}")) + &call + &result + &title,
    );
    for document in desk.documents(Agent::ClaudeCode) {
        let all = format!("{document:?}");
        assert!(!all.contains(&token) && !all.contains("MIIEp"), "{all}");
        assert!(all.contains("[redacted:github-token]"), "{all}");
    }
    for file in all_files(&desk.folder.path().join("data")) {
        let text = fs::read_to_string(&file).unwrap();
        assert!(!text.contains(&token) && !text.contains("MIIEp"), "{text}");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
            assert_eq!((mode(&file), mode(file.parent().unwrap())), (0o600, 0o700));
        }
    }
}

#[test]
fn what_is_forgotten_leaves_the_copies_and_stays_away() {
    let desk = Desk::new();
    desk.write(
        FILE,
        said("1", "alpha") + &answered("2", "beta") + &said("3", "gamma"),
    );
    desk.documents(Agent::ClaudeCode);
    let source = desk.source(Agent::ClaudeCode);
    let forget = |keys: &[&str]| {
        let pairs: Vec<_> = keys
            .iter()
            .map(|key| ("mine".to_owned(), (*key).to_owned()))
            .collect();
        desk.tombstones().add(&pairs, &[]).unwrap();
        source.forget(keys).unwrap();
    };
    let copies = || {
        all_files(&desk.keep())
            .iter()
            .map(|file| fs::read_to_string(file).unwrap())
            .collect::<String>()
    };
    forget(&["s/2"]);
    assert!(copies().contains("alpha") && !copies().contains("beta"));
    // The original still has it, and grows.
    desk.append(FILE, answered("4", "delta"));
    let texts = || {
        desk.documents(Agent::ClaudeCode)
            .into_iter()
            .map(|it| it.body)
            .collect::<Vec<_>>()
    };
    assert_eq!(texts(), ["alpha", "gamma", "delta"]);
    assert!(!copies().contains("beta"));
    // A session of which nothing is left has no copy.
    forget(&["s/1", "s/3", "s/4"]);
    assert!(all_files(&desk.keep()).is_empty());
    assert!(texts().is_empty());
    assert!(all_files(&desk.keep()).is_empty());
    // Neither have later turns of a session that was forgotten as a whole.
    desk.tombstones()
        .add(&[], &[("mine".to_owned(), "s".to_owned())])
        .unwrap();
    desk.append(FILE, said("5", "epsilon"));
    assert!(texts().is_empty() && all_files(&desk.keep()).is_empty());
}

#[test]
fn secrets_in_a_copy_of_an_earlier_format_are_removed() {
    let desk = Desk::new();
    desk.write(FILE, said("1", "alpha and beta"));
    desk.documents(Agent::ClaudeCode);
    let copy = all_files(&desk.keep()).remove(0);
    let secret = "-----BEGIN EC PRIVATE KEY----- MHcCAQEEIIrYSSNQFaA2Hwf1duRSxKtLYX5CB04f";
    let text = fs::read_to_string(&copy).unwrap();
    let text = text.replace("\"format\":2", "\"format\":1");
    fs::write(&copy, text.replace("alpha", secret)).unwrap();
    // Only the copy is left.
    fs::remove_file(desk.root().join(FILE)).unwrap();
    let documents = desk.documents(Agent::ClaudeCode);
    assert_eq!(documents[0].body, "[redacted:private-key] and beta");
    let text = fs::read_to_string(&copy).unwrap();
    assert!(
        text.contains("\"format\":2") && !text.contains("MHcCAQ"),
        "{text}"
    );
    // It is not read again because it was written.
    let source = desk.source(Agent::ClaudeCode);
    let before = source.list().unwrap().entries;
    assert_eq!(desk.documents(Agent::ClaudeCode).len(), 1);
    assert_eq!(source.list().unwrap().entries, before);
}

#[test]
fn a_copy_of_a_later_format_is_left_alone() {
    let desk = Desk::new();
    desk.write(FILE, said("1", "alpha"));
    desk.documents(Agent::ClaudeCode);
    let copy = all_files(&desk.keep()).remove(0);
    let text = fs::read_to_string(&copy).unwrap();
    let format = format!("\"format\":{}", keep::FORMAT);
    assert!(text.contains(&format), "{text}");
    let text = text.replace(&format, "\"format\":99");
    fs::write(&copy, &text).unwrap();
    let source = desk.source(Agent::ClaudeCode);
    let entry = source.list().unwrap().entries.remove(0);
    assert!(source.read(&entry, &mut |_| {}).is_err());
    assert_eq!(fs::read_to_string(&copy).unwrap(), text);
    // One that cannot be understood is rewritten.
    fs::write(&copy, "broken").unwrap();
    assert_eq!(desk.documents(Agent::ClaudeCode).len(), 1);
    assert!(fs::read_to_string(&copy).unwrap().contains("alpha"));
}

fn queued(operation: &str, at: u32, text: &str) -> String {
    let content = match text {
        "" => String::new(),
        text => format!("\"content\":\"{text}\","),
    };
    format!(
        "{{\"type\":\"queue-operation\",\"operation\":\"{operation}\",{content}\"timestamp\":\"2026-08-22T10:01:{at:02}Z\",\"sessionId\":\"s\"}}\n"
    )
}

/// A prompt that waits at the end of the file is there, and once it is taken up, it is
/// there once: whether the file is read on, read again as a whole, or without copies.
#[test]
fn a_waiting_prompt_is_found_and_never_twice() {
    let texts = |desk: &Desk| -> Vec<String> {
        let documents = desk.documents(Agent::ClaudeCode).into_iter();
        documents.map(|document| document.body).collect()
    };
    let begin = said("1", "build it") + &answered("2", "building");
    let stages = [
        begin.clone() + &queued("enqueue", 1, "then deploy it") + &queued("enqueue", 2, "and rest"),
        queued("dequeue", 3, "") + &said("3", "then deploy it"),
        (0..20)
            .map(|at| said(&format!("more {at}"), "go on") + &answered("4", "deploying"))
            .collect(),
        queued("dequeue", 4, ""),
        said("5", "and rest") + &answered("6", "resting"),
    ];
    let waits = ["build it", "building", "then deploy it", "and rest"];
    let desk = Desk::new();
    desk.write(FILE, &stages[0]);
    assert_eq!(texts(&desk), waits);
    assert_eq!(texts(&desk), waits, "reading again changes nothing");
    let whole = Desk::new();
    let mut all = stages[0].clone();
    for (number, stage) in stages.iter().enumerate().skip(1) {
        desk.append(FILE, stage);
        all += stage;
        let now = texts(&desk);
        let count = |text: &str| now.iter().filter(|one| *one == text).count();
        assert_eq!(count("then deploy it"), 1, "{number}: {now:?}");
        let rests = usize::from(number != 3);
        assert_eq!(count("and rest"), rests, "{number}: {now:?}");
        whole.write(FILE, &all);
        assert_eq!(texts(&whole), now, "{number}");
    }
    // A file that was rewritten is read as a whole, beside what was kept of it.
    let desk = Desk::new();
    desk.write(FILE, &stages[0]);
    assert_eq!(texts(&desk), waits);
    desk.write(FILE, said("0", "x") + &stages.concat());
    let now = texts(&desk);
    let count = |text: &str| now.iter().filter(|one| *one == text).count();
    assert_eq!(
        (count("then deploy it"), count("and rest")),
        (1, 1),
        "{now:?}"
    );
    // If the original is gone, so is every chance that it is taken up.
    let desk = Desk::new();
    let file = desk.write(FILE, &stages[0]);
    assert_eq!(texts(&desk), waits);
    fs::remove_file(file).unwrap();
    assert_eq!(texts(&desk), waits);
}

#[test]
fn waiting_prompts_that_are_said_without_being_dequeued_come_once() {
    let desk = Desk::new();
    let many: String = (0..30)
        .map(|at| queued("enqueue", at, &format!("prompt {at}")))
        .collect();
    desk.write(FILE, said("1", "build it") + &many + &said("2", "prompt 7"));
    let key = "AKIAIOSFODNN7EXAMPLE";
    desk.append(FILE, queued("enqueue", 40, &format!("use {key}")));
    let documents = desk.documents(Agent::ClaudeCode);
    let seven = documents
        .iter()
        .filter(|one| one.body == "prompt 7")
        .count();
    assert_eq!((seven, documents.len()), (1, 32));
    for file in all_files(&desk.keep()) {
        let kept = fs::read_to_string(file).unwrap();
        assert!(kept.contains("prompt 9") && !kept.contains(key), "{kept}");
    }
}
