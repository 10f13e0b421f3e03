//! The token endpoint, [RFC 6749 §3.2](https://www.rfc-editor.org/rfc/rfc6749#section-3.2).

use std::time::SystemTime;

use bytes::Bytes;
use http::{Request, Response};

use super::AuthorizationServer;
use super::authorization_request::without_unregistered_offline_access;
use super::endpoint_response::{Broken, EndpointResponse, Failure};
use super::form::{self, form};
use super::issue::Issued;
use super::possession::Endpoint;
use crate::dpop::{ProofError, ProvenKey};
use crate::error::{ErrorCode, Reason};
use crate::event::{AuthEvent, AuthEventKind};
use crate::grant::authorization_code::Redemption;
use crate::grant::{authorization_code, client_credentials};
use crate::params::Params;
use crate::secret::{AuthorizationCode, RefreshToken, TokenHash};
use crate::store::{
    FamilyId, GrantType, Insertion, RedeemOutcome, RegisteredClient, RevocationReason, RevokeOutcome,
};
use crate::vocabulary::{Audience, Confirmation, Scopes};

/// Token request of an authenticated client.
pub(super) struct Exchange<'a> {
    pub(super) client: &'a RegisteredClient,
    pub(super) params: &'a Params,
    pub(super) now: SystemTime,
    pub(super) proven: Option<ProvenKey>,
    /// Binding of the tokens: the key or certificate that the client proved.
    pub(super) confirmation: Option<Confirmation>,
    pub(super) events: &'a mut Vec<AuthEvent>,
}

impl AuthorizationServer {
    /// Serves the token endpoint, `POST /token`: the grants `authorization_code`, `refresh_token`
    /// and `client_credentials`, each with any number of `resource` parameters ([RFC
    /// 8707](https://www.rfc-editor.org/rfc/rfc8707)).
    ///
    /// A refusal has an error of [RFC 6749
    /// §5.2](https://www.rfc-editor.org/rfc/rfc6749#section-5.2), `invalid_target` (RFC 8707), or
    /// `invalid_dpop_proof` or `use_dpop_nonce` (RFC 9449). A refusal changes no code or token,
    /// with two exceptions: the server revokes the token family of a replayed code and of a reused
    /// refresh token.
    ///
    /// If the request has a DPoP proof ([RFC 9449](https://www.rfc-editor.org/rfc/rfc9449)), the
    /// access token is bound to its key, and so is the refresh token of a public client.
    pub async fn token(&self, request: Request<Bytes>) -> EndpointResponse {
        let mut events = Vec::new();
        let response = match self.exchange(&request, &mut events).await {
            Ok(response) => EndpointResponse::new(response, events),
            Err(failure) => failure.into_response(events),
        };
        self.stamped(&request, response)
    }

    async fn exchange(
        &self,
        request: &Request<Bytes>,
        events: &mut Vec<AuthEvent>,
    ) -> Result<Response<Bytes>, Failure> {
        let params = &form(request)?;
        let now = self.inner.clock.now();
        let client = &self.authenticate(request, params, now).await?;
        let name = required(params, "grant_type", client)?;
        let Some(grant_type) = GrantType::from_name(name) else {
            return Err(refusal(
                client,
                ErrorCode::UnsupportedGrantType,
                Reason::GrantTypeUnsupported,
            ));
        };
        if !client.may_use(grant_type) {
            return Err(refusal(
                client,
                ErrorCode::UnauthorizedClient,
                Reason::GrantTypeNotAllowed,
            ));
        }
        let proven = self
            .proven(request, Endpoint::Token, now)
            .map_err(|error| self.refused_proof(error, now).by(&client.id))?;
        let wants_nonce = proven.as_ref().is_some_and(ProvenKey::wants_nonce);
        let exchange = Exchange {
            client,
            params,
            now,
            confirmation: self.confirmation(request, client, proven.as_ref()),
            proven,
            events,
        };
        let mut response = match grant_type {
            GrantType::AuthorizationCode => self.redeem_code(exchange).await,
            GrantType::RefreshToken => self.refresh(exchange).await,
            GrantType::ClientCredentials => self.client_credentials(exchange).await,
        }?;
        if wants_nonce {
            self.hand_out_nonce(&mut response, now);
        }
        Ok(response)
    }

    /// Stores the `jti` of the DPoP proof, or refuses a replay. Call it after all other checks.
    pub(super) async fn spend_proof_of(&self, exchange: &Exchange<'_>) -> Result<(), Failure> {
        let spent = self.spend_proof(exchange.proven.as_ref(), exchange.now).await?;
        spent.map_err(|error: ProofError| self.refused_proof(error, exchange.now).by(&exchange.client.id))
    }

    async fn redeem_code(&self, exchange: Exchange<'_>) -> Result<Response<Bytes>, Failure> {
        let code = required(exchange.params, "code", exchange.client)?;
        let record = match code.parse().map(|code: AuthorizationCode| code.hash()) {
            Ok(hash) => self.inner.tokens.code(&hash).await?,
            Err(_) => None,
        };
        let Some(record) = record else {
            return Err(exchange.invalid_grant(Reason::CodeUnknown));
        };
        let resources = resources(&exchange)?;
        let request = authorization_code::Request {
            client: exchange.client,
            redirect_uri: exchange.params.optional("redirect_uri"),
            code_verifier: exchange.params.optional("code_verifier"),
            resources: &resources,
            confirmation: exchange.confirmation,
        };
        let policy = self.inner.policy.for_client(exchange.client);
        match authorization_code::redeem(&record, &request, &policy, exchange.now) {
            authorization_code::RedemptionDecision::Redeem(plan) => {
                self.spend_proof_of(&exchange).await?;
                self.commit_redemption(exchange, *plan).await
            }
            authorization_code::RedemptionDecision::RevokeFamily(family) => {
                // an attacker who replays a recorded request also replays its proof, and must not
                // revoke the family
                self.spend_proof_of(&exchange).await?;
                self.end_family(exchange, Theft::Code(record.hash), family).await
            }
            authorization_code::RedemptionDecision::Refuse(why) => {
                Err(exchange.refuse(why.error(), why.reason()))
            }
        }
    }

    async fn commit_redemption(
        &self,
        exchange: Exchange<'_>,
        plan: Redemption,
    ) -> Result<Response<Bytes>, Failure> {
        let (code, grant) = (plan.code, plan.grant.clone());
        let family = FamilyId::generate(&*self.inner.entropy);
        let access = self
            .make_access_token(plan.access.clone(), Some(family), Some(&grant), None)
            .await?;
        let id_token = self
            .make_id_token(exchange.client, &grant, grant.nonce.as_ref(), &access)
            .await?;
        let refresh = exchange
            .client
            .may_use(GrantType::RefreshToken)
            .then(|| RefreshToken::generate(&*self.inner.entropy));
        let redemption = plan.commit(
            family,
            access.record.clone(),
            refresh.as_ref().map(RefreshToken::hash),
        );
        match self.inner.tokens.redeem_code(redemption, exchange.now).await? {
            RedeemOutcome::Redeemed => {
                let issued = AuthEvent::new(AuthEventKind::TokensIssued)
                    .by_grant(GrantType::AuthorizationCode)
                    .with_token(code);
                exchange.events.push(
                    issued
                        .by(&exchange.client.id)
                        .about(&grant.subject)
                        .of_family(family),
                );
                Ok(Issued {
                    access: &access,
                    refresh: refresh.as_ref(),
                    id_token,
                }
                .into_response())
            }
            RedeemOutcome::AlreadyRedeemed { family } => {
                self.end_family(exchange, Theft::Code(code), family).await
            }
            RedeemOutcome::Expired => Err(exchange.invalid_grant(Reason::CodeExpired)),
            RedeemOutcome::SessionEnded => Err(exchange.invalid_grant(Reason::SessionEnded)),
            RedeemOutcome::NotFound => Err(exchange.invalid_grant(Reason::CodeUnknown)),
        }
    }

    async fn client_credentials(&self, exchange: Exchange<'_>) -> Result<Response<Bytes>, Failure> {
        let (scopes, resources) = (scopes(&exchange)?, resources(&exchange)?);
        let request = client_credentials::Request {
            client: exchange.client,
            scopes: scopes.as_ref(),
            resources: &resources,
            audience: &self.inner.audience,
            confirmation: exchange.confirmation,
        };
        let policy = self.inner.policy.for_client(exchange.client);
        let plan = client_credentials::issue(&request, &policy, exchange.now)
            .map_err(|why| exchange.refuse(why.error(), why.reason()))?;
        self.spend_proof_of(&exchange).await?;
        let access = self.make_access_token(plan, None, None, None).await?;
        let issued = Issued {
            access: &access,
            refresh: None,
            id_token: None,
        };
        // rendered before the record moves into the store, and returned only if it is stored
        let response = issued.into_response();
        match self.inner.tokens.insert_access_token(access.record).await? {
            Insertion::Inserted => {
                let issued =
                    AuthEvent::new(AuthEventKind::TokensIssued).by_grant(GrantType::ClientCredentials);
                exchange.events.push(issued.by(&exchange.client.id));
                Ok(response)
            }
            Insertion::Exists => Err(Broken::entropy_repeats().into()),
        }
    }

    /// Revokes the token family of a replayed code or a reused refresh token, then refuses.
    pub(super) async fn end_family(
        &self,
        exchange: Exchange<'_>,
        theft: Theft,
        family: FamilyId,
    ) -> Result<Response<Bytes>, Failure> {
        let (kind, end, why, token) = match theft {
            Theft::Code(code) => (
                AuthEventKind::CodeReplayed,
                RevocationReason::CodeReplayed,
                Reason::CodeReplayed,
                code,
            ),
            Theft::RefreshToken(token) => (
                AuthEventKind::RefreshTokenReused,
                RevocationReason::RefreshTokenReused,
                Reason::RefreshTokenReused,
                token,
            ),
        };
        let client_id = &exchange.client.id;
        exchange.events.push(
            AuthEvent::new(kind)
                .by(client_id)
                .of_family(family)
                .with_token(token),
        );
        if self
            .inner
            .tokens
            .revoke_family(&family, end, exchange.now)
            .await?
            == RevokeOutcome::Revoked
        {
            let revoked = AuthEvent::new(AuthEventKind::FamilyRevoked).ended_by(end);
            exchange.events.push(revoked.by(client_id).of_family(family));
        }
        Err(exchange.invalid_grant(why))
    }
}

/// Hash of a replayed code or of a reused refresh token.
pub(super) enum Theft {
    Code(TokenHash),
    RefreshToken(TokenHash),
}

impl Exchange<'_> {
    pub(super) fn refuse(&self, error: ErrorCode, reason: Reason) -> Failure {
        refusal(self.client, error, reason)
    }

    /// Refuses a code or a refresh token. The error is `invalid_grant` for all reasons.
    pub(super) fn invalid_grant(&self, reason: Reason) -> Failure {
        self.refuse(ErrorCode::InvalidGrant, reason)
    }
}

fn refusal(client: &RegisteredClient, error: ErrorCode, reason: Reason) -> Failure {
    Failure::refused(error, reason).by(&client.id)
}

/// Parses `scope`. An unregistered `offline_access` is ignored, as in authorization requests: a
/// client that always requests it also sends it with a refresh token.
pub(super) fn scopes(exchange: &Exchange<'_>) -> Result<Option<Scopes>, Failure> {
    let refuse = |reason| exchange.refuse(ErrorCode::InvalidScope, reason);
    let Some(text) = exchange.params.optional("scope") else {
        return Ok(None);
    };
    let scopes: Scopes = text.parse().map_err(|_| refuse(Reason::MalformedScope))?;
    let scopes = without_unregistered_offline_access(scopes, exchange.client);
    if scopes.is_empty() {
        return Err(refuse(Reason::ScopeExceeded));
    }
    Ok(Some(scopes))
}

pub(super) fn resources(exchange: &Exchange<'_>) -> Result<Vec<Audience>, Failure> {
    form::resources(exchange.params)
        .map_err(|_| exchange.refuse(ErrorCode::InvalidTarget, Reason::ResourceMalformed))
}

/// Returns a required parameter. The refusal names `client` in its event.
pub(super) fn required<'a>(
    params: &'a Params,
    name: &'static str,
    client: &RegisteredClient,
) -> Result<&'a str, Failure> {
    params.optional(name).ok_or_else(|| {
        Failure::described(
            ErrorCode::InvalidRequest,
            Reason::ParameterMissing,
            "a required parameter is missing",
        )
        .by(&client.id)
    })
}
