//! The kinds of secrets, and the lines that make a value one.

use crate::keys::{self, Snippet};
use crate::random::{BASE64, HEX, LETTERS, LOWER, Random, URL};
use crate::tokens;

/// A kind of secret.
pub(crate) struct Kind {
    pub(crate) name: &'static str,
    pub(crate) form: Form,
}

/// How a secret gets into a text.
#[derive(Clone, Copy)]
pub(crate) enum Form {
    /// It is known by its beginning and may be anywhere.
    Token(fn(&mut Random) -> String),
    /// It is secret because of what is around it.
    Snippet(fn(&mut Random) -> Snippet),
}

/// Every kind.
pub(crate) static KINDS: std::sync::LazyLock<Vec<Kind>> = std::sync::LazyLock::new(|| {
    let tokens = tokens::TOKENS.iter().map(|(name, make)| Kind {
        name,
        form: Form::Token(*make),
    });
    let snippets = SNIPPETS.iter().map(|(name, make)| Kind {
        name,
        form: Form::Snippet(*make),
    });
    tokens.chain(snippets).collect()
});

type Make = fn(&mut Random) -> Snippet;

const SNIPPETS: &[(&str, Make)] = &[
    ("private-key", keys::pem),
    ("private-key-cut-off", keys::cut_off),
    ("private-key-with-headers", keys::with_headers),
    ("private-key-pgp", keys::pgp),
    ("private-key-putty", keys::putty),
    ("aws-secret-key", |r| {
        let secret = r.of(BASE64, 40);
        templates(
            r,
            secret,
            &[
                "aws_secret_access_key = {}\nregion = eu-central-1",
                "AWS_SECRET_ACCESS_KEY={}",
                "export AWS_SECRET_ACCESS_KEY=\"{}\"",
            ],
        )
    }),
    ("aws-configure", |r| {
        let secret = r.of(BASE64, 40);
        templates(
            r,
            secret,
            &[
                "$ aws configure\nAWS Secret Access Key [None]: {}\nDefault region name [None]: eu-west-1",
                "AWS Secret Access Key [****************QDxN]: {}",
            ],
        )
    }),
    ("password-assigned", |r| {
        let secret = r.password();
        templates(
            r,
            secret,
            &[
                "{\"user\": \"app\", \"password\": \"{}\"}",
                "mysql --user=root --password={} shop",
                "export PGPASSWORD='{}'",
                "spring.datasource.password={}",
                "  password: {}\n  port: 5432",
                "DB_PASS={}",
                "conn = connect(host=\"db\", password=\"{}\")",
                "    const smtpPassword = '{}';",
            ],
        )
    }),
    ("key-assigned", |r| {
        let secret = r.of(LETTERS, 32);
        templates(
            r,
            secret,
            &[
                "headers = {\"X-Api-Key\": \"{}\"}",
                "client_secret: {}\n",
                "{\"accessToken\": \"{}\"}",
                "STRIPE_WEBHOOK_KEY={}",
                "  const apiKey = \"{}\";",
                "requests.get(url, params={'api_key': '{}'})",
                "deploy --token {} --force",
            ],
        )
    }),
    ("key-with-a-type", |r| {
        let secret = r.of(LETTERS, 32);
        templates(
            r,
            secret,
            &[
                "API_KEY: str = \"{}\"",
                "    api_key: Optional[str] = \"{}\"",
                "const API_KEY: &str = \"{}\";",
                "export const apiKey: string = '{}';",
                "static API_TOKEN: &'static str = \"{}\";",
                "    private readonly clientSecret: string | null = '{}';",
            ],
        )
    }),
    ("key-of-a-framework", |r| {
        let secret = format!("{}=", r.of(BASE64, 43));
        templates(
            r,
            secret,
            &[
                "APP_KEY=base64:{}",
                "APP_KEY=\"base64:{}\"\nAPP_DEBUG=false",
            ],
        )
    }),
    ("azure-devops", |r| {
        let secret = r.of("abcdefghijklmnopqrstuvwxyz234567", 52);
        templates(
            r,
            secret,
            &[
                "export AZURE_DEVOPS_EXT_PAT={}",
                "AZURE_DEVOPS_EXT_PAT: {}",
                "$env:AZURE_DEVOPS_EXT_PAT = '{}'",
            ],
        )
    }),
    ("kubeconfig", |r| {
        let length = 300 + r.below(3000);
        let secret = format!("{}==", r.of(BASE64, length));
        templates(
            r,
            secret,
            &[
                "users:\n- name: admin\n  user:\n    client-key-data: {}",
                "    client-key-data: \"{}\"\n    username: admin",
            ],
        )
    }),
    ("netrc", |r| {
        let secret = r.password();
        templates(
            r,
            secret,
            &[
                "machine api.internal login deploy password {}",
                "machine git.internal\n  login deploy\n  password {}\n",
                "default login anonymous password {}",
            ],
        )
    }),
    ("docker-auth", |r| {
        let (user, password) = (r.word(), r.password());
        let secret = encode(&format!("{user}:{password}"));
        templates(
            r,
            secret,
            &[
                "{\n  \"auths\": {\n    \"registry.internal\": {\n      \"auth\": \"{}\"\n    }\n  }\n}",
                "{\"auths\":{\"https://index.docker.io/v1/\":{\"auth\":\"{}\"}}}",
            ],
        )
    }),
    ("signed-address", |r| {
        let secret = r.of(HEX, 64);
        templates(
            r,
            secret,
            &[
                "https://bucket.s3.amazonaws.com/a.png?X-Amz-Date=20260114T101112Z&X-Amz-Expires=3600&X-Amz-SignedHeaders=host&X-Amz-Signature={}",
                "curl -o a.tar 'https://storage.internal/a?X-Amz-Expires=60&X-Amz-Signature={}&x-id=GetObject'",
            ],
        )
    }),
    ("authorization", |r| {
        let secret = r.of(LETTERS, 32);
        templates(
            r,
            secret,
            &[
                "curl -H 'Authorization: Bearer {}' https://api.internal/v1/me",
                "Authorization: Basic {}",
                "{\"Authorization\": \"token {}\"}",
            ],
        )
    }),
    ("authorization-key", |r| {
        let secret = format!("AAAA{}:APA91b{}", r.of(LETTERS, 7), r.of(URL, 134));
        templates(
            r,
            secret,
            &[
                "Authorization: key={}",
                "curl -X POST -H \"Authorization: key={}\" https://fcm.internal/send",
                "'Authorization': 'key={}'",
            ],
        )
    }),
    ("authorization-scheme", |r| {
        let secret = format!("00{}", r.of(URL, 40));
        templates(
            r,
            secret,
            &[
                "Authorization: SSWS {}",
                "curl -H \"Authorization: SSWS {}\" https://id.internal/api/v1/users",
                "headers[\"Authorization\"] = \"SSWS {}\"",
            ],
        )
    }),
    ("cookie", |r| {
        let secret = r.of(LETTERS, 40);
        templates(
            r,
            secret,
            &[
                "Cookie: theme=dark; session={}",
                "< Set-Cookie: sid={}; HttpOnly",
            ],
        )
    }),
    ("curl-cookie", |r| {
        let secret = r.of(LETTERS, 40);
        templates(
            r,
            secret,
            &[
                "curl -b 'session={}' https://app.internal/account",
                "curl -s --cookie \"theme=dark; sid={}\" https://app.internal/",
                "curl https://app.internal/ -b sid={}",
            ],
        )
    }),
    ("curl-user", |r| {
        let secret = r.password();
        templates(
            r,
            secret,
            &[
                "curl -u admin:{} https://a.internal",
                "curl --user 'admin:{}' https://a.internal",
            ],
        )
    }),
    ("mysql", |r| {
        let secret = r.password();
        templates(
            r,
            secret,
            &[
                "mysql -u root -p{} shop",
                "mysqldump -h db.internal -uapp -p'{}' shop > dump.sql",
                "  1021  mysql -h 10.0.0.4 -p{} -e 'show tables'",
            ],
        )
    }),
    ("sshpass", |r| {
        let secret = r.password();
        templates(
            r,
            secret,
            &[
                "sshpass -p {} ssh deploy@10.0.0.4",
                "sshpass -p '{}' scp a.tar deploy@host:",
                "sshpass -p\"{}\" rsync -a . host:/srv",
            ],
        )
    }),
    ("redis-cli", |r| {
        let secret = r.password();
        templates(
            r,
            secret,
            &["redis-cli -h cache -a {} ping", "redis-cli -a '{}' --scan"],
        )
    }),
    ("address-password", |r| {
        let secret = format!("{}7{}", r.of(LETTERS, 6), r.of(LETTERS, 4));
        templates(
            r,
            secret,
            &[
                "DATABASE_URL=postgres://app:{}@db.internal:5432/app",
                "git clone https://bob:{}@git.internal/a.git",
                "amqp://guest:{}@queue:5672/",
            ],
        )
    }),
    ("address-password-with-signs", |r| {
        let sign = r.one(&["$", "#"]);
        let secret = format!("{}{sign}{}", r.of(LETTERS, 5), r.of(LETTERS, 5));
        templates(
            r,
            secret,
            &[
                "DATABASE_URL=postgres://app:{}@db.internal:5432/app",
                "mongodb://root:{}@10.0.0.7/admin",
                "url: 'redis://default:{}@cache.internal:6379/0'",
            ],
        )
    }),
    ("password-in-a-sentence", |r| {
        let secret = r.password();
        templates(
            r,
            secret,
            &[
                "my password is {}",
                "By the way, my password is {}.",
                "The password for the staging server is {}, please rotate it.",
                "the admin password was {} until March",
                "Set the root password to {} and reboot.",
                "The wifi password: {}",
                "log in with the password \"{}\"",
            ],
        )
    }),
    ("passphrase-in-a-sentence", |r| {
        let words: Vec<&str> = (0..5).map(|_| r.word()).collect();
        let secret = match r.below(3) {
            0 => words.join("-"),
            1 => format!("{}{}", words[..3].join("."), r.of("123456789", 2)),
            _ => words.join(" "),
        };
        templates(
            r,
            secret,
            &[
                "the passphrase for the backup disk is {}",
                "Remember: the passphrase of the old laptop is \"{}\".",
                "my passphrase is '{}'",
            ],
        )
    }),
    ("key-in-a-sentence", |r| {
        let secret = r.between(LOWER, 28, 40) + "x7k2q9";
        templates(
            r,
            secret,
            &[
                "the API key is {}",
                "Our access token is {}, valid until May.",
                "here is the client secret: {}",
            ],
        )
    }),
];

/// Puts a secret into one of several texts, in which `{}` stands for it.
fn templates(random: &mut Random, secret: String, texts: &[&str]) -> Snippet {
    let text = random.one(texts).replacen("{}", &secret, 1);
    (vec![secret], text)
}

/// Encodes a text as Base64.
fn encode(text: &str) -> String {
    let letters = BASE64.as_bytes();
    let mut encoded = String::new();
    for group in text.as_bytes().chunks(3) {
        let mut bits = 0_u32;
        for at in 0..3 {
            bits = bits << 8 | u32::from(group.get(at).copied().unwrap_or(0));
        }
        for at in 0..4 {
            if at > group.len() {
                encoded.push('=');
            } else {
                let index = bits >> (18 - 6 * at) & 63;
                encoded.push(char::from(letters[index as usize]));
            }
        }
    }
    encoded
}
