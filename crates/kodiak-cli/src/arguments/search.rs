//! The command line of `kodiak search`.

use std::path::PathBuf;

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use kodiak::rank::Fusion;
use kodiak::search::Mode;

use super::PrintArguments;

/// `kodiak search`.
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
#[derive(Debug, Args)]
#[command(after_help = SEARCH_EXAMPLES)]
pub(crate) struct SearchArguments {
    /// The words to search for; several words need no quotes
    #[arg(value_name = "QUERY")]
    pub(crate) query: Vec<String>,
    /// The maximum number of hits [default: the config's `search.limit`, otherwise 10]
    #[arg(short = 'n', long = "limit", value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) limit: Option<u32>,
    /// The search mode
    #[arg(long, value_name = "MODE", default_value = "auto", value_parser = mode_parser())]
    pub(crate) mode: Mode,
    /// Search without a model: by words only
    #[arg(long)]
    pub(crate) no_semantic: bool,
    /// How a hybrid search combines its two rankings [default: the config's `search.fusion`, otherwise convex]
    #[arg(long, value_name = "METHOD", value_parser = fusion_parser())]
    pub(crate) fusion: Option<Fusion>,
    /// Require every word, not just some of them
    #[arg(long)]
    pub(crate) all: bool,
    /// Search for exactly the words typed: no corrections, no completions, phrases kept whole
    #[arg(long)]
    pub(crate) exact: bool,
    /// Treat the last word as unfinished, unless a space follows it: also find words that begin with it
    #[arg(long)]
    pub(crate) as_you_type: bool,
    /// Hide hits with a relevance below this, from 0 to 1
    #[arg(long, value_name = "P", default_value_t = 0.0, hide_default_value = true, value_parser = probability)]
    pub(crate) min_relevance: f64,
    /// Search the index as it is, without looking for changed files
    #[arg(long)]
    pub(crate) no_refresh: bool,

    /// Search this folder, bringing its index up to date first; a folder that belongs to no source is not registered
    #[arg(
        long = "in",
        value_name = "FOLDER",
        conflicts_with = "sources",
        help_heading = "Where to look"
    )]
    pub(crate) folder: Option<PathBuf>,
    /// Only notes from this source; repeat to include several
    #[arg(long = "source", value_name = "NAME", help_heading = "Where to look")]
    pub(crate) sources: Vec<String>,
    /// Only notes whose path, as shown or within the source, starts with PREFIX; repeat to include several
    #[arg(long = "path", value_name = "PREFIX", help_heading = "Where to look")]
    pub(crate) paths: Vec<String>,
    /// Only notes with this tag (`work` includes `work/atlas`); repeat to require several
    #[arg(long = "tag", value_name = "TAG", help_heading = "Where to look")]
    pub(crate) tags: Vec<String>,
    /// Only notes of this kind; repeat to include several
    #[arg(long = "kind", value_name = "KIND", help_heading = "Where to look")]
    pub(crate) kinds: Vec<String>,
    /// Only notes of this category; repeat to include several
    #[arg(
        long = "category",
        value_name = "CATEGORY",
        help_heading = "Where to look"
    )]
    pub(crate) categories: Vec<String>,
    /// Only notes of this project: its folder, or the folder's name; repeat to include several
    #[arg(
        long = "project",
        value_name = "PROJECT",
        help_heading = "Where to look"
    )]
    pub(crate) projects: Vec<String>,
    /// Only notes created or last changed on or after this date: 2026-01-31, 2026-01, 2026, today, yesterday, or an age: 7d, 2w, 3m, 1y
    #[arg(long, value_name = "DATE", help_heading = "Where to look")]
    pub(crate) after: Option<String>,
    /// Only notes created or last changed before this date; with --after, in between
    #[arg(long, value_name = "DATE", help_heading = "Where to look")]
    pub(crate) before: Option<String>,
    /// Only notes written by the end of this date, ranked as they would have been then
    #[arg(long, value_name = "DATE", help_heading = "Where to look")]
    pub(crate) as_of: Option<String>,
    /// Only notes whose frontmatter has this value in this field; repeat to require several
    #[arg(long = "where", value_name = "FIELD=VALUE", value_parser = field_and_value, help_heading = "Where to look")]
    pub(crate) fields: Vec<(String, String)>,

    /// Rerank the best hits with the model or endpoint in the config, or with this one
    #[arg(long, value_name = "MODEL", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    pub(crate) rerank: Option<String>,
    /// Do not rerank, whatever the config says
    #[arg(long, conflicts_with = "rerank")]
    pub(crate) no_rerank: bool,

    #[command(flatten)]
    pub(crate) printing: PrintArguments,
}

const SEARCH_EXAMPLES: &str = "\
Examples:
  kodiak search productivity systems          notes with any of the words, best first
  kodiak search '\"weekly review\" -travel'     a phrase, and a word that must not occur
  kodiak search 'rust OR go' --tag programming
  kodiak search 'title:ramen broth*'          a word in the title; words that start with broth
  kodiak search meeting --after 2025-06 --where status=open
  kodiak search review -path:archive          nothing from the folder archive
  kodiak search productivity --in ~/notes     a folder that need not be added first
  kodiak search --tag recipe                  no words: the newest notes with this tag
  kodiak search wal --json | jq '.hits[].path'
  kodiak search TODO --files -0 | xargs -0 grep -n TODO
  vim -q <(kodiak search TODO --format line)  each hit at its line

A word that begins with a dash must not occur:
  kodiak search sqlite -wal
Words that look like options come after '--':
  kodiak search -- -n --json";

/// Parses the name of a search mode.
pub(super) fn mode_parser() -> impl TypedValueParser<Value = Mode> {
    let help = |mode| match mode {
        Mode::Auto => "Choose lexical or hybrid, whichever suits the query",
        Mode::Lexical => "Rank notes by the words they contain",
        Mode::Semantic => "Rank notes by meaning",
        Mode::Hybrid => "Rank notes by words and meaning, for any query",
        Mode::Like => "Find literal text, even inside words",
    };
    let values = Mode::ALL.map(|mode| PossibleValue::new(mode.name()).help(help(mode)));
    PossibleValuesParser::new(values).try_map(|name| name.parse())
}

/// Parses the name of a fusion method.
fn fusion_parser() -> impl TypedValueParser<Value = Fusion> {
    let help = |fusion| match fusion {
        Fusion::Convex => "Add normalised, weighted scores",
        Fusion::Rrf => "Reciprocal rank fusion",
    };
    let values = Fusion::ALL.map(|fusion| PossibleValue::new(fusion.name()).help(help(fusion)));
    PossibleValuesParser::new(values).try_map(|name| name.parse())
}

/// Parses a field with its value.
pub(super) fn field_and_value(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((field, value)) if !field.trim().is_empty() => {
            Ok((field.trim().to_owned(), value.trim().to_owned()))
        }
        _ => Err("expected FIELD=VALUE, such as status=open".to_owned()),
    }
}

/// Parses a probability.
fn probability(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok();
    let number = number.filter(|number| (0.0..=1.0).contains(number));
    number.ok_or_else(|| "it must be a number from 0 to 1, such as 0.2".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_needs_a_value() {
        assert_eq!(
            field_and_value("a = b=c").unwrap(),
            ("a".into(), "b=c".into())
        );
        assert!(field_and_value("status").is_err());
        assert!(field_and_value("=open").is_err());
    }
}
