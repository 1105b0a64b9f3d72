//! Tests of the query language.

use proptest::prelude::*;

use super::*;

/// Returns a parsed query in a compact notation, so that expectations read like
/// queries: `+` required, `-` excluded, `&` all, `|` any, `!` except, `~` near.
fn shown(text: &str) -> String {
    let query = Query::parse(text, false);
    let mut parts: Vec<String> = Vec::new();
    parts.extend(
        query
            .required
            .iter()
            .map(|part| format!("+{}", condition(part))),
    );
    parts.extend(query.optional.iter().map(clause));
    parts.extend(
        query
            .excluded
            .iter()
            .map(|part| format!("-{}", condition(part))),
    );
    parts.join(" ")
}

fn condition(part: &Condition) -> String {
    let join = |parts: &[Condition], sign: &str| {
        let parts: Vec<String> = parts.iter().map(condition).collect();
        format!("({})", parts.join(sign))
    };
    match part {
        Condition::Clause(one) => clause(one),
        Condition::All(parts) => join(parts, "&"),
        Condition::Any(parts) => join(parts, "|"),
        Condition::Except(wanted, unwanted) => {
            format!("({}!{})", condition(wanted), condition(unwanted))
        }
        Condition::Near(words, distance) => format!("({}~{distance})", words.join(",")),
    }
}

fn clause(clause: &Clause) -> String {
    let column = match clause.column {
        Some(Column::Title) => "title:",
        Some(Column::Tags) => "tags:",
        None => "",
    };
    match clause.form {
        Form::Word => format!("{column}{}", clause.text),
        Form::Phrase => format!("{column}\"{}\"", clause.text),
        Form::Prefix => format!("{column}{}*", clause.text),
        Form::Unfinished => format!("{column}{}…", clause.text),
    }
}

#[test]
fn the_query_language() {
    for (typed, expected) in [
        ("rate limiting redis", "rate limiting redis"),
        ("", ""),
        ("  ?! ... ", ""),
        ("{{age:34}}", "\"age:34\" age 34"),
        ("what's up?", "what s up"),
        ("foo-bar", "\"foo-bar\" foo bar"),
        ("x -foo-bar", "x -\"foo-bar\""),
        (
            "\"getting things done\" inbox",
            "+\"getting things done\" inbox",
        ),
        (
            "what does \"tool use\" mean here",
            "what does \"tool use\" tool use mean here",
        ),
        ("'getting things done'", "+\"getting things done\""),
        ("\"single\"", "+single"),
        ("don't 'til dawn", "don t til dawn"),
        ("product*", "+product*"),
        ("foo-ba* inbox", "+foo +ba* inbox"),
        ("x -product*", "x -product*"),
        ("**bold** *words*", "bold words"),
        ("*", ""),
        ("sqlite -wal", "sqlite -wal"),
        ("sqlite -\"write ahead\"", "sqlite -\"write ahead\""),
        ("a - b", "a b"),
        ("a -(b OR c)", "+a -(b|c)"),
        ("(a OR b) -(c)", "+(a|b) -c"),
        ("成都 -大熊猫", "成都 -\"大熊猫\""),
        ("tag:数据库", "+tags:\"数据库\""),
        ("tag:数", "+tags:数*"),
        ("title:gtd review", "+title:gtd review"),
        ("tag:work", "+tags:work"),
        ("tag:projects/atlas", "+tags:\"projects/atlas\""),
        ("title:\"weekly review\"", "+title:\"weekly review\""),
        ("TITLE:gtd", "+title:gtd"),
        ("title: gtd", "title gtd"),
        ("http://x.org", "\"http://x.org\" http x org"),
        ("rust AND sqlite", "+rust +sqlite"),
        ("rust OR sqlite", "+(rust|sqlite)"),
        ("rust NOT sqlite", "+rust -sqlite"),
        ("NOT sqlite", "-sqlite"),
        ("a AND b OR c d", "+((a&b)|(c&d))"),
        ("(a OR b) AND c", "+(a|b) +c"),
        ("a AND NOT b", "+a -b"),
        ("(a NOT b) OR c", "+((a!b)|c)"),
        ("a NEAR b", "+(a,b~10)"),
        ("a NEAR/3 b", "+(a,b~3)"),
        ("NEAR(a b, 5)", "+(a,b~5)"),
        // An operator without an operand is dropped; in lower case it is a word.
        ("AND", ""),
        ("foo OR", "foo"),
        ("and", "and"),
        ("Pros AND Cons", "+Pros +Cons"),
        ("unclosed \"quote here", "unclosed quote here"),
        ("((((", ""),
        ("数据库", "数据 据库"),
        ("数", "数*"),
        ("\"数据库\"", "+\"数据库\""),
        ("กข", "กข*"),
        ("dup dup Dup", "dup"),
    ] {
        assert_eq!(shown(typed), expected, "{typed}");
    }
}

#[test]
fn all_makes_words_required() {
    let query = Query::parse("rate limiting", true);
    assert_eq!(query.required.len(), 2);
    assert!(query.optional.is_empty());
}

#[test]
fn long_queries_are_truncated() {
    let text: String = (0..100_000).map(|n| format!("word{n} ")).collect();
    let query = Query::parse(&text, false);
    assert_eq!(query.optional.len(), MAX_WORDS);
    assert_eq!(query.cut_after, Some(MAX_WORDS));
    // What is repeated is looked for once, as far as it is read.
    let query = Query::parse(&"again and again ".repeat(1_000), false);
    assert_eq!(query.cut_after, Some(MAX_TOKENS));
    assert_eq!(Query::parse("again and again", false).cut_after, None);
}

/// Returns the nesting depth of a condition; a clause has depth one.
fn depth(condition: &Condition) -> usize {
    let inner = match condition {
        Condition::Clause(_) | Condition::Near(..) => 0,
        Condition::All(parts) | Condition::Any(parts) => parts.iter().map(depth).max().unwrap_or(0),
        Condition::Except(wanted, unwanted) => depth(wanted).max(depth(unwanted)),
    };
    inner + 1
}

/// Returns every text that a condition looks for.
fn texts(condition: &Condition) -> Vec<&str> {
    match condition {
        Condition::Clause(clause) => vec![&clause.text],
        Condition::All(parts) | Condition::Any(parts) => parts.iter().flat_map(texts).collect(),
        Condition::Except(wanted, unwanted) => [texts(wanted), texts(unwanted)].concat(),
        Condition::Near(words, _) => words.iter().map(String::as_str).collect(),
    }
}

/// Asserts what holds for every query, whatever was typed: it is bounded, and
/// looks neither for text that was not typed nor for mere punctuation.
fn assert_sound(typed: &str, query: &Query) {
    assert!(query.required.len() <= MAX_WORDS);
    assert!(query.optional.len() <= MAX_WORDS);
    let conditions = query.required.iter().chain(&query.excluded);
    for condition in conditions.clone() {
        // A pair of parentheses can add alternatives, a conjunction and an exception.
        assert!(depth(condition) <= 3 * (DEEPEST + 1) + 1, "{typed}");
    }
    let optional = query.optional.iter().map(|clause| clause.text.as_str());
    for text in conditions.flat_map(texts).chain(optional) {
        // An n-gram may consist of combining marks only.
        let says = |character: char| character.is_alphanumeric() || !character.is_ascii();
        assert!(text.chars().any(says), "{typed}: {text:?}");
        assert!(typed.contains(text), "{typed}: {text:?}");
    }
}

#[test]
fn deep_nesting_is_bounded() {
    let parentheses = "(".repeat(100_000);
    let deep = format!("{parentheses}a AND b");
    assert_sound(&deep, &Query::parse(&deep, false));
    // Past the deepest level parentheses are spaces, and no word is lost.
    let levels = 4 * DEEPEST;
    let nested = format!("{}a{}", "(a OR b AND ".repeat(levels), ")".repeat(levels));
    let query = Query::parse(&nested, false);
    assert_sound(&nested, &query);
    let [condition] = &query.required[..] else {
        panic!("{query:?}")
    };
    assert!(depth(condition) > DEEPEST, "{}", depth(condition));
    assert_eq!(texts(condition).len(), 2 * levels + 1);
}

proptest! {
    #[test]
    fn any_string_is_a_query(text in "\\PC{0,60}", all: bool) {
        assert_sound(&text, &Query::parse(&text, all));
    }

    #[test]
    fn any_row_of_operators_is_a_query(parts in prop::collection::vec(
        prop::sample::select(vec!["AND", "OR", "NOT", "NEAR", "NEAR/2", "(", ")", "\"", "'", "-", "*", ":",
            "title:", "tag:", "a", "b*", "数据", "ก", ",", "5"]), 0..24),
        spaced: bool, all: bool) {
        let text = parts.join(if spaced { " " } else { "" });
        assert_sound(&text, &Query::parse(&text, all));
    }
}
