//! One operation as a client asks for it: [request parameters](https://graphql.github.io/graphql-over-http/draft/#sec-Request-Parameters).

use std::borrow::Cow;
use std::fmt;

use bytes::Bytes;
use juniper::Variables;

use crate::persisted::{DocumentHash, DocumentId};

/// A document or what it is known by, which of its operations to run, and the variables.
///
/// ```
/// use graph_core::http::GraphRequest;
/// use graph_core::persisted::{DocumentHash, DocumentId};
/// use juniper::graphql_vars;
///
/// let request = GraphRequest::new("query Q($n: Int) { charges(first: $n) { id } }")
///     .with_operation_name("Q")
///     .with_variables(graphql_vars! { "n": 3 });
/// assert_eq!(request.operation_name(), Some("Q"));
///
/// let hash = DocumentHash::of("{ ping }");
/// let persisted = GraphRequest::persisted(hash);
/// assert_eq!(persisted.document_id(), Some(&DocumentId::Sha256(hash)));
/// assert_eq!(persisted.query(), None);
/// ```
///
/// `Debug` shows neither the document nor a value: a password may be in either.
#[derive(Clone, PartialEq)]
pub struct GraphRequest {
    pub(super) query: Option<Text>,
    pub(super) document_id: Option<DocumentId>,
    pub(super) operation_name: Option<String>,
    pub(super) variables: Variables,
    pub(super) cost_report: bool,
}

impl GraphRequest {
    /// The only operation of the document `query`.
    #[must_use]
    pub fn new(query: impl Into<String>) -> Self {
        Self {
            query: Some(Text::Plain(query.into())),
            document_id: None,
            operation_name: None,
            variables: Variables::new(),
            cost_report: false,
        }
    }

    /// The only operation of the document known by `id`.
    #[must_use]
    pub fn persisted(id: impl Into<DocumentId>) -> Self {
        Self {
            query: None,
            document_id: Some(id.into()),
            operation_name: None,
            variables: Variables::new(),
            cost_report: false,
        }
    }

    /// The document is to be known by `id`: registers it where persisted queries are automatic.
    #[must_use]
    pub fn with_document_id(mut self, id: impl Into<DocumentId>) -> Self {
        self.document_id = Some(id.into());
        self
    }

    /// Runs the operation `name`.
    #[must_use]
    pub fn with_operation_name(mut self, name: impl Into<String>) -> Self {
        self.operation_name = Some(name.into());
        self
    }

    /// With `variables`.
    #[must_use]
    pub fn with_variables(mut self, variables: Variables) -> Self {
        self.variables = variables;
        self
    }

    /// Asks what the operation costs, where [reports](crate::engine::EngineBuilder::with_cost_reports) are given.
    #[must_use]
    pub fn with_cost_report(mut self) -> Self {
        self.cost_report = true;
        self
    }

    pub(crate) fn asks_for_cost(&self) -> bool {
        self.cost_report
    }

    /// The document; `None` when only its id was given.
    #[must_use]
    pub fn query(&self) -> Option<Cow<'_, str>> {
        Some(match self.query.as_ref()? {
            Text::Plain(text) => Cow::Borrowed(text),
            // it was read as JSON before
            Text::Json(json) => serde_json::from_slice(json).unwrap_or_default(),
        })
    }

    /// The same, holding nothing of the body that it was read from.
    pub(crate) fn detached(mut self) -> Self {
        if let Some(Text::Json(json)) = &mut self.query {
            *json = Bytes::copy_from_slice(json);
        }
        self
    }

    pub(crate) fn has_query(&self) -> bool {
        self.query.is_some()
    }

    /// What the document is known by, if the client named it.
    #[must_use]
    pub fn document_id(&self) -> Option<&DocumentId> {
        self.document_id.as_ref()
    }

    /// What the plan of a text is known by: the text as it came, and the operation of it.
    pub(crate) fn key(&self) -> Cow<'_, [u8]> {
        let (text, tag): (&[u8], Option<u8>) = match &self.query {
            Some(Text::Json(json)) => (json, None),
            // only the other kind starts with a quote
            Some(Text::Plain(text)) => (text.as_bytes(), text.starts_with('"').then_some(TAG)),
            None => (&[], None),
        };
        if tag.is_none() && self.operation_name.is_none() {
            return Cow::Borrowed(text);
        }
        Cow::Owned(self.of_operation([tag.as_slice(), text]))
    }

    /// What the plan of the text with `hash` is known by: nothing that a text is known by.
    pub(crate) fn key_of(&self, hash: &DocumentHash) -> Vec<u8> {
        self.of_operation([[TAG, TAG].as_slice(), hash.as_bytes()])
    }

    fn of_operation(&self, document: [&[u8]; 2]) -> Vec<u8> {
        let name = self
            .operation_name
            .iter()
            .flat_map(|name| [&[TAG], name.as_bytes()]);
        let parts: Vec<&[u8]> = document.into_iter().chain(name).collect();
        parts.concat()
    }

    /// Which operation of the document.
    #[must_use]
    pub fn operation_name(&self) -> Option<&str> {
        self.operation_name.as_deref()
    }

    /// The variables.
    #[must_use]
    pub fn variables(&self) -> &Variables {
        &self.variables
    }
}

impl fmt::Debug for GraphRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut variables: Vec<&str> = self.variables.keys().map(String::as_str).collect();
        variables.sort_unstable();
        f.debug_struct("GraphRequest")
            .field("document_id", &self.document_id)
            .field("operation_name", &self.operation_name)
            .field("variables", &variables)
            .finish_non_exhaustive()
    }
}

/// A document as it came: JSON is not decoded when the document is known.
#[derive(Clone, PartialEq)]
pub(super) enum Text {
    Plain(String),
    /// A string with its quotes.
    Json(Bytes),
}

/// No byte of a text.
const TAG: u8 = 0xff;
