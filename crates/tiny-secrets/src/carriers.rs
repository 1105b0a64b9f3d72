//! The texts around secrets: where a token occurs, and how tools show a text.

use crate::random::Random;

/// Returns a text that has a token in it.
pub(crate) fn around_token(token: &str, random: &mut Random) -> String {
    let text = random.one(&[
        "here it is: {}.",
        "{\"value\":\"{}\"}",
        "SERVICE_TOKEN={}\nPORT=8080",
        "run it with `tool --token {}` and look at the log",
        "https://api.internal/v1?access={}&page=2",
        "  501  export SERVICE_KEY={}\n  502  ls",
        "service:\n  credential: {}\n  region: eu",
        "client = Client(\"{}\")",
        "const client = new Client({ auth: '{}' });",
        "curl -H 'X-Service: {}' https://api.internal/v1/me",
        "2026-01-14T10:11:12Z INFO signing in with {}",
        "I pasted {} into the form and it worked",
        "```sh\nlogin {}\n```",
        "{}",
        "- {}\n- another line",
    ]);
    text.replacen("{}", token, 1)
}

/// Returns a text as an agent's tool, a mail or a record shows it.
pub(crate) fn wrapped(text: &str, random: &mut Random) -> String {
    let each = |line: &dyn Fn(usize, &str) -> String| -> String {
        let lines = text.lines().enumerate();
        let lines: Vec<String> = lines.map(|(at, text)| line(at + 8, text)).collect();
        lines.join("\n")
    };
    match random.below(14) {
        0 => each(&|at, line| format!("{at:>6}\u{2192}{line}")),
        1 => each(&|at, line| format!("{at}: {line}")),
        2 => each(&|at, line| format!("{at:>4}|{line}")),
        3 => each(&|at, line| format!("{at:>4} | {line}")),
        4 => format!("@@ -8,2 +8,9 @@\n{}", each(&|_, line| format!("+{line}"))),
        5 => each(&|_, line| format!("-{line}")),
        6 => each(&|_, line| format!("> {line}")),
        7 => each(&|_, line| format!("        {line}")),
        8 => format!("```\n{text}\n```"),
        9 => format!("{{\"content\":\"{}\"}}", escaped(text)),
        10 => format!("{{\"a\":\"{}\"}}", escaped(&escaped(text))),
        11 => each(&|at, line| format!("{at}\t{line}")),
        _ => text.to_owned(),
    }
}

/// Returns a text as it is written in a JSON string.
fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for sign in text.chars() {
        match sign {
            '\n' => escaped.push_str("\\n"),
            '\t' => escaped.push_str("\\t"),
            '"' | '\\' => escaped.extend(['\\', sign]),
            other => escaped.push(other),
        }
    }
    escaped
}
