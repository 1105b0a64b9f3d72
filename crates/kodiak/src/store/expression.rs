//! What to look for, in a form no user input can break: a tree of phrases.

/// A column of the full text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Column {
    /// The document's title.
    Title,
    /// The document's tags.
    Tags,
}

/// Words in a row.
#[derive(Clone, Debug, PartialEq)]
pub struct Phrase {
    /// The words as written; the index cuts them into terms itself.
    pub text: String,
    /// Whether the last word may go on.
    pub prefix: bool,
    /// The column it must stand in; any if none.
    pub column: Option<Column>,
    /// How much a match counts: its inverse document frequency, 0 for nothing.
    pub weight: f64,
}

/// A condition on documents.
#[derive(Clone, Debug, PartialEq)]
pub enum Expression {
    /// The phrase occurs.
    Phrase(Phrase),
    /// The phrases occur in one field, with no more than so many words between the
    /// end of each and the beginning of the last. The first phrase says in which
    /// column; those without any word in them do not count.
    Near(Vec<Phrase>, usize),
    /// All of these hold; never, if there are none.
    All(Vec<Expression>),
    /// Any of these holds.
    Any(Vec<Expression>),
    /// The first holds and the second does not.
    Except(Box<Expression>, Box<Expression>),
}
