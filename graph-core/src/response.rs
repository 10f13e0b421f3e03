//! What an operation answers: `data`, `errors` and their envelope in JSON.
//!
//! See [GraphQL §7](https://spec.graphql.org/September2025/#sec-Response).
//!
//! ```
//! use graph_core::response::GraphResponse;
//! use graph_core::error::ErrorCode;
//!
//! let response = GraphResponse::refused(ErrorCode::BadRequest, "no `query`");
//! assert!(response.is_request_error());
//! assert_eq!(
//!     response.to_json(),
//!     r#"{"errors":[{"message":"no `query`","extensions":{"code":"BAD_REQUEST"}}]}"#
//! );
//! ```

use bytes::Bytes;
use juniper::Value;
use serde::Serialize;
use serde::ser::{Error as _, SerializeMap as _, Serializer};
use serde_json::value::RawValue;

use crate::error::ErrorCode;

/// How many mistakes of a request are told, as in graphql-js; all of them can be many times its size.
pub(crate) const MISTAKES: usize = 100;

/// The answer to one operation, or one event of a subscription.
#[derive(Clone, Debug, PartialEq)]
pub struct GraphResponse {
    /// The envelope as far as `data` goes, [`PREFIX`] in front; `None`: nothing was executed.
    written: Option<Vec<u8>>,
    errors: Vec<ResponseError>,
    cost: Option<Box<CostReport>>,
}

/// `extensions.cost`: what the operation asks for.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct CostReport {
    pub(crate) estimated: u64,
    pub(crate) limit: u64,
    /// The codes of the limits that it exceeds.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) exceeded: Vec<ErrorCode>,
}

/// `extensions` of an envelope.
#[derive(Serialize)]
struct EnvelopeExtensions<'e> {
    cost: &'e CostReport,
}

/// What an envelope with `data` starts with.
pub(crate) const PREFIX: &[u8] = b"{\"data\":";

impl GraphResponse {
    /// The answer of an executed operation: its data behind a [`PREFIX`].
    pub(crate) fn written(written: Vec<u8>, errors: Vec<ResponseError>) -> Self {
        Self {
            written: Some(written),
            errors,
            cost: None,
        }
    }

    /// The answer of an operation that juniper executed.
    pub(crate) fn executed(data: &Value, errors: Vec<ResponseError>) -> Self {
        Self::executed_with(data, &[], errors)
    }

    /// The same, with the values of `ours` in the place of those that juniper has for these keys.
    pub(crate) fn executed_with(
        data: &Value,
        ours: &[(Box<str>, Vec<u8>)],
        errors: Vec<ResponseError>,
    ) -> Self {
        let mut written = PREFIX.to_vec();
        match data.as_object_value() {
            Some(object) if !ours.is_empty() => {
                for (at, (key, value)) in object.iter().enumerate() {
                    written.push(if at == 0 { b'{' } else { b',' });
                    theirs(key, &mut written);
                    written.push(b':');
                    match ours.iter().find(|(known, _)| **known == **key) {
                        Some((_, ours)) => written.extend_from_slice(ours),
                        None => theirs(value, &mut written),
                    }
                }
                written.push(b'}');
            }
            _ => theirs(data, &mut written),
        }
        Self::written(written, errors)
    }

    /// The answer to a request that was not executed.
    pub(crate) fn request_errors(errors: Vec<ResponseError>) -> Self {
        Self {
            written: None,
            errors,
            cost: None,
        }
    }

    /// Says what the operation asks for.
    pub(crate) fn with_cost(mut self, cost: Option<CostReport>) -> Self {
        self.cost = cost.map(Box::new);
        self
    }

    /// The answer to a request that was not executed for one reason.
    #[must_use]
    pub fn refused(code: ErrorCode, message: impl Into<String>) -> Self {
        ResponseError::new(code, message).into()
    }

    /// `data` as JSON, `None` when nothing was executed; `null` when a failure reached the root.
    #[must_use]
    pub fn data(&self) -> Option<&str> {
        let data = self.written.as_ref()?.get(PREFIX.len()..)?;
        std::str::from_utf8(data).ok()
    }

    /// `errors`, in the order of the document.
    #[must_use]
    pub fn errors(&self) -> &[ResponseError] {
        &self.errors
    }

    /// Whether nothing was executed: there is no `data` at all.
    #[must_use]
    pub fn is_request_error(&self) -> bool {
        self.written.is_none()
    }

    /// The same with other messages.
    pub(crate) fn map_messages(mut self, message: impl Fn(&str) -> String) -> Self {
        for error in &mut self.errors {
            error.message = message(&error.message);
        }
        self
    }

    /// How many bytes it takes, about.
    pub(crate) fn size(&self) -> usize {
        let errors = self.errors.iter().map(|error| error.message.len() + 128);
        self.written.as_ref().map_or(0, Vec::len) + errors.sum::<usize>()
    }

    /// The envelope as JSON.
    #[must_use]
    pub fn to_json(&self) -> Bytes {
        self.clone().into_json()
    }

    /// The envelope as JSON, without a copy of the data.
    #[must_use]
    pub fn into_json(self) -> Bytes {
        let (mut out, mut between) = match self.written {
            Some(written) => (written, b",".as_slice()),
            None => (Vec::new(), b"{".as_slice()),
        };
        // both serialise without failing; this keeps the promise of an envelope whatever happens
        if !self.errors.is_empty() {
            out.extend_from_slice(between);
            out.extend_from_slice(b"\"errors\":");
            if serde_json::to_writer(&mut out, &self.errors).is_err() {
                return Bytes::from_static(UNWRITABLE);
            }
            between = b",";
        }
        if let Some(cost) = &self.cost {
            out.extend_from_slice(between);
            out.extend_from_slice(b"\"extensions\":");
            if serde_json::to_writer(&mut out, &EnvelopeExtensions { cost }).is_err() {
                return Bytes::from_static(UNWRITABLE);
            }
        }
        out.push(b'}');
        out.into()
    }
}

const UNWRITABLE: &[u8] =
    br#"{"data":null,"errors":[{"message":"internal server error","extensions":{"code":"INTERNAL_SERVER_ERROR"}}]}"#;

impl From<ResponseError> for GraphResponse {
    fn from(error: ResponseError) -> Self {
        Self::request_errors(vec![error])
    }
}

impl Serialize for GraphResponse {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        if let Some(data) = self.data() {
            let data: &RawValue = serde_json::from_str(data).map_err(S::Error::custom)?;
            map.serialize_entry("data", data)?;
        }
        if !self.errors.is_empty() {
            map.serialize_entry("errors", &self.errors)?;
        }
        if let Some(cost) = &self.cost {
            map.serialize_entry("extensions", &EnvelopeExtensions { cost })?;
        }
        map.end()
    }
}

/// One entry of `errors`.
#[derive(Clone, Debug, PartialEq)]
pub struct ResponseError {
    message: String,
    locations: Vec<Location>,
    path: Vec<PathSegment>,
    code: ErrorCode,
    extensions: Vec<(String, Value)>,
}

impl ResponseError {
    pub(crate) fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            locations: Vec::new(),
            path: Vec::new(),
            code,
            extensions: Vec::new(),
        }
    }

    pub(crate) fn at(mut self, location: Location) -> Self {
        self.locations.push(location);
        self
    }

    pub(crate) fn in_field(mut self, path: Vec<PathSegment>) -> Self {
        self.path = path;
        self
    }

    pub(crate) fn with_extensions(mut self, extensions: impl IntoIterator<Item = (String, Value)>) -> Self {
        self.extensions.extend(extensions);
        self
    }

    /// `message`.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// `locations`: where in the document.
    #[must_use]
    pub fn locations(&self) -> &[Location] {
        &self.locations
    }

    /// `path`: which field; empty for an error of the whole request.
    #[must_use]
    pub fn path(&self) -> &[PathSegment] {
        &self.path
    }

    /// `extensions.code`.
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        self.code
    }

    /// The value of `extensions.{key}`, without `code`.
    #[must_use]
    pub fn extension(&self, key: &str) -> Option<&Value> {
        self.extensions
            .iter()
            .find_map(|(name, value)| (name == key).then_some(value))
    }
}

impl Serialize for ResponseError {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("message", &self.message)?;
        if !self.locations.is_empty() {
            map.serialize_entry("locations", &self.locations)?;
        }
        if !self.path.is_empty() {
            map.serialize_entry("path", &self.path)?;
        }
        map.serialize_entry("extensions", &Extensions(self))?;
        map.end()
    }
}

struct Extensions<'e>(&'e ResponseError);

impl Serialize for Extensions<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("code", self.0.code.as_str())?;
        for (key, value) in self.0.extensions.iter().filter(|(key, _)| key != "code") {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

/// Writes what is not written yet; the values of juniper serialise without failing.
fn theirs(value: &impl Serialize, out: &mut Vec<u8>) {
    let start = out.len();
    if serde_json::to_writer(&mut *out, value).is_err() {
        out.truncate(start);
        out.extend_from_slice(b"null");
    }
}

/// A place in the document, counted from one.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Location {
    /// The line.
    pub line: usize,
    /// The character in the line.
    pub column: usize,
}

impl Location {
    pub(crate) fn new(line: usize, column: usize) -> Self {
        Self { line, column }
    }
}

/// One step of `path`.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum PathSegment {
    /// A response key.
    Key(String),
    /// A place in a list.
    Index(usize),
}
