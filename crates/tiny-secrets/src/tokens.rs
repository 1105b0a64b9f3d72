//! Tokens that are known by how they begin, in the form in which they are issued.

use crate::random::{BASE64, DIGITS, HEX, LETTERS, LOWER, Random, UPPER, URL};

/// A function that makes up a token.
type Make = fn(&mut Random) -> String;

/// The names of services and a token of each.
pub(crate) const TOKENS: &[(&str, Make)] = &[
    ("aws-access-key", |r| format!("AKIA{}", r.of(UPPER, 16))),
    ("github", |r| format!("ghp_{}", r.of(LETTERS, 36))),
    ("github-fine-grained", |r| {
        format!("github_pat_{}_{}", r.of(LETTERS, 22), r.of(LETTERS, 59))
    }),
    ("gitlab", |r| format!("glpat-{}", r.of(URL, 20))),
    ("token-ends-in-dash", |r| {
        let prefix = r.one(&["glpat-", "gldt-", "GOCSPX-"]);
        let length = if prefix == "GOCSPX-" { 27 } else { 19 };
        format!("{prefix}{}4{}-", r.of(LETTERS, 6), r.of(URL, length - 7))
    }),
    ("slack", |r| {
        let (team, bot) = (r.of(DIGITS, 12), r.of(DIGITS, 13));
        format!("xoxb-{team}-{bot}-{}", r.of(LETTERS, 24))
    }),
    ("stripe", |r| format!("sk_live_{}", r.of(LETTERS, 24))),
    ("openai", |r| {
        format!("sk-proj-{}T3BlbkFJ{}", r.of(URL, 74), r.of(URL, 74))
    }),
    ("anthropic", |r| format!("sk-ant-api03-{}AA", r.of(URL, 93))),
    ("google", |r| format!("AIza{}", r.of(URL, 35))),
    ("npm", |r| format!("npm_{}", r.of(LETTERS, 36))),
    ("pypi", |r| {
        format!("pypi-AgEIcHlwaS5vcmc{}", r.of(URL, 150))
    }),
    ("web-token", |r| {
        format!(
            "eyJhbGciOiJIUzI1NiJ9.eyJ{}.{}",
            r.of(URL, 60),
            r.of(URL, 43)
        )
    }),
    ("sendgrid", |r| {
        format!("SG.{}.{}", r.of(URL, 22), r.of(URL, 43))
    }),
    ("telegram", |r| {
        format!("{}:AA{}", r.of("123456789", 10), r.of(URL, 33))
    }),
    ("huggingface", |r| format!("hf_{}", r.of(LETTERS, 34))),
    ("digitalocean", |r| format!("dop_v1_{}", r.of(HEX, 64))),
    ("discord", |r| {
        format!("MT{}.{}.{}", r.of(LETTERS, 22), r.of(URL, 6), r.of(URL, 38))
    }),
    ("shopify", |r| format!("shpat_{}", r.of(HEX, 32))),
    ("kodiak", |r| format!("kodiak_{}", r.of(HEX, 64))),
    ("pinecone", |r| {
        format!("pcsk_{}_{}", r.of(LETTERS, 6), r.of(LETTERS, 63))
    }),
    ("nvidia", |r| format!("nvapi-{}", r.of(URL, 64))),
    ("langsmith", |r| {
        let kind = r.one(&["pt", "sk"]);
        format!("lsv2_{kind}_{}_{}", r.of(HEX, 32), r.of(HEX, 10))
    }),
    ("cerebras", |r| format!("csk-{}", r.of(LOWER, 48))),
    ("fireworks", |r| {
        format!("fw_{}", r.between(LETTERS, 22, 24))
    }),
    ("firecrawl", |r| format!("fc-{}", r.of(HEX, 32))),
    ("voyage", |r| format!("pa-{}", r.of(URL, 43))),
    ("netlify", |r| format!("nfp_{}", r.of(LETTERS, 36))),
    ("resend", |r| {
        format!("re_{}_{}", r.of(LETTERS, 8), r.of(LETTERS, 24))
    }),
    ("contentful", |r| format!("CFPAT-{}", r.of(URL, 43))),
    ("dynatrace", |r| {
        format!("dt0c01.{}.{}", r.of(UPPER, 24), r.of(UPPER, 64))
    }),
    ("artifactory", |r| {
        format!("AKCp{}{}", r.of("58", 1), r.of(LETTERS, 68))
    }),
    ("encoded-private-key", |r| {
        format!(
            "LS0tLS1CRUdJTiBSU0EgUFJJVkFURSBLRVktLS0tLQp{}",
            r.of(BASE64, 900)
        )
    }),
];
