//! The `Server-Timing` field of responses.

use std::{fmt::Write as _, time::Duration};

use http::{HeaderMap, HeaderName, HeaderValue};

use crate::field;

/// Header of the durations of a response.
pub const SERVER_TIMING: HeaderName = HeaderName::from_static("server-timing");

/// Metrics of `Server-Timing`, by the grammar of
/// [Server Timing](https://www.w3.org/TR/server-timing/#the-server-timing-header-field).
///
/// # Security
///
/// Scripts of the same origin can read the metrics. Scripts of other origins can read them only
/// with `Timing-Allow-Origin`, which this crate never sends. A duration can reveal whether a
/// guessed secret is right, or whether an account exists: do not measure such steps alone, and put
/// no secret into a description.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct ServerTiming {
    text: String,
}

impl ServerTiming {
    /// Creates an empty list.
    #[must_use]
    pub const fn new() -> Self {
        Self { text: String::new() }
    }

    /// Adds a metric. The duration is written in milliseconds, truncated to microseconds. An empty
    /// description is omitted.
    ///
    /// # Errors
    ///
    /// [`InvalidMetric`] if the name is not a token, or if the description has a character that is
    /// not visible ASCII or a space.
    pub fn with_metric(
        mut self,
        name: &str,
        duration: Duration,
        description: &str,
    ) -> Result<Self, InvalidMetric> {
        if !field::is_token(name.as_bytes()) {
            return Err(InvalidMetric::Name);
        }
        if !description.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
            return Err(InvalidMetric::Description);
        }
        self.push(name, duration);
        if !description.is_empty() {
            self.text.push_str(";desc=\"");
            for character in description.chars() {
                if matches!(character, '"' | '\\') {
                    self.text.push('\\');
                }
                self.text.push(character);
            }
            self.text.push('"');
        }
        Ok(self)
    }

    /// The metric `total`.
    pub(crate) fn total(duration: Duration) -> Self {
        let mut timing = Self::new();
        timing.push("total", duration);
        timing
    }

    /// Appends a metric. `name` must be a token.
    fn push(&mut self, name: &str, duration: Duration) {
        if !self.text.is_empty() {
            self.text.push_str(", ");
        }
        let (whole, micros) = (duration.as_millis(), duration.subsec_micros() % 1000);
        let fraction = format!("{micros:03}");
        let fraction = fraction.trim_end_matches('0');
        let point = if fraction.is_empty() { "" } else { "." };
        // writing to a string does not fail
        let _ = write!(self.text, "{name};dur={whole}{point}{fraction}");
    }

    /// Field value.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Adds the metrics to the metrics that the response has already.
    pub fn apply(&self, headers: &mut HeaderMap) {
        if let Ok(value) = HeaderValue::from_str(&self.text)
            && !self.text.is_empty()
        {
            headers.append(SERVER_TIMING, value);
        }
    }
}

/// Returns `true` if the response has a metric of this name.
pub(crate) fn has_metric(headers: &HeaderMap, name: &str) -> bool {
    field::members(headers, &SERVER_TIMING).any(|metric| field::split_once(metric, b';').0 == name.as_bytes())
}

/// Returns `true` for a valid metric; its `dur`, if present, must be a number.
pub(crate) fn is_metric(metric: &[u8]) -> bool {
    let (name, parameters) = field::split_once(metric, b';');
    let are_valid = field::split(parameters.unwrap_or_default(), b';').all(|part| {
        let (key, value) = field::split_once(part, b'=');
        let (key, value) = (field::trim(key), field::trim(value.unwrap_or_default()));
        let Some((key, value)) = field::parameter(&[key, b"=", value].concat()).map(|_| (key, value)) else {
            return false;
        };
        let unquoted: Vec<u8> = field::unquoted(value).collect();
        let number = std::str::from_utf8(&unquoted).ok().map(str::parse::<f64>);
        !key.eq_ignore_ascii_case(b"dur") || matches!(number, Some(Ok(number)) if number.is_finite())
    });
    field::is_token(name) && are_valid
}

/// Error for a metric that `Server-Timing` cannot contain.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidMetric {
    /// The name is not a token ([RFC 9110
    /// §5.6.2](https://www.rfc-editor.org/rfc/rfc9110#section-5.6.2)).
    #[error("the name of a metric is a token, such as `db`")]
    Name,
    /// The description has a character that is not visible ASCII or a space.
    #[error("the description of a metric consists of visible ASCII characters and spaces")]
    Description,
}
