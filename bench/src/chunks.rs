//! Counts the chunks of texts with and without noise.

use std::path::Path;

use anyhow::Result;
use fastrand::Rng;
use kodiak::Markup;
use kodiak::chunk::{ChunkOptions, estimated_tokens};

use crate::report::Report;

/// The number of generated lists, of their sections and of the links in each.
const LISTS: usize = 100;
const SECTIONS: usize = 8;
const LINKS: usize = 25;

/// The words of names and remarks.
const WORDS: [&str; 40] = [
    "simple", "fast", "guide", "open", "source", "tools", "for", "writing", "small", "web",
    "server", "library", "with", "examples", "notes", "about", "search", "design", "the",
    "history", "of", "music", "bread", "garden", "and", "how", "to", "learn", "data", "science",
    "game", "engine", "in", "practice", "reading", "list", "from", "teachers", "on", "travel",
];

/// Counts the chunks of a folder's files, or of generated lists of links.
pub(crate) fn measure(folder: Option<&Path>, report: &mut Report) -> Result<()> {
    let texts = match folder {
        Some(folder) => crate::all::files(folder)?,
        None => lists(),
    };
    let default = ChunkOptions::default();
    let noise = true;
    let (all, _) = count(&texts, ChunkOptions { noise, ..default });
    let (said, tokens) = count(&texts, default);
    let overlap = Some(0);
    let (_, once) = count(&texts, ChunkOptions { overlap, ..default });
    let detail = format!("{} texts, addresses and markup included", texts.len());
    report.add("chunks of everything", all as f64, "", detail);
    let share = 100.0 * said as f64 / all.max(1) as f64;
    let detail = format!("{share:.0} % of these");
    report.add("chunks of what is said", said as f64, "", detail);
    let share = 100.0 * tokens.saturating_sub(once) as f64 / tokens.max(1) as f64;
    let detail = format!("estimated, {share:.1} % said before by the same document");
    report.add("tokens to embed", tokens as f64, "", detail);
    Ok(())
}

/// Returns the numbers of chunks and of tokens of these texts.
fn count(texts: &[(String, String)], options: ChunkOptions) -> (usize, usize) {
    let (mut count, mut tokens) = (0, 0);
    for (title, body) in texts {
        for chunk in options.chunks(title, Markup::Markdown, body) {
            count += 1;
            tokens += estimated_tokens(&body[chunk.range]);
        }
    }
    (count, tokens)
}

/// Returns lists of links, as people collect them: a name, an address and
/// sometimes a remark. They are the same in every run.
fn lists() -> Vec<(String, String)> {
    let mut random = Rng::with_seed(11);
    let list = |number| {
        let mut body = String::new();
        for _ in 0..SECTIONS {
            body += &format!("\n## {}\n\n", words(&mut random, 2));
            for _ in 0..LINKS {
                body += &link(&mut random);
            }
        }
        (format!("List {number}"), body)
    };
    (0..LISTS).map(list).collect()
}

fn link(random: &mut Rng) -> String {
    let name = words(random, 3);
    let path = name.replace(' ', "-");
    let (year, month) = (2010 + random.u32(..15), 1 + random.u32(..12));
    let id = random.u64(..);
    let address =
        format!("https://www.{path}.example/{year}/{month:02}/{path}?utm_source=list&id={id:x}");
    let remark = if random.bool() {
        format!(" - {}.", words(random, 6))
    } else {
        String::new()
    };
    format!("- [{name}]({address}){remark}\n")
}

fn words(random: &mut Rng, count: usize) -> String {
    let words: Vec<&str> = (0..count)
        .map(|_| WORDS[random.usize(..WORDS.len())])
        .collect();
    words.join(" ")
}
