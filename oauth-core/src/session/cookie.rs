use std::time::Duration;

use http::header::COOKIE;
use http::{HeaderMap, HeaderValue};

use super::SessionSecret;

/// The name, domain or path cannot stand in a cookie.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("not the name, domain or path of a cookie")]
#[non_exhaustive]
pub struct InvalidCookie;

/// How the session's cookie is set and read, [RFC 6265](https://www.rfc-editor.org/rfc/rfc6265).
///
/// Always `HttpOnly` and `SameSite=Lax`. A browser sends it to this host alone, under a name that begins with `__Host-`, which
/// no other host or plain connection can set, unless a domain or a path was asked for: then it begins with `__Secure-`.
///
/// ```
/// use std::time::Duration;
/// use http::{HeaderMap, header::COOKIE};
/// use oauth_core::session::SessionCookie;
///
/// let cookie = SessionCookie::new("session")?;
/// let set = cookie.set(&"ss_fwCYTMG0gqJ8C0VZP9Pd5rYDqj2e7iA1hQmQmG3w0wE".parse()?, Duration::from_secs(8 * 60 * 60));
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
    /// A cookie by this name, without the prefix that it will have.
    ///
    /// # Errors
    ///
    /// [`InvalidCookie`] unless the name is 1 to 64 of the characters of a token
    /// ([RFC 9110 §5.6.2](https://www.rfc-editor.org/rfc/rfc9110#section-5.6.2)).
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

    /// Shares the session with every host below `domain`.
    ///
    /// # Errors
    ///
    /// [`InvalidCookie`] unless it is a host name in letters, digits, hyphens and dots.
    ///
    /// # Security
    ///
    /// Whoever runs one of these hosts can then read the cookie, and set another in its place.
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

    /// Has the browser send the cookie below this path only. That keeps no secret from other pages of the host.
    ///
    /// # Errors
    ///
    /// [`InvalidCookie`] unless it begins with `/` and is printable ASCII without semicolons.
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

    /// Lets the cookie go over plain HTTP: without `Secure` and without a prefix, as browsers take neither there.
    ///
    /// # Security
    ///
    /// For development on a loopback address only: anybody on the way can read and set it.
    #[must_use]
    pub fn danger_over_plain_http(self) -> Self {
        Self {
            secure: false,
            ..self
        }
    }

    /// The name as the browser has it.
    #[must_use]
    pub fn name(&self) -> String {
        format!("{}{}", self.prefix(), self.name)
    }

    /// The `Set-Cookie` that gives the browser `secret` for `max_age`, rounded down to seconds. Marked as sensitive.
    #[must_use]
    pub fn set(&self, secret: &SessionSecret, max_age: Duration) -> HeaderValue {
        self.written(secret.expose(), max_age.as_secs())
    }

    /// The `Set-Cookie` that takes the cookie away.
    #[must_use]
    pub fn clear(&self) -> HeaderValue {
        self.written("", 0)
    }

    /// The secret in a request's `Cookie`; `None` also when there are two that differ, of which one must be somebody else's.
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
        // printable ASCII throughout; a cookie that could not be written would leave nobody signed in
        let mut written = HeaderValue::try_from(text).unwrap_or(HeaderValue::from_static(""));
        written.set_sensitive(true);
        written
    }
}
