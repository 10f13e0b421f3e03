//! A page as a handler meets it: opened from the query, and filled with rows.

use std::time::SystemTime;

use super::{
    CursorBinding, CursorError, CursorKeyring, Direction, InvalidPageRequest, Limit, Page, PageRules,
    PositionTooLong, PositionValue,
};
use crate::errors::{Problem, ProblemBase};

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
    edge: Edge<P>,
    walks_back: bool,
    keyring: &'k CursorKeyring,
    binding: CursorBinding,
    now: SystemTime,
}

/// Where a page begins, and which way it goes on from there.
#[derive(Clone, Debug)]
enum Edge<P> {
    Start,
    After(P),
    Before(P),
}

impl CursorKeyring {
    /// Opens the page that a query asks for: `limit` within the rules, and after or before which row it lies.
    ///
    /// # Errors
    ///
    /// Those of [`PageRules::parse`] and of [`open`](Self::open); [`CursorError::Invalid`] also for a cursor with a position
    /// of another form, or that was made to walk the other way.
    pub fn open_page<P: Position>(
        &self,
        rules: PageRules,
        query: Option<&str>,
        binding: CursorBinding,
        now: SystemTime,
    ) -> Result<AskedPage<'_, P>, PageError> {
        let asked = rules.parse(query)?;
        let edge = match (asked.after, asked.before) {
            (Some(cursor), _) => {
                Edge::After(self.open_position(&cursor, Direction::Forward, &binding, now)?)
            }
            (None, Some(cursor)) => {
                let position = self.open_position(&cursor, Direction::Backward, &binding, now);
                Edge::Before(position.map_err(PageError::Before)?)
            }
            (None, None) => Edge::Start,
        };
        Ok(AskedPage {
            limit: asked.limit,
            edge,
            walks_back: rules.walks_back(),
            keyring: self,
            binding,
            now,
        })
    }

    fn open_position<P: Position>(
        &self,
        cursor: &str,
        direction: Direction,
        binding: &CursorBinding,
        now: SystemTime,
    ) -> Result<P, CursorError> {
        let opened = self.open(cursor, binding, now)?;
        match opened.direction == direction {
            true => P::from_values(opened.values).ok_or(CursorError::Invalid),
            false => Err(CursorError::Invalid),
        }
    }
}

impl<P> AskedPage<'_, P> {
    /// How many rows the page has at most; fetch [`Limit::fetch`] of them.
    #[must_use]
    pub fn limit(&self) -> Limit {
        self.limit
    }

    /// The position after which the page begins; without one, and without one [before](Self::before) which it ends, it is the
    /// first page.
    #[must_use]
    pub fn after(&self) -> Option<&P> {
        match &self.edge {
            Edge::After(position) => Some(position),
            Edge::Start | Edge::Before(_) => None,
        }
    }

    /// The position before which the page ends. Fetch the rows that precede it in the order turned round, the nearest first.
    #[must_use]
    pub fn before(&self) -> Option<&P> {
        match &self.edge {
            Edge::Before(position) => Some(position),
            Edge::Start | Edge::After(_) => None,
        }
    }

    /// Makes the page of the rows that were fetched, and the cursors to its neighbours where there are any.
    ///
    /// The rows are in the order they were fetched in; those before a position are turned round here, so that a page always
    /// shows the order of the collection. `has_more` and `next_cursor` always speak of the rows that follow in that order: a
    /// page before a position has some, as long as the row of that position is there. A page that is empty has no neighbours, and
    /// none has a cursor to the page before unless the rules are [with `before`](PageRules::with_before).
    ///
    /// # Errors
    ///
    /// When the position of the first or of the last row does not fit into a cursor.
    pub fn page<T>(&self, mut rows: Vec<T>, position: impl Fn(&T) -> P) -> Result<Page<T>, PositionTooLong>
    where
        P: Position,
    {
        let size = usize::from(self.limit.get());
        let is_cut = rows.len() > size;
        rows.truncate(size);
        let (has_previous, has_next) = match self.edge {
            Edge::Start => (false, is_cut),
            Edge::After(_) => (true, is_cut),
            Edge::Before(_) => (is_cut, true),
        };
        if self.before().is_some() {
            rows.reverse();
        }
        let seal = |row: &T, direction| {
            let values = position(row).to_values();
            self.keyring.seal(&values, direction, &self.binding, self.now)
        };
        let previous = rows.first().filter(|_| has_previous && self.walks_back);
        let next = rows.last().filter(|_| has_next);
        let previous = previous.map(|row| seal(row, Direction::Backward)).transpose()?;
        let next = next.map(|row| seal(row, Direction::Forward)).transpose()?;
        Ok(Page::between(rows, previous, next))
    }
}

/// The page that was asked for cannot be had.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PageError {
    /// A page parameter is malformed, out of range or repeated.
    #[error(transparent)]
    Request(#[from] InvalidPageRequest),
    /// The cursor of `after` cannot be used.
    #[error(transparent)]
    Cursor(#[from] CursorError),
    /// The cursor of `before` cannot be used.
    #[error(transparent)]
    Before(CursorError),
}

impl PageError {
    /// The 400 to answer with; its extension `parameter` names the culprit.
    #[must_use]
    pub fn problem(self, base: &ProblemBase) -> Problem {
        match self {
            Self::Request(refused) => refused.problem(base),
            Self::Cursor(refused) => refused.problem(base),
            Self::Before(refused) => refused.problem_of("before", base),
        }
    }
}
