//! The grant `refresh_token` at the token endpoint, [RFC 6749
//! §6](https://www.rfc-editor.org/rfc/rfc6749#section-6).

use bytes::Bytes;
use http::Response;

use super::AuthorizationServer;
use super::endpoint_response::{Broken, Failure};
use super::issue::Issued;
use super::token::{Exchange, Theft, required, resources, scopes};
use crate::error::Reason;
use crate::event::{AuthEvent, AuthEventKind};
use crate::grant::refresh_token::{self, RetryPlan, RotationDecision, RotationPlan};
use crate::secret::RefreshToken;
use crate::store::{GrantType, Insertion, RefreshTokenState, RotateOutcome, RotationSalt, TokenFamily};
use crate::vocabulary::{AccessTokenTerms, Audience, Scopes};

/// Parameters of a token request with a refresh token.
struct Form {
    presented: RefreshToken,
    scopes: Option<Scopes>,
    resources: Vec<Audience>,
}

impl Form {
    fn of(exchange: &Exchange<'_>) -> Result<Self, Failure> {
        let token = required(exchange.params, "refresh_token", exchange.client)?;
        let (scopes, resources) = (scopes(exchange)?, resources(exchange)?);
        let presented = token.parse();
        Ok(Self {
            presented: presented.map_err(|_| exchange.invalid_grant(Reason::RefreshTokenUnknown))?,
            scopes,
            resources,
        })
    }
}

impl AuthorizationServer {
    pub(super) async fn refresh(&self, mut exchange: Exchange<'_>) -> Result<Response<Bytes>, Failure> {
        let form = Form::of(&exchange)?;
        let state = self.refresh_token_state(&exchange, &form).await?;
        let decision = self.decide(&exchange, &form, &state);
        if !matches!(decision, RotationDecision::Refuse(_)) {
            self.spend_proof_of(&exchange).await?;
        }
        match decision {
            RotationDecision::Keep(plan) => {
                self.commit_kept(&mut exchange, &form, *plan, &state.family).await
            }
            RotationDecision::Rotate(plan) => {
                let response = self
                    .commit_rotation(&mut exchange, &form, *plan, &state.family)
                    .await?;
                match response {
                    Some(response) => Ok(response),
                    None => self.superseded(exchange, &form, &state).await,
                }
            }
            RotationDecision::Retry(plan) => self.repeat(&mut exchange, &form, &plan, &state.family).await,
            RotationDecision::RevokeFamily(_) => self.end_chain(exchange, &state).await,
            RotationDecision::Refuse(why) => Err(exchange.refuse(why.error(), why.reason())),
        }
    }

    async fn refresh_token_state(
        &self,
        exchange: &Exchange<'_>,
        form: &Form,
    ) -> Result<RefreshTokenState, Failure> {
        let state = self.inner.tokens.refresh_token(&form.presented.hash()).await?;
        state.ok_or_else(|| exchange.invalid_grant(Reason::RefreshTokenUnknown))
    }

    fn decide(&self, exchange: &Exchange<'_>, form: &Form, state: &RefreshTokenState) -> RotationDecision {
        let request = refresh_token::Request {
            client: exchange.client,
            scopes: form.scopes.as_ref(),
            resources: &form.resources,
            confirmation: exchange.confirmation,
        };
        let policy = self.inner.policy.for_client(exchange.client);
        refresh_token::rotate(state, &request, &policy, exchange.now)
    }

    /// Rotates the token and returns the response; `None` if a concurrent request has rotated the
    /// token before.
    async fn commit_rotation(
        &self,
        exchange: &mut Exchange<'_>,
        form: &Form,
        plan: RotationPlan,
        family: &TokenFamily,
    ) -> Result<Option<Response<Bytes>>, Failure> {
        let entropy = &*self.inner.entropy;
        let pepper = self.inner.retry_pepper.as_ref();
        let derived = pepper.map(|pepper| (pepper, RotationSalt::generate(entropy)));
        let (successor, opaque) = match derived {
            Some((pepper, salt)) => (
                pepper.refresh_token(&salt, &form.presented),
                Some(pepper.access_token(&salt, &form.presented)),
            ),
            None => (RefreshToken::generate(entropy), None),
        };
        let access = self
            .make_access_token(plan.access.clone(), Some(family.id), Some(&family.grant), opaque)
            .await?;
        // OpenID Connect Core §12.2: an ID token of a refresh should have no nonce
        let id_token = self
            .make_id_token(exchange.client, &family.grant, None, &access)
            .await?;
        let presented = plan.presented;
        let rotation = plan.commit(access.record.clone(), successor.hash());
        let rotation = rotation.with_salt(derived.map(|(_, salt)| salt));
        match self.inner.tokens.rotate(rotation, exchange.now).await? {
            RotateOutcome::Rotated => {
                let rotated = AuthEvent::new(AuthEventKind::RefreshTokenRotated).with_token(presented);
                exchange.events.push(
                    rotated
                        .by(&exchange.client.id)
                        .about(&family.grant.subject)
                        .of_family(family.id),
                );
                let issued = Issued {
                    access: &access,
                    refresh: Some(&successor),
                    id_token,
                };
                Ok(Some(issued.into_response()))
            }
            RotateOutcome::Superseded => Ok(None),
            RotateOutcome::FamilyRevoked => Err(exchange.invalid_grant(Reason::TokenFamilyRevoked)),
            RotateOutcome::Expired => Err(exchange.invalid_grant(Reason::RefreshTokenExpired)),
            RotateOutcome::NotFound => Err(exchange.invalid_grant(Reason::RefreshTokenUnknown)),
        }
    }

    /// Issues an access token without a new refresh token. The server stores the access token, and
    /// then reads the family again, so that it returns no token after it has acknowledged the
    /// revocation of the family.
    async fn commit_kept(
        &self,
        exchange: &mut Exchange<'_>,
        form: &Form,
        plan: AccessTokenTerms,
        family: &TokenFamily,
    ) -> Result<Response<Bytes>, Failure> {
        let access = self
            .make_access_token(plan, Some(family.id), Some(&family.grant), None)
            .await?;
        let id_token = self
            .make_id_token(exchange.client, &family.grant, None, &access)
            .await?;
        let inserted = self
            .inner
            .tokens
            .insert_access_token(access.record.clone())
            .await?;
        if inserted == Insertion::Exists {
            return Err(Broken::entropy_repeats().into());
        }
        let state = self.refresh_token_state(exchange, form).await?;
        if !state.is_active(exchange.now) {
            return Err(exchange.invalid_grant(Reason::TokenFamilyRevoked));
        }
        let issued = AuthEvent::new(AuthEventKind::TokensIssued)
            .by_grant(GrantType::RefreshToken)
            .with_token(state.token.hash);
        exchange.events.push(
            issued
                .by(&exchange.client.id)
                .about(&family.grant.subject)
                .of_family(family.id),
        );
        let issued = Issued {
            access: &access,
            refresh: None,
            id_token,
        };
        Ok(issued.into_response())
    }

    /// Handles a refresh token that a concurrent request rotated after this request had read it.
    /// One of the two requests may be a retry, or may come from a thief.
    async fn superseded(
        &self,
        mut exchange: Exchange<'_>,
        form: &Form,
        state: &RefreshTokenState,
    ) -> Result<Response<Bytes>, Failure> {
        if self.inner.policy.retry_window.is_none() {
            return self.end_chain(exchange, state).await;
        }
        let state = self.refresh_token_state(&exchange, form).await?;
        match self.decide(&exchange, form, &state) {
            RotationDecision::Retry(plan) => self.repeat(&mut exchange, form, &plan, &state.family).await,
            RotationDecision::Refuse(why) => Err(exchange.refuse(why.error(), why.reason())),
            RotationDecision::Rotate(_) | RotationDecision::Keep(_) | RotationDecision::RevokeFamily(_) => {
                self.end_chain(exchange, &state).await
            }
        }
    }

    async fn end_chain(
        &self,
        exchange: Exchange<'_>,
        state: &RefreshTokenState,
    ) -> Result<Response<Bytes>, Failure> {
        self.end_family(exchange, Theft::RefreshToken(state.token.hash), state.family.id)
            .await
    }

    /// Serves a retry: returns the two tokens of the earlier rotation, with a newly signed ID
    /// token. Stores nothing.
    async fn repeat(
        &self,
        exchange: &mut Exchange<'_>,
        form: &Form,
        plan: &RetryPlan,
        family: &TokenFamily,
    ) -> Result<Response<Bytes>, Failure> {
        let refusal = exchange.invalid_grant(Reason::RefreshNotRepeatable);
        let Some(pepper) = &self.inner.retry_pepper else {
            return Err(refusal);
        };
        let successor = pepper.refresh_token(&plan.salt, &form.presented);
        let opaque = pepper.access_token(&plan.salt, &form.presented);
        let record = plan.successor.access.clone();
        let access = self.remake_access_token(record, &family.grant, opaque).await?;
        if !plan.matches(&successor.hash(), &access.token.hash()) {
            return Err(refusal);
        }
        let id_token = self
            .make_id_token(exchange.client, &family.grant, None, &access)
            .await?;
        let served = AuthEvent::new(AuthEventKind::RetryServed).with_token(plan.presented);
        exchange.events.push(
            served
                .by(&exchange.client.id)
                .about(&family.grant.subject)
                .of_family(family.id),
        );
        let issued = Issued {
            access: &access,
            refresh: Some(&successor),
            id_token,
        };
        Ok(issued.into_response())
    }
}
