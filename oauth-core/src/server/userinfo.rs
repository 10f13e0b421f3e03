//! The UserInfo endpoint, [OpenID Connect Core
//! §5.3](https://openid.net/specs/openid-connect-core-1_0.html#UserInfo).

use std::time::SystemTime;

use bytes::Bytes;
use http::header::WWW_AUTHENTICATE;
use http::{Method, Request, Response, StatusCode};
use serde::Serialize;

use super::AuthorizationServer;
use super::claims::{ClaimsTarget, ReadableClaims};
use super::endpoint_response::{EndpointResponse, Failure};
use super::form::{MAX_BODY, method_not_allowed};
use super::possession::{self, Endpoint};
use crate::dpop::ProofError;
use crate::error::Reason;
use crate::mtls::ClientCertificate;
use crate::params::{Params, is_form};
use crate::resource::challenge::{ChallengeReason, Realm, Wanted};
use crate::resource::credentials::{self, Scheme};
use crate::response::{json, uncached};
use crate::secret::AccessToken;
use crate::store::AccessTokenRecord;
use crate::vocabulary::{Claims, Confirmation, OPENID, Scopes, Subject};

/// UserInfo response.
#[derive(Serialize)]
struct UserInfo<'a> {
    sub: &'a Subject,
    #[serde(flatten)]
    user: ReadableClaims<'a>,
    #[serde(flatten)]
    claims: Claims,
}

impl AuthorizationServer {
    /// Serves the UserInfo endpoint, `GET`, `HEAD` and `POST /userinfo`: claims about the user of
    /// an access token with the scope `openid`. The claims have the values that the host passed to
    /// [`resume`](Self::resume), and those of the [claims source](super::ClaimsSource). The
    /// response to a `HEAD` has a body, which the host must omit.
    ///
    /// The token is in the `Authorization` header, or in `access_token` of a `POST` form ([RFC 6750
    /// §2](https://www.rfc-editor.org/rfc/rfc6750#section-2)), never in the query. The server
    /// refuses a token that has expired, that was revoked itself or with its family (also by the
    /// end of its session), or whose client was deleted. A refusal has the challenge of [RFC 6750
    /// §3](https://www.rfc-editor.org/rfc/rfc6750#section-3). A DPoP-bound token needs a DPoP proof
    /// ([RFC 9449 §7](https://www.rfc-editor.org/rfc/rfc9449#section-7)).
    pub async fn userinfo(&self, request: Request<Bytes>) -> EndpointResponse {
        let response = match self.describe_user(&request).await {
            Ok(response) => EndpointResponse::new(response, Vec::new()),
            Err(failure) => failure.into_response(Vec::new()),
        };
        self.stamped(&request, response)
    }

    async fn describe_user(&self, request: &Request<Bytes>) -> Result<Response<Bytes>, Failure> {
        let now = self.inner.clock.now();
        let presented = presented(request).and_then(|(scheme, token)| match scheme {
            Scheme::Dpop if !self.takes_proofs() => Err(Reason::AccessTokenMissing),
            scheme => Ok((scheme, token)),
        });
        let presented = presented.map_err(|reason| self.challenged(None, reason))?;
        let (scheme, access_token) = (presented.0, &presented.1);
        let Some(state) = self.inner.tokens.access_token(&access_token.hash()).await? else {
            return Err(self.challenged(Some(scheme), Reason::AccessTokenUnknown));
        };
        let token = &state.token;
        let refused = |reason| Err(self.challenged(Some(scheme), reason).by(&token.terms.client_id));
        if !state.is_active(now) {
            return refused(if now < token.terms.expires_at {
                Reason::AccessTokenRevoked
            } else {
                Reason::AccessTokenExpired
            });
        }
        if self.inner.clients.client(&token.terms.client_id).await?.is_none() {
            return refused(Reason::ClientUnknown);
        }
        if self.is_locked(&token.terms.subject).await? {
            return refused(Reason::SubjectLocked);
        }
        let wants_nonce = self.check_binding(request, &presented, token, now).await?;
        match &state.family {
            Some(family) if token.terms.scopes.contains_str(OPENID) => {
                let user = self.readable_claims(&family.grant, &token.terms.scopes);
                let sub = &token.terms.subject;
                let claims = self.host_claims(ClaimsTarget::UserInfo, &token.terms, Some(&family.grant));
                let claims = claims.await?;
                let mut response = json(StatusCode::OK, &UserInfo { sub, user, claims });
                if wants_nonce {
                    self.hand_out_nonce(&mut response, now);
                }
                Ok(response)
            }
            // client credentials have no user
            _ => refused(Reason::OpenidMissing),
        }
    }

    /// Checks the authentication scheme and the binding of the token. Returns `true` if the
    /// response must have a newer nonce.
    async fn check_binding(
        &self,
        request: &Request<Bytes>,
        (scheme, presented): &(Scheme, AccessToken),
        token: &AccessTokenRecord,
        now: SystemTime,
    ) -> Result<bool, Failure> {
        let jkt = match (scheme, token.terms.confirmation) {
            (Scheme::Bearer, None) => return Ok(false),
            (Scheme::Bearer, Some(bound @ Confirmation::Certificate(_))) => {
                let presented = request.extensions().get::<ClientCertificate>();
                if presented.is_some_and(|certificate| certificate.confirmation() == bound) {
                    return Ok(false);
                }
                let failure = self.challenged(Some(*scheme), Reason::AccessTokenOfAnotherCertificate);
                return Err(failure.by(&token.terms.client_id));
            }
            (Scheme::Dpop, Some(Confirmation::Jkt(jkt))) => jkt,
            _ => {
                let failure = self.challenged(Some(*scheme), Reason::AccessTokenOfAnotherScheme);
                return Err(failure.by(&token.terms.client_id));
            }
        };
        let refused = |error| self.refused_proof_of(error, now).by(&token.terms.client_id);
        let proven = self
            .proven(request, Endpoint::UserInfo(presented.expose()), now)
            .and_then(|proven| proven.ok_or(ProofError::Missing))
            .map_err(refused)?;
        if proven.thumbprint() != jkt {
            return Err(refused(ProofError::WrongKey));
        }
        self.spend_proof(Some(&proven), now).await?.map_err(refused)?;
        Ok(proven.wants_nonce())
    }

    fn refused_proof_of(&self, error: ProofError, now: SystemTime) -> Failure {
        let mut response = self.challenge(
            Some(Scheme::Dpop),
            StatusCode::UNAUTHORIZED,
            Some(error.code()),
            None,
        );
        if error.wants_nonce() {
            self.hand_out_nonce(&mut response, now);
        }
        Failure::with_response(response, possession::reason(error))
    }

    /// Refuses the request for this reason. For an invalid token, the response does not reveal the
    /// reason.
    fn challenged(&self, scheme: Option<Scheme>, reason: Reason) -> Failure {
        let (status, code) = match reason {
            Reason::MethodNotAllowed => {
                return Failure::with_response(method_not_allowed("GET, HEAD, POST"), reason);
            }
            Reason::AccessTokenMissing => (StatusCode::UNAUTHORIZED, None),
            Reason::AccessTokenMalformed | Reason::MalformedParameters | Reason::ParameterRepeated => {
                (StatusCode::BAD_REQUEST, Some("invalid_request"))
            }
            Reason::BodyTooLarge => (StatusCode::PAYLOAD_TOO_LARGE, Some("invalid_request")),
            Reason::OpenidMissing => (StatusCode::FORBIDDEN, Some("insufficient_scope")),
            _ => (StatusCode::UNAUTHORIZED, Some("invalid_token")),
        };
        let wanted = (reason == Reason::OpenidMissing).then(|| OPENID.parse::<Scopes>().unwrap_or_default());
        Failure::with_response(self.challenge(scheme, status, code, wanted.as_ref()), reason)
    }

    fn challenge(
        &self,
        scheme: Option<Scheme>,
        status: StatusCode,
        code: Option<&str>,
        wanted: Option<&Scopes>,
    ) -> Response<Bytes> {
        let realm = Realm {
            name: self.inner.issuer.as_str().into(),
            metadata_url: None,
            takes_bearer: true,
            takes_proofs: self.takes_proofs(),
        };
        let mut response = uncached(Response::new(Bytes::new()));
        *response.status_mut() = status;
        for challenge in realm.challenges(scheme, code, wanted.map(Wanted::Scopes)) {
            response.headers_mut().append(WWW_AUTHENTICATE, challenge);
        }
        response
    }
}

/// Returns the access token of the request and its authentication scheme. Fails unless the request
/// has exactly one token.
fn presented(request: &Request<Bytes>) -> Result<(Scheme, AccessToken), Reason> {
    if ![Method::GET, Method::HEAD, Method::POST].contains(request.method()) {
        return Err(Reason::MethodNotAllowed);
    }
    let in_form = form(request)?;
    let in_form = in_form.as_ref().and_then(|form| form.optional("access_token"));
    let (scheme, token) = match (credentials::presented(request.headers(), request.uri()), in_form) {
        (Ok(presented), None) => presented,
        (Err(ChallengeReason::NoToken), Some(token)) => (Scheme::Bearer, token),
        (Err(ChallengeReason::NoToken), None) => return Err(Reason::AccessTokenMissing),
        _ => return Err(Reason::AccessTokenMalformed),
    };
    // malformed tokens are refused like unknown tokens
    let token = token.parse().map_err(|_| Reason::AccessTokenUnknown)?;
    Ok((scheme, token))
}

/// Parses the form of a `POST`; `None` if the request has no form.
fn form(request: &Request<Bytes>) -> Result<Option<Params>, Reason> {
    if request.method() != Method::POST || !is_form(request.headers()) {
        return Ok(None);
    }
    if request.body().len() > MAX_BODY {
        return Err(Reason::BodyTooLarge);
    }
    let params = Params::parse(request.body()).map_err(|_| Reason::MalformedParameters)?;
    match params.first_repeated(&[]) {
        Some(_) => Err(Reason::ParameterRepeated),
        None => Ok(Some(params)),
    }
}
