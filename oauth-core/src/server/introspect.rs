//! Token introspection, [RFC 7662](https://www.rfc-editor.org/rfc/rfc7662).

use std::time::SystemTime;

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use serde::Serialize;

use super::AuthorizationServer;
use super::claims::ClaimsTarget;
use super::endpoint_response::{EndpointResponse, Failure};
use super::form::form;
use super::issue::token_type;
use super::token::required;
use crate::error::Reason;
use crate::response::json;
use crate::secret::TokenHash;
use crate::store::{AccessTokenState, Grant, RefreshTokenState, RegisteredClient};
use crate::vocabulary::{Audience, Claims, ClientId, Confirmation, Issuer, Scopes, Subject};

/// Introspection response for an active token.
#[derive(Serialize)]
struct Active<'a> {
    active: bool,
    scope: &'a Scopes,
    client_id: &'a ClientId,
    #[serde(skip_serializing_if = "Option::is_none")]
    username: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    token_type: Option<&'static str>,
    exp: u64,
    iat: u64,
    /// [RFC 9470 §6.2](https://www.rfc-editor.org/rfc/rfc9470#section-6.2).
    #[serde(skip_serializing_if = "Option::is_none")]
    auth_time: Option<u64>,
    sub: &'a Subject,
    aud: Audiences<'a>,
    iss: &'a Issuer,
    #[serde(skip_serializing_if = "Option::is_none")]
    jti: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cnf: Option<Confirmation>,
    #[serde(flatten)]
    claims: Claims,
}

/// Value of `aud`: a string for one audience, otherwise an array.
#[derive(Serialize)]
#[serde(untagged)]
enum Audiences<'a> {
    One(&'a Audience),
    Several(&'a [Audience]),
}

impl<'a> From<&'a [Audience]> for Audiences<'a> {
    fn from(audiences: &'a [Audience]) -> Self {
        match audiences {
            [audience] => Self::One(audience),
            several => Self::Several(several),
        }
    }
}

impl AuthorizationServer {
    /// Serves token introspection, `POST /oauth/introspect`.
    ///
    /// The caller must be a confidential client; other callers get 401 `invalid_client`. A caller
    /// may introspect access tokens for one of its [`audiences`](RegisteredClient::audiences), and
    /// access and refresh tokens that were issued to it. For all other tokens, known or unknown,
    /// the response is `{"active":false}`.
    pub async fn introspect(&self, request: Request<Bytes>) -> EndpointResponse {
        let response = match self.introspect_token(&request).await {
            Ok(response) => EndpointResponse::new(response, Vec::new()),
            Err(failure) => failure.into_response(Vec::new()),
        };
        self.stamped(&request, response)
    }

    async fn introspect_token(&self, request: &Request<Bytes>) -> Result<Response<Bytes>, Failure> {
        let params = form(request)?;
        let now = self.inner.clock.now();
        let caller = self.authenticate(request, &params, now).await?;
        if !caller.is_confidential() {
            return Err(self.invalid_client(Reason::CallerIsPublic, Some(caller.id)));
        }
        let hash = TokenHash::new(required(&params, "token", &caller)?);
        // the hint decides only the order of the lookups
        let refresh_first = params.optional("token_type_hint") == Some("refresh_token");
        for refresh in [refresh_first, !refresh_first] {
            if refresh {
                if let Some(state) = self.inner.tokens.refresh_token(&hash).await? {
                    if self.is_locked(&state.family.grant.subject).await? {
                        return Ok(inactive());
                    }
                    return Ok(self.refresh_token(&caller, &state, now));
                }
            } else if let Some(state) = self.inner.tokens.access_token(&hash).await? {
                return self.access_token(&caller, &state, now).await;
            }
        }
        Ok(inactive())
    }

    async fn access_token(
        &self,
        caller: &RegisteredClient,
        state: &AccessTokenState,
        now: SystemTime,
    ) -> Result<Response<Bytes>, Failure> {
        let token = &state.token;
        let meant_for_caller = token.terms.client_id == caller.id
            || token
                .terms
                .audience
                .iter()
                .any(|audience| caller.audiences.contains(audience));
        if !meant_for_caller || !state.is_active(now) {
            return Ok(inactive());
        }
        // tokens of a deleted client are inactive
        if token.terms.client_id != caller.id
            && self.inner.clients.client(&token.terms.client_id).await?.is_none()
        {
            return Ok(inactive());
        }
        let grant = state.family.as_ref().map(|family| &family.grant);
        if let Some(grant) = grant
            && self.is_locked(&grant.subject).await?
        {
            return Ok(inactive());
        }
        let claims = self
            .host_claims(ClaimsTarget::Introspection, &token.terms, grant)
            .await?;
        Ok(json(
            StatusCode::OK,
            &Active {
                active: true,
                scope: &token.terms.scopes,
                client_id: &token.terms.client_id,
                username: grant.and_then(|grant| self.username(grant, &token.terms.scopes)),
                token_type: Some(token_type(token.terms.confirmation)),
                exp: seconds(token.terms.expires_at),
                iat: seconds(token.terms.issued_at),
                auth_time: grant.map(|grant| seconds(grant.auth_time)),
                sub: &token.terms.subject,
                aud: token.terms.audience.as_slice().into(),
                iss: &self.inner.issuer,
                jti: Some(&token.jti),
                cnf: token.terms.confirmation,
                claims,
            },
        ))
    }

    fn refresh_token(
        &self,
        caller: &RegisteredClient,
        state: &RefreshTokenState,
        now: SystemTime,
    ) -> Response<Bytes> {
        let grant = &state.family.grant;
        if grant.client_id != caller.id || !state.is_active(now) {
            return inactive();
        }
        json(
            StatusCode::OK,
            &Active {
                active: true,
                scope: &grant.scopes,
                client_id: &grant.client_id,
                username: self.username(grant, &grant.scopes),
                token_type: None,
                exp: seconds(state.token.expires_at.min(state.family.expires_at)),
                iat: seconds(state.token.issued_at),
                auth_time: None,
                sub: &grant.subject,
                aud: grant.audience.as_slice().into(),
                iss: &self.inner.issuer,
                jti: None,
                cnf: state.family.confirmation,
                claims: Claims::default(),
            },
        )
    }

    /// Returns the `username` of the response: the email address, otherwise the name, if the client
    /// may read it.
    fn username<'a>(&self, grant: &'a Grant, scopes: &Scopes) -> Option<&'a str> {
        let user = self.readable_claims(grant, scopes);
        user.email.or(user.name)
    }
}

fn inactive() -> Response<Bytes> {
    #[derive(Serialize)]
    struct Inactive {
        active: bool,
    }
    json(StatusCode::OK, &Inactive { active: false })
}

fn seconds(time: SystemTime) -> u64 {
    time.duration_since(SystemTime::UNIX_EPOCH)
        .map_or(0, |since| since.as_secs())
}
