//! Reads JSON content into types.

use host_ports::ContentType;
use http::{HeaderMap, header::ACCEPT};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{
    collect,
    document::{Document, MalformedJson},
    fault::Faults,
};
use crate::{
    content::{UnsupportedContent, checks},
    errors::{Problem, ProblemBase},
};

/// Media type of JSON.
const JSON: &str = "application/json";

/// Reads JSON content into any type that implements `Deserialize`, and reports all faults at once.
///
/// ```
/// use http::{HeaderMap, header};
/// use http_conventions::{content::JsonReader, errors::ProblemBase};
/// use serde::Deserialize;
///
/// #[derive(Deserialize)]
/// #[serde(deny_unknown_fields)]
/// struct NewCharge {
///     amount: u32,
///     currency: String,
///     description: Option<String>,
/// }
///
/// let mut headers = HeaderMap::new();
/// headers.insert(header::CONTENT_TYPE, "application/json".parse()?);
/// let content = br#"{"amount": "1000", "description": 7}"#;
///
/// let refused = JsonReader::new().read::<NewCharge>(&headers, content);
/// let base = ProblemBase::new("https://api.example.com/problems/")?;
/// let problem = refused.err().expect("three faults").problem(&base);
/// assert_eq!(problem.status(), 422);
/// let body: serde_json::Value = serde_json::from_slice(&problem.to_bytes())?;
/// assert_eq!(
///     body["errors"],
///     serde_json::json!([
///         {
///             "pointer": "/amount",
///             "code": "wrong-type",
///             "detail": "expected an integer, found a string",
///         },
///         {
///             "pointer": "/description",
///             "code": "wrong-type",
///             "detail": "expected a string, found an integer",
///         },
///         {"pointer": "/currency", "code": "missing", "detail": "the member is missing"},
///     ])
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Contract
///
/// - A `Deserialize` implementation runs several times for faulty content, also with values that
///   the client did not send. It must have no side effects.
/// - A type may ignore an error of a member. If other members are faulty, that member is reported
///   too.
/// - A struct must be an object. An array of its members is refused, although serde accepts it.
/// - Serde buffers flattened structs, and enums that are untagged or internally tagged. A fault of
///   one of their members has the pointer of the member if its value is unique; otherwise it has
///   the pointer of the struct or enum.
/// - `serde_json::value::RawValue` is not supported.
///
/// # Performance
///
/// Content is parsed into a JSON value first, so valid content takes about five times as long as
/// with `serde_json::from_slice`. At most 32 faults are reported. All runs together visit each
/// value at most 8 times, or 16,384 values if that is more. [`Faults::is_complete`] tells whether
/// the limits were reached.
#[derive(Clone, Copy, Debug, Default)]
pub struct JsonReader {
    messages: &'static [&'static str],
}

impl JsonReader {
    /// Creates a reader that shows clients no message of a `Deserialize` implementation.
    #[must_use]
    pub const fn new() -> Self {
        Self { messages: &[] }
    }

    /// Lists the messages of `serde::de::Error::custom` that clients may see.
    ///
    /// A message that is not listed is replaced by `the value is not valid`, because it could
    /// contain internals, or values of the client.
    ///
    /// ```
    /// use http_conventions::content::JsonReader;
    /// use serde::Deserialize;
    ///
    /// #[derive(Debug, Deserialize)]
    /// #[serde(try_from = "u8")]
    /// struct Percent(u8);
    ///
    /// impl TryFrom<u8> for Percent {
    ///     type Error = &'static str;
    ///
    ///     fn try_from(value: u8) -> Result<Self, Self::Error> {
    ///         (value <= 100).then_some(Self(value)).ok_or("must be at most 100")
    ///     }
    /// }
    ///
    /// let reader = JsonReader::new().with_messages(&["must be at most 100"]);
    /// let faults = reader.read_value::<Percent>(&101.into()).expect_err("too many");
    /// assert_eq!(faults.all()[0].detail(), "must be at most 100");
    /// ```
    #[must_use]
    pub const fn with_messages(mut self, messages: &'static [&'static str]) -> Self {
        self.messages = messages;
        self
    }

    /// Reads content of the media type `application/json` without a content coding.
    ///
    /// For other media types check [`media_type`](crate::content::media_type()) and call
    /// [`read_bytes`](Self::read_bytes).
    ///
    /// # Errors
    ///
    /// [`InvalidContent`].
    pub fn read<T: DeserializeOwned>(self, headers: &HeaderMap, content: &[u8]) -> Result<T, InvalidContent> {
        let sent = ContentType::from_headers(headers);
        if !sent.is_some_and(|sent| sent.is(JSON) && sent.is_utf8()) {
            return Err(UnsupportedContent::new(ACCEPT, [JSON]).into());
        }
        checks::coding(headers, &[])?;
        self.read_bytes(content)
    }

    /// Reads JSON text.
    ///
    /// # Errors
    ///
    /// - [`InvalidContent::Malformed`] for text that is not JSON, that is nested more than 64
    ///   levels deep, or whose objects have a member twice.
    /// - [`InvalidContent::Faulty`] for faults of the members.
    pub fn read_bytes<T: DeserializeOwned>(self, content: &[u8]) -> Result<T, InvalidContent> {
        let document = Document::parse(content)?;
        Ok(collect::read(&document.root, document.size, self.messages)?)
    }

    /// Reads a JSON value.
    ///
    /// # Errors
    ///
    /// [`Faults`] of the members.
    pub fn read_value<T: DeserializeOwned>(self, value: &Value) -> Result<T, Faults> {
        collect::read(value, size(value), self.messages)
    }
}

/// Number of values in a value.
fn size(value: &Value) -> usize {
    1 + match value {
        Value::Array(items) => items.iter().map(size).sum(),
        Value::Object(members) => members.values().map(size).sum(),
        _ => 0,
    }
}

/// Error for content that cannot be read.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidContent {
    /// The media type or the content coding is not supported.
    #[error("unsupported content")]
    Unsupported(#[from] UnsupportedContent),
    /// The content is not JSON.
    #[error("malformed content")]
    Malformed(#[from] MalformedJson),
    /// Members are faulty.
    #[error("invalid content")]
    Faulty(#[from] Faults),
}

impl InvalidContent {
    /// Creates the 415, 400 or 422 problem.
    #[must_use]
    pub fn problem(self, base: &ProblemBase) -> Problem {
        match self {
            Self::Unsupported(unsupported) => unsupported.problem(base),
            Self::Malformed(malformed) => malformed.problem(base),
            Self::Faulty(faults) => faults.problem(base),
        }
    }
}
