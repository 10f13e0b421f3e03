//! The UserInfo endpoint, [OpenID Connect Core §5.3](https://openid.net/specs/openid-connect-core-1_0.html#UserInfo).

use bytes::Bytes;
use http::header::WWW_AUTHENTICATE;
use http::{Method, Request, Response, StatusCode};
use serde::Serialize;

use super::AuthorizationServer;
use super::answer::{Answer, Failure};
use super::claims::Told;
use super::form::{MAX_BODY, method_not_allowed};
use crate::error::Reason;
use crate::params::{Params, is_form};
use crate::resource::bearer;
use crate::resource::challenge::{ChallengeReason, bearer_challenge};
use crate::response::{json, uncached};
use crate::secret::TokenHash;
use crate::vocabulary::{OPENID, Scopes, Subject};

/// What is told of the person.
#[derive(Serialize)]
struct UserInfo<'a> {
    sub: &'a Subject,
    #[serde(flatten)]
    told: Told<'a>,
}

impl AuthorizationServer {
    /// Answers `GET` and `POST` for who the person is, on whose behalf an access token with the scope `openid` was issued:
    /// what the host knew of them when they signed in.
    ///
    /// The token comes in the `Authorization` header, or as `access_token` in the form of a `POST`
    /// ([RFC 6750 §2](https://www.rfc-editor.org/rfc/rfc6750#section-2)), and never in the query. It opens nothing once it is
    /// expired or revoked, alone or with its family or session, nor once its client is gone; refusals are the challenges of
    /// [RFC 6750 §3](https://www.rfc-editor.org/rfc/rfc6750#section-3).
    pub async fn userinfo(&self, request: Request<Bytes>) -> Answer {
        match self.described(&request).await {
            Ok(response) => Answer::new(response, Vec::new()),
            Err(failure) => failure.into_answer(Vec::new()),
        }
    }

    async fn described(&self, request: &Request<Bytes>) -> Result<Response<Bytes>, Failure> {
        let hash = presented(request).map_err(|reason| self.challenged(reason))?;
        let now = self.inner.clock.now();
        let Some(state) = self.inner.tokens.access_token(&hash).await? else {
            return Err(self.challenged(Reason::AccessTokenUnknown));
        };
        let token = &state.token;
        let refused = |reason| Err(self.challenged(reason).by(&token.client_id));
        if !state.is_active(now) {
            return refused(if now < token.expires_at {
                Reason::AccessTokenRevoked
            } else {
                Reason::AccessTokenExpired
            });
        }
        if self.inner.clients.client(&token.client_id).await?.is_none() {
            return refused(Reason::ClientUnknown);
        }
        match &state.family {
            Some(family) if token.scopes.contains_str(OPENID) => {
                let told = self.told(&family.grant, &token.scopes);
                let sub = &token.subject;
                Ok(json(StatusCode::OK, &UserInfo { sub, told }))
            }
            // a client that acts for itself is nobody
            _ => refused(Reason::OpenidMissing),
        }
    }

    /// The refusal for this reason: what is wrong with a token is not told.
    fn challenged(&self, reason: Reason) -> Failure {
        let (status, code) = match reason {
            Reason::MethodNotAllowed => {
                return Failure::with_response(method_not_allowed("GET, POST"), reason);
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
        let challenge = bearer_challenge(self.inner.issuer.as_str(), code, wanted.as_ref());
        let mut response = uncached(Response::new(Bytes::new()));
        *response.status_mut() = status;
        response.headers_mut().insert(WWW_AUTHENTICATE, challenge);
        Failure::with_response(response, reason)
    }
}

/// The hash of the one token of the request.
fn presented(request: &Request<Bytes>) -> Result<TokenHash, Reason> {
    if ![Method::GET, Method::POST].contains(request.method()) {
        return Err(Reason::MethodNotAllowed);
    }
    let in_form = form(request)?;
    let in_form = in_form.as_ref().and_then(|form| form.optional("access_token"));
    match (bearer::token(request.headers(), request.uri()), in_form) {
        (Ok(token), None) | (Err(ChallengeReason::NoToken), Some(token)) => Ok(TokenHash::of(token)),
        (Err(ChallengeReason::NoToken), None) => Err(Reason::AccessTokenMissing),
        _ => Err(Reason::AccessTokenMalformed),
    }
}

/// The form of a POST that has one.
fn form(request: &Request<Bytes>) -> Result<Option<Params>, Reason> {
    if request.method() != Method::POST || !is_form(request.headers()) {
        return Ok(None);
    }
    if request.body().len() > MAX_BODY {
        return Err(Reason::BodyTooLarge);
    }
    let params = Params::parse(request.body()).map_err(|_| Reason::MalformedParameters)?;
    match params.repeated(&[]) {
        Some(_) => Err(Reason::ParameterRepeated),
        None => Ok(Some(params)),
    }
}
