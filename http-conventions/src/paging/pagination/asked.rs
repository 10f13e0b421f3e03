//! A requested page: its parsed query, its verified cursor, and its rows.

use std::time::SystemTime;

use super::{
    CursorBinding, CursorError, CursorKeyring, Direction, InvalidPageRequest, Limit, Page, PageRules,
    PositionTooLong, PositionValue,
};
use crate::errors::{Problem, ProblemBase};

/// Position of a row in the sort order: the values of its sort columns.
///
/// Implemented for `i64`, `String` and `Vec<PositionValue>`.
pub trait Position: Sized {
    /// Converts the position to cursor values.
    fn to_values(&self) -> Vec<PositionValue>;

    /// Converts cursor values to a position; `None` if their number or types differ, for example
    /// because an earlier release of the host wrote them.
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

/// A requested page whose cursor is verified. Created by [`CursorKeyring::open_page`].
#[derive(Clone, Debug)]
pub struct AskedPage<'k, P> {
    limit: Limit,
    edge: Edge<P>,
    walks_back: bool,
    keyring: &'k CursorKeyring,
    binding: CursorBinding,
    now: SystemTime,
}

/// Position at which a page starts or ends.
#[derive(Clone, Debug)]
enum Edge<P> {
    Start,
    After(P),
    Before(P),
}

impl CursorKeyring {
    /// Parses the page parameters of a query and opens the cursor.
    ///
    /// # Errors
    ///
    /// - The errors of [`PageRules::parse`] and of [`open`](Self::open).
    /// - [`CursorError::Invalid`] for a cursor whose values do not convert to `P`, or whose
    ///   direction does not match the parameter (`after` or `before`).
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
    /// Maximum number of rows of the page. Fetch [`Limit::fetch`] rows.
    #[must_use]
    pub fn limit(&self) -> Limit {
        self.limit
    }

    /// Position after which the page starts. If `after` and [`before`](Self::before) are both
    /// `None`, this is the first page.
    #[must_use]
    pub fn after(&self) -> Option<&P> {
        match &self.edge {
            Edge::After(position) => Some(position),
            Edge::Start | Edge::Before(_) => None,
        }
    }

    /// Position before which the page ends. Fetch the rows before it in reverse order, nearest
    /// first.
    #[must_use]
    pub fn before(&self) -> Option<&P> {
        match &self.edge {
            Edge::Before(position) => Some(position),
            Edge::Start | Edge::After(_) => None,
        }
    }

    /// Creates the page from the fetched rows, with cursors to its neighbours.
    ///
    /// # Contract
    ///
    /// - Pass the rows in the order in which they were fetched. The method reverses rows
    ///   [before](Self::before) a position, so that every page has the order of the collection.
    /// - `has_more` and `next_cursor` describe the rows that follow in the order of the collection.
    ///   On a page [before](Self::before) a position, `has_more` is `true` unless the page is
    ///   empty, even if the row at that position was deleted.
    /// - An empty page has no cursors.
    /// - The page has a cursor to the previous page only if the [`PageRules`] accept
    ///   [`before`](PageRules::with_before).
    ///
    /// # Errors
    ///
    /// [`PositionTooLong`] if the position of the first or last row does not fit into a cursor.
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

/// Error for invalid page parameters or an invalid cursor.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PageError {
    /// A page parameter is malformed, out of range or repeated.
    #[error(transparent)]
    Request(#[from] InvalidPageRequest),
    /// The cursor in `after` is not usable.
    #[error(transparent)]
    Cursor(#[from] CursorError),
    /// The cursor in `before` is not usable.
    #[error(transparent)]
    Before(CursorError),
}

impl PageError {
    /// Creates the 400 problem. Its extension `parameter` names the parameter.
    #[must_use]
    pub fn problem(self, base: &ProblemBase) -> Problem {
        match self {
            Self::Request(refused) => refused.problem(base),
            Self::Cursor(refused) => refused.problem(base),
            Self::Before(refused) => refused.problem_of("before", base),
        }
    }
}
