//! What a row scores, from what was found in it: BM25, and what words add that
//! stand together or name the document.

use crate::store::Bm25;

/// Where the phrases of a query stand in one row. Kept from row to row for its
/// memory.
#[derive(Debug, Default)]
pub(super) struct Findings {
    phrases: Vec<Found>,
    /// Places in the body, each with the number of the phrase that stands there.
    body: Vec<(u32, usize)>,
    /// Places in the title.
    title: Vec<u32>,
}

/// A phrase in the row at hand.
#[derive(Debug, Default)]
struct Found {
    rarity: f64,
    /// How often it occurs, weighed by column.
    frequency: f64,
    in_title: bool,
    /// Of a telling one, where standing together counts at all.
    in_body: bool,
    /// How often it stands in the window at hand.
    in_window: usize,
}

/// Phrases that weigh no more than this, common words and those in every fourth
/// document, do not count where they stand: they stand everywhere, and most of the
/// time would go into finding out where.
const TELLING: f64 = 1.0;

/// The full text's columns.
pub(super) const TITLE: i32 = 0;
const BODY: i32 = 1;
const TAGS: i32 = 2;

impl Findings {
    /// Nothing was found.
    pub(super) fn clear(&mut self) {
        self.phrases.clear();
        self.body.clear();
        self.title.clear();
    }

    /// What is found next is of another phrase.
    pub(super) fn phrase(&mut self, rarity: f64) {
        self.phrases.push(Found {
            rarity,
            ..Found::default()
        });
    }

    /// The phrase stands here.
    pub(super) fn occurrence(&mut self, column: i32, place: i32, bm25: &Bm25) {
        let number = self.phrases.len().saturating_sub(1);
        let (Some(found), Ok(place)) = (self.phrases.last_mut(), u32::try_from(place)) else {
            return;
        };
        match column {
            TITLE => {
                found.frequency += bm25.title;
                found.in_title = true;
                self.title.push(place);
            }
            BODY => {
                found.frequency += 1.0;
                if bm25.together > 0.0 && found.rarity > TELLING {
                    found.in_body = true;
                    self.body.push((place, number));
                }
            }
            TAGS => found.frequency += bm25.tags,
            _ => {}
        }
    }

    /// BM25 if the document has so many terms; the fewer, the higher.
    pub(super) fn bm25(&self, bm25: &Bm25, average_length: f64, length: f64) -> f64 {
        let Bm25 {
            k1,
            b,
            least_length,
            title_bonus,
            ..
        } = *bm25;
        let average = average_length.max(least_length);
        let damping = k1 * (1.0 - b + b * length.max(least_length) / average);
        let each = self.phrases.iter().map(|found| {
            // With no damping either, nothing would be divided by nothing.
            let saturated = if found.frequency > 0.0 {
                found.frequency * (k1 + 1.0) / (found.frequency + damping)
            } else {
                0.0
            };
            let bonus = if found.in_title { title_bonus } else { 0.0 };
            found.rarity * (saturated + bonus)
        });
        each.sum()
    }

    /// The rarities of all telling phrases in the body: what [`Findings::together`] can
    /// be at most.
    pub(super) fn in_body(&self) -> f64 {
        self.rarities(|found| found.in_body)
    }

    /// The rarities of all phrases in the title: what [`Findings::named`] can be
    /// at most.
    pub(super) fn in_title(&self) -> f64 {
        self.rarities(|found| found.in_title)
    }

    fn rarities(&self, counts: impl Fn(&Found) -> bool) -> f64 {
        let counted = self.phrases.iter().filter(|found| counts(found));
        counted.map(|found| found.rarity).sum()
    }

    /// The most that different telling phrases weigh within so many words of the body.
    /// What a text begins with, such as who is speaking, is with all of it.
    pub(super) fn together(&mut self, window: f64) -> f64 {
        let most = self.in_body();
        let others = self.phrases.iter().filter(|found| found.in_body);
        if others.count() < 2 {
            return most;
        }
        for found in &mut self.phrases {
            found.in_window = 0;
        }
        self.body.sort_unstable();
        let (mut weight, mut best): (f64, f64) = (0.0, 0.0);
        // What stands at the beginning never leaves the window.
        let mut first = self.body.partition_point(|&(place, _)| place == 0);
        for last in 0..self.body.len() {
            let (place, number) = self.body[last];
            let found = &mut self.phrases[number];
            found.in_window += 1;
            if found.in_window == 1 {
                weight += found.rarity;
            }
            while first < last && f64::from(place - self.body[first].0) >= window {
                let leaving = &mut self.phrases[self.body[first].1];
                leaving.in_window -= 1;
                if leaving.in_window == 0 {
                    weight -= leaving.rarity;
                }
                first += 1;
            }
            best = best.max(weight);
        }
        best.min(most)
    }

    /// What the phrases in the title weigh, in parts of how much of the title
    /// they are if it has so many terms.
    pub(super) fn named(&mut self, title_length: f64) -> f64 {
        if self.title.is_empty() {
            return 0.0;
        }
        self.title.sort_unstable();
        self.title.dedup();
        let share = self.title.len() as f64 / title_length.max(1.0);
        self.in_title() * share.min(1.0)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Phrases with a rarity each, at places of the title and of the body.
    fn findings(phrases: &[(f64, &[i32], &[i32])]) -> Findings {
        let bm25 = Bm25::default();
        let mut findings = Findings::default();
        for &(rarity, title, body) in phrases {
            findings.phrase(rarity);
            for (column, places) in [(TITLE, title), (BODY, body)] {
                for &place in places {
                    findings.occurrence(column, place, &bm25);
                }
            }
        }
        findings
    }

    #[track_caller]
    fn assert_near(one: f64, other: f64) {
        assert!((one - other).abs() < 1e-9, "{one} {other}");
    }

    #[test]
    fn the_window_with_the_rarest_phrases_counts() {
        let mut apart = findings(&[
            (4.0, &[], &[5, 60]),
            (2.0, &[], &[40]),
            (1.5, &[], &[65]),
            // Too common to count.
            (1.0, &[], &[59, 61]),
        ]);
        assert_near(apart.together(10.0), 5.5);
        assert_near(apart.together(6.0), 5.5);
        assert_near(apart.together(5.0), 4.0);
        assert_near(apart.together(100.0), 7.5);
        // However small the window, a word is with itself.
        assert_near(apart.together(0.0), 4.0);
        assert_near(findings(&[]).together(10.0), 0.0);
        assert_near(findings(&[(2.0, &[0], &[])]).together(10.0), 0.0);
    }

    #[test]
    fn what_a_text_begins_with_is_with_all_of_it() {
        let mut speaker = findings(&[(4.0, &[], &[0, 9]), (2.0, &[], &[40]), (1.5, &[], &[90])]);
        assert_near(speaker.together(10.0), 6.0);
    }

    #[test]
    fn a_title_of_nothing_else_counts_in_full() {
        let mut named = findings(&[(2.0, &[0], &[]), (1.0, &[1], &[3])]);
        assert_near(named.named(2.0), 3.0);
        assert_near(named.named(4.0), 1.5);
        // Two forms of a word stand in one place.
        assert_near(
            findings(&[(2.0, &[0], &[]), (2.0, &[0], &[])]).named(2.0),
            2.0,
        );
        assert_near(findings(&[(2.0, &[], &[0])]).named(0.0), 0.0);
    }

    proptest! {
        #[test]
        fn no_window_is_missed(
            places in prop::collection::vec((1_i32..60, 0_usize..4), 1..20),
            begins in prop::option::of(0_usize..4),
            window in 1_i32..30,
        ) {
            let rarities = [1.25, 2.0, 4.0, 8.0];
            let mut all = places.clone();
            all.extend(begins.map(|number| (0, number)));
            let bm25 = Bm25::default();
            let mut findings = Findings::default();
            for (number, rarity) in rarities.into_iter().enumerate() {
                findings.phrase(rarity);
                for &(place, _) in all.iter().filter(|(_, of)| *of == number) {
                    findings.occurrence(BODY, place, &bm25);
                }
            }
            let within = |start: i32| {
                let there = |number: usize| {
                    let inside = |&(place, of): &(i32, usize)| {
                        of == number && (place == 0 || (start..start + window).contains(&place))
                    };
                    all.iter().any(inside)
                };
                let present = (0..4).filter(|&number| there(number));
                present.map(|number| rarities[number]).sum::<f64>()
            };
            let expected = (0..60).map(within).fold(0.0, f64::max);
            prop_assert!((findings.together(f64::from(window)) - expected).abs() < 1e-9);
        }
    }
}
