//! Response of an operation: `data`, `errors`, `extensions`, and their JSON.
//!
//! See [GraphQL §7](https://spec.graphql.org/September2025/#sec-Response).
//!
//! ```
//! use graph_core::response::GraphResponse;
//! use graph_core::error::ErrorCode;
//!
//! let response = GraphResponse::request_error(ErrorCode::BadRequest, "no `query`");
//! assert!(response.is_request_error());
//! assert_eq!(
//!     response.to_json(),
//!     r#"{"errors":[{"message":"no `query`","extensions":{"code":"BAD_REQUEST"}}]}"#
//! );
//! ```

use std::io;

use bytes::Bytes;
use juniper::Value;
use serde::Serialize;
use serde::ser::{Error as _, SerializeMap as _, Serializer};
use serde_json::value::RawValue;

use crate::error::ErrorCode;

/// Maximum number of reported request errors, as in graphql-js.
pub(crate) const MISTAKES: usize = 100;

/// Maximum bytes of the message of a request error, because a request may repeat long names.
const MESSAGE: usize = 4_000;

/// Cuts the message of a request error to its maximum length.
pub(crate) fn cut_message(message: String) -> String {
    cut(message, MESSAGE)
}

/// Cuts `text` to `length` bytes.
pub(crate) fn cut(mut text: String, length: usize) -> String {
    if text.len() > length {
        let mut ends = (0..=length).rev();
        text.truncate(ends.find(|end| text.is_char_boundary(*end)).unwrap_or_default());
        text.push_str("...");
    }
    text
}

/// Response to one operation, or to one event of a subscription.
#[derive(Clone, Debug, PartialEq)]
pub struct GraphResponse {
    /// JSON up to the end of `data`, starting with [`PREFIX`]; `None` if nothing was executed.
    written: Option<Vec<u8>>,
    errors: Vec<ResponseError>,
    cost: Option<Box<CostReport>>,
}

/// `extensions.cost`: cost of the operation.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct CostReport {
    pub(crate) estimated: u64,
    pub(crate) limit: u64,
    /// Codes of the exceeded limits.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) exceeded: Vec<ErrorCode>,
}

/// `extensions` of the response.
#[derive(Serialize)]
struct EnvelopeExtensions<'e> {
    cost: &'e CostReport,
}

/// Start of a response with `data`.
pub(crate) const PREFIX: &[u8] = b"{\"data\":";

impl GraphResponse {
    /// Response of an executed operation; `written` starts with [`PREFIX`].
    pub(crate) fn written(written: Vec<u8>, errors: Vec<ResponseError>) -> Self {
        Self {
            written: Some(written),
            errors,
            cost: None,
        }
    }

    /// Response with `data: null`.
    pub(crate) fn null(errors: Vec<ResponseError>) -> Self {
        Self::written([PREFIX, b"null"].concat(), errors)
    }

    /// Response to a request that was not executed.
    pub(crate) fn request_errors(errors: Vec<ResponseError>) -> Self {
        Self {
            written: None,
            errors,
            cost: None,
        }
    }

    /// Adds `extensions.cost`.
    pub(crate) fn with_cost(mut self, cost: Option<CostReport>) -> Self {
        self.cost = cost.map(Box::new);
        self
    }

    /// Creates the response to a request that was not executed.
    #[must_use]
    pub fn request_error(code: ErrorCode, message: impl Into<String>) -> Self {
        ResponseError::new(code, message).into()
    }

    /// Returns `data` as JSON.
    ///
    /// Returns `None` if nothing was executed, and the text `null` if an error propagated to the
    /// root or a resolver panicked.
    #[must_use]
    pub fn data(&self) -> Option<&str> {
        let data = self.written.as_ref()?.get(PREFIX.len()..)?;
        std::str::from_utf8(data).ok()
    }

    /// Returns `errors`, in document order.
    #[must_use]
    pub fn errors(&self) -> &[ResponseError] {
        &self.errors
    }

    /// Returns `true` if nothing was executed, that is, if the response has no `data`.
    #[must_use]
    pub fn is_request_error(&self) -> bool {
        self.written.is_none()
    }

    /// Returns `true` if `data` is `null`.
    pub(crate) fn is_null(&self) -> bool {
        let data = self
            .written
            .as_deref()
            .and_then(|written| written.get(PREFIX.len()..));
        data == Some(b"null")
    }

    /// Number of bytes of the JSON.
    pub(crate) fn json_length(&self) -> usize {
        let mut length = Length(self.written.as_ref().map_or(0, Vec::len));
        // counted as they are written: a separator, the name, the value
        if !self.errors.is_empty() {
            length.0 += b",\"errors\":".len();
            length.add(&self.errors);
        }
        if let Some(cost) = &self.cost {
            length.0 += b",\"extensions\":".len();
            length.add(&EnvelopeExtensions { cost });
        }
        length.0 + b"}".len()
    }

    /// Replaces the error messages.
    pub(crate) fn map_messages(mut self, message: impl Fn(&str) -> String) -> Self {
        for error in &mut self.errors {
            error.message = message(&error.message);
        }
        self
    }

    /// Approximate size in bytes.
    pub(crate) fn size(&self) -> usize {
        let errors = self.errors.iter().map(|error| error.message.len() + 128);
        self.written.as_ref().map_or(0, Vec::len) + errors.sum::<usize>()
    }

    /// Renders `errors` as JSON.
    pub(crate) fn errors_json(&self) -> Vec<u8> {
        // errors do not fail to serialize; the fallback is valid JSON
        serde_json::to_vec(&self.errors).unwrap_or_else(|_| b"[]".to_vec())
    }

    /// Renders the response as JSON.
    #[must_use]
    pub fn to_json(&self) -> Bytes {
        self.clone().into_json()
    }

    /// Renders the response as JSON without copying the data.
    #[must_use]
    pub fn into_json(self) -> Bytes {
        let (mut out, mut between) = match self.written {
            Some(written) => (written, b",".as_slice()),
            None => (Vec::new(), b"{".as_slice()),
        };
        // errors and extensions do not fail to serialize; the fallback is a valid response
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

/// Counter of written bytes.
struct Length(usize);

impl Length {
    fn add(&mut self, value: &impl Serialize) {
        // the counter does not fail, and neither do these values
        let _counted = serde_json::to_writer(self, value);
    }
}

impl io::Write for Length {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

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

/// Entry of `errors`.
#[derive(Clone, Debug, PartialEq)]
pub struct ResponseError {
    message: String,
    locations: Vec<Location>,
    path: Vec<PathSegment>,
    code: ErrorCode,
    extensions: Vec<(String, Value)>,
    /// `true` if `extensions` has the code that is sent, as an error of juniper carries it.
    has_own_code: bool,
}

impl ResponseError {
    pub(crate) fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            locations: Vec::new(),
            path: Vec::new(),
            code,
            extensions: Vec::new(),
            has_own_code: false,
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

    /// Sends the `code` of the extensions, at its place among them.
    pub(crate) fn with_code_of_extensions(mut self) -> Self {
        self.has_own_code = true;
        self
    }

    /// Returns `message`.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Returns `locations`: positions in the document.
    #[must_use]
    pub fn locations(&self) -> &[Location] {
        &self.locations
    }

    /// Returns the `path` of the failed field; empty for an error of the whole request.
    #[must_use]
    pub fn path(&self) -> &[PathSegment] {
        &self.path
    }

    /// Returns `extensions.code`.
    ///
    /// If the host [passes errors of juniper](crate::EngineBuilder::danger_pass_field_errors), the
    /// code of such an error may be outside of [`ErrorCode`]. The method then returns
    /// [`ErrorCode::InternalServerError`]; [`extension`](Self::extension) has the code itself.
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        self.code
    }

    /// Returns the value of `extensions.{key}`; `None` if it is absent. For `extensions.code` use
    /// [`code`](Self::code).
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
        let is_written = self.0.has_own_code;
        if !is_written {
            map.serialize_entry("code", self.0.code.as_str())?;
        }
        for (key, value) in &self.0.extensions {
            if is_written || key != "code" {
                map.serialize_entry(key, value)?;
            }
        }
        map.end()
    }
}

/// Position in the document.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Location {
    /// Line number, starting at 1.
    pub line: usize,
    /// Column in UTF-16 code units, as editors count, starting at 1.
    pub column: usize,
}

impl Location {
    pub(crate) fn new(line: usize, column: usize) -> Self {
        Self { line, column }
    }
}

/// Segment of the `path` of an error.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum PathSegment {
    /// Response key of a field: its alias or its name.
    Key(String),
    /// Index in a list, starting at 0.
    Index(usize),
}
