//! A page as a handler meets it: opened from the query, and filled with rows.

use std::time::SystemTime;

use super::{
    CursorBinding, CursorError, CursorKeyring, Direction, InvalidPageRequest, Limit, Page, PageRules,
    PositionTooLong, PositionValue,
};
use crate::problem::{Problem, ProblemBase};

/// The values that a row is sorted by, as the host has them.
///
/// Of this crate are `i64`, `String`, and a list of values as it is in the cursor.
pub trait Position: Sized {
    /// The values as a cursor carries them.
    fn to_values(&self) -> Vec<PositionValue>;

    /// The position of these values; absent where they are of another form, such as that of an earlier release.
    fn from_values(values: Vec<PositionValue>) -> Option<Self>;
}

impl Position for i64 {
    fn to_values(&self) -> Vec<PositionValue> {
        vec![PositionValue::Integer(*self)]
    }

    fn from_values(values: Vec<PositionValue>) -> Option<Self> {
        match *values {
            [PositionValue::Integer(position)] => Some(position),
            _ => None,
        }
    }
}

impl Position for String {
    fn to_values(&self) -> Vec<PositionValue> {
        vec![PositionValue::Text(self.clone())]
    }

    fn from_values(values: Vec<PositionValue>) -> Option<Self> {
        match <[PositionValue; 1]>::try_from(values) {
            Ok([PositionValue::Text(position)]) => Some(position),
            _ => None,
        }
    }
}

impl Position for Vec<PositionValue> {
    fn to_values(&self) -> Vec<PositionValue> {
        self.clone()
    }

    fn from_values(values: Vec<PositionValue>) -> Option<Self> {
        Some(values)
    }
}

/// The page a client asks for, with its cursor opened.
#[derive(Clone, Debug)]
pub struct AskedPage<'k, P> {
    limit: Limit,
    after: Option<P>,
    keyring: &'k CursorKeyring,
    binding: CursorBinding,
    now: SystemTime,
}

impl CursorKeyring {
    /// Opens the page that a query asks for: `limit` within the rules, and after which row it begins.
    ///
    /// # Errors
    ///
    /// Those of [`PageRules::parse`] and of [`open`](Self::open); [`CursorError::Invalid`] also for a cursor with a position
    /// of another form, or that walks back.
    pub fn open_page<P: Position>(
        &self,
        rules: PageRules,
        query: Option<&str>,
        binding: CursorBinding,
        now: SystemTime,
    ) -> Result<AskedPage<'_, P>, PageError> {
        let asked = rules.parse(query)?;
        let after = match asked.after {
            Some(cursor) => Some(self.open_position(&cursor, &binding, now)?),
            None => None,
        };
        Ok(AskedPage {
            limit: asked.limit,
            after,
            keyring: self,
            binding,
            now,
        })
    }

    fn open_position<P: Position>(
        &self,
        cursor: &str,
        binding: &CursorBinding,
        now: SystemTime,
    ) -> Result<P, CursorError> {
        let opened = self.open(cursor, binding, now)?;
        match opened.direction {
            Direction::Forward => P::from_values(opened.values).ok_or(CursorError::Invalid),
            Direction::Backward => Err(CursorError::Invalid),
        }
    }
}

impl<P> AskedPage<'_, P> {
    /// How many rows the page has at most; fetch [`Limit::fetch`] of them.
    #[must_use]
    pub fn limit(&self) -> Limit {
        self.limit
    }

    /// The position after which the page begins; without one, it is the first page.
    #[must_use]
    pub fn after(&self) -> Option<&P> {
        self.after.as_ref()
    }

    /// Makes the page of the rows that were fetched, and the cursor to the next where there are more.
    ///
    /// # Errors
    ///
    /// When the position of the last row does not fit into a cursor.
    pub fn page<T>(&self, rows: Vec<T>, position: impl FnOnce(&T) -> P) -> Result<Page<T>, PositionTooLong>
    where
        P: Position,
    {
        Page::from_rows(rows, self.limit, |last| {
            let values = position(last).to_values();
            self.keyring
                .seal(&values, Direction::Forward, &self.binding, self.now)
        })
    }
}

/// The page that was asked for cannot be had.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PageError {
    /// A page parameter is malformed, out of range or repeated.
    #[error(transparent)]
    Request(#[from] InvalidPageRequest),
    /// The cursor cannot be used.
    #[error(transparent)]
    Cursor(#[from] CursorError),
}

impl PageError {
    /// The 400 to answer with; its extension `parameter` names the culprit.
    #[must_use]
    pub fn problem(self, base: &ProblemBase) -> Problem {
        match self {
            Self::Request(refused) => refused.problem(base),
            Self::Cursor(refused) => refused.problem(base),
        }
    }
}
