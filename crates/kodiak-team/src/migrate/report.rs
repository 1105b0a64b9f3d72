//! The report of a migration: counts and checksums of both sides.

/// What one side has of a group.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Side {
    /// How many.
    pub count: u64,
    /// The sum of their hashes, which does not depend on their order.
    pub sum: String,
}

/// What both sides have of one kind of thing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Group {
    /// What it is, such as "documents".
    pub name: &'static str,
    /// All that the origin has.
    pub from: Side,
    /// What the destination has of that.
    pub to: Side,
    /// What else the destination has.
    pub others: u64,
    /// Some that are missing in the destination or differ there.
    pub different: Vec<String>,
}

impl Group {
    /// The number of examples that are kept.
    pub(super) const EXAMPLES: usize = 5;

    /// Reports whether the destination has all that the origin has.
    pub fn is_complete(&self) -> bool {
        self.from == self.to
    }

    pub(super) fn differs(&mut self, example: impl FnOnce() -> String) {
        if self.different.len() < Self::EXAMPLES {
            self.different.push(example());
        }
    }
}

/// What came of a migration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MigrationReport {
    /// Both sides, compared after everything was moved.
    pub groups: Vec<Group>,
    /// How much was written to the destination; 0 if it had everything.
    pub changed: usize,
}

impl MigrationReport {
    /// Reports whether the destination has all that the origin has.
    pub fn is_complete(&self) -> bool {
        self.groups.iter().all(Group::is_complete)
    }
}
