//! Texts without secrets that look as if they had one.

use crate::carriers::wrapped;
use crate::random::{BASE64, DIGITS, HEX, LETTERS, LOWER, Random, UPPER, URL};

/// Returns a text in which nothing is secret.
pub fn harmless(random: &mut Random) -> String {
    let text = match random.below(6) {
        0 => numbers(random),
        1 => identifiers(random),
        2 => code(random),
        3 | 4 => prose(random),
        _ => settings(random),
    };
    wrapped(&text, random)
}

/// Hashes, ids and encoded data.
fn numbers(r: &mut Random) -> String {
    match r.below(14) {
        0 => format!("commit {}\nAuthor: Ada <ada@example.org>", r.of(HEX, 40)),
        1 => format!("index {}..{} 100644", r.of(HEX, 7), r.of(HEX, 7)),
        2 => format!("sha256:{}  kodiak.tar.gz", r.of(HEX, 64)),
        3 => format!("\"integrity\": \"sha512-{}==\"", r.of(BASE64, 86)),
        4 => format!(
            "id {}-{}-4{}-a{}-{}",
            r.of(HEX, 8),
            r.of(HEX, 4),
            r.of(HEX, 3),
            r.of(HEX, 3),
            r.of(HEX, 12)
        ),
        5 => format!(
            "![](data:image/png;base64,iVBORw0KGgo{}=)",
            r.of(BASE64, 180)
        ),
        6 => format!("checksum = \"{}\"", r.of(HEX, 64)),
        7 => format!(
            "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{} ada@laptop",
            r.of(BASE64, 43)
        ),
        8 => format!(
            "-----BEGIN CERTIFICATE-----\n{}\n{}\n-----END CERTIFICATE-----",
            r.of(BASE64, 64),
            r.of(BASE64, 64)
        ),
        9 => format!("ETag: \"{}\"", r.of(HEX, 32)),
        10 => format!("https://example.org/watch?v={}&t=42s", r.of(URL, 11)),
        11 => format!("blake3 {} 12 MB", r.of(HEX, 64)),
        12 => format!(
            "    certificate-authority-data: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk{}",
            r.of(BASE64, 400)
        ),
        _ => format!(
            "gpg: key {} marked as trusted",
            r.of("0123456789ABCDEF", 16)
        ),
    }
}

/// Ids that services issue and that open nothing.
fn identifiers(r: &mut Random) -> String {
    match r.below(14) {
        0 => format!("\"tool_use_id\": \"toolu_01{}\"", r.of(LETTERS, 22)),
        1 => format!("msg_01{} ended with end_turn", r.of(LETTERS, 22)),
        2 => format!("call_{} returned", r.of(LETTERS, 24)),
        3 => format!(
            "customer cus_{} has price_1{}",
            r.of(LETTERS, 14),
            r.of(LETTERS, 23)
        ),
        4 => format!("request id: req_011{}", r.of(LETTERS, 21)),
        5 => format!("nextToken: {}", r.of(BASE64, 40)),
        6 => format!("\"sync_token\": \"{}\"", r.of(LOWER, 32)),
        7 => format!("etag_token={}", r.of(HEX, 32)),
        8 => format!("{{\"nextPageToken\": \"{}\"}}", r.of(LETTERS, 36)),
        9 => format!("continuationToken = \"{}\"", r.of(LETTERS, 40)),
        10 => format!(
            "aws_access_key_id is not set; arn:aws:iam::{}:role/deploy",
            r.of(DIGITS, 12)
        ),
        11 => format!("trace {} span {}", r.of(HEX, 32), r.of(HEX, 16)),
        12 => format!("publishable key pk_live_{}", r.of(LETTERS, 24)),
        _ => format!("cache_key: v3-linux-{}", r.of(HEX, 40)),
    }
}

/// Code in which tokens, keys and passwords are names.
fn code(r: &mut Random) -> String {
    let number = r.below(90) + 10;
    let text = r.one(&[
        "let token = tokens.next().expect(\"a token\");",
        "if password != confirm_password { return Err(Mismatch) }",
        "const token = await getToken(user1)",
        "def check(password: str, api_key: Optional[str] = None) -> bool:",
        "api_key = os.environ[\"OPENAI_API_KEY\"]",
        "password: process.env.DB_PASSWORD_V2,",
        "token: Token::Identifier(name12)",
        "for (const key of Object.keys(map2)) secrets[key] = load(key)",
        "max_tokens=4096, temperature=0.2, top_p=1",
        "SECRET_KEY = get_random_secret_key()",
        "api_key: str = Field(default=\"\", alias=\"API_KEY\")",
        "token_type_ids = torch.zeros(input_ids.shape)",
        "headers: { Authorization: `Bearer ${token}` }",
        "headers = {\"Authorization\": f\"Bearer {token}\"}",
        "Authorization: Bearer <your-token-here>",
        "secretKeyRef:\n  name: database\n  key: password",
        "password = \"changeme\"",
        "PRIMARY_KEY=users_pk",
        "keyPath: \"/etc/ssl/private/server.key\"",
        "export GITHUB_TOKEN=$(gh auth token)",
        "DATABASE_URL=postgres://app:${DB_PASSWORD}@db/app",
        "postgres://user:password@localhost:5432/app",
        "mysql -u root -p shop < dump.sql",
        "mkdir -p src/pages && docker run -p 8080:80 web",
        "curl -b cookies.txt -c cookies.txt https://example.org",
        "ssh -p 2222 deploy@host && tar -a -cf out.tar.zst src",
        "redis-cli -h cache -n 2 ping",
        "#[derive(Debug)] pub struct ApiKey(String);",
        "type AuthToken = { value: string; expiresAt: number };",
        "tokenizer: bert-base-uncased-2018",
        "user.password_hash = argon2.hash(raw_password)",
        "const PASSWORD_MIN_LENGTH: usize = 12;",
        "\"auth\": { \"type\": \"oauth2\" }",
        "fn re_export_the_whole_module_tree_of_names() {}",
        "let fw_update_in_progress_since_version = 3;",
        "cookie: { secure: true, maxAge: 3600000 }",
    ]);
    format!("{text}\n// line {number}")
}

/// Prose about passwords and keys.
fn prose(r: &mut Random) -> String {
    let text = r.one(&[
        "My password is wrong again.",
        "my password is expired and I cannot sign in",
        "The password is required.",
        "the password is stored as an argon2id hash",
        "The password is case-sensitive and 12 characters long.",
        "my password is 16 characters long",
        "The password for the server is in 1Password.",
        "the passphrase is asked for once per session",
        "The passphrase for the key is never written to disk.",
        "Her password was reset on 2026-01-14.",
        "The password is base64-encoded, not encrypted.",
        "the password is hashed with SHA256 and a salt",
        "Passwords must have 8 characters, a digit and a sign!",
        "Set the password to something long.",
        "set the password to null in tests",
        "The API key is missing; set OPENAI_API_KEY.",
        "our access token is valid for 3600 seconds",
        "the secret of a good broth is time: four hours",
        "Secret santa 2026: bring gifts",
        "She had no token of his love.",
        "Rotate the key every 90 days.",
        "The password is \"too short\", it says.",
        "the token is a JWT with an exp claim",
        "password: at least 12 characters",
        "Password: required, 8 to 64 characters",
        "The password is UTF-8 and normalised to NFC.",
        "I forgot which password is used for staging2.",
        "The private key begins with -----BEGIN and a label.",
        "An access key begins with AKIA, a GitHub token with ghp_.",
        "The re-authentication is what fails, says pa-system-admin.",
        "The password was changed to comply with ISO27001.",
        "is the passphrase the same as on the old machine?",
        "the cookie: eat it with milk, 2 minutes in the oven",
        "The machine needs a login; the password is asked interactively.",
    ]);
    let other = r.word();
    format!("{text} The {other} is another matter.")
}

/// Configuration and logs.
fn settings(r: &mut Random) -> String {
    match r.below(12) {
        0 => format!(
            "kodiak {}.{}.{}-beta.{}",
            r.below(9),
            r.below(40),
            r.below(9),
            r.below(9)
        ),
        1 => format!(
            "serde = \"1.0.{}\"\ntoken-bucket = \"0.{}\"",
            r.below(300),
            r.below(9)
        ),
        2 => format!(
            "2026-01-14T10:11:12.{}Z INFO token refreshed for user {}",
            r.of(DIGITS, 6),
            r.below(9999)
        ),
        3 => format!("password_reset_url: https://example.org/reset/{}", r.word()),
        4 => format!(
            "token_count: {}\nprompt_tokens: {}",
            r.of(DIGITS, 6),
            r.of(DIGITS, 4)
        ),
        5 => format!("api_key: <YOUR_API_KEY>\nregion: eu-west-{}", r.below(4)),
        6 => format!("secret_name: {}-{}-credentials", r.word(), r.word()),
        7 => format!("image: registry.example.org/web@sha256:{}", r.of(HEX, 64)),
        8 => format!("primary_key: {}_{}", r.word(), r.of(DIGITS, 3)),
        9 => format!("SIGNING_KEY_ID={}", r.of(UPPER, 10)),
        10 => format!(
            "tokens: [{}, {}, {}]",
            r.below(30_000),
            r.below(30_000),
            r.below(30_000)
        ),
        _ => format!("key_file: ~/.ssh/id_ed25519_{}", r.word()),
    }
}
