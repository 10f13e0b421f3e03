//! Challenges: responses to requests without a sufficient token, [RFC 6750
//! §3](https://www.rfc-editor.org/rfc/rfc6750#section-3) and [RFC 9449
//! §7.1](https://www.rfc-editor.org/rfc/rfc9449#section-7.1).

use std::error::Error;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCESS_CONTROL_EXPOSE_HEADERS, CACHE_CONTROL, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{HeaderMap, HeaderValue, Response, StatusCode};

use super::credentials::Scheme;
use crate::dpop::{self, ProofError};
use crate::error::diagnosis;
use crate::jose::JwtError;
use crate::time::AFTER_A_FAULT;
use crate::vocabulary::Scopes;

/// Reason of a challenge, for logs and for hosts that build their own responses.
#[non_exhaustive]
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum ChallengeReason {
    /// The request has no access token, or uses a scheme that the API does not accept.
    NoToken,
    /// The request has several tokens, a token in the query, or a malformed token: invalid
    /// characters, or more than 16 KiB.
    MalformedRequest,
    /// The token is invalid. The response does not reveal the cause.
    InvalidToken(JwtError),
    /// The issuer reports the token as inactive, or it is not for this resource server, or the
    /// token store knows no active token.
    InactiveToken,
    /// The account of the user is locked.
    LockedSubject,
    /// A DPoP-bound token was sent with the scheme `Bearer`, or another token with the scheme
    /// `DPoP`.
    WrongScheme,
    /// The token is not bound to the certificate of the connection, or the connection has none.
    WrongCertificate,
    /// The token lacks the binding that this API
    /// [requires](super::ResourceServer::with_required_possession).
    WrongPossession,
    /// The DPoP proof is invalid.
    InvalidProof(ProofError),
    /// The token is valid but lacks one of these scopes.
    InsufficientScope(Scopes),
    /// The token is valid but its subject lacks this role.
    MissingRole(Box<str>),
    /// The last authentication of the user is longer ago than this maximum age, or its time is
    /// unknown.
    SignInTooOld(Duration),
    /// The token could not be checked; [`source`](Error::source) has the cause.
    Unavailable,
}

/// Parameters of all challenges of a resource server.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Realm {
    /// `realm` of the challenges.
    pub(crate) name: Arc<str>,
    /// URL of the protected resource metadata.
    pub(crate) metadata_url: Option<Arc<str>>,
    /// `true` if tokens without a proof are accepted: bearer tokens and certificate-bound tokens.
    pub(crate) takes_bearer: bool,
    /// `true` if DPoP-bound tokens are accepted.
    pub(crate) takes_proofs: bool,
}

/// Requirement that the token does not meet although it is valid.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Wanted<'a> {
    /// Scopes of the token.
    Scopes(&'a Scopes),
    /// Maximum age of the user's authentication.
    MaxAge(Duration),
}

/// Refusal of a request: a status, and headers that tell the client which token it needs.
///
/// Convert it to a response without a body with [`Challenge::into_response`], or add
/// [`Challenge::status`] and [`Challenge::headers`] to a response of the host, for example a
/// problem document.
#[derive(Clone, Debug)]
pub struct Challenge {
    realm: Arc<Realm>,
    reason: ChallengeReason,
    scheme: Option<Scheme>,
    nonce: Option<HeaderValue>,
    fault: Option<Arc<dyn Error + Send + Sync>>,
}

impl Challenge {
    /// Creates a challenge. `scheme` is the scheme of the refused token; `None` if the request has
    /// none that the API accepts.
    pub(super) fn new(realm: &Arc<Realm>, scheme: Option<Scheme>, reason: ChallengeReason) -> Self {
        Self {
            realm: Arc::clone(realm),
            reason,
            scheme,
            nonce: None,
            fault: None,
        }
    }

    pub(super) fn with_nonce(self, nonce: Option<HeaderValue>) -> Self {
        Self { nonce, ..self }
    }

    pub(super) fn with_fault(self, fault: Arc<dyn Error + Send + Sync>) -> Self {
        Self {
            fault: Some(fault),
            ..self
        }
    }

    /// Returns the reason.
    #[must_use]
    pub fn reason(&self) -> &ChallengeReason {
        &self.reason
    }

    /// Returns the reason with all its causes in one line, for the log: for example "invalid access
    /// token: the token is expired". The response does not reveal the causes.
    #[must_use]
    pub fn diagnosis(&self) -> String {
        diagnosis(self)
    }

    /// Returns the status: 400 for a malformed request, 403 for a missing scope or role, 503 if the
    /// token could not be checked, and 401 for all other reasons.
    #[must_use]
    pub fn status(&self) -> StatusCode {
        match self.reason {
            ChallengeReason::MalformedRequest => StatusCode::BAD_REQUEST,
            ChallengeReason::InsufficientScope(_) | ChallengeReason::MissingRole(_) => StatusCode::FORBIDDEN,
            ChallengeReason::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
            _ => StatusCode::UNAUTHORIZED,
        }
    }

    /// Returns the error code, for example `invalid_token`. `None` for a request without a token
    /// ([RFC 6750 §3.1](https://www.rfc-editor.org/rfc/rfc6750#section-3.1)), or if the token could
    /// not be checked.
    #[must_use]
    pub fn code(&self) -> Option<&'static str> {
        match self.reason {
            ChallengeReason::NoToken | ChallengeReason::Unavailable => None,
            ChallengeReason::MalformedRequest => Some("invalid_request"),
            ChallengeReason::InvalidProof(error) => Some(error.code()),
            ChallengeReason::InsufficientScope(_) | ChallengeReason::MissingRole(_) => {
                Some("insufficient_scope")
            }
            ChallengeReason::SignInTooOld(_) => Some("insufficient_user_authentication"),
            _ => Some("invalid_token"),
        }
    }

    /// Returns the values of `WWW-Authenticate`, one per scheme. A request with the scheme `DPoP`
    /// gets only the challenge for `DPoP`. Other requests get one challenge for each scheme that
    /// the API accepts. Empty if the token could not be checked.
    #[must_use]
    pub fn www_authenticate(&self) -> Vec<HeaderValue> {
        let wanted = match &self.reason {
            ChallengeReason::Unavailable => return Vec::new(),
            ChallengeReason::InsufficientScope(scopes) => Some(Wanted::Scopes(scopes)),
            ChallengeReason::SignInTooOld(max_age) => Some(Wanted::MaxAge(*max_age)),
            _ => None,
        };
        self.realm.challenges(self.scheme, self.code(), wanted)
    }

    /// Returns the response headers:
    ///
    /// - `WWW-Authenticate` and `Cache-Control: no-store`;
    /// - `DPoP-Nonce`, if the proof needs a new nonce;
    /// - `Access-Control-Expose-Headers`, if the API accepts DPoP;
    /// - `Retry-After` of five seconds, with 503.
    #[must_use]
    pub fn headers(&self) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        for challenge in self.www_authenticate() {
            headers.append(WWW_AUTHENTICATE, challenge);
        }
        if self.reason == ChallengeReason::Unavailable {
            headers.insert(RETRY_AFTER, AFTER_A_FAULT.as_secs().into());
        }
        if let Some(nonce) = &self.nonce {
            headers.insert(dpop::NONCE_HEADER, nonce.clone());
        }
        if self.realm.takes_proofs {
            // browsers hide both headers from scripts unless they are exposed
            let exposed = HeaderValue::from_static("WWW-Authenticate, DPoP-Nonce");
            headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, exposed);
        }
        headers
    }

    /// Builds a response without a body, with `Cache-Control: no-store`.
    #[must_use]
    pub fn into_response(self) -> Response<Bytes> {
        let mut response = Response::new(Bytes::new());
        *response.status_mut() = self.status();
        *response.headers_mut() = self.headers();
        response
    }
}

impl Realm {
    /// Returns the challenges for a request that used `scheme`. For a request with a bearer token,
    /// only the `Bearer` challenge contains the error.
    pub(crate) fn challenges(
        &self,
        scheme: Option<Scheme>,
        code: Option<&str>,
        wanted: Option<Wanted<'_>>,
    ) -> Vec<HeaderValue> {
        let bearer = || self.challenge(Scheme::Bearer, code, wanted);
        match scheme {
            _ if !self.takes_proofs => vec![bearer()],
            _ if !self.takes_bearer => vec![self.challenge(Scheme::Dpop, code, wanted)],
            // clients expect a request for a nonce in a response with one challenge
            Some(Scheme::Dpop) => vec![self.challenge(Scheme::Dpop, code, wanted)],
            Some(Scheme::Bearer) => vec![bearer(), self.challenge(Scheme::Dpop, None, None)],
            None => vec![bearer(), self.challenge(Scheme::Dpop, code, wanted)],
        }
    }

    fn challenge(&self, scheme: Scheme, code: Option<&str>, wanted: Option<Wanted<'_>>) -> HeaderValue {
        let mut text = format!("{} realm=\"{}\"", scheme.as_str(), quoted(&self.name));
        if let Some(code) = code {
            text.push_str(&format!(", error=\"{code}\""));
        }
        match wanted {
            // scopes contain no quotes or backslashes, so they need no escaping
            Some(Wanted::Scopes(scopes)) => text.push_str(&format!(", scope=\"{scopes}\"")),
            Some(Wanted::MaxAge(max_age)) => text.push_str(&format!(", max_age=\"{}\"", max_age.as_secs())),
            None => {}
        }
        if scheme == Scheme::Dpop {
            text.push_str(&format!(", algs=\"{}\"", dpop::algorithms().join(" ")));
        }
        if let Some(url) = &self.metadata_url {
            text.push_str(&format!(", resource_metadata=\"{}\"", quoted(url)));
        }
        HeaderValue::try_from(text).unwrap_or(HeaderValue::from_static(scheme.as_str()))
    }
}

/// Escapes a text for a quoted string, [RFC 9110
/// §5.6.4](https://www.rfc-editor.org/rfc/rfc9110#section-5.6.4).
fn quoted(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}

impl fmt::Display for Challenge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match &self.reason {
            ChallengeReason::NoToken => "no access token",
            ChallengeReason::MalformedRequest => "malformed authentication",
            ChallengeReason::InvalidToken(_) | ChallengeReason::InactiveToken => "invalid access token",
            ChallengeReason::LockedSubject => "access token of a locked user",
            ChallengeReason::WrongScheme => "access token sent with the wrong scheme",
            ChallengeReason::WrongCertificate => "access token bound to another certificate",
            ChallengeReason::WrongPossession => "access token without the required binding",
            ChallengeReason::InvalidProof(_) => "invalid proof of possession",
            ChallengeReason::InsufficientScope(_) => "insufficient scope",
            ChallengeReason::MissingRole(role) => return write!(f, "missing role `{role}`"),
            ChallengeReason::SignInTooOld(_) => "the user authenticated too long ago",
            ChallengeReason::Unavailable => "the access token could not be checked",
        })
    }
}

impl Error for Challenge {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match &self.reason {
            ChallengeReason::InvalidToken(error) => Some(error),
            ChallengeReason::InvalidProof(error) => Some(error),
            _ => self.fault.as_deref().map(|fault| fault as &(dyn Error + 'static)),
        }
    }
}
