//! The answer to a request that may not pass,
//! [RFC 6750 §3](https://www.rfc-editor.org/rfc/rfc6750#section-3) and
//! [RFC 9449 §7.1](https://www.rfc-editor.org/rfc/rfc9449#section-7.1).

use std::error::Error;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCESS_CONTROL_EXPOSE_HEADERS, CACHE_CONTROL, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{HeaderMap, HeaderValue, Response, StatusCode};

use super::credentials::Scheme;
use crate::dpop::{self, ProofError};
use crate::jose::JwtError;
use crate::time::AFTER_A_FAULT;
use crate::vocabulary::Scopes;

/// Why a request may not pass: for the log, and for hosts that write their own answers.
#[non_exhaustive]
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum ChallengeReason {
    /// There is no access token.
    NoToken,
    /// There are several, there is one in the query, or it is none: it has characters that no token has, or more than 16 KiB.
    MalformedRequest,
    /// The token is not valid here and now. The peer is not told why.
    InvalidToken(JwtError),
    /// The issuer says that the token is not active, or not for this resource server.
    InactiveToken,
    /// A token that is bound to its sender came as a bearer token, or the other way round.
    WrongScheme,
    /// The token is bound to another certificate than its sender connected with.
    WrongCertificate,
    /// The token is bound to nothing, or not to what this API [requires](super::ResourceServer::with_required_possession).
    WrongPossession,
    /// The proof of possession that came with the token proves nothing.
    InvalidProof(ProofError),
    /// The token is valid and does not permit this; it would have to permit at least these scopes.
    InsufficientScope(Scopes),
    /// The person signed in longer ago than this, or nobody knows when.
    SignInTooOld(Duration),
    /// Whether the token is valid could not be found out: [`source`](Error::source) says why.
    Unavailable,
}

/// What every challenge of one resource server says.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Realm {
    /// The scope of protection.
    pub(crate) name: Arc<str>,
    /// Where the metadata of the resource are.
    pub(crate) metadata_url: Option<Arc<str>>,
    /// Whether tokens may come without a proof: bound to nothing, or to a certificate.
    pub(crate) takes_bearer: bool,
    /// Whether tokens may be bound to keys.
    pub(crate) takes_proofs: bool,
}

/// What would have to be true of a token that is valid.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Wanted<'a> {
    /// It permits these.
    Scopes(&'a Scopes),
    /// Its person signed in so long ago at most.
    MaxAge(Duration),
}

/// A refusal: a status and headers that tell the client what would help.
///
/// Turn it into a bare response with [`Challenge::into_response`], or put [`Challenge::status`] and
/// [`Challenge::headers`] on an answer of your own, a problem document for instance.
#[derive(Clone, Debug)]
pub struct Challenge {
    realm: Arc<Realm>,
    reason: ChallengeReason,
    scheme: Option<Scheme>,
    nonce: Option<HeaderValue>,
    fault: Option<Arc<dyn Error + Send + Sync>>,
}

impl Challenge {
    /// A refusal of a token that came in this way, if that is beyond doubt.
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

    /// Why the request may not pass.
    #[must_use]
    pub fn reason(&self) -> &ChallengeReason {
        &self.reason
    }

    /// 401, or 400 for a malformed request, 403 for a lack of scope, 503 for what is no fault of the client's.
    #[must_use]
    pub fn status(&self) -> StatusCode {
        match self.reason {
            ChallengeReason::MalformedRequest => StatusCode::BAD_REQUEST,
            ChallengeReason::InsufficientScope(_) => StatusCode::FORBIDDEN,
            ChallengeReason::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
            _ => StatusCode::UNAUTHORIZED,
        }
    }

    /// The code on the wire; none for a request that did not try to authenticate
    /// ([RFC 6750 §3.1](https://www.rfc-editor.org/rfc/rfc6750#section-3.1)).
    #[must_use]
    pub fn code(&self) -> Option<&'static str> {
        match self.reason {
            ChallengeReason::NoToken | ChallengeReason::Unavailable => None,
            ChallengeReason::MalformedRequest => Some("invalid_request"),
            ChallengeReason::InvalidProof(error) => Some(error.code()),
            ChallengeReason::InsufficientScope(_) => Some("insufficient_scope"),
            ChallengeReason::SignInTooOld(_) => Some("insufficient_user_authentication"),
            _ => Some("invalid_token"),
        }
    }

    /// The values of the header `WWW-Authenticate`, a challenge each: of the scheme that the request used, if that may be used; of each
    /// that may be, where it used none or `Bearer`. None where no token would help.
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

    /// The headers of the answer: `WWW-Authenticate`, `Cache-Control`, and where they are called for `DPoP-Nonce` and `Retry-After`.
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
            // a browser shows neither to the script that needs both
            let exposed = HeaderValue::from_static("WWW-Authenticate, DPoP-Nonce");
            headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, exposed);
        }
        headers
    }

    /// The refusal without a body, never to be cached.
    #[must_use]
    pub fn into_response(self) -> Response<Bytes> {
        let mut response = Response::new(Bytes::new());
        *response.status_mut() = self.status();
        *response.headers_mut() = self.headers();
        response
    }
}

impl Realm {
    /// The challenges to a request of this scheme, if it used one; the error is told with the scheme that it is about.
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
            // clients look for the nonce with a single challenge
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
            // the grammar of scopes has no quote and no backslash
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

/// The inside of a quoted string, [RFC 9110 §5.6.4](https://www.rfc-editor.org/rfc/rfc9110#section-5.6.4).
fn quoted(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}

impl fmt::Display for Challenge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.reason {
            ChallengeReason::NoToken => "no access token",
            ChallengeReason::MalformedRequest => "malformed authentication",
            ChallengeReason::InvalidToken(_) | ChallengeReason::InactiveToken => "invalid access token",
            ChallengeReason::WrongScheme => "access token of another scheme",
            ChallengeReason::WrongCertificate => "access token of another certificate",
            ChallengeReason::WrongPossession => "access token that is not bound as it has to be",
            ChallengeReason::InvalidProof(_) => "invalid proof of possession",
            ChallengeReason::InsufficientScope(_) => "insufficient scope",
            ChallengeReason::SignInTooOld(_) => "the person signed in too long ago",
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
