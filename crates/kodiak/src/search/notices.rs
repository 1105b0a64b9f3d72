//! The caveats of an answer, as lists: notices beside the hits, and possible gaps.

use serde::ser::{Serialize, SerializeMap, Serializer};

use super::caveat::Caveat;
use super::uncertainty::Uncertainty;

/// The notices of an answer. In JSON they are two lists: `notices` with the
/// sentences for people, and `notice_codes` with the codes of all.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Notices(pub Vec<Caveat>);

impl Notices {
    /// Returns the notices as sentences for people. Notices that matter only to programs
    /// have no sentence here.
    pub fn sentences(&self) -> Vec<String> {
        let people = |notice: &&Caveat| !matches!(notice, Caveat::RelevanceUnknown { .. });
        let told = self.0.iter().filter(people);
        told.map(ToString::to_string).collect()
    }

    /// Returns the uncertainty of an answer without a relevant hit.
    pub fn uncertainty(&self) -> Option<&Uncertainty> {
        self.0.iter().find_map(|notice| match notice {
            Caveat::Uncertain(uncertainty) => Some(uncertainty),
            _ => None,
        })
    }

    /// Removes the uncertainty of an answer without a relevant hit, for a surface that
    /// states it in another place.
    pub fn take_uncertainty(&mut self) -> Option<Uncertainty> {
        let uncertain = |notice: &Caveat| matches!(notice, Caveat::Uncertain(_));
        let known = self.uncertainty().cloned();
        self.0.retain(|notice| !uncertain(notice));
        known
    }

    /// Reports whether there were hits, all of them less relevant than the request
    /// asked for.
    pub fn all_left_out(&self) -> bool {
        let left_out = |notice: &Caveat| matches!(notice, Caveat::BelowMinRelevance { .. });
        self.0.iter().any(left_out)
    }

    /// Sets the subject of the sentence about uncertain hits.
    pub fn name_subject(&mut self, subject: &'static str) {
        for notice in &mut self.0 {
            if let Caveat::Uncertain(uncertainty) = notice {
                uncertainty.subject = subject;
            }
        }
    }
}

impl std::ops::Deref for Notices {
    type Target = [Caveat];

    fn deref(&self) -> &[Caveat] {
        &self.0
    }
}

impl Serialize for Notices {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let codes: Vec<&str> = self.0.iter().map(Caveat::code).collect();
        let mut map = serializer.serialize_map(Some(2))?;
        map.serialize_entry("notices", &self.sentences())?;
        map.serialize_entry("notice_codes", &codes)?;
        map.end()
    }
}

/// The reasons why an answer may lack something; none if it is complete. In JSON
/// it is two fields: `complete`, and `incomplete` with the code of each reason.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Completeness(pub Vec<Caveat>);

impl Completeness {
    /// Collects the notices that are reasons.
    pub(super) fn of(notices: &[Caveat]) -> Self {
        let reasons = notices.iter().filter(|notice| notice.is_incomplete());
        Self(reasons.cloned().collect())
    }

    /// Reports whether nothing is missing.
    pub fn is_complete(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the code of each kind of reason, once.
    pub fn codes(&self) -> Vec<&'static str> {
        let mut codes: Vec<&'static str> = Vec::new();
        for code in self.0.iter().map(Caveat::code) {
            if !codes.contains(&code) {
                codes.push(code);
            }
        }
        codes
    }

    /// Adds a reason, unless it is already there.
    pub fn add(&mut self, reason: Caveat) {
        if !self.0.contains(&reason) {
            self.0.push(reason);
        }
    }
}

impl Serialize for Completeness {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(2))?;
        map.serialize_entry("complete", &self.is_complete())?;
        map.serialize_entry("incomplete", &self.codes())?;
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::search::caveat::{NotIndexed, SemanticAbsence};

    #[test]
    fn sentences_and_codes_go_together() {
        let notices = Notices(vec![
            Caveat::DocumentsGone { count: 1 },
            Caveat::DocumentsGone { count: 2 },
            Caveat::SemanticUnavailable(SemanticAbsence::Deadline(Duration::from_millis(20))),
            Caveat::RelevanceUnknown {
                model: "tiny".to_owned(),
            },
            Caveat::BelowMinRelevance {
                count: 7,
                best: 0.5402,
                least: 0.9,
            },
        ]);
        let json = serde_json::to_value(&notices).unwrap();
        assert_eq!(
            json,
            serde_json::json!({
                "notices": [
                    "1 note was left out: its file no longer exists",
                    "2 notes were left out: their files no longer exist",
                    "notes were searched by words only: the model took longer than 20ms",
                    "the minimum relevance of 0.9 left out all 7 hits; the best has 0.54",
                ],
                "notice_codes": [
                    "documents-gone",
                    "documents-gone",
                    "semantic-deadline",
                    "relevance-unknown",
                    "below-min-relevance",
                ],
            })
        );
    }

    #[test]
    fn an_answer_without_reasons_is_complete() {
        let json = serde_json::to_value(Completeness::default()).unwrap();
        let expected = serde_json::json!({"complete": true, "incomplete": []});
        assert_eq!(json, expected);
    }

    #[test]
    fn every_kind_of_reason_is_named_once() {
        let mut completeness = Completeness::of(&[
            Caveat::ChangesNotIndexed {
                count: 1,
                reason: NotIndexed::Unnoticed,
            },
            Caveat::DocumentsGone { count: 3 },
            Caveat::PartlyEmbedded { percent: 3 },
            Caveat::SemanticUnavailable(SemanticAbsence::NothingEmbedded),
            Caveat::SemanticUnavailable(SemanticAbsence::Deadline(Duration::ZERO)),
        ]);
        completeness.add(Caveat::ChangesNotIndexed {
            count: 2,
            reason: NotIndexed::Busy,
        });
        completeness.add(Caveat::SemanticUnavailable(SemanticAbsence::Deadline(
            Duration::ZERO,
        )));
        let json = serde_json::to_value(&completeness).unwrap();
        let codes = ["changes-not-indexed", "semantic-deadline"];
        let expected = serde_json::json!({"complete": false, "incomplete": codes});
        assert_eq!(json, expected);
    }
}
