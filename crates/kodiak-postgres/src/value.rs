//! Statements with the values in them.

use std::error::Error;

use bytes::BytesMut;
use tokio_postgres::Row;
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type, to_sql_checked};

use kodiak_base::error::{self, Cause};

/// A value of a statement. Each has one type, so that the server need not be asked for it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Bool(bool),
    Int(Option<i64>),
    Text(Option<String>),
    Bytes(Vec<u8>),
    Bools(Vec<bool>),
    Ints(Vec<Option<i64>>),
    Texts(Vec<Option<String>>),
    Blobs(Vec<Vec<u8>>),
}

impl Value {
    fn of_type(&self) -> Type {
        match self {
            Self::Bool(_) => Type::BOOL,
            Self::Int(_) => Type::INT8,
            Self::Text(_) => Type::TEXT,
            Self::Bytes(_) => Type::BYTEA,
            Self::Bools(_) => Type::BOOL_ARRAY,
            Self::Ints(_) => Type::INT8_ARRAY,
            Self::Texts(_) => Type::TEXT_ARRAY,
            Self::Blobs(_) => Type::BYTEA_ARRAY,
        }
    }
}

impl ToSql for Value {
    fn to_sql(
        &self,
        of: &Type,
        out: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        match self {
            Self::Bool(value) => value.to_sql(of, out),
            Self::Int(value) => value.to_sql(of, out),
            Self::Text(value) => value.to_sql(of, out),
            Self::Bytes(value) => value.to_sql(of, out),
            Self::Bools(values) => values.to_sql(of, out),
            Self::Ints(values) => values.to_sql(of, out),
            Self::Texts(values) => values.to_sql(of, out),
            Self::Blobs(values) => values.to_sql(of, out),
        }
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

/// Returns a text as a server can keep it: PostgreSQL has no NUL. The character that takes
/// its place is as long, so that ranges of bytes stay the same.
pub(crate) fn kept(text: &str) -> String {
    if text.contains('\0') {
        return text.replace('\0', "\u{1a}");
    }
    text.to_owned()
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<i64> for Value {
    fn from(value: i64) -> Self {
        Self::Int(Some(value))
    }
}

impl From<Option<i64>> for Value {
    fn from(value: Option<i64>) -> Self {
        Self::Int(value)
    }
}

impl From<usize> for Value {
    fn from(value: usize) -> Self {
        Self::Int(Some(i64::try_from(value).unwrap_or(i64::MAX)))
    }
}

impl From<&str> for Value {
    fn from(value: &str) -> Self {
        Self::Text(Some(kept(value)))
    }
}

impl From<&String> for Value {
    fn from(value: &String) -> Self {
        Self::from(value.as_str())
    }
}

impl From<String> for Value {
    fn from(value: String) -> Self {
        Self::from(value.as_str())
    }
}

impl From<Option<&str>> for Value {
    fn from(value: Option<&str>) -> Self {
        Self::Text(value.map(kept))
    }
}

impl From<Vec<u8>> for Value {
    fn from(value: Vec<u8>) -> Self {
        Self::Bytes(value)
    }
}

impl From<&[i64]> for Value {
    fn from(values: &[i64]) -> Self {
        values.iter().copied().collect()
    }
}

impl From<&[String]> for Value {
    fn from(values: &[String]) -> Self {
        values.iter().map(String::as_str).collect()
    }
}

impl FromIterator<i64> for Value {
    fn from_iter<I: IntoIterator<Item = i64>>(values: I) -> Self {
        Self::Ints(values.into_iter().map(Some).collect())
    }
}

impl FromIterator<Option<i64>> for Value {
    fn from_iter<I: IntoIterator<Item = Option<i64>>>(values: I) -> Self {
        Self::Ints(values.into_iter().collect())
    }
}

impl<'a> FromIterator<&'a str> for Value {
    fn from_iter<I: IntoIterator<Item = &'a str>>(values: I) -> Self {
        Self::Texts(values.into_iter().map(|text| Some(kept(text))).collect())
    }
}

impl<'a> FromIterator<Option<&'a str>> for Value {
    fn from_iter<I: IntoIterator<Item = Option<&'a str>>>(values: I) -> Self {
        Self::Texts(values.into_iter().map(|text| text.map(kept)).collect())
    }
}

impl FromIterator<bool> for Value {
    fn from_iter<I: IntoIterator<Item = bool>>(values: I) -> Self {
        Self::Bools(values.into_iter().collect())
    }
}

impl FromIterator<Vec<u8>> for Value {
    fn from_iter<I: IntoIterator<Item = Vec<u8>>>(values: I) -> Self {
        Self::Blobs(values.into_iter().collect())
    }
}

/// A statement with its values.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Query {
    pub(crate) sql: String,
    values: Vec<Value>,
}

impl Query {
    /// Creates a statement without values.
    pub(crate) fn new(sql: impl Into<String>) -> Self {
        Self {
            sql: sql.into(),
            values: Vec::new(),
        }
    }

    /// Adds the next value.
    #[must_use]
    pub(crate) fn with(mut self, value: impl Into<Value>) -> Self {
        self.values.push(value.into());
        self
    }

    /// Adds a value and returns its name in the statement.
    pub(crate) fn bind(&mut self, value: impl Into<Value>) -> String {
        self.values.push(value.into());
        format!("${}", self.values.len())
    }

    /// Returns the values with their types, as the client takes them.
    pub(crate) fn typed(&self) -> Vec<(&(dyn ToSql + Sync), Type)> {
        let values = self.values.iter();
        values
            .map(|value| (value as &(dyn ToSql + Sync), value.of_type()))
            .collect()
    }
}

/// Returns a column of a row.
pub(crate) fn get<'a, T: FromSql<'a>>(row: &'a Row, column: usize) -> error::Result<T> {
    row.try_get(column)
        .map_err(|failed| error::Error::Database {
            path: "PostgreSQL".into(),
            detail: failed.to_string(),
            cause: Cause::Refused,
        })
}

/// Returns a column that is a number of things.
pub(crate) fn count(row: &Row, column: usize) -> error::Result<u64> {
    let number: i64 = get(row, column)?;
    Ok(u64::try_from(number).unwrap_or(0))
}

/// Returns a column with bytes of a known length. Any other length gives zeros, which stand
/// for an unknown value.
pub(crate) fn fixed<const LENGTH: usize>(row: &Row, column: usize) -> error::Result<[u8; LENGTH]> {
    let bytes: &[u8] = get(row, column)?;
    Ok(bytes.try_into().unwrap_or([0; LENGTH]))
}
