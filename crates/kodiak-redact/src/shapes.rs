//! Keys and tokens of well-known services, by how they begin and what follows.
//!
//! Owns the table of services. A token is only one if nothing that could belong to
//! it precedes its beginning, and if as many characters of its alphabet follow as
//! the service issues.

use std::ops::Range;

use super::reading::{is_word, joins};

/// A kind of token.
#[derive(Debug)]
pub(super) struct Shape {
    /// The kind, as it is shown.
    pub(super) kind: &'static str,
    /// How it begins, in exactly these letters.
    pub(super) prefix: &'static str,
    /// What the rest consists of.
    alphabet: Alphabet,
    /// The least and the greatest number of bytes after the prefix.
    length: (usize, usize),
}

/// The bytes of which the rest of a token consists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Alphabet {
    /// Upper-case letters and digits.
    Upper,
    /// Hexadecimal digits.
    Hex,
    /// Letters and digits.
    Alphanumeric,
    /// Letters, digits and underscores.
    Word,
    /// Letters, digits, `-` and `_`, of which some part is random.
    Base64Url,
    /// The same, of which enough in one piece that no name made of words is one.
    Dense,
    /// Letters, digits, `-`, `_` and dots.
    Dotted,
    /// Letters, digits, `+`, `/` and `=`.
    Base64,
    /// Letters, digits, `-`, `_` and slashes.
    Path,
}

const MANY: usize = 4096;
/// The greatest length of an encoded file.
const ENCODED: usize = 1 << 14;

const fn shape(
    kind: &'static str,
    prefix: &'static str,
    alphabet: Alphabet,
    length: (usize, usize),
) -> Shape {
    Shape {
        kind,
        prefix,
        alphabet,
        length,
    }
}

use Alphabet::{Alphanumeric, Base64, Base64Url, Dense, Dotted, Hex, Path, Upper, Word};

/// Every known beginning. Where several fit, the longest counts.
pub(super) const SHAPES: &[Shape] = &[
    shape("aws-key", "AKIA", Upper, (16, 16)),
    shape("aws-key", "ASIA", Upper, (16, 16)),
    shape("aws-key", "ABIA", Upper, (16, 16)),
    shape("aws-key", "ACCA", Upper, (16, 16)),
    shape("aws-bedrock-key", "ABSK", Base64, (109, 269)),
    shape("github-token", "ghp_", Alphanumeric, (36, 251)),
    shape("github-token", "gho_", Alphanumeric, (36, 251)),
    shape("github-token", "ghu_", Alphanumeric, (36, 251)),
    shape("github-token", "ghs_", Dotted, (36, MANY)),
    shape("github-token", "ghr_", Alphanumeric, (36, 251)),
    shape("github-token", "github_pat_", Word, (50, 251)),
    shape("gitlab-token", "glpat-", Dotted, (20, 300)),
    shape("gitlab-token", "gldt-", Base64Url, (20, 64)),
    shape("gitlab-token", "glrt-", Dotted, (20, 300)),
    shape("gitlab-token", "glptt-", Base64Url, (20, 64)),
    shape("gitlab-token", "glcbt-", Base64Url, (20, 120)),
    shape("gitlab-token", "glsoat-", Base64Url, (20, 64)),
    shape("gitlab-token", "glagent-", Base64Url, (40, 80)),
    shape("slack-token", "xoxb-", Base64Url, (20, 300)),
    shape("slack-token", "xoxp-", Base64Url, (20, 300)),
    shape("slack-token", "xoxa-", Base64Url, (20, 300)),
    shape("slack-token", "xoxo-", Base64Url, (20, 300)),
    shape("slack-token", "xoxr-", Base64Url, (20, 300)),
    shape("slack-token", "xoxs-", Base64Url, (20, 300)),
    shape("slack-token", "xoxc-", Base64Url, (20, 300)),
    shape("slack-token", "xoxd-", Base64, (20, 400)),
    shape("slack-token", "xoxe-", Base64Url, (20, 400)),
    shape("slack-token", "xoxe.", Dotted, (20, 400)),
    shape("slack-token", "xapp-", Base64Url, (20, 300)),
    shape(
        "slack-webhook",
        "hooks.slack.com/services/",
        Path,
        (30, 120),
    ),
    shape(
        "slack-webhook",
        "hooks.slack.com/workflows/",
        Path,
        (30, 160),
    ),
    shape("stripe-key", "sk_live_", Alphanumeric, (16, 247)),
    shape("stripe-key", "sk_test_", Alphanumeric, (16, 247)),
    shape("stripe-key", "rk_live_", Alphanumeric, (16, 247)),
    shape("stripe-key", "rk_test_", Alphanumeric, (16, 247)),
    shape("stripe-key", "whsec_", Base64, (24, 128)),
    shape("anthropic-key", "sk-ant-", Dense, (32, 256)),
    shape("openai-key", "sk-proj-", Base64Url, (32, 256)),
    shape("openai-key", "sk-svcacct-", Base64Url, (32, 256)),
    shape("openai-key", "sk-admin-", Base64Url, (32, 256)),
    shape("openrouter-key", "sk-or-v1-", Hex, (64, 64)),
    shape("secret-key", "sk-", Dense, (32, 256)),
    shape("google-key", "AIza", Base64Url, (35, 35)),
    shape("google-token", "ya29.", Dotted, (20, MANY)),
    shape("google-token", "GOCSPX-", Base64Url, (20, 64)),
    shape("npm-token", "npm_", Alphanumeric, (36, 64)),
    shape("pypi-token", "pypi-", Dense, (50, 512)),
    shape("rubygems-key", "rubygems_", Hex, (48, 48)),
    shape("crates-io-token", "cio", Alphanumeric, (32, 32)),
    shape("docker-token", "dckr_pat_", Base64Url, (24, 64)),
    shape("docker-token", "dckr_oat_", Base64Url, (24, 64)),
    shape("sendgrid-key", "SG.", Dotted, (60, 80)),
    shape("twilio-key", "SK", Hex, (32, 32)),
    shape("mailgun-key", "key-", Hex, (32, 32)),
    shape("huggingface-token", "hf_", Alphanumeric, (30, 64)),
    shape("databricks-token", "dapi", Hex, (32, 32)),
    shape("digitalocean-token", "dop_v1_", Hex, (64, 64)),
    shape("digitalocean-token", "doo_v1_", Hex, (64, 64)),
    shape("digitalocean-token", "dor_v1_", Hex, (64, 64)),
    shape("shopify-token", "shpat_", Hex, (32, 32)),
    shape("shopify-token", "shpca_", Hex, (32, 32)),
    shape("shopify-token", "shppa_", Hex, (32, 32)),
    shape("shopify-token", "shpss_", Hex, (32, 32)),
    shape("atlassian-token", "ATATT3", Base64, (60, 300)),
    shape("atlassian-token", "ATCTT3", Base64, (60, 300)),
    shape("bitbucket-token", "ATBB", Alphanumeric, (28, 40)),
    shape("linear-key", "lin_api_", Alphanumeric, (32, 64)),
    shape("notion-token", "ntn_", Alphanumeric, (40, 64)),
    shape("notion-token", "secret_", Alphanumeric, (43, 43)),
    shape("figma-token", "figd_", Base64Url, (36, 64)),
    shape("grafana-token", "glsa_", Word, (38, 64)),
    shape("grafana-token", "glc_", Base64, (32, 400)),
    shape("vault-token", "hvs.", Base64Url, (24, 200)),
    shape("vault-token", "hvb.", Base64Url, (24, 400)),
    shape("age-key", "AGE-SECRET-KEY-1", Upper, (58, 58)),
    shape("groq-key", "gsk_", Alphanumeric, (40, 80)),
    shape("xai-key", "xai-", Alphanumeric, (70, 100)),
    shape("perplexity-key", "pplx-", Alphanumeric, (40, 64)),
    shape("replicate-token", "r8_", Alphanumeric, (37, 40)),
    shape("tavily-key", "tvly-", Dense, (30, 64)),
    shape("postman-key", "PMAK-", Base64Url, (50, 70)),
    shape("newrelic-key", "NRAK-", Upper, (27, 27)),
    shape("sentry-token", "sntrys_", Base64, (40, 600)),
    shape("sentry-token", "sntryu_", Hex, (64, 64)),
    shape("supabase-key", "sbp_", Hex, (40, 40)),
    shape("supabase-key", "sb_secret_", Base64Url, (24, 64)),
    shape("planetscale-token", "pscale_tkn_", Base64Url, (32, 64)),
    shape("planetscale-token", "pscale_pw_", Base64Url, (32, 64)),
    shape("doppler-token", "dp.pt.", Alphanumeric, (40, 48)),
    shape("doppler-token", "dp.st.", Dotted, (40, 80)),
    shape("pulumi-token", "pul-", Hex, (40, 40)),
    shape("heroku-key", "HRKU-", Base64Url, (36, 72)),
    shape("fly-token", "fm2_", Base64, (60, MANY)),
    shape("square-token", "sq0atp-", Base64Url, (22, 22)),
    shape("square-token", "sq0csp-", Base64Url, (43, 43)),
    shape("tailscale-key", "tskey-", Base64Url, (20, 80)),
    shape("airtable-token", "patAirtable.", Hex, (64, 64)),
    shape("sourcegraph-token", "sgp_", Word, (40, 64)),
    shape("fireworks-key", "fw_", Alphanumeric, (20, 40)),
    shape("cerebras-key", "csk-", Alphanumeric, (40, 64)),
    shape("resend-key", "re_", Dense, (24, 48)),
    shape("firecrawl-key", "fc-", Hex, (32, 32)),
    shape("voyage-key", "pa-", Dense, (40, 48)),
    shape("langsmith-key", "lsv2_", Dense, (36, 64)),
    shape("nvidia-key", "nvapi-", Base64Url, (50, 90)),
    shape("kodiak-token", "kodiak_", Hex, (64, 64)),
    shape("pinecone-key", "pcsk_", Word, (40, 100)),
    shape("netlify-token", "nfp_", Alphanumeric, (36, 48)),
    shape("contentful-token", "CFPAT-", Base64Url, (40, 64)),
    shape("dynatrace-token", "dt0c01.", Dotted, (80, 100)),
    shape("dynatrace-token", "dt0s01.", Dotted, (80, 100)),
    shape("artifactory-key", "AKCp", Alphanumeric, (60, 80)),
    // The first lines of private keys, in Base64 once more.
    shape(
        "private-key",
        "LS0tLS1CRUdJTiBSU0EgUFJJVkFURSBLRVkt",
        Base64,
        (40, ENCODED),
    ),
    shape(
        "private-key",
        "LS0tLS1CRUdJTiBFQyBQUklWQVRFIEtFWS0t",
        Base64,
        (40, ENCODED),
    ),
    shape(
        "private-key",
        "LS0tLS1CRUdJTiBQUklWQVRFIEtFWS0t",
        Base64,
        (40, ENCODED),
    ),
    shape(
        "private-key",
        "LS0tLS1CRUdJTiBPUEVOU1NIIFBSSVZBVEUgS0VZ",
        Base64,
        (40, ENCODED),
    ),
    shape("onepassword-token", "ops_eyJ", Base64, (200, MANY)),
];

impl Shape {
    /// Returns the range of the token that begins at `start`, if there is one.
    pub(super) fn at(&self, text: &[u8], start: usize) -> Option<Range<usize>> {
        let rest = text[start..].strip_prefix(self.prefix.as_bytes())?;
        if joins(text, start) {
            return None;
        }
        let (least, greatest) = self.length;
        let within = &rest[..rest.len().min(greatest.saturating_add(1))];
        let mut length = within.iter().take_while(|byte| self.has(**byte)).count();
        // Punctuation at the end belongs to the sentence around it, unless the token
        // would be too short without.
        while length > least && matches!(rest[length - 1], b'.' | b'-' | b'/') {
            length -= 1;
        }
        if length < least || length > greatest || !self.is_random(&rest[..length]) {
            return None;
        }
        let end = start + self.prefix.len() + length;
        let ends = text.get(end).is_none_or(|next| !is_word(*next));
        ends.then_some(start..end)
    }

    fn has(&self, byte: u8) -> bool {
        match self.alphabet {
            Upper => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            Hex => byte.is_ascii_hexdigit(),
            Alphanumeric => byte.is_ascii_alphanumeric(),
            Word => is_word(byte),
            Base64Url | Dense => is_word(byte) || byte == b'-',
            Dotted => is_word(byte) || matches!(byte, b'-' | b'.'),
            Base64 => is_word(byte) || matches!(byte, b'+' | b'/' | b'=' | b'-' | b'%'),
            Path => is_word(byte) || matches!(byte, b'-' | b'/'),
        }
    }

    /// Reports whether the rest of a token looks issued and not written: digits, or
    /// capitals among small letters, and not the same character throughout.
    fn is_random(&self, rest: &[u8]) -> bool {
        let varied = rest.iter().any(|byte| *byte != rest[0]);
        let digit = rest.iter().any(u8::is_ascii_digit);
        let mixed = digit
            || (rest.iter().any(u8::is_ascii_uppercase) && rest.iter().any(u8::is_ascii_lowercase));
        match self.alphabet {
            Upper => varied && (digit || self.prefix == "AKIA"),
            Alphanumeric | Hex => varied && mixed,
            Dense => {
                let mut pieces = rest.split(|byte| matches!(byte, b'-' | b'_'));
                let piece = pieces.any(|piece| {
                    piece.len() >= 12
                        && piece.iter().any(u8::is_ascii_digit)
                        && piece.iter().any(u8::is_ascii_alphabetic)
                });
                varied && (piece || is_mixed(rest))
            }
            _ => varied && mixed,
        }
    }
}

/// Reports whether capitals, small letters and digits alternate as in no words.
fn is_mixed(rest: &[u8]) -> bool {
    let class = |byte: u8| match byte {
        b'0'..=b'9' => 0,
        b'A'..=b'Z' => 1,
        b'a'..=b'z' => 2,
        _ => 3,
    };
    let mut seen = [false; 4];
    let mut changes = 0;
    for pair in rest.windows(2) {
        let (one, other) = (class(pair[0]), class(pair[1]));
        seen[one] = true;
        changes += usize::from(one != other && one < 3 && other < 3);
    }
    seen[..3].iter().all(|class| *class) && changes * 3 >= rest.len()
}

/// Returns the kind and the range of the token that begins at `start`: the one with
/// the longest beginning that fits.
pub(super) fn kind_at(text: &[u8], start: usize) -> Option<(&'static str, Range<usize>)> {
    let fitting = SHAPES
        .iter()
        .filter_map(|shape| Some((shape, shape.at(text, start)?)));
    let (shape, range) = fitting.max_by_key(|(shape, _)| shape.prefix.len())?;
    Some((shape.kind, range))
}

/// Returns the kind of the token that is the whole of `value`, if it is one.
pub(super) fn kind_of(value: &[u8]) -> Option<&'static str> {
    let (kind, range) = kind_at(value, 0)?;
    (range.end == value.len()).then_some(kind)
}
