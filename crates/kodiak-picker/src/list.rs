//! The list of documents that a query found, and the selection.
//!
//! Hits by words come first, and hits by words and meaning replace them. Once the
//! selection has moved, nothing changes its place, and further hits are appended.

use crate::item::Item;

/// How much of a search an answer has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// By words alone.
    Words,
    /// Everything: by words and, if there is a model, by meaning.
    Full,
}

/// The documents that a query found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Results {
    /// The documents, best first.
    pub items: Vec<Item>,
    /// The number of documents that match.
    pub total: usize,
    /// Whether meanings were compared.
    pub by_meaning: bool,
    /// A caveat about the answer, in one sentence.
    pub notice: Option<String>,
}

/// A failure, and its remedies.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Problem {
    /// The failure, in one sentence.
    pub text: String,
    /// The next steps.
    pub hints: Vec<String>,
}

/// The list.
#[derive(Clone, Debug, Default)]
pub struct List {
    items: Vec<Item>,
    selected: usize,
    /// The first item that is visible.
    top: usize,
    /// The number of the query that the items are for, and how much of its answer.
    of: Option<(u64, Stage)>,
    /// Whether the selection was moved since these items were first shown.
    moved: bool,
    total: usize,
    by_meaning: bool,
    notice: Option<String>,
    problem: Option<Problem>,
}

impl List {
    /// Takes the answer to a query, if it is news. Returns whether it was.
    pub fn take(&mut self, number: u64, stage: Stage, found: Result<Results, Problem>) -> bool {
        if self.of.is_some_and(|known| known >= (number, stage)) {
            return false;
        }
        let same_query = self.of.is_some_and(|(of, _)| of == number);
        self.of = Some((number, stage));
        let found = match found {
            Ok(found) => found,
            // Hits by words stay if comparing meanings fails.
            Err(problem) if same_query && self.problem.is_none() => {
                self.notice = Some(problem.text);
                return true;
            }
            Err(problem) => {
                *self = Self {
                    of: self.of,
                    problem: Some(problem),
                    ..Self::default()
                };
                return true;
            }
        };
        self.problem = None;
        self.by_meaning = found.by_meaning;
        self.notice = found.notice;
        if same_query && self.moved {
            for item in found.items {
                if !self.items.iter().any(|known| known.uri == item.uri) {
                    self.items.push(item);
                }
            }
            self.total = found.total.max(self.items.len());
            return true;
        }
        self.items = found.items;
        self.total = found.total.max(self.items.len());
        self.moved = false;
        self.selected = 0;
        self.top = 0;
        true
    }

    /// Moves the selection to an item, or as close as there is one. `rows` items are
    /// visible.
    pub fn select(&mut self, number: usize, rows: usize) {
        self.moved = true;
        self.selected = number.min(self.items.len().saturating_sub(1));
        self.show(rows);
    }

    /// Scrolls as little as it takes to show the selected item among `rows` items.
    pub fn show(&mut self, rows: usize) {
        let rows = rows.max(1);
        let last_top = self.items.len().saturating_sub(rows);
        self.top = self
            .top
            .clamp((self.selected + 1).saturating_sub(rows), self.selected)
            .min(last_top);
    }

    /// Reports whether the items are an answer to this query.
    pub fn is_of(&self, number: u64) -> bool {
        self.of.is_some_and(|(of, _)| of == number)
    }

    /// Returns how much of the answer to its query it has; `None` before the first.
    pub fn stage(&self) -> Option<Stage> {
        self.of.map(|(_, stage)| stage)
    }

    /// Returns the items.
    pub fn items(&self) -> &[Item] {
        &self.items
    }

    /// Returns the number of the selected item.
    pub fn selected(&self) -> usize {
        self.selected
    }

    /// Returns the number of the first item that is visible.
    pub fn top(&self) -> usize {
        self.top
    }

    /// Returns the selected item.
    pub fn item(&self) -> Option<&Item> {
        self.items.get(self.selected)
    }

    /// Returns the number of documents that match.
    pub fn total(&self) -> usize {
        self.total
    }

    /// Reports whether meanings were compared.
    pub fn by_meaning(&self) -> bool {
        self.by_meaning
    }

    /// Returns the caveat about the answer.
    pub fn notice(&self) -> Option<&str> {
        self.notice.as_deref()
    }

    /// Returns the failure, if there is one.
    pub fn problem(&self) -> Option<&Problem> {
        self.problem.as_ref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[expect(clippy::unnecessary_wraps, reason = "answers come like this")]
    fn found(names: &[&str]) -> Result<Results, Problem> {
        let items = names.iter().map(|name| Item {
            uri: (*name).to_owned(),
            ..Item::default()
        });
        Ok(Results {
            items: items.collect(),
            total: names.len(),
            ..Results::default()
        })
    }

    fn names(list: &List) -> Vec<&str> {
        list.items().iter().map(|item| item.uri.as_str()).collect()
    }

    #[test]
    fn hits_by_meaning_reorder_until_the_selection_moves() {
        let mut list = List::default();
        assert!(list.take(1, Stage::Words, found(&["a", "b"])));
        assert!(list.take(1, Stage::Full, found(&["c", "a"])));
        assert_eq!(names(&list), ["c", "a"]);
        assert!(list.take(2, Stage::Words, found(&["a", "b"])));
        list.select(1, 10);
        assert!(list.take(2, Stage::Full, found(&["c", "b", "d", "a"])));
        assert_eq!(names(&list), ["a", "b", "c", "d"]);
        assert_eq!(list.item().unwrap().uri, "b");
        // Another query starts over.
        assert!(list.take(3, Stage::Words, found(&["d"])));
        assert_eq!((names(&list), list.selected()), (vec!["d"], 0));
    }

    #[test]
    fn late_answers_change_nothing() {
        let mut list = List::default();
        assert!(list.take(2, Stage::Full, found(&["a"])));
        assert!(!list.take(2, Stage::Words, found(&["b"])));
        assert!(!list.take(1, Stage::Full, found(&["c"])));
        assert!(!list.take(2, Stage::Full, found(&["d"])));
        assert_eq!(names(&list), ["a"]);
    }

    #[test]
    fn a_failure_to_compare_meanings_keeps_the_hits_by_words() {
        let problem = |text: &str| {
            Err(Problem {
                text: text.to_owned(),
                hints: Vec::new(),
            })
        };
        let mut list = List::default();
        list.take(1, Stage::Words, found(&["a"]));
        assert!(list.take(1, Stage::Full, problem("no model")));
        assert_eq!((names(&list), list.notice()), (vec!["a"], Some("no model")));
        assert!(list.take(2, Stage::Words, problem("damaged")));
        assert!(list.items().is_empty());
        assert_eq!(list.problem().unwrap().text, "damaged");
        assert!(list.take(2, Stage::Full, found(&["b"])));
        assert_eq!((names(&list), list.problem()), (vec!["b"], None));
    }

    #[test]
    fn the_selected_item_is_visible() {
        let mut list = List::default();
        list.take(1, Stage::Words, found(&["a", "b", "c", "d", "e"]));
        for (select, top) in [(0, 0), (2, 0), (3, 1), (9, 2), (3, 2), (1, 1), (0, 0)] {
            list.select(select, 3);
            assert_eq!(list.top(), top, "{select}");
        }
        list.select(4, 1);
        list.show(5);
        assert_eq!(list.top(), 0);
        list.show(0);
        assert_eq!(list.top(), 4);
    }
}
