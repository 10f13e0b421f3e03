use http::HeaderMap;
use http::header::CONTENT_TYPE;

use crate::field;

/// The `Content-Type` of a received message, parsed in place.
///
/// The parser is tolerant: it ignores malformed parameters other than an unclosed quote (see
/// [`is_utf8`](Self::is_utf8)). To validate the whole field, parse a
/// [`MediaType`](super::MediaType).
///
/// ```
/// use host_ports::ContentType;
///
/// let content_type = ContentType::new(b"Application/JSON; charset=utf-8");
/// assert!(content_type.is("application/json") && content_type.is_utf8());
/// ```
#[derive(Clone, Copy, Debug)]
pub struct ContentType<'a>(&'a [u8]);

impl<'a> ContentType<'a> {
    /// A view of a field value.
    #[must_use]
    pub const fn new(value: &'a [u8]) -> Self {
        Self(value)
    }

    /// The field of these headers; `None` if the field is absent or repeated.
    #[must_use]
    pub fn from_headers(headers: &'a HeaderMap) -> Option<Self> {
        let mut lines = headers.get_all(CONTENT_TYPE).iter();
        let line = lines.next().filter(|_| lines.next().is_none())?;
        Some(Self(line.as_bytes()))
    }

    /// Type and subtype without parameters, in the case in which they were sent.
    #[must_use]
    pub fn essence(self) -> &'a [u8] {
        field::trim(self.halves().0)
    }

    /// Compares type and subtype, ignoring case and parameters.
    #[must_use]
    pub fn is(self, essence: &str) -> bool {
        self.essence().eq_ignore_ascii_case(essence.as_bytes())
    }

    /// Returns `true` for `application/json` and for `application/*+json`.
    #[must_use]
    pub fn is_json(self) -> bool {
        const HEAD: &[u8] = b"application/";
        const SUFFIX: &[u8] = b"+json";
        let essence = self.essence();
        let ends_with_json = || {
            let suffix = essence.len().checked_sub(SUFFIX.len());
            suffix
                .and_then(|at| essence.get(at..))
                .is_some_and(|suffix| suffix.eq_ignore_ascii_case(SUFFIX))
        };
        let is_application = || {
            essence
                .get(..HEAD.len())
                .is_some_and(|head| head.eq_ignore_ascii_case(HEAD))
        };
        self.is("application/json") || (is_application() && ends_with_json())
    }

    /// Returns `true` unless a `charset` names an encoding other than UTF-8 or has no value.
    ///
    /// Returns `false` also if a quoted string is not closed ([RFC 9110
    /// §5.6.4](https://www.rfc-editor.org/rfc/rfc9110#section-5.6.4)): another parser could find a
    /// `charset` after the quote.
    #[must_use]
    pub fn is_utf8(self) -> bool {
        let (_, parameters) = self.halves();
        field::open_quote(parameters).is_none()
            && field::split(parameters, b';').all(|part| {
                let (name, value) = field::split_once(part, b'=');
                let is_charset = field::trim(name).eq_ignore_ascii_case(b"charset");
                let Some(value) = value else { return !is_charset };
                let is = |charset: &[u8]| {
                    let sent = field::unquoted(field::trim(value)).map(|byte| byte.to_ascii_lowercase());
                    sent.eq(charset.iter().copied())
                };
                !is_charset || is(b"utf-8") || is(b"utf8")
            })
    }

    /// The type and the parameters. Only parameters can contain quoted strings.
    fn halves(self) -> (&'a [u8], &'a [u8]) {
        let end = self.0.iter().position(|byte| *byte == b';');
        let (essence, parameters) = self.0.split_at(end.unwrap_or(self.0.len()));
        (essence, parameters.get(1..).unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn type_is_compared_without_case_and_parameters() {
        for (value, is_json) in [
            ("application/json", true),
            (" APPLICATION/json ;charset=utf-8", true),
            ("application/problem+json", true),
            ("application/vnd.api+JSON; q", true),
            ("application/jsonp", false),
            ("text/json", false),
            ("image/svg+json", false),
            ("+json", false),
            ("", false),
        ] {
            assert_eq!(ContentType::new(value.as_bytes()).is_json(), is_json, "{value}");
        }
    }

    #[test]
    fn charset_other_than_utf_8_is_recognized() {
        for (parameters, is_utf8) in [
            ("", true),
            (";", true),
            ("; version=1", true),
            ("; charset", false),
            ("; Charset=UTF-8", true),
            (";charset=\"utf-8\"", true),
            ("; charset = utf8", true),
            ("; charset=latin1", false),
            ("; a=\";\"; charset=latin1", false),
            ("; charset=utf-8; charset=latin1", false),
            ("; a=\"b\\\"\"; charset=utf-8", true),
            // an open quote hides the rest of the field
            ("; a=\"; charset=latin1", false),
            ("; a=\"; charset=utf-8", false),
            ("; a=\"\\\"; charset=latin1", false),
            ("; charset=\"utf-8", false),
            ("\"; charset=latin1", false),
        ] {
            let value = format!("application/json{parameters}");
            assert_eq!(ContentType::new(value.as_bytes()).is_utf8(), is_utf8, "{value}");
        }
    }

    #[test]
    fn repeated_field_is_absent() {
        let mut headers = HeaderMap::new();
        assert!(ContentType::from_headers(&headers).is_none());
        headers.append(CONTENT_TYPE, http::HeaderValue::from_static("text/plain"));
        assert!(ContentType::from_headers(&headers).is_some_and(|sent| sent.is("text/plain")));
        headers.append(CONTENT_TYPE, http::HeaderValue::from_static("text/plain"));
        assert!(ContentType::from_headers(&headers).is_none());
    }
}
