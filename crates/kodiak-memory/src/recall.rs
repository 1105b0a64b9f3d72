//! Recalling: a search over memories and sessions.
//!
//! The second layer of disclosure. It is an ordinary search with another choice of sources,
//! and with hits of the current project first.

use super::Memories;
use crate::folder::Holding;
use kodiak::access::{Capability, Guard};
use kodiak::search::{Answer, Corrected, Hit, Request};
use kodiak_base::Result;
use kodiak_store::{Filter, Row};

/// The share of the hits that is kept for other projects, as a divisor.
const ELSEWHERE: usize = 3;

/// The sources to search if a request names none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Knowledge {
    /// Everything: notes, pages, memories, articles, sessions.
    #[default]
    Everything,
    /// Memories.
    Memories,
    /// Articles.
    Articles,
    /// Memories and sessions.
    Experience,
}

/// A request to recall.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Recall {
    /// The request to search with.
    pub request: Request,
    /// The sources to search, unless the request names some.
    pub knowledge: Knowledge,
    /// The present project. Its hits come first, unless the request asks for certain
    /// projects.
    pub project: Option<String>,
}

/// An answer in two parts.
#[derive(Clone, Debug, PartialEq)]
pub struct Recalled {
    /// The answer. Hits of other projects are marked as such and come last.
    pub answer: Answer,
    /// The number of hits of the present project. Without one, of all hits.
    pub here: usize,
}

impl Memories<'_> {
    /// Searches memories and sessions, or the requested sources. Inside one project it
    /// finds exactly what a search limited to that project finds.
    pub fn recall(&self, guard: &Guard, recall: &Recall) -> Result<Recalled> {
        guard.require(Capability::Search)?;
        let mut request = recall.request.clone();
        let sources = self.knowledge_sources(guard, recall.knowledge);
        let named = !request.filter.sources.is_empty();
        if request.filter.sources.is_empty()
            && let Some(sources) = sources
        {
            // An empty list would mean all sources.
            request.filter.sources = sources;
            if request.filter.sources.is_empty() {
                request.filter.sources = vec![recall.knowledge.nothing()];
            }
        }
        let present = recall.project.as_ref();
        let present = present.filter(|_| request.filter.projects.is_empty());
        let mut recalled = match present.filter(|_| guard.project().is_none()) {
            None => {
                let answer = self.engine.search(guard, &request)?;
                let here = answer.hits.len();
                Recalled { answer, here }
            }
            Some(project) => self.here_and_elsewhere(guard, request, project)?,
        };
        if !named && let Some(subject) = recall.knowledge.subject() {
            recalled.answer.notices.name_subject(subject);
        }
        self.add_corrected(guard, &mut recalled.answer.hits)?;
        Ok(recalled)
    }

    /// Adds to each hit the documents that it corrects.
    fn add_corrected(&self, guard: &Guard, hits: &mut [Hit]) -> Result<()> {
        if hits.is_empty() {
            return Ok(());
        }
        let visible = guard.narrow(&Filter::default());
        self.engine.view(guard).read(|reader| {
            let rows: Vec<Row> = hits.iter().map(|hit| hit.row).collect();
            for document in reader.documents(&rows)? {
                if let Some(hit) = hits.iter_mut().find(|hit| hit.row == document.row) {
                    hit.corrects = Corrected::by(reader, &document, &visible)?;
                }
            }
            Ok(())
        })
    }

    /// Searches one project, and then everything outside it.
    fn here_and_elsewhere(
        &self,
        guard: &Guard,
        request: Request,
        project: &str,
    ) -> Result<Recalled> {
        let limit = request.limit;
        let inside = Request {
            filter: Filter {
                projects: vec![project.to_owned()],
                ..request.filter.clone()
            },
            ..request.clone()
        };
        let outside = Request {
            filter: Filter {
                not_projects: vec![project.to_owned()],
                ..request.filter.clone()
            },
            // The first search has looked for changes in the same sources.
            refresh: false,
            ..request
        };
        let mut answer = self.engine.search(guard, &inside)?;
        let others = self.engine.search(guard, &outside)?;
        let reserved = others.hits.len().min(limit / ELSEWHERE);
        answer.hits.truncate(limit - reserved);
        let here = answer.hits.len();
        let elsewhere = others.hits.into_iter().take(limit - here);
        answer.hits.extend(elsewhere.map(|hit| Hit {
            elsewhere: true,
            ..hit
        }));
        answer.total += others.total;
        answer.took_ms += others.took_ms;
        answer.answered = match (answer.answered, others.answered) {
            (Some(one), Some(other)) => Some(one.max(other)),
            (one, other) => one.or(other),
        };
        answer.contained = match (answer.contained, others.contained) {
            (Some(one), Some(other)) => Some(one || other),
            (one, other) => one.or(other),
        };
        if answer.relevant.is_some() {
            answer.relevant = Some(answer.hits.iter().filter(|hit| hit.probable).count());
        }
        answer.join_notices(others.notices);
        if answer.hits.is_empty() && !answer.notices.all_left_out() {
            answer.suggestions = others.suggestions;
        } else {
            answer.suggestions.clear();
        }
        Ok(Recalled { answer, here })
    }

    /// Returns the sources to search; `None` for all.
    fn knowledge_sources(&self, guard: &Guard, knowledge: Knowledge) -> Option<Vec<String>> {
        match knowledge {
            Knowledge::Everything => None,
            Knowledge::Memories => Some(self.memory_sources(guard, Holding::Memories)),
            Knowledge::Articles => Some(self.memory_sources(guard, Holding::Articles)),
            Knowledge::Experience => {
                let mut sources = self.memory_sources(guard, Holding::Memories);
                sources.extend(self.session_sources(guard));
                Some(sources)
            }
        }
    }
}

impl Knowledge {
    /// Returns the subject of a sentence that says that nothing was found.
    fn subject(self) -> Option<&'static str> {
        match self {
            Self::Everything => None,
            Self::Memories => Some("no memory"),
            Self::Articles => Some("no article"),
            Self::Experience => Some("no memory or session"),
        }
    }

    /// Returns the name of a source that does not exist, where none of this kind does.
    fn nothing(self) -> String {
        let name = match self {
            Self::Articles => super::ARTICLE_SOURCE,
            _ => super::MEMORY_SOURCE,
        };
        name.to_owned()
    }
}
