//! GraphQL request parameters: see [the
//! specification](https://graphql.github.io/graphql-over-http/draft/#sec-Request-Parameters).

use std::borrow::Cow;
use std::fmt;

use bytes::Bytes;
use juniper::{InputValue, Variables};

use crate::persisted::{DocumentHash, DocumentId};

/// GraphQL request: a document or its id, the operation name, and the variables.
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
/// let hash = DocumentHash::digest("{ ping }");
/// let persisted = GraphRequest::persisted(hash);
/// assert_eq!(persisted.document_id(), Some(&DocumentId::Sha256(hash)));
/// assert_eq!(persisted.query(), None);
/// ```
///
/// `Debug` omits the document and the variable values, because both can contain secrets.
#[derive(Clone, PartialEq)]
pub struct GraphRequest {
    pub(super) query: Option<Text>,
    pub(super) document_id: Option<DocumentId>,
    pub(super) operation_name: Option<String>,
    pub(super) variables: Variables,
    pub(super) cost_report: bool,
}

impl GraphRequest {
    /// Creates a request for the document `query`.
    ///
    /// A document with several operations needs [`with_operation_name`](Self::with_operation_name).
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

    /// Creates a request for the document with the id `id`.
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

    /// Sets the document id. If it is the SHA-256 of the text, automatic persisted queries store
    /// the document.
    #[must_use]
    pub fn with_document_id(mut self, id: impl Into<DocumentId>) -> Self {
        self.document_id = Some(id.into());
        self
    }

    /// Selects the operation `name` of the document.
    #[must_use]
    pub fn with_operation_name(mut self, name: impl Into<String>) -> Self {
        self.operation_name = Some(name.into());
        self
    }

    /// Sets the variables. Default: none.
    #[must_use]
    pub fn with_variables(mut self, variables: Variables) -> Self {
        self.variables = variables;
        self
    }

    /// Requests the cost of the operation, if [cost
    /// reports](crate::engine::EngineBuilder::with_cost_reports) are enabled.
    #[must_use]
    pub fn with_cost_report(mut self) -> Self {
        self.cost_report = true;
        self
    }

    /// Returns `true` if the variables have more than `limit` values.
    pub(crate) fn has_more_values_than(&self, limit: usize) -> bool {
        let mut left = limit;
        !self.variables.values().all(|value| takes(value, &mut left))
    }

    pub(crate) fn asks_for_cost(&self) -> bool {
        self.cost_report
    }

    /// Returns the text of the document; `None` if the request has only its id.
    #[must_use]
    pub fn query(&self) -> Option<Cow<'_, str>> {
        Some(match self.query.as_ref()? {
            Text::Plain(text) => Cow::Borrowed(text),
            // already validated as JSON
            Text::Json(json) => serde_json::from_slice(json).unwrap_or_default(),
        })
    }

    /// Copies the document out of the request body, so that the body can be freed.
    pub(crate) fn detached(mut self) -> Self {
        if let Some(Text::Json(json)) = &mut self.query {
            *json = Bytes::copy_from_slice(json);
        }
        self
    }

    pub(crate) fn has_query(&self) -> bool {
        self.query.is_some()
    }

    /// Returns the document id, if the client sent one.
    #[must_use]
    pub fn document_id(&self) -> Option<&DocumentId> {
        self.document_id.as_ref()
    }

    /// Cache key of the plan: the document as sent, and the operation name.
    pub(crate) fn key(&self) -> Cow<'_, [u8]> {
        let (text, tag): (&[u8], Option<u8>) = match &self.query {
            Some(Text::Json(json)) => (json, None),
            // a JSON string starts with a quote, so plain text that starts with a quote gets a tag
            Some(Text::Plain(text)) => (text.as_bytes(), text.starts_with('"').then_some(TAG)),
            None => (&[], None),
        };
        if tag.is_none() && self.operation_name.is_none() {
            return Cow::Borrowed(text);
        }
        Cow::Owned(self.of_operation([tag.as_slice(), text]))
    }

    /// Cache key of the document with `hash`; never equal to the key of a text.
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

    /// Returns the operation name, if the client sent one.
    #[must_use]
    pub fn operation_name(&self) -> Option<&str> {
        self.operation_name.as_deref()
    }

    /// Returns the variables.
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

/// Document as received. JSON is decoded only if the document is not cached.
#[derive(Clone, PartialEq)]
pub(super) enum Text {
    Plain(String),
    /// JSON string including its quotes.
    Json(Bytes),
}

/// Byte that does not occur in UTF-8.
const TAG: u8 = 0xff;

/// Subtracts the values in `value` from `left`; returns `false` if it has more.
fn takes(value: &InputValue, left: &mut usize) -> bool {
    let Some(rest) = left.checked_sub(1) else {
        return false;
    };
    *left = rest;
    match value {
        InputValue::List(values) => values.iter().all(|value| takes(&value.item, left)),
        InputValue::Object(fields) => fields.iter().all(|(_, value)| takes(&value.item, left)),
        InputValue::Null | InputValue::Scalar(_) | InputValue::Enum(_) | InputValue::Variable(_) => true,
    }
}
