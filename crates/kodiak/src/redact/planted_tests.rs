//! Plants secrets of many kinds in texts as agents see them, and counts what is left.

use super::redact;

/// A small generator of random numbers, so that the secrets are the same each time.
struct Random(u64);

impl Random {
    fn next(&mut self, below: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % below
    }

    fn of(&mut self, alphabet: &str, length: usize) -> String {
        let letters: Vec<char> = alphabet.chars().collect();
        (0..length)
            .map(|_| letters[self.next(letters.len())])
            .collect()
    }
}

const UPPER: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
const HEX: &str = "0123456789abcdef";
const LETTERS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const URL: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const BASE64: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Returns what must vanish, and a text that has it.
fn plant(kind: usize, random: &mut Random) -> (String, String) {
    let token = match kind {
        0 => format!("AKIA{}", random.of(UPPER, 16)),
        1 => format!("ghp_{}", random.of(LETTERS, 36)),
        2 => format!(
            "github_pat_{}_{}",
            random.of(LETTERS, 22),
            random.of(LETTERS, 59)
        ),
        3 => format!("glpat-{}", random.of(URL, 20)),
        4 => format!(
            "xoxb-{}-{}-{}",
            random.of("0123456789", 12),
            random.of("0123456789", 13),
            random.of(LETTERS, 24)
        ),
        5 => format!("sk_live_{}", random.of(LETTERS, 24)),
        6 => format!(
            "sk-proj-{}T3BlbkFJ{}",
            random.of(URL, 74),
            random.of(URL, 74)
        ),
        7 => format!("sk-ant-api03-{}AA", random.of(URL, 93)),
        8 => format!("AIza{}", random.of(URL, 35)),
        9 => format!("npm_{}", random.of(LETTERS, 36)),
        10 => format!("pypi-AgEIcHlwaS5vcmc{}", random.of(URL, 150)),
        11 => format!(
            "eyJhbGciOiJIUzI1NiJ9.eyJ{}.{}",
            random.of(URL, 60),
            random.of(URL, 43)
        ),
        12 => format!("SG.{}.{}", random.of(URL, 22), random.of(URL, 43)),
        13 => format!("{}:AA{}", random.of("123456789", 10), random.of(URL, 33)),
        14 => format!("hf_{}", random.of(LETTERS, 34)),
        15 => format!("dop_v1_{}", random.of(HEX, 64)),
        16 => format!(
            "MT{}.{}.{}",
            random.of(LETTERS, 22),
            random.of(URL, 6),
            random.of(URL, 38)
        ),
        17 => format!("shpat_{}", random.of(HEX, 32)),
        // These are secret because of their names and places.
        18 => {
            let secret = random.of(BASE64, 40);
            return (
                secret.clone(),
                format!("aws_secret_access_key = {secret}\nregion = eu-central-1"),
            );
        }
        19 => {
            let secret = format!("{}7!{}", random.of(LETTERS, 6), random.of(LETTERS, 4));
            let text = match random.next(4) {
                0 => format!("DATABASE_URL=postgres://app:{secret}@db.internal:5432/app"),
                1 => format!("{{\"user\": \"app\", \"password\": \"{secret}\"}}"),
                2 => format!("mysql --user=root --password={secret} shop"),
                _ => format!("export PGPASSWORD='{secret}'"),
            };
            return (secret, text);
        }
        20 => {
            let secret = random.of(LETTERS, 32);
            let text = match random.next(5) {
                0 => format!("curl -H 'Authorization: Bearer {secret}' https://api.internal/v1/me"),
                1 => format!("headers = {{\"X-Api-Key\": \"{secret}\"}}"),
                2 => format!("client_secret: {secret}\n"),
                3 => format!("{{\\\"accessToken\\\": \\\"{secret}\\\"}}"),
                _ => format!("STRIPE_WEBHOOK_KEY={secret}"),
            };
            return (secret, text);
        }
        _ => {
            let lines: Vec<String> = (0..6).map(|_| random.of(BASE64, 64)).collect();
            let text = format!(
                "cat key.pem\n-----BEGIN RSA PRIVATE KEY-----\n{}\n-----END RSA PRIVATE KEY-----\nand then",
                lines.join("\n")
            );
            return (lines[random.next(6)].clone(), text);
        }
    };
    let text = match random.next(6) {
        0 => format!("here it is: {token}."),
        1 => format!("{{\"value\":\"{token}\"}}"),
        2 => format!("SERVICE_TOKEN={token}\nPORT=8080"),
        3 => format!("run it with `tool --token {token}` and look at the log"),
        4 => format!("line one\\nkey is {token}\\nline three"),
        _ => format!("https://api.internal/v1?access={token}&page=2"),
    };
    (token, text)
}

#[test]
fn planted_secrets_are_gone() {
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    let planted: Vec<_> = (0..220)
        .map(|index| plant(index % 22, &mut random))
        .collect();
    let left: Vec<_> = planted
        .iter()
        .filter(|(secret, text)| redact(text).contains(secret.as_str()))
        .collect();
    assert!(
        left.len() * 100 <= planted.len() * 2,
        "{} of {} are left: {left:#?}",
        left.len(),
        planted.len()
    );
}

#[test]
fn what_surrounds_a_secret_stays() {
    let mut random = Random(77);
    for index in 0..220 {
        let (secret, text) = plant(index % 22, &mut random);
        let redacted = redact(&text);
        assert_eq!(redact(&redacted), redacted, "{text}");
        let (before, after) = text.split_once(&secret).expect("it was planted");
        assert!(
            before.len() < 12 || redacted.starts_with(&before[..12]),
            "{redacted}"
        );
        let tail = after.len().saturating_sub(6);
        assert!(redacted.ends_with(&after[tail..]), "{redacted}");
    }
}

#[test]
fn the_example_notes_have_no_secrets() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/notes");
    let mut folders = vec![folder];
    let mut lines = 0;
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let text = std::fs::read_to_string(&path).expect("a note");
            for line in text.lines() {
                assert_eq!(redact(line), line, "{}", path.display());
                lines += 1;
            }
        }
    }
    assert!(lines > 300);
}
