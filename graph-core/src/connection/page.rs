//! Page of a connection.

use crate::GraphObject;

/// Page of a connection: edges and page info.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Page<T> {
    edges: Vec<Edge<T>>,
    page_info: PageInfo,
}

impl<T> Page<T> {
    pub(super) fn new(edges: Vec<Edge<T>>, page_info: PageInfo) -> Self {
        Self { edges, page_info }
    }

    /// Returns the edges.
    #[must_use]
    pub fn edges(&self) -> &[Edge<T>] {
        &self.edges
    }

    /// Returns the nodes.
    pub fn nodes(&self) -> impl Iterator<Item = &T> {
        self.edges.iter().map(Edge::node)
    }

    /// Returns the page info.
    #[must_use]
    pub fn page_info(&self) -> &PageInfo {
        &self.page_info
    }

    /// Converts the nodes and keeps the cursors and the page info.
    ///
    /// Use this method if the position of a row is not part of the node:
    ///
    /// ```
    /// # use graph_core::connection::{CursorKey, Cursors, PageArguments, PageLimits};
    /// # let cursors = Cursors::new(CursorKey::try_from([7; 32].as_slice()).unwrap());
    /// let field = cursors.field("Query.names");
    /// let request = field.request(PageLimits::default(), PageArguments::default()).unwrap();
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

    /// Returns the edges and the page info.
    #[must_use]
    pub fn into_parts(self) -> (Vec<Edge<T>>, PageInfo) {
        (self.edges, self.page_info)
    }
}

/// Edge of a page: a node with its cursor.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Edge<T> {
    cursor: String,
    node: T,
}

impl<T> Edge<T> {
    pub(super) fn new(cursor: String, node: T) -> Self {
        Self { cursor, node }
    }

    /// Returns the cursor, for `after` and `before`.
    #[must_use]
    pub fn cursor(&self) -> &str {
        &self.cursor
    }

    /// Returns the node.
    #[must_use]
    pub fn node(&self) -> &T {
        &self.node
    }
}

/// Position of a page in the list.
#[derive(Clone, Debug, Eq, GraphObject, PartialEq)]
#[graphql(look_ahead)]
pub struct PageInfo {
    /// True if the list has entries after the page.
    has_next_page: bool,
    /// True if the list has entries before the page.
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

    /// Returns `true` if the list has entries after the page.
    #[must_use]
    pub fn has_next_page(&self) -> bool {
        self.has_next_page
    }

    /// Returns `true` if the list has entries before the page.
    #[must_use]
    pub fn has_previous_page(&self) -> bool {
        self.has_previous_page
    }

    /// Returns the cursor of the first entry of the page.
    #[must_use]
    pub fn start_cursor(&self) -> Option<&str> {
        self.start_cursor.as_deref()
    }

    /// Returns the cursor of the last entry of the page.
    #[must_use]
    pub fn end_cursor(&self) -> Option<&str> {
        self.end_cursor.as_deref()
    }
}
