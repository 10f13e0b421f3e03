//! CSRF tokens in forms.

use http::HeaderMap;

use super::{SessionCookie, SessionSecret};
use crate::params::Params;

/// Name of the form field.
const FIELD: &str = "csrf_token";

impl SessionSecret {
    /// Returns the hidden field of a form, in HTML, with the [CSRF token](Self::csrf_token).
    /// [`SessionCookie::accepts_form`] checks it.
    #[must_use]
    pub fn csrf_field(&self) -> String {
        // base64url needs no escapes
        let token = self.csrf_token();
        format!(r#"<input type="hidden" name="{FIELD}" value="{}">"#, *token)
    }
}

impl SessionCookie {
    /// Returns `true` if a form was made for this browser: its
    /// [field `csrf_token`](SessionSecret::csrf_field) is the CSRF token of the secret in the
    /// cookie. `form` is a body
    /// of type `application/x-www-form-urlencoded`, `headers` are those of the request.
    ///
    /// ```
    /// use http::{HeaderMap, header::COOKIE};
    /// use oauth_core::session::{SessionCookie, SessionSecret};
    ///
    /// let cookie = SessionCookie::new("session")?;
    /// let secret = "ss_fwCYTMG0gqJ8C0VZP9Pd5rYDqj2e7iA1hQmQmG3w0wE";
    /// let mut request = HeaderMap::new();
    /// request.insert(COOKIE, format!("{}={secret}", cookie.name()).parse()?);
    ///
    /// let form = format!("csrf_token={}", secret.parse::<SessionSecret>()?.csrf_token().as_str());
    /// assert!(cookie.accepts_form(&request, form.as_bytes()));
    /// assert!(!cookie.accepts_form(&request, b"csrf_token=another"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn accepts_form(&self, headers: &HeaderMap, form: &[u8]) -> bool {
        let form = Params::parse(form).ok();
        let token = form.as_ref().and_then(|form| form.optional(FIELD));
        let secret = self.read(headers);
        secret
            .zip(token)
            .is_some_and(|(secret, token)| secret.is_csrf_token(token))
    }
}
