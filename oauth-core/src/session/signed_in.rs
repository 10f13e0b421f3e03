use http::HeaderValue;

use super::SessionSecret;
use crate::store::SessionRecord;

/// An active session, and the secret by which its browser has it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Session {
    /// The secret: for a form's [`csrf_token`](SessionSecret::csrf_token).
    pub secret: SessionSecret,
    /// Who is signed in, since when and how long.
    pub record: SessionRecord,
}

/// A session under a new secret, which its browser has yet to be told.
#[derive(Clone, Debug)]
#[non_exhaustive]
#[must_use = "a browser that is not given the cookie is not signed in"]
pub struct NewSession {
    /// The session.
    pub session: Session,
    /// The `Set-Cookie` of the answer.
    pub set_cookie: HeaderValue,
}

/// Why nobody is signed in at a browser.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SignedOut {
    /// There is no cookie, or none that could be ours.
    #[error("no session cookie")]
    NoCookie,
    /// No session is known under that secret: it was never begun, was renewed, or was over long ago.
    #[error("no such session")]
    Unknown,
    /// It was left idle too long.
    #[error("session left idle")]
    IdleExpired,
    /// It was too old.
    #[error("session too old")]
    AbsoluteExpired,
    /// It was ended; the record of the session says why.
    #[error("session ended")]
    Revoked,
}
