//! The envelope of a collection.

use serde::{Serialize, Serializer, ser::SerializeStruct as _};

use super::Limit;

/// One page: exactly `data`, `has_more` and `next_cursor`, which is `null` on the last page.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Page<T> {
    data: Vec<T>,
    next_cursor: Option<String>,
}

impl<T> Page<T> {
    /// Makes a page of the rows that were fetched, up to [`Limit::fetch`] of them.
    ///
    /// When there are more than the page holds, the cursor is made for the last row that stays.
    ///
    /// # Errors
    ///
    /// Those of making the cursor.
    pub fn from_rows<E>(
        mut rows: Vec<T>,
        limit: Limit,
        cursor: impl FnOnce(&T) -> Result<String, E>,
    ) -> Result<Self, E> {
        let size = usize::from(limit.get());
        let has_more = rows.len() > size;
        rows.truncate(size);
        let next_cursor = rows.last().filter(|_| has_more).map(cursor).transpose()?;
        Ok(Self {
            data: rows,
            next_cursor,
        })
    }

    /// The same page of other values: rows as they were fetched become items as they are shown.
    #[must_use]
    pub fn map<U>(self, show: impl FnMut(T) -> U) -> Page<U> {
        Page {
            data: self.data.into_iter().map(show).collect(),
            next_cursor: self.next_cursor,
        }
    }

    /// The items.
    #[must_use]
    pub fn data(&self) -> &[T] {
        &self.data
    }

    /// Whether more follow.
    #[must_use]
    pub const fn has_more(&self) -> bool {
        self.next_cursor.is_some()
    }

    /// What to pass as `after` for the next page.
    #[must_use]
    pub fn next_cursor(&self) -> Option<&str> {
        self.next_cursor.as_deref()
    }
}

impl<T: Serialize> Serialize for Page<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut page = serializer.serialize_struct("Page", 3)?;
        page.serialize_field("data", &self.data)?;
        page.serialize_field("has_more", &self.has_more())?;
        page.serialize_field("next_cursor", &self.next_cursor)?;
        page.end()
    }
}
