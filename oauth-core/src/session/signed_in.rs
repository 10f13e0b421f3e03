use http::HeaderValue;

use super::SessionSecret;
use crate::store::SessionRecord;

/// An active session, with the secret from the browser's cookie.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Session {
    /// Secret of the session, for the [`csrf_token`](SessionSecret::csrf_token) of forms.
    pub secret: SessionSecret,
    /// Record of the session: user, sign-in and timeouts.
    pub record: SessionRecord,
}

/// A session with a new secret. The host must send `set_cookie` to the browser.
#[derive(Clone, Debug)]
#[non_exhaustive]
#[must_use = "a browser that is not given the cookie is not signed in"]
pub struct NewSession {
    /// Session with its new secret.
    pub session: Session,
    /// `Set-Cookie` value for the response.
    pub set_cookie: HeaderValue,
}

/// Reason why a browser has no active session.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SignedOut {
    /// The request has no session cookie, or a malformed one.
    #[error("no session cookie")]
    NoCookie,
    /// No session has this secret: the secret was never issued or was replaced by a renewal, or the
    /// session was purged.
    #[error("unknown session")]
    Unknown,
    /// The idle timeout has passed.
    #[error("idle timeout of the session")]
    IdleExpired,
    /// The absolute timeout has passed.
    #[error("absolute timeout of the session")]
    AbsoluteExpired,
    /// The session was ended; [`SessionRecord::ended`] has the reason.
    #[error("session ended")]
    Revoked,
}
