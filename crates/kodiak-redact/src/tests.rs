use proptest::prelude::*;

use super::{redact, redact_field, replaced, secrets};

#[test]
fn secrets_get_the_name_of_their_kind() {
    let alphanumeric = "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1eF3hI5kL7n";
    let hex = "0f1e2d3c4b5a69788796a5b4c3d2e1f0";
    let cases = [
        (format!("id AKIA{} end", "QWERTYUIOP234567"), "aws-key"),
        (format!("ghp_{}", &alphanumeric[..36]), "github-token"),
        (format!("sk-ant-api03-{alphanumeric}AA"), "anthropic-key"),
        (format!("sk-proj-{alphanumeric}"), "openai-key"),
        (format!("sk-{hex}"), "secret-key"),
        (
            format!("api_key=ghp_{}", &alphanumeric[..36]),
            "github-token",
        ),
        (format!("dapi{hex}"), "databricks-token"),
        (format!("\"refreshToken\": \"{alphanumeric}\""), "token"),
        (format!("client-secret: {alphanumeric}"), "secret"),
        ("password: hunter2!".to_owned(), "password"),
        ("redis://:s3cretpw@cache:6379".to_owned(), "url-password"),
        (
            format!("Authorization: Basic {}", "YWRtaW46aHVudGVyMg=="),
            "authorization",
        ),
        (format!("AccountKey={alphanumeric}{alphanumeric}=="), "key"),
        ("curl -u admin:hunter2 https://a.b".to_owned(), "password"),
        (
            format!("Cookie: theme=dark; session={alphanumeric}"),
            "cookie",
        ),
        (format!("?se=2026&sig={alphanumeric}%3D"), "url-signature"),
        (
            format!(
                "https://discord.com/api/webhooks/123456789012345678/{alphanumeric}{alphanumeric}"
            ),
            "discord-webhook",
        ),
        (format!("a1b8Q~{}", &alphanumeric[..34]), "azure-secret"),
        (
            "-----BEGIN OPENSSH PRIVATE KEY-----\nb3Blbn\nNhAAAA".to_owned(),
            "private-key",
        ),
    ];
    for (text, kind) in cases {
        let found: Vec<_> = secrets(&text).iter().map(|secret| secret.kind).collect();
        assert_eq!(found, [kind], "{text}");
    }
}

#[test]
fn what_is_not_secret_stays() {
    for text in [
        "commit 9fceb02d0ae598e95dc970b74767f19372d61af8 fixes it",
        "id 550e8400-e29b-41d4-a716-446655440000",
        "/home/user/projects/secret-garden/tokens/api_key.rs:120",
        "password = os.environ[\"DB_PASSWORD\"]",
        "const token = await getToken(user1)",
        "token: string; password: string",
        "the password is the word that nobody knows2",
        "token_count: 1234567890123456789",
        "max_tokens=16384abcdefgh1234567890",
        "api_key = \"YOUR_API_KEY_GOES_HERE_123\"",
        "api_key=${OPENAI_API_KEY_2024_PRODUCTION}",
        "Authorization: Bearer <token>",
        "Authorization: Bearer $TOKEN",
        "https://user:password@example.com/",
        "postgres://app:${PASSWORD}@db/app",
        "see https://example.com:8080/a@b",
        "git@github.com:owner/name.git",
        "tokenizer: bert-base-uncased-2018-version",
        "sk-learn-based-regression-implementation-2",
        "task-0123456789abcdef0123456789abcdef",
        "npm_config_registry=value",
        "MTU of the interface. Nothing else.",
        "sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=",
        "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
        "-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----",
        "passwords are hashed with argon2id: see docs",
        "secret santa 2024: bring gifts",
        "PRIMARY_KEY=users_2024_pk_index_0a1b2c",
        "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ",
        "AKIA is how an access key begins",
        "<input type=\"password\" name=\"password1\" />",
        "nextToken: aB3dE5gH7jK9mN1pQ3sT5vW7yZ9",
        "\"sync_token\": \"aB3dE5gH7jK9mN1pQ3sT5vW7yZ9\"",
        "etag_token=0f1e2d3c4b5a69788796a5b4c3d2e1f0",
        "--- PASS: TestLogin2 (0.00s)",
        "mysql -u root -p shop",
        "curl -b cookies.txt https://example.org",
        "https://user@github.com/a/b",
        "the token [redacted:token] was there",
        "password: [redacted:password]",
        "",
    ] {
        assert_eq!(redact(text), text);
    }
}

#[test]
fn a_private_key_without_an_end_goes_with_its_lines() {
    let text =
        "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkq\nhkiG9w0BAQEF\n\nThis is not part of it.";
    assert_eq!(
        redact(text),
        "[redacted:private-key]\n\nThis is not part of it."
    );
    let escaped = r#"{"private_key": "-----BEGIN PRIVATE KEY-----\nMIIEvQ\n-----END PRIVATE KEY-----\n", "a": 1}"#;
    assert_eq!(
        redact(escaped),
        r#"{"private_key": "[redacted:private-key]\n", "a": 1}"#
    );
}

#[test]
fn what_stood_beside_a_secret_is_looked_at_again() {
    let text = "-----BEGIN RSA PRIVATE KEY-----Bearer passworda1b8Q~password";
    let redacted = "[redacted:private-key]Bearer [redacted:bearer-token]";
    assert_eq!(redact(text), redacted);
    assert_eq!(redact(redacted), redacted);
}

#[test]
fn values_end_where_they_do() {
    for (text, expected) in [
        (
            "password=Tr0ub4dor&3xyz please",
            "password=[redacted:password] please",
        ),
        (
            "?password=hunter2x&page=2",
            "?password=[redacted:password]&page=2",
        ),
        (
            "PASSWORD=hunter2x && run",
            "PASSWORD=[redacted:password] && run",
        ),
        (
            r#""password": "a\"b1c2d3" }"#,
            r#""password": "[redacted:password]" }"#,
        ),
        (
            r#"{\"password\": \"a1b2c3d4\"}"#,
            r#"{\"password\": \"[redacted:password]\"}"#,
        ),
        (
            "password: 'pässwörter1ü'",
            "password: '[redacted:password]'",
        ),
    ] {
        assert_eq!(redact(text), expected);
    }
}

#[test]
fn hostile_texts_take_linear_time() {
    for part in [
        "-----BEGIN PRIVATE KEY-----",
        "eyJ",
        "token=",
        "://a:",
        "password",
        "MT",
        " -u ",
        "cookie:",
        "-----END PRIVATE KEY-----",
        "PuTTY-User-Key-File-2: ",
        "mysql ",
        "curl -u ",
        "password is ",
        "passphrase for ",
        "| sudo -S ",
        "echo | sudo -S",
        "pass=\\\\",
        "api_key: a ",
        "signature=",
        "authorization: a ",
        "key_data=aaaa",
    ] {
        let text = part.repeat(60_000 / part.len());
        let redacted = redact(&text);
        assert_eq!(redact(&redacted), redacted);
    }
}

#[test]
fn sentences_give_passwords_away_and_mostly_do_not() {
    for (text, expected) in [
        (
            "my password is hunter2",
            "my password is [redacted:password]",
        ),
        (
            "My password is \"swordfish\".",
            "My password is \"[redacted:password]\".",
        ),
        (
            "The password's hunter2, I think",
            "The password's [redacted:password], I think",
        ),
        (
            "the passphrase for the disk is correct horse battery staple.",
            "the passphrase for the disk is [redacted:password].",
        ),
        (
            "Set the password to Tr0ub4dor and go on",
            "Set the password to [redacted:password] and go on",
        ),
        (
            "Das Passwort lautet hunter2",
            "Das Passwort lautet [redacted:password]",
        ),
        (
            "the password for bob@example.org is s3cr3t!pw, he said",
            "the password for bob@example.org is [redacted:password], he said",
        ),
    ] {
        assert_eq!(redact(text), expected);
    }
    for text in [
        "my password is wrong",
        "my password is expired",
        "My password is required!",
        "the password is \"required\"",
        "my password is 12 characters long",
        "the password is 12-character",
        "the password is in 1Password",
        "the password is base64-encoded",
        "the password is hashed with argon2id",
        "the passphrase is never stored in the clear",
        "the passphrase for the key is asked once per session",
        "the password was changed on 2026-01-14",
        "the password for staging2 is unknown",
        "the password is $DB_PASSWORD2",
    ] {
        assert_eq!(redact(text), text);
    }
}

#[test]
fn keys_are_found_however_their_lines_are_shown() {
    let body = "MHcCAQEEIIrYSSNQFaA2Hwf1duRSxKtLYX5CB04fSeQ6tF1aY/PuoAoGCCqGSM49\n\
                AwEHoUQDQgAEPR3tU2Fta9ktY+6P9G0cWO+0kETA6SFs38GecTyudlHz6xvCdz8q\n\
                EKTcWGekdmdDPsHloRNtsiCa697B2O9IFA==";
    let (first, last) = (
        "-----BEGIN EC PRIVATE KEY-----",
        "-----END EC PRIVATE KEY-----",
    );
    let whole = format!("{first}\n{body}\n{last}");
    for key in [whole, format!("{first}\n{body}"), format!("{body}\n{last}")] {
        for before in [
            "",
            "  12\u{2192}",
            "12: ",
            "12|",
            "12 | ",
            "+",
            "-",
            "> ",
            "> > ",
            "    ",
            "// ",
            "# ",
            "\t",
        ] {
            let lines: Vec<String> = key.lines().map(|line| format!("{before}{line}")).collect();
            let shown = format!("the file is\n{}\n\nand that is all", lines.join("\n"));
            let escaped = format!("{shown:?}");
            for text in [
                &shown,
                &escaped,
                &format!("{escaped:?}"),
                &shown.replace('\n', " "),
            ] {
                let redacted = redact(text);
                for line in body.lines() {
                    assert!(!redacted.contains(&line[..12]), "{text}\n=>\n{redacted}");
                }
                assert!(redacted.contains("the file is"), "{redacted}");
                assert!(redacted.contains("that is all"), "{redacted}");
            }
        }
    }
}

#[test]
fn a_key_in_an_address_is_found() {
    let body = "MHcCAQEEIIrYSSNQFaA2Hwf1duRSxKtLYX5CB04fSeQ6tF1aY%2FPuoAoGCCqGSM49%0A\
                AwEHoUQDQgAEPR3tU2Fta9ktY%2B6P9G0cWO%2B0kETA6SFs38GecTyudlHz6xvCdz8q%0A";
    for space in ["%20", "+"] {
        let text = format!(
            "curl -d 'key=-----BEGIN EC PRIVATE KEY-----%0A{body}-----END EC PRIVATE KEY-----&a=b' x"
        );
        let text = text.replace("EC PRIVATE KEY", &format!("EC{space}PRIVATE{space}KEY"));
        let text = text.replace("BEGIN ", &format!("BEGIN{space}"));
        let text = text.replace("END ", &format!("END{space}"));
        let redacted = redact(&text);
        assert_eq!(redacted, "curl -d 'key=[redacted:private-key]&a=b' x");
    }
    let public = "-----BEGIN%20PUBLIC%20KEY-----%0AMIIB%0A-----END%20PUBLIC%20KEY-----";
    assert_eq!(redact(public), public);
}

#[test]
fn values_in_blocks_and_in_markup_are_found() {
    let key = "aB3dE5gH7jK9mN1pQ3sT5vW7";
    for (text, secret) in [
        (
            "password: >-\n  hunter2Xq9\nuser: bob".to_owned(),
            "hunter2Xq9",
        ),
        (
            "a:\n  password: |\n    hunter2Xq9\n".to_owned(),
            "hunter2Xq9",
        ),
        ("password: |2-\n      hunter2Xq9\n".to_owned(), "hunter2Xq9"),
        (format!("api_key: >\n  {key}\n"), key),
        (format!("{{\"a\": \"api_key: |\\n  {key}\\n\"}}"), key),
        (
            "&quot;password&quot;: &quot;hunter2Xq9&quot;".to_owned(),
            "hunter2Xq9",
        ),
        ("password=&#39;hunter2Xq9&#39;".to_owned(), "hunter2Xq9"),
        (format!("&quot;token&quot;:&quot;{key}&quot;,"), key),
    ] {
        let redacted = redact(&text);
        assert!(!redacted.contains(secret), "{text}\n=>\n{redacted}");
        assert!(redacted.contains("[redacted:"), "{text}\n=>\n{redacted}");
    }
    for text in [
        "password: |\nhunter2Xq9 is not indented",
        "| password: |\n| hunter2Xq9 |",
        "password: >\n  is asked for by the program",
        "the password&nbsp;hunter",
    ] {
        assert_eq!(redact(text), text);
    }
}

#[test]
fn secrets_are_counted_once_they_are_replaced() {
    let text = redact("password=hunter2x and password=hunter3x").into_owned();
    assert_eq!(replaced(&text), 2);
    assert_eq!(replaced("[redacted:] [redacted:a b] [redacted"), 0);
    assert_eq!(redact_field("password", "hunter2x"), "[redacted:password]");
    assert_eq!(redact_field("note", "hunter2x"), "hunter2x");
}

proptest! {
    #[test]
    fn any_text_is_redacted_once(text in "(\\PC|[ \n\"'=:@/.-]|password|token|api_key|://|eyJ|Bearer |-----BEGIN RSA PRIVATE KEY-----|-----END |sk-|ghp_|Cookie: |a1b8Q~|curl -u |Authorization: |mysql -p|password is |PuTTY-User-Key-File-2: |Private-Lines: 3|-----END EC PRIVATE KEY-----|passphrase|\\\\n|aB3dE5gH7jK9mN1pQ3s){0,40}") {
        let redacted = redact(&text).into_owned();
        prop_assert_eq!(redact(&redacted), redacted.as_str());
        let mut end = 0;
        for secret in secrets(&text) {
            prop_assert!(secret.range.start >= end && !secret.range.is_empty());
            prop_assert!(text.get(secret.range.clone()).is_some());
            end = secret.range.end;
        }
    }
}
