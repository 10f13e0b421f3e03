//! Parses received problem documents as tolerantly as [RFC 9457
//! §3.1](https://www.rfc-editor.org/rfc/rfc9457#section-3.1) requires.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::Member;

/// A problem document that a client received.
///
/// - A member of the wrong type counts as absent, as the RFC requires.
/// - Unknown members are extensions.
/// - If the member `status` differs from the status of the response, use the status of the
///   response.
///
/// ```
/// use http_conventions::errors::ReceivedProblem;
///
/// let problem = ReceivedProblem::parse(
///     br#"{"type": 7, "title": "No funds", "status": "403", "balance": 30}"#,
/// )?;
/// assert_eq!(problem.type_uri(), "about:blank");
/// assert_eq!(problem.title(), Some("No funds"));
/// assert_eq!(problem.status(), None);
/// assert_eq!(
///     problem
///         .extension("balance")
///         .and_then(|balance| balance.as_integer()),
///     Some(30)
/// );
/// # Ok::<(), http_conventions::errors::InvalidProblem>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ReceivedProblem {
    type_uri: Option<String>,
    title: Option<String>,
    status: Option<u16>,
    detail: Option<String>,
    instance: Option<String>,
    extensions: Vec<(Cow<'static, str>, Member)>,
}

impl ReceivedProblem {
    /// Parses a body of the media type `application/problem+json`.
    ///
    /// # Errors
    ///
    /// [`InvalidProblem`] if the body is not a JSON object.
    pub fn parse(body: &[u8]) -> Result<Self, InvalidProblem> {
        let mut members: Map<String, Value> = serde_json::from_slice(body).map_err(|_| InvalidProblem)?;
        Ok(Self {
            type_uri: text(&mut members, "type"),
            title: text(&mut members, "title"),
            status: status(&mut members),
            detail: text(&mut members, "detail"),
            instance: text(&mut members, "instance"),
            extensions: object(members),
        })
    }

    /// Type URI; `about:blank` if the document has no type. Compare the URI; do not fetch it.
    #[must_use]
    pub fn type_uri(&self) -> &str {
        self.type_uri.as_deref().unwrap_or("about:blank")
    }

    /// Title: short summary of the type.
    #[must_use]
    pub fn title(&self) -> Option<&str> {
        self.title.as_deref()
    }

    /// Member `status`, if it is an integer from 100 to 599.
    #[must_use]
    pub fn status(&self) -> Option<u16> {
        self.status
    }

    /// Explanation of this occurrence.
    #[must_use]
    pub fn detail(&self) -> Option<&str> {
        self.detail.as_deref()
    }

    /// URI reference of this occurrence.
    #[must_use]
    pub fn instance(&self) -> Option<&str> {
        self.instance.as_deref()
    }

    /// Extension member of this name.
    #[must_use]
    pub fn extension(&self, name: &str) -> Option<&Member> {
        self.extensions
            .iter()
            .find_map(|(own, value)| (own == name).then_some(value))
    }
}

fn text(members: &mut Map<String, Value>, name: &str) -> Option<String> {
    match members.remove(name)? {
        Value::String(text) => Some(text),
        _ => None,
    }
}

fn status(members: &mut Map<String, Value>) -> Option<u16> {
    let status = u16::try_from(members.remove("status")?.as_u64()?).ok()?;
    (100..=599).contains(&status).then_some(status)
}

fn object(members: Map<String, Value>) -> Vec<(Cow<'static, str>, Member)> {
    members
        .into_iter()
        .map(|(name, value)| (Cow::Owned(name), member(value)))
        .collect()
}

fn member(value: Value) -> Member {
    match value {
        Value::Null => Member::Null,
        Value::Bool(value) => Member::Bool(value),
        Value::Number(number) => match number.as_i64() {
            Some(integer) => Member::Integer(integer),
            None => number.as_f64().map_or(Member::Null, Member::Number),
        },
        Value::String(text) => Member::Text(Cow::Owned(text)),
        Value::Array(values) => Member::List(values.into_iter().map(member).collect()),
        Value::Object(members) => Member::Object(object(members)),
    }
}

/// Error for a body that is not a JSON object.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("invalid problem details")]
pub struct InvalidProblem;
