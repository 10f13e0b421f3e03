//! One operation as a client asks for it: [request parameters](https://graphql.github.io/graphql-over-http/draft/#sec-Request-Parameters).

use std::borrow::Cow;
use std::collections::HashMap;

use juniper::Variables;
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::refusal::Refusal;

/// A document, which of its operations to run, and the variables.
///
/// ```
/// use graph_core::http::GraphRequest;
/// use juniper::graphql_vars;
///
/// let request = GraphRequest::new("query Q($n: Int) { charges(first: $n) { id } }")
///     .with_operation_name("Q")
///     .with_variables(graphql_vars! { "n": 3 });
/// assert_eq!(request.operation_name(), Some("Q"));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct GraphRequest {
    query: String,
    operation_name: Option<String>,
    variables: Variables,
}

impl GraphRequest {
    /// The only operation of the document `query`.
    #[must_use]
    pub fn new(query: impl Into<String>) -> Self {
        Self {
            query: query.into(),
            operation_name: None,
            variables: Variables::new(),
        }
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

    /// The document.
    #[must_use]
    pub fn query(&self) -> &str {
        &self.query
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

    /// Reads the body of a POST.
    pub(super) fn from_json(body: &[u8]) -> Result<Self, Refusal> {
        if body.trim_ascii_start().starts_with(b"[") {
            return Err(Refusal::bad_request("one operation a request"));
        }
        let parameters: Parameters = from_json("the body", body)?;
        Self::from_parameters(parameters.query, parameters.operation_name, parameters.variables)
    }

    /// Reads the query string of a GET.
    pub(super) fn from_query(text: &str) -> Result<Self, Refusal> {
        let mut parameters = HashMap::new();
        for (name, value) in form_urlencoded::parse(text.as_bytes()) {
            if parameters.insert(name, value).is_some() {
                return Err(Refusal::bad_request("a parameter is given twice"));
            }
        }
        let mut take = |name: &str| parameters.remove(name).map(Cow::into_owned);
        let (query, operation_name) = (take("query"), take("operationName"));
        let object = |name: &str, text: Option<String>| match text {
            Some(text) => from_json(name, text.as_bytes()),
            None => Ok(None),
        };
        let variables = object("`variables`", take("variables"))?;
        if let Some(extensions) = take("extensions") {
            from_json::<Option<Extensions>>("`extensions`", extensions.as_bytes())?;
        }
        Self::from_parameters(query, operation_name, variables)
    }

    fn from_parameters(
        query: Option<String>,
        operation_name: Option<String>,
        variables: Option<Variables>,
    ) -> Result<Self, Refusal> {
        Ok(Self {
            query: query.ok_or_else(|| Refusal::bad_request("`query` is missing"))?,
            operation_name,
            variables: variables.unwrap_or_default(),
        })
    }
}

/// The body of a POST.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Parameters {
    query: Option<String>,
    operation_name: Option<String>,
    variables: Option<Variables>,
    /// Must be an object; none of its entries is served yet.
    #[serde(rename = "extensions")]
    _extensions: Option<Extensions>,
}

type Extensions = HashMap<String, IgnoredAny>;

fn from_json<'b, T: Deserialize<'b>>(what: &str, text: &'b [u8]) -> Result<T, Refusal> {
    serde_json::from_slice(text).map_err(|error| Refusal::bad_request(format!("{what}: {error}")))
}
