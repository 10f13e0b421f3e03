//! The four paging arguments, checked.

use super::cursor::{FieldCursors, Unopened};
use super::page::{Edge, Page, PageInfo};
use crate::error::GraphError;

/// `first`, `after`, `last` and `before` as a resolver gets them.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct PageArguments {
    /// How many entries from the start.
    pub first: Option<i32>,
    /// The cursor that the page starts behind.
    pub after: Option<String>,
    /// How many entries from the end.
    pub last: Option<i32>,
    /// The cursor that the page ends in front of.
    pub before: Option<String>,
}

/// How many entries a page of a field has: by default 20, at most 100.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct PageLimits {
    default: u16,
    maximum: u16,
}

impl Default for PageLimits {
    fn default() -> Self {
        Self::new(20, 100)
    }
}

impl PageLimits {
    /// Pages of `default` entries, and of at most `maximum` when the client asks; a `default` above the maximum is the maximum.
    ///
    /// Tell the engine too when `default` is not 20, with [`FieldCost::page_size`](crate::limits::FieldCost::page_size).
    #[must_use]
    pub const fn new(default: u16, maximum: u16) -> Self {
        let default = if default < maximum { default } else { maximum };
        Self { default, maximum }
    }

    /// Entries of a page when the client names no number.
    #[must_use]
    pub const fn default_size(&self) -> u16 {
        self.default
    }

    /// Entries that a client may ask for.
    #[must_use]
    pub const fn maximum(&self) -> u16 {
        self.maximum
    }

    fn size(&self, argument: &str, asked: i32) -> Result<u16, GraphError> {
        let allowed = u16::try_from(asked).ok().filter(|size| *size <= self.maximum);
        allowed.ok_or_else(|| {
            GraphError::bad_user_input(format!("`{argument}` must be between 0 and {}", self.maximum))
        })
    }
}

/// Where a page starts and which way it runs.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[expect(clippy::exhaustive_enums, reason = "a list has two directions")]
pub enum Direction {
    /// From the start of the list, or from behind `after`.
    Forward,
    /// From the end of the list, or from in front of `before`, towards the start.
    Backward,
}

/// Paging arguments that hold: one direction, a size within the limits, and positions from our own cursors.
#[derive(Clone, Debug)]
pub struct PageRequest {
    cursors: FieldCursors,
    direction: Direction,
    size: usize,
    after: Option<String>,
    before: Option<String>,
}

impl PageRequest {
    pub(super) fn new(
        cursors: FieldCursors,
        limits: PageLimits,
        arguments: PageArguments,
    ) -> Result<Self, GraphError> {
        let PageArguments {
            first,
            after,
            last,
            before,
        } = arguments;
        let (direction, size) = match (first, last) {
            (Some(_), Some(_)) => {
                return Err(GraphError::bad_user_input(
                    "`first` and `last` exclude each other",
                ));
            }
            (Some(first), None) => (Direction::Forward, limits.size("first", first)?),
            (None, Some(last)) => (Direction::Backward, limits.size("last", last)?),
            // a client that only says `before` wants the entries next to that cursor
            (None, None) if before.is_some() && after.is_none() => (Direction::Backward, limits.default),
            (None, None) => (Direction::Forward, limits.default),
        };
        let open = |argument: &str, cursor: Option<String>| match cursor {
            Some(cursor) => cursors.open(&cursor).map(Some).map_err(|why| {
                GraphError::bad_user_input(match why {
                    Unopened::Foreign => {
                        format!("`{argument}` is not a cursor of this field and its arguments")
                    }
                    Unopened::TooOld => format!("`{argument}` is too old: start again without it"),
                })
            }),
            None => Ok(None),
        };
        let after = open("after", after)?;
        let before = open("before", before)?;
        Ok(Self {
            cursors,
            direction,
            size: usize::from(size),
            after,
            before,
        })
    }

    /// The position that the page starts behind, as the host's key named it.
    #[must_use]
    pub fn after(&self) -> Option<&str> {
        self.after.as_deref()
    }

    /// The position that the page ends in front of, as the host's key named it.
    #[must_use]
    pub fn before(&self) -> Option<&str> {
        self.before.as_deref()
    }

    /// Which way to read.
    #[must_use]
    pub fn direction(&self) -> Direction {
        self.direction
    }

    /// How many entries the page has at most.
    #[must_use]
    pub fn size(&self) -> usize {
        self.size
    }

    /// How many rows to read: one more than the page has, which tells whether there are more.
    #[must_use]
    pub fn fetch_limit(&self) -> usize {
        self.size + 1
    }

    /// The page of a whole list in memory, in its order; `key` names an entry uniquely.
    ///
    /// Both flags say what the whole list has around the page.
    ///
    /// # Errors
    ///
    /// `BAD_USER_INPUT` when the entry that a cursor names has left the list.
    pub fn slice<T>(&self, mut items: Vec<T>, key: impl Fn(&T) -> String) -> Result<Page<T>, GraphError> {
        let find = |argument: &str, position: &Option<String>| match position {
            Some(position) => items
                .iter()
                .position(|item| key(item) == *position)
                .map(Some)
                .ok_or_else(|| {
                    GraphError::bad_user_input(format!("the entry that `{argument}` names is gone"))
                }),
            None => Ok(None),
        };
        let lowest = find("after", &self.after)?.map_or(0, |at| at + 1);
        let highest = find("before", &self.before)?.unwrap_or(items.len()).max(lowest);
        let taken = self.size.min(highest - lowest);
        let (start, end) = match self.direction {
            Direction::Forward => (lowest, lowest + taken),
            Direction::Backward => (highest - taken, highest),
        };
        // a cursor is an entry; when `after` is behind `before` both are around the empty page
        let has_previous_page = start > 0;
        let has_next_page = end < items.len() || self.before.is_some();
        items.truncate(end);
        Ok(self.page(items.split_off(start), key, has_previous_page, has_next_page))
    }

    /// The page of rows that a store read from the cursor on, in [`direction`](Self::direction), up to
    /// [`fetch_limit`](Self::fetch_limit).
    ///
    /// Forward, that is the list's order behind `after`; backward, the reverse order in front of `before`. Rows beyond the other
    /// cursor, if both are given, must be left out. In the direction of reading the flag says whether there was a row too many,
    /// against it whether there is a cursor: the entry that it names is there.
    #[must_use]
    pub fn rows<T>(&self, mut rows: Vec<T>, key: impl Fn(&T) -> String) -> Page<T> {
        let more = rows.len() > self.size;
        rows.truncate(self.size);
        match self.direction {
            Direction::Forward => self.page(rows, key, self.after.is_some(), more || self.before.is_some()),
            Direction::Backward => {
                rows.reverse();
                self.page(rows, key, more || self.after.is_some(), self.before.is_some())
            }
        }
    }

    fn page<T>(&self, items: Vec<T>, key: impl Fn(&T) -> String, previous: bool, next: bool) -> Page<T> {
        let edges: Vec<_> = items
            .into_iter()
            .map(|node| Edge::new(self.cursors.sign(&key(&node)), node))
            .collect();
        let info = PageInfo::new(&edges, previous, next);
        Page::new(edges, info)
    }
}
