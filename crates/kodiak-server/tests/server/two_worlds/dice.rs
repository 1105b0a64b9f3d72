//! Generated notes: what they say is chosen by a seed.

use super::words::TAGS;

/// A seeded choice.
pub(super) struct Dice(pub(super) u64);

impl Dice {
    pub(super) fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005);
        self.0 = self.0.wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % sides
    }

    pub(super) fn one<'a>(&mut self, words: &[&'a str]) -> &'a str {
        words[self.roll(words.len())]
    }

    pub(super) fn words(&mut self, words: &[&str], count: usize) -> String {
        let chosen: Vec<&str> = (0..count).map(|_| self.one(words)).collect();
        chosen.join(" ")
    }
}

/// Returns a note of these words.
pub(super) fn note(dice: &mut Dice, words: &[&str], project: &str, upper: bool) -> String {
    let mut tag = format!("{}, {}", dice.one(&TAGS), dice.one(&TAGS));
    if upper {
        tag.make_ascii_uppercase();
    }
    let title = dice.words(words, 2);
    let paragraphs = 1 + dice.roll(3);
    let body: Vec<String> = (0..paragraphs)
        .map(|_| {
            let count = 4 + dice.roll(30);
            dice.words(words, count)
        })
        .collect();
    let kind = dice.one(&["note", "session"]);
    let thread = dice.one(&["one", "two"]);
    format!(
        "---\nproject: {project}\nkind: {kind}\nthread: {thread}\ntags: [{tag}]\n---\n\
         # {title}\n\n{}\n",
        body.join(".\n\n")
    )
}
