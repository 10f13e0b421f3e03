//! `WWW-Authenticate`, [RFC 9110 §11.6.1](https://www.rfc-editor.org/rfc/rfc9110#section-11.6.1).

use http::HeaderValue;

/// One challenge: an authentication scheme and its parameters.
///
/// ```
/// use http_conventions::problem::Challenge;
///
/// let challenge = Challenge::bearer().with_parameter("error", "insufficient_scope")?.with_parameter("scope", "read:charges")?;
/// assert_eq!(challenge.header_value(), r#"Bearer error="insufficient_scope", scope="read:charges""#);
/// # Ok::<(), http_conventions::problem::InvalidChallenge>(())
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Challenge {
    value: HeaderValue,
    names: Vec<Box<str>>,
}

impl Challenge {
    /// A challenge of a scheme, such as `Basic` or `DPoP`.
    ///
    /// # Errors
    ///
    /// When the scheme is not a token.
    pub fn new(scheme: &str) -> Result<Self, InvalidChallenge> {
        if !is_token(scheme) {
            return Err(InvalidChallenge);
        }
        let value = HeaderValue::from_str(scheme).map_err(|_| InvalidChallenge)?;
        Ok(Self {
            value,
            names: Vec::new(),
        })
    }

    /// A challenge of the scheme `Bearer`, which
    /// [RFC 6750 §3](https://www.rfc-editor.org/rfc/rfc6750#section-3) wants with at least one parameter, such as `realm`.
    #[must_use]
    pub const fn bearer() -> Self {
        Self {
            value: HeaderValue::from_static("Bearer"),
            names: Vec::new(),
        }
    }

    /// Adds a parameter; its value is quoted.
    ///
    /// # Errors
    ///
    /// When the name is not a token or was given before, or the value holds anything but visible ASCII and spaces.
    pub fn with_parameter(mut self, name: &str, value: &str) -> Result<Self, InvalidChallenge> {
        let is_taken = self.names.iter().any(|taken| taken.eq_ignore_ascii_case(name));
        if is_taken || !is_token(name) || !value.bytes().all(|byte| (b' '..=b'~').contains(&byte)) {
            return Err(InvalidChallenge);
        }
        let separator = if self.names.is_empty() { "" } else { "," };
        let so_far = self.value.to_str().map_err(|_| InvalidChallenge)?;
        let escaped = value.replace('\\', "\\\\").replace('"', "\\\"");
        let value = HeaderValue::try_from(format!("{so_far}{separator} {name}=\"{escaped}\""));
        self.value = value.map_err(|_| InvalidChallenge)?;
        self.names.push(name.into());
        Ok(self)
    }

    /// The field value.
    #[must_use]
    pub fn header_value(&self) -> HeaderValue {
        self.value.clone()
    }
}

/// [RFC 9110 §5.6.2](https://www.rfc-editor.org/rfc/rfc9110#section-5.6.2).
fn is_token(text: &str) -> bool {
    !text.is_empty()
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte))
}

/// The scheme or name is not a token, the name was given before, or the value cannot be sent.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("invalid challenge")]
pub struct InvalidChallenge;
