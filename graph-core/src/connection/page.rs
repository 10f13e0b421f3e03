//! One page of a connection.

use juniper::GraphQLObject;

use crate::GraphObject;

/// A page: entries with their cursors, and where it lies in the whole list.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Page<T> {
    edges: Vec<Edge<T>>,
    page_info: PageInfo,
}

impl<T> Page<T> {
    pub(super) fn new(edges: Vec<Edge<T>>, page_info: PageInfo) -> Self {
        Self { edges, page_info }
    }

    /// The entries with their cursors.
    #[must_use]
    pub fn edges(&self) -> &[Edge<T>] {
        &self.edges
    }

    /// The entries.
    pub fn nodes(&self) -> impl Iterator<Item = &T> {
        self.edges.iter().map(Edge::node)
    }

    /// Where the page lies in the whole list.
    #[must_use]
    pub fn page_info(&self) -> &PageInfo {
        &self.page_info
    }

    /// The same page of other nodes; cursors and flags stay.
    ///
    /// For rows whose position is no part of the node that the schema shows:
    ///
    /// ```
    /// # use graph_core::connection::{CursorKey, Cursors, PageArguments, PageLimits};
    /// # let cursors = Cursors::new(CursorKey::try_from([7; 32].as_slice()).unwrap());
    /// let request = cursors.field("Query.names").request(PageLimits::default(), PageArguments::default()).unwrap();
    /// let rows = vec![(1, "Ada"), (2, "Grace")];
    /// let page = request.rows(rows, |(position, _)| position.to_string()).map(|(_, name)| name);
    /// assert!(page.nodes().eq(&["Ada", "Grace"]));
    /// ```
    #[must_use]
    pub fn map<U>(self, mut node: impl FnMut(T) -> U) -> Page<U> {
        let edges = self
            .edges
            .into_iter()
            .map(|edge| Edge::new(edge.cursor, node(edge.node)));
        Page::new(edges.collect(), self.page_info)
    }

    /// The parts.
    #[must_use]
    pub fn into_parts(self) -> (Vec<Edge<T>>, PageInfo) {
        (self.edges, self.page_info)
    }
}

/// An entry of a page.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Edge<T> {
    cursor: String,
    node: T,
}

impl<T> Edge<T> {
    pub(super) fn new(cursor: String, node: T) -> Self {
        Self { cursor, node }
    }

    /// The cursor, for `after` and `before`.
    #[must_use]
    pub fn cursor(&self) -> &str {
        &self.cursor
    }

    /// The entry.
    #[must_use]
    pub fn node(&self) -> &T {
        &self.node
    }
}

/// Where a page lies in the whole list.
#[derive(Clone, Debug, Eq, GraphObject, GraphQLObject, PartialEq)]
pub struct PageInfo {
    /// Whether there are entries behind the page.
    has_next_page: bool,
    /// Whether there are entries in front of the page.
    has_previous_page: bool,
    /// The cursor of the first entry of the page.
    start_cursor: Option<String>,
    /// The cursor of the last entry of the page.
    end_cursor: Option<String>,
}

impl PageInfo {
    pub(super) fn new<T>(edges: &[Edge<T>], has_previous_page: bool, has_next_page: bool) -> Self {
        let cursor = |edge: &Edge<T>| edge.cursor.clone();
        Self {
            has_next_page,
            has_previous_page,
            start_cursor: edges.first().map(cursor),
            end_cursor: edges.last().map(cursor),
        }
    }

    /// Whether there are entries behind the page.
    #[must_use]
    pub fn has_next_page(&self) -> bool {
        self.has_next_page
    }

    /// Whether there are entries in front of the page.
    #[must_use]
    pub fn has_previous_page(&self) -> bool {
        self.has_previous_page
    }

    /// The cursor of the first entry of the page.
    #[must_use]
    pub fn start_cursor(&self) -> Option<&str> {
        self.start_cursor.as_deref()
    }

    /// The cursor of the last entry of the page.
    #[must_use]
    pub fn end_cursor(&self) -> Option<&str> {
        self.end_cursor.as_deref()
    }
}
