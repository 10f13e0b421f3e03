//! Challenges in `WWW-Authenticate`, [RFC 9110
//! §11.6.1](https://www.rfc-editor.org/rfc/rfc9110#section-11.6.1).

use http::HeaderValue;

use crate::field;

/// An authentication challenge: a scheme and its parameters.
///
/// ```
/// use http_conventions::errors::Challenge;
///
/// let challenge = Challenge::bearer()
///     .with_parameter("error", "insufficient_scope")?
///     .with_parameter("scope", "read:charges")?;
/// assert_eq!(
///     challenge.header_value(),
///     r#"Bearer error="insufficient_scope", scope="read:charges""#
/// );
/// # Ok::<(), http_conventions::errors::InvalidChallenge>(())
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Challenge {
    value: HeaderValue,
    parameters: Parameters,
}

#[derive(Clone, Debug, Eq, PartialEq)]
enum Parameters {
    Named(Vec<Box<str>>),
    /// A single `token68`. A challenge with a `token68` has no parameters.
    Token68,
}

impl Challenge {
    /// Creates a challenge of a scheme, such as `Basic` or `DPoP`.
    ///
    /// # Errors
    ///
    /// [`InvalidChallenge`] if the scheme is not a token.
    pub fn new(scheme: &str) -> Result<Self, InvalidChallenge> {
        if !field::is_token(scheme.as_bytes()) {
            return Err(InvalidChallenge);
        }
        let value = HeaderValue::from_str(scheme).map_err(|_| InvalidChallenge)?;
        Ok(Self {
            value,
            parameters: Parameters::Named(Vec::new()),
        })
    }

    /// A `Bearer` challenge without parameters.
    ///
    /// Add at least one parameter, such as `realm`, as [RFC 6750
    /// §3](https://www.rfc-editor.org/rfc/rfc6750#section-3) requires.
    #[must_use]
    pub const fn bearer() -> Self {
        Self {
            value: HeaderValue::from_static("Bearer"),
            parameters: Parameters::Named(Vec::new()),
        }
    }

    /// Adds a parameter with a quoted value.
    ///
    /// # Errors
    ///
    /// [`InvalidChallenge`] if
    ///
    /// - the name is not a token or is already present,
    /// - the value contains a character other than visible ASCII and space,
    /// - the challenge was parsed and contains a `token68`.
    pub fn with_parameter(mut self, name: &str, value: &str) -> Result<Self, InvalidChallenge> {
        let Parameters::Named(names) = &mut self.parameters else {
            return Err(InvalidChallenge);
        };
        if is_taken(names, name)
            || !field::is_token(name.as_bytes())
            || !value.bytes().all(|byte| (b' '..=b'~').contains(&byte))
        {
            return Err(InvalidChallenge);
        }
        let separator = if names.is_empty() { "" } else { "," };
        let so_far = self.value.to_str().map_err(|_| InvalidChallenge)?;
        let escaped = value.replace('\\', "\\\\").replace('"', "\\\"");
        let value = HeaderValue::try_from(format!("{so_far}{separator} {name}=\"{escaped}\""));
        self.value = value.map_err(|_| InvalidChallenge)?;
        names.push(name.into());
        Ok(self)
    }

    /// Value of the `WWW-Authenticate` field.
    #[must_use]
    pub fn header_value(&self) -> HeaderValue {
        self.value.clone()
    }
}

/// Parses a challenge that other code wrote, such as an authorization library.
///
/// ```
/// use http::HeaderValue;
/// use http_conventions::errors::Challenge;
///
/// let field = HeaderValue::from_static(r#"DPoP algs="ES256", error="use_dpop_nonce""#);
/// assert_eq!(Challenge::try_from(field.clone())?.header_value(), field);
/// assert!(
///     Challenge::try_from(HeaderValue::from_static("Basic realm=a, Bearer realm=a")).is_err()
/// );
/// # Ok::<(), http_conventions::errors::InvalidChallenge>(())
/// ```
impl TryFrom<HeaderValue> for Challenge {
    type Error = InvalidChallenge;

    fn try_from(value: HeaderValue) -> Result<Self, InvalidChallenge> {
        let text = value.to_str().map_err(|_| InvalidChallenge)?;
        let (scheme, rest) = text.split_once(' ').unwrap_or((text, ""));
        let rest = rest.trim_matches([' ', '\t']);
        let parameters = match is_token68(rest) {
            true => Some(Parameters::Token68),
            false => names(rest).map(Parameters::Named),
        };
        match parameters {
            Some(parameters) if field::is_token(scheme.as_bytes()) => Ok(Self { value, parameters }),
            _ => Err(InvalidChallenge),
        }
    }
}

/// Parameter names of a list of `auth-param`.
///
/// `None` for any other text, a repeated name or a second challenge.
fn names(text: &str) -> Option<Vec<Box<str>>> {
    let mut names = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let (name, value) = rest.split_once('=')?;
        let name = name.trim_end_matches([' ', '\t']);
        if !field::is_token(name.as_bytes()) || is_taken(&names, name) {
            return None;
        }
        names.push(name.into());
        let after = after_value(value.trim_start_matches([' ', '\t']))?;
        let after = after.trim_start_matches([' ', '\t']);
        let next = after.strip_prefix(',').unwrap_or(after);
        if !after.is_empty() && next.len() == after.len() {
            return None;
        }
        rest = next.trim_start_matches([' ', '\t', ',']);
    }
    Some(names)
}

/// Text after the token or quoted string with which `text` begins.
fn after_value(text: &str) -> Option<&str> {
    let Some(quoted) = text.strip_prefix('"') else {
        let end = text.find([' ', '\t', ',']).unwrap_or(text.len());
        let (token, after) = text.split_at_checked(end)?;
        return field::is_token(token.as_bytes()).then_some(after);
    };
    let mut is_escaped = false;
    let end = quoted.find(|character| {
        let closes = character == '"' && !is_escaped;
        is_escaped = character == '\\' && !is_escaped;
        closes
    })?;
    quoted.get(end..)?.strip_prefix('"')
}

/// Matches `token68` of [RFC 9110 §11.2](https://www.rfc-editor.org/rfc/rfc9110#section-11.2).
fn is_token68(text: &str) -> bool {
    let text = text.trim_end_matches('=');
    !text.is_empty()
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"-._~+/".contains(&byte))
}

fn is_taken(names: &[Box<str>], name: &str) -> bool {
    names.iter().any(|taken| taken.eq_ignore_ascii_case(name))
}

/// Error for a [`Challenge`] whose scheme or parameter name is not a token, whose parameter name is
/// repeated, or whose value cannot be sent.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("invalid challenge")]
pub struct InvalidChallenge;
