//! Duplicates that a model finds where words do not: among many memories that use the
//! same words more often.

use kodiak::embed::Embedder;

use super::*;
use crate::embedders::{Scripted, tiny};

const KNOWN: &str = "The kettle has a valve that leaks.";
const RESTATED: &str = "The kettle has a valve that leaked!";

/// Writes memories that a search for the same words finds first, and that say something
/// else: another number of times.
fn crowd(place: &Place) {
    for number in 10..50 {
        let text = format!("The kettle valve leaks: kettle valve leaks, {number} leaks.");
        place.write(
            &format!("crowd-{number}.md"),
            &format!("---\nid: crowd-{number}\n---\n{text}\n"),
        );
    }
    place.write("known.md", &format!("---\nid: known\n---\n{KNOWN}\n"));
}

impl Place {
    fn engine_with(&self, model: std::sync::Arc<dyn Embedder>) -> Engine {
        let memories = MemoryOptions::default();
        let memories = MemoryFolder::new("memory", &self.root(), memories).unwrap();
        Engine::builder(self.index())
            .source(memories)
            .model(model)
            .open()
            .unwrap()
    }
}

#[test]
fn a_duplicate_is_found_by_meaning() {
    let place = Place::new();
    crowd(&place);
    let engine = place.engine();
    sync(&engine);
    let remembered = remember(&engine, &memory(RESTATED));
    assert!(
        !remembered.deduplicated,
        "the crowd hides it: {remembered:?}"
    );

    let place = Place::new();
    crowd(&place);
    // To this model, what has a number is something else.
    let model = Scripted::instead_of_tiny(|text, _| {
        let mut vector = vec![0.0; tiny().identity().dimensions];
        vector[usize::from(text.contains(char::is_numeric))] = 1.0;
        Ok(vector)
    });
    let engine = place.engine_with(model.clone());
    sync(&engine);
    engine.embed(&me(), None, &Job::default()).unwrap();
    let again = remember(&engine, &memory(RESTATED));
    assert!(again.deduplicated, "{again:?}");
    assert_eq!(again.key, "known");
    let similarity = again.similarity.unwrap();
    assert!(similarity > 0.85 && similarity < 1.0, "{similarity}");
    assert_eq!(model.queries().len(), 1);
    // What the model takes for similar is compared closely all the same.
    let other = remember(&engine, &memory("The kettle has a lid that leaks."));
    assert!(!other.deduplicated, "{other:?}");
}

#[test]
fn a_model_that_fails_keeps_nobody_from_remembering() {
    let place = Place::new();
    let engine = place.engine_with(Scripted::tiny_failing_on("noodles"));
    let first = remember(&engine, &memory("The noodles need five minutes."));
    assert!(!first.deduplicated);
    // The search by words still knows it.
    let again = remember(&engine, &memory("The noodles need five minutes!"));
    assert!(again.deduplicated, "{again:?}");
    let other = remember(&engine, &memory("The noodles need an hour."));
    assert!(!other.deduplicated, "{other:?}");
    assert_eq!(place.files().len(), 2);
}
