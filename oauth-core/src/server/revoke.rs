//! Token revocation, [RFC 7009](https://www.rfc-editor.org/rfc/rfc7009).

use std::time::SystemTime;

use bytes::Bytes;
use http::{Request, Response, StatusCode};

use super::AuthorizationServer;
use super::endpoint_response::{EndpointResponse, Failure};
use super::form::form;
use super::token::required;
use crate::error::Reason;
use crate::event::{AuthEvent, AuthEventKind};
use crate::response::json;
use crate::secret::TokenHash;
use crate::store::{RegisteredClient, RevocationReason, RevokeOutcome};

impl AuthorizationServer {
    /// Serves token revocation, `POST /oauth/revoke`. The response is 200 for any token, known or
    /// unknown.
    ///
    /// - For a refresh token, even a rotated token, the server revokes the whole token family with
    ///   all its access tokens.
    /// - For an access token, the server revokes only this access token.
    /// - A client can revoke only its own tokens. For another client's token the response is the
    ///   same, and the token stays valid.
    pub async fn revoke(&self, request: Request<Bytes>) -> EndpointResponse {
        let mut events = Vec::new();
        let response = match self.revoke_token(&request, &mut events).await {
            Ok(response) => EndpointResponse::new(response, events),
            Err(failure) => failure.into_response(events),
        };
        self.stamped(&request, response)
    }

    async fn revoke_token(
        &self,
        request: &Request<Bytes>,
        events: &mut Vec<AuthEvent>,
    ) -> Result<Response<Bytes>, Failure> {
        let params = form(request)?;
        let now = self.inner.clock.now();
        let caller = self.authenticate(request, &params, now).await?;
        let hash = TokenHash::new(required(&params, "token", &caller)?);
        // the hint decides only the order of the lookups
        let access_first = params.optional("token_type_hint") == Some("access_token");
        for access in [access_first, !access_first] {
            let (found, event) = if access {
                self.revoke_access(&caller, &hash, now).await?
            } else {
                self.revoke_refresh(&caller, &hash, now).await?
            };
            events.extend(event);
            if found {
                break;
            }
        }
        // clients ignore the content, but some refuse one that is no JSON (RFC 7009 §2.2)
        Ok(json(StatusCode::OK, &serde_json::Map::new()))
    }

    /// Revokes an access token. Returns `true` if the token is an access token, and the event if
    /// there is one.
    async fn revoke_access(
        &self,
        caller: &RegisteredClient,
        hash: &TokenHash,
        now: SystemTime,
    ) -> Result<(bool, Option<AuthEvent>), Failure> {
        let Some(state) = self.inner.tokens.access_token(hash).await? else {
            return Ok((false, None));
        };
        if state.token.terms.client_id != caller.id {
            return Ok((true, Some(foreign(caller, *hash))));
        }
        let outcome = self.inner.tokens.revoke_access_token(hash, now).await?;
        let event = AuthEvent::new(AuthEventKind::AccessTokenRevoked)
            .by(&caller.id)
            .with_token(*hash);
        Ok((true, (outcome == RevokeOutcome::Revoked).then_some(event)))
    }

    /// Revokes the family of a refresh token. Returns `true` if the token is a refresh token, and
    /// the event if there is one.
    async fn revoke_refresh(
        &self,
        caller: &RegisteredClient,
        hash: &TokenHash,
        now: SystemTime,
    ) -> Result<(bool, Option<AuthEvent>), Failure> {
        let Some(state) = self.inner.tokens.refresh_token(hash).await? else {
            return Ok((false, None));
        };
        if state.family.grant.client_id != caller.id {
            return Ok((true, Some(foreign(caller, *hash))));
        }
        let reason = RevocationReason::Requested;
        let outcome = self
            .inner
            .tokens
            .revoke_family(&state.family.id, reason, now)
            .await?;
        let event = AuthEvent::new(AuthEventKind::FamilyRevoked)
            .ended_by(reason)
            .by(&caller.id);
        let event = event
            .about(&state.family.grant.subject)
            .of_family(state.family.id)
            .with_token(*hash);
        Ok((true, (outcome == RevokeOutcome::Revoked).then_some(event)))
    }
}

fn foreign(caller: &RegisteredClient, hash: TokenHash) -> AuthEvent {
    AuthEvent::new(AuthEventKind::RequestRefused)
        .because(Reason::TokenOfAnotherClient)
        .by(&caller.id)
        .with_token(hash)
}
