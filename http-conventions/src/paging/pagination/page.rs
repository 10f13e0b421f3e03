//! A page of rows, and the JSON object around them.

use serde::{Serialize, Serializer, ser::SerializeStruct as _};

use super::Limit;
use crate::{
    paging::{Link, Links, Relation},
    routing::{InvalidLocation, Location},
};

/// One page. Serializes as `data`, `has_more` and `next_cursor`, which is `null` on the last page.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Page<T> {
    data: Vec<T>,
    previous_cursor: Option<String>,
    next_cursor: Option<String>,
}

impl<T> Page<T> {
    /// Creates a page from the fetched rows. Fetch [`Limit::fetch`] rows: one more than the page
    /// has.
    ///
    /// If there are more rows than the limit, the rows beyond it are dropped, and `cursor` is
    /// called with the last row of the page.
    ///
    /// # Errors
    ///
    /// The error of `cursor`.
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
            previous_cursor: None,
            next_cursor,
        })
    }

    pub(super) fn between(
        data: Vec<T>,
        previous_cursor: Option<String>,
        next_cursor: Option<String>,
    ) -> Self {
        Self {
            data,
            previous_cursor,
            next_cursor,
        }
    }

    /// Converts each row of the page.
    #[must_use]
    pub fn map<U>(self, show: impl FnMut(T) -> U) -> Page<U> {
        Page {
            data: self.data.into_iter().map(show).collect(),
            previous_cursor: self.previous_cursor,
            next_cursor: self.next_cursor,
        }
    }

    /// Rows of the page.
    #[must_use]
    pub fn data(&self) -> &[T] {
        &self.data
    }

    /// Returns `true` if another page follows.
    #[must_use]
    pub const fn has_more(&self) -> bool {
        self.next_cursor.is_some()
    }

    /// Cursor of the next page, for the parameter `after`; `None` on the last page.
    #[must_use]
    pub fn next_cursor(&self) -> Option<&str> {
        self.next_cursor.as_deref()
    }

    /// Cursor of the previous page, for the parameter `before`. The JSON of the page does not
    /// contain it; send it as a [link](Self::links).
    #[must_use]
    pub fn previous_cursor(&self) -> Option<&str> {
        self.previous_cursor.as_deref()
    }

    /// Creates the links `prev` and `next` to the neighbours of this page. `path` and `query` are
    /// those of the request for this page.
    ///
    /// # Errors
    ///
    /// [`InvalidLocation`] if `path` is not a path.
    pub fn links(&self, path: &str, query: Option<&str>) -> Result<Links, InvalidLocation> {
        let cursors = [
            (Relation::PREV, "before", self.previous_cursor()),
            (Relation::NEXT, "after", self.next_cursor()),
        ];
        let mut links = Links::default();
        for (relation, parameter, cursor) in cursors {
            if let Some(cursor) = cursor {
                let page = neighbour(path, query, parameter, cursor)?;
                links = links.with(relation, Link::new(page));
            }
        }
        Ok(links)
    }
}

/// Target of the same request with another cursor.
fn neighbour(
    path: &str,
    query: Option<&str>,
    parameter: &str,
    cursor: &str,
) -> Result<Location, InvalidLocation> {
    let kept = form_urlencoded::parse(query.unwrap_or_default().as_bytes());
    let kept = kept.filter(|(name, _)| !matches!(name.as_ref(), "after" | "before"));
    let query = form_urlencoded::Serializer::new(String::new())
        .extend_pairs(kept)
        .append_pair(parameter, cursor)
        .finish();
    format!("{path}?{query}").parse()
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
