use std::time::Duration;

use http::header::COOKIE;
use http::{HeaderMap, HeaderValue};

use super::SessionSecret;

/// The name, the domain or the path is not allowed in a cookie.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("the name, domain or path is not allowed in a cookie")]
#[non_exhaustive]
pub struct InvalidCookie;

/// Session cookie, [RFC 6265](https://www.rfc-editor.org/rfc/rfc6265).
///
/// The cookie is always `HttpOnly` and `SameSite=Lax`. By default its name has the prefix
/// `__Host-`: browsers send the cookie only to this host, and accept it only from this host over
/// HTTPS. With a domain or a path the prefix is `__Secure-`.
///
/// ```
/// use std::time::Duration;
/// use http::{HeaderMap, header::COOKIE};
/// use oauth_core::session::SessionCookie;
///
/// let cookie = SessionCookie::new("session")?;
/// let secret = "ss_fwCYTMG0gqJ8C0VZP9Pd5rYDqj2e7iA1hQmQmG3w0wE".parse()?;
/// let set = cookie.set(&secret, Duration::from_secs(8 * 60 * 60));
/// assert_eq!(
///     set,
///     "__Host-session=ss_fwCYTMG0gqJ8C0VZP9Pd5rYDqj2e7iA1hQmQmG3w0wE; \
///      Path=/; Max-Age=28800; Secure; HttpOnly; SameSite=Lax"
/// );
///
/// let mut request = HeaderMap::new();
/// let sent = "theme=dark; __Host-session=ss_fwCYTMG0gqJ8C0VZP9Pd5rYDqj2e7iA1hQmQmG3w0wE";
/// request.insert(COOKIE, sent.parse()?);
/// assert!(cookie.read(&request).is_some());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct SessionCookie {
    name: String,
    domain: Option<String>,
    path: String,
    secure: bool,
}

impl SessionCookie {
    /// Creates a cookie with this name, to which the prefix is added.
    ///
    /// # Errors
    ///
    /// [`InvalidCookie`] unless the name is a token of 1 to 64 characters ([RFC 9110
    /// §5.6.2](https://www.rfc-editor.org/rfc/rfc9110#section-5.6.2)).
    pub fn new(name: &str) -> Result<Self, InvalidCookie> {
        let token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
        if !(1..=64).contains(&name.len()) || !name.bytes().all(token) {
            return Err(InvalidCookie);
        }
        Ok(Self {
            name: name.to_owned(),
            domain: None,
            path: "/".to_owned(),
            secure: true,
        })
    }

    /// Sets the attribute `Domain`: browsers send the cookie to `domain` and all hosts below it.
    ///
    /// # Errors
    ///
    /// [`InvalidCookie`] unless `domain` is 1 to 253 ASCII letters, digits, hyphens and dots.
    ///
    /// # Security
    ///
    /// All these hosts can read and replace the cookie.
    pub fn with_domain(self, domain: &str) -> Result<Self, InvalidCookie> {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-.".contains(&byte);
        if !(1..=253).contains(&domain.len()) || !domain.bytes().all(plain) {
            return Err(InvalidCookie);
        }
        Ok(Self {
            domain: Some(domain.to_owned()),
            ..self
        })
    }

    /// Sets the attribute `Path`: browsers send the cookie only to URLs below `path`. This does not
    /// protect the session from other pages of the host.
    ///
    /// # Errors
    ///
    /// [`InvalidCookie`] unless `path` begins with `/` and is at most 1024 characters of printable
    /// ASCII without spaces and semicolons.
    pub fn with_path(self, path: &str) -> Result<Self, InvalidCookie> {
        let plain = path
            .bytes()
            .all(|byte| matches!(byte, b'!'..=b'~') && byte != b';');
        if !path.starts_with('/') || path.len() > 1024 || !plain {
            return Err(InvalidCookie);
        }
        Ok(Self {
            path: path.to_owned(),
            ..self
        })
    }

    /// Allows the cookie over plain HTTP. The cookie has neither `Secure` nor a prefix, because
    /// browsers refuse both over plain HTTP.
    ///
    /// # Security
    ///
    /// Use this only for development on a loopback address: on a network an attacker can read and
    /// set the cookie.
    #[must_use]
    pub fn danger_over_plain_http(self) -> Self {
        Self {
            secure: false,
            ..self
        }
    }

    /// Returns the name with its prefix.
    #[must_use]
    pub fn name(&self) -> String {
        format!("{}{}", self.prefix(), self.name)
    }

    /// Returns the `Set-Cookie` value that stores `secret` for `max_age`, rounded down to seconds.
    /// The value is marked as sensitive, so that `Debug` does not show it.
    #[must_use]
    pub fn set(&self, secret: &SessionSecret, max_age: Duration) -> HeaderValue {
        self.written(secret.expose(), max_age.as_secs())
    }

    /// Returns the `Set-Cookie` value that deletes the cookie.
    #[must_use]
    pub fn clear(&self) -> HeaderValue {
        self.written("", 0)
    }

    /// Reads the secret from the `Cookie` headers. `None` if the cookie is missing or malformed.
    /// Also `None` if the cookie occurs with two different values, because an attacker may have set
    /// one of them.
    #[must_use]
    pub fn read(&self, headers: &HeaderMap) -> Option<SessionSecret> {
        let mut found = None;
        for value in self.values(headers) {
            if found.is_some_and(|first| first != value) {
                return None;
            }
            found = Some(value);
        }
        found?.parse().ok()
    }

    fn values<'a>(&'a self, headers: &'a HeaderMap) -> impl Iterator<Item = &'a str> {
        let lines = headers.get_all(COOKIE).into_iter();
        lines
            .filter_map(|line| line.to_str().ok())
            .flat_map(|line| line.split(';'))
            .filter_map(|pair| pair.trim_matches([' ', '\t']).split_once('='))
            .filter(|(name, _)| name.strip_prefix(self.prefix()) == Some(self.name.as_str()))
            .map(|(_, value)| value)
    }

    const fn prefix(&self) -> &'static str {
        match (self.secure, &self.domain, self.path.as_bytes()) {
            (false, ..) => "",
            (true, None, b"/") => "__Host-",
            (true, ..) => "__Secure-",
        }
    }

    fn written(&self, value: &str, max_age: u64) -> HeaderValue {
        let domain = self.domain.as_ref().map(|domain| format!("; Domain={domain}"));
        let text = format!(
            "{}{}={value}; Path={}; Max-Age={max_age}{}{}; HttpOnly; SameSite=Lax",
            self.prefix(),
            self.name,
            self.path,
            domain.unwrap_or_default(),
            if self.secure { "; Secure" } else { "" },
        );
        // `text` is printable ASCII, so the conversion succeeds; the empty fallback sets no cookie
        let mut written = HeaderValue::try_from(text).unwrap_or(HeaderValue::from_static(""));
        written.set_sensitive(true);
        written
    }
}
