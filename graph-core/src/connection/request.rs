//! Validation of the four paging arguments.

use super::cursor::{FieldCursors, Unopened};
use super::page::{Edge, Page, PageInfo};
use crate::error::GraphError;

/// Paging arguments of a field: `first`, `after`, `last` and `before`.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct PageArguments {
    /// Number of entries from the start.
    pub first: Option<i32>,
    /// Cursor of the entry before the page.
    pub after: Option<String>,
    /// Number of entries from the end.
    pub last: Option<i32>,
    /// Cursor of the entry after the page.
    pub before: Option<String>,
}

/// Page sizes of a field, in entries. The default is 20, the maximum 100.
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
    /// Creates limits with a default and a maximum page size. A `default` above `maximum` is
    /// reduced to `maximum`.
    ///
    /// If `default` is not 20, also set
    /// [`FieldCost::page_size`](crate::limits::FieldCost::page_size), which the cost limit uses.
    #[must_use]
    pub const fn new(default: u16, maximum: u16) -> Self {
        let default = if default < maximum { default } else { maximum };
        Self { default, maximum }
    }

    /// Returns the page size used if the client does not set one.
    #[must_use]
    pub const fn default_size(&self) -> u16 {
        self.default
    }

    /// Returns the maximum page size.
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

/// Direction of a page.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[expect(clippy::exhaustive_enums, reason = "a list has two directions")]
pub enum Direction {
    /// From the start of the list, or from `after`.
    Forward,
    /// From the end of the list, or from `before`, towards the start.
    Backward,
}

/// Validated paging arguments: one direction, a size within the limits, and verified cursors.
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
                    "`first` and `last` cannot be combined",
                ));
            }
            (Some(first), None) => (Direction::Forward, limits.size("first", first)?),
            (None, Some(last)) => (Direction::Backward, limits.size("last", last)?),
            // a client that sends only `before` expects the entries next to that cursor
            (None, None) if before.is_some() && after.is_none() => (Direction::Backward, limits.default),
            (None, None) => (Direction::Forward, limits.default),
        };
        let open = |argument: &str, cursor: Option<String>| match cursor {
            Some(cursor) => cursors.open(&cursor).map(Some).map_err(|why| {
                GraphError::bad_user_input(match why {
                    Unopened::Foreign => {
                        format!("`{argument}` is not a cursor of this field and its arguments")
                    }
                    Unopened::TooOld => format!("`{argument}` has expired: start again without it"),
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

    /// Returns the position in the cursor `after`: the value that `key` returned for the entry when
    /// [`rows`](Self::rows) or [`slice`](Self::slice) created the cursor.
    #[must_use]
    pub fn after(&self) -> Option<&str> {
        self.after.as_deref()
    }

    /// Returns the position in the cursor `before`, as for [`after`](Self::after).
    #[must_use]
    pub fn before(&self) -> Option<&str> {
        self.before.as_deref()
    }

    /// Returns the direction.
    #[must_use]
    pub fn direction(&self) -> Direction {
        self.direction
    }

    /// Returns the maximum number of entries of the page.
    #[must_use]
    pub fn size(&self) -> usize {
        self.size
    }

    /// Returns the number of rows to fetch: the page size plus 1, to detect further rows.
    #[must_use]
    pub fn fetch_limit(&self) -> usize {
        self.size + 1
    }

    /// Creates the page from the complete, ordered list. `key` returns the unique position of an
    /// entry.
    ///
    /// `hasNextPage` and `hasPreviousPage` are exact.
    ///
    /// # Errors
    ///
    /// `BAD_USER_INPUT` if the entry of a cursor is no longer in the list.
    pub fn slice<T>(&self, mut items: Vec<T>, key: impl Fn(&T) -> String) -> Result<Page<T>, GraphError> {
        let find = |argument: &str, position: &Option<String>| match position {
            Some(position) => items
                .iter()
                .position(|item| key(item) == *position)
                .map(Some)
                .ok_or_else(|| {
                    GraphError::bad_user_input(format!(
                        "the entry of the cursor `{argument}` no longer exists"
                    ))
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
        // if `after` is behind `before`, entries exist on both sides of the empty page
        let has_previous_page = start > 0;
        let has_next_page = end < items.len() || self.before.is_some();
        items.truncate(end);
        Ok(self.page(items.split_off(start), key, has_previous_page, has_next_page))
    }

    /// Creates the page from rows that a store fetched. `key` returns the unique position of a row.
    ///
    /// # Contract
    ///
    /// - `rows` contains at most [`fetch_limit`](Self::fetch_limit) rows.
    /// - If [`after`](Self::after) is given, `rows` contains only rows behind that position.
    /// - If [`before`](Self::before) is given, `rows` contains only rows in front of that position.
    /// - The [`direction`](Self::direction) determines the order of `rows` and the flags of
    ///   [`PageInfo`]. An extra row is a row beyond the page size.
    ///
    /// | direction | order of `rows` | `hasNextPage` with | `hasPreviousPage` with |
    /// |---|---|---|---|
    /// | forward | list order | an extra row or `before` | `after` |
    /// | backward | reverse list order | `before` | an extra row or `after` |
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
