//! One operation as a client asks for it: [request parameters](https://graphql.github.io/graphql-over-http/draft/#sec-Request-Parameters).

use std::borrow::Cow;
use std::collections::HashMap;

use bytes::Bytes;
use juniper::Variables;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

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
    query: Text,
    operation_name: Option<String>,
    variables: Variables,
}

impl GraphRequest {
    /// The only operation of the document `query`.
    #[must_use]
    pub fn new(query: impl Into<String>) -> Self {
        Self {
            query: Text::Plain(query.into()),
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
    pub fn query(&self) -> Cow<'_, str> {
        match &self.query {
            Text::Plain(text) => Cow::Borrowed(text),
            // it was read as JSON before
            Text::Json(json) => serde_json::from_slice(json).unwrap_or_default(),
        }
    }

    /// What the document is known by: its text as it came, and the operation of it.
    pub(crate) fn key(&self) -> Cow<'_, [u8]> {
        let (text, tag): (&[u8], Option<u8>) = match &self.query {
            Text::Json(json) => (json, None),
            // only the other kind starts with a quote
            Text::Plain(text) => (text.as_bytes(), text.starts_with('"').then_some(TAG)),
        };
        if tag.is_none() && self.operation_name.is_none() {
            return Cow::Borrowed(text);
        }
        let name = self
            .operation_name
            .iter()
            .flat_map(|name| [&[TAG], name.as_bytes()]);
        let parts: Vec<&[u8]> = [tag.as_slice(), text].into_iter().chain(name).collect();
        Cow::Owned(parts.concat())
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
    pub(super) fn from_json(body: &Bytes) -> Result<Self, Refusal> {
        if body.trim_ascii_start().starts_with(b"[") {
            return Err(Refusal::bad_request("one operation a request"));
        }
        let parameters: Parameters = from_json("the body", body)?;
        let query = parameters
            .query
            .map(|query| Text::from_json(query.get(), body))
            .transpose()?;
        let name = parameters.operation_name.map(Cow::into_owned);
        Self::from_parameters(query, name, parameters.variables)
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
        Self::from_parameters(query.map(Text::Plain), operation_name, variables)
    }

    fn from_parameters(
        query: Option<Text>,
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

/// A document as it came: JSON is not decoded when the document is known.
#[derive(Clone, Debug, PartialEq)]
enum Text {
    Plain(String),
    /// A string with its quotes.
    Json(Bytes),
}

/// No byte of a text.
const TAG: u8 = 0xff;

impl Text {
    fn from_json(json: &str, body: &Bytes) -> Result<Self, Refusal> {
        // half a character is the only mistake left in a string that was passed over
        if json.starts_with('"') && !json.contains("\\u") {
            return Ok(Self::Json(body.slice_ref(json.as_bytes())));
        }
        from_json("`query`", json.as_bytes()).map(Self::Plain)
    }
}

/// The body of a POST.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Parameters<'b> {
    #[serde(borrow)]
    query: Option<&'b RawValue>,
    #[serde(borrow)]
    operation_name: Option<Cow<'b, str>>,
    variables: Option<Variables>,
    /// Must be an object; none of its entries is served yet.
    #[serde(rename = "extensions")]
    _extensions: Option<Extensions>,
}

type Extensions = HashMap<String, IgnoredAny>;

fn from_json<'b, T: Deserialize<'b>>(what: &str, text: &'b [u8]) -> Result<T, Refusal> {
    serde_json::from_slice(text).map_err(|error| Refusal::bad_request(format!("{what}: {error}")))
}
