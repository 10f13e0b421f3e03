//! Generation of tokens, and the token response.

use bytes::Bytes;
use http::{Response, StatusCode};
use serde::Serialize;
use serde_json::Value;

use super::AuthorizationServer;
use super::claims::ClaimsTarget;
use super::endpoint_response::{Broken, Failure};
use super::scope_shape;
use crate::error::{ErrorCode, Reason};
use crate::grant::AccessTokenFormat;
use crate::jose::{AccessTokenClaims, IdTokenClaims, SigningError};
use crate::ports::StoreError;
use crate::random::random_text;
use crate::response::json;
use crate::secret::{AccessToken, RefreshToken};
use crate::store::{AccessTokenRecord, FamilyId, Grant, RegisteredClient};
use crate::vocabulary::{AccessTokenTerms, Confirmation, Nonce, OPENID, Scopes, Subject};

/// An access token and its record. The token is invalid until the record is stored.
pub(super) struct MadeAccessToken {
    pub(super) token: AccessToken,
    pub(super) record: AccessTokenRecord,
}

/// Tokens of a token response, which are already stored.
pub(super) struct Issued<'a> {
    pub(super) access: &'a MadeAccessToken,
    pub(super) refresh: Option<&'a RefreshToken>,
    pub(super) id_token: Option<String>,
}

impl AuthorizationServer {
    /// Makes an access token with these terms. In opaque format, the token is `opaque`, or a random
    /// token if `opaque` is `None`.
    pub(super) async fn make_access_token(
        &self,
        terms: AccessTokenTerms,
        family: Option<FamilyId>,
        grant: Option<&Grant>,
        opaque: Option<AccessToken>,
    ) -> Result<MadeAccessToken, Failure> {
        let entropy = &*self.inner.entropy;
        let (opaque, jti) = match opaque {
            None if self.inner.policy.access_token_format == AccessTokenFormat::Opaque => {
                let (token, jti) = AccessToken::generate_with_id(entropy);
                (Some(token), jti)
            }
            derived => (derived, random_text::<16>("", entropy).to_string()),
        };
        let token = self.access_token_of(&terms, &jti, grant, opaque).await?;
        let record = AccessTokenRecord::new(token.hash(), jti, family, terms);
        Ok(MadeAccessToken { token, record })
    }

    /// Makes an access token again from its record, for a retry. The caller must compare its hash
    /// with the hash of the issued token.
    pub(super) async fn remake_access_token(
        &self,
        record: AccessTokenRecord,
        grant: &Grant,
        opaque: AccessToken,
    ) -> Result<MadeAccessToken, Failure> {
        let token = self.access_token_of(&record.terms, &record.jti, Some(grant), Some(opaque));
        let token = token.await?;
        Ok(MadeAccessToken { token, record })
    }

    /// Makes the token: an opaque token, or a JWT of [RFC
    /// 9068](https://www.rfc-editor.org/rfc/rfc9068).
    async fn access_token_of(
        &self,
        terms: &AccessTokenTerms,
        jti: &str,
        grant: Option<&Grant>,
        opaque: Option<AccessToken>,
    ) -> Result<AccessToken, Failure> {
        self.check_issue(terms, grant).await?;
        if self.inner.policy.access_token_format == AccessTokenFormat::Opaque {
            return Ok(opaque.unwrap_or_else(|| AccessToken::generate(&*self.inner.entropy)));
        }
        let claims = AccessTokenClaims {
            issuer: self.inner.issuer.clone(),
            terms: terms.clone(),
            jti: jti.to_owned(),
            auth_time: grant.map(|grant| grant.auth_time),
        };
        let further = self.host_claims(ClaimsTarget::AccessToken, terms, grant).await?;
        let key = self.inner.signing_keys.access_token_key();
        Ok(claims.sign_with(&further, key)?)
    }

    /// Refuses a token of a locked user, and scopes of another shape than the required one.
    async fn check_issue(&self, terms: &AccessTokenTerms, grant: Option<&Grant>) -> Result<(), Failure> {
        let options = &self.inner.options;
        let refused = |code, reason| Err(Failure::refused(code, reason).by(&terms.client_id));
        if options.scopes_are_verb_noun && !terms.scopes.iter().all(scope_shape::is_verb_noun) {
            return refused(ErrorCode::InvalidScope, Reason::ScopeShape);
        }
        // a token of the client credentials grant has no user
        match grant {
            Some(grant) if self.is_locked(&grant.subject).await? => {
                refused(ErrorCode::InvalidGrant, Reason::SubjectLocked)
            }
            _ => Ok(()),
        }
    }

    /// Returns `true` if the account of the user is locked.
    pub(super) async fn is_locked(&self, subject: &Subject) -> Result<bool, StoreError> {
        match &self.inner.options.subject_status {
            Some(status) => status.is_locked(subject).await,
            None => Ok(false),
        }
    }

    /// Signs the ID token of a response with this access token. Returns `None` if the access token
    /// does not have the scope `openid`.
    pub(super) async fn make_id_token(
        &self,
        client: &RegisteredClient,
        grant: &Grant,
        nonce: Option<&Nonce>,
        access: &MadeAccessToken,
    ) -> Result<Option<String>, Broken> {
        if !access.record.terms.scopes.contains_str(OPENID) {
            return Ok(None);
        }
        let terms = &access.record.terms;
        let user = self.readable_claims(grant, &terms.scopes);
        let further = self
            .host_claims(ClaimsTarget::IdToken, terms, Some(grant))
            .await?;
        let claims = IdTokenClaims {
            issuer: self.inner.issuer.clone(),
            subject: grant.subject.clone(),
            audience: grant.client_id.clone(),
            nonce: nonce.cloned(),
            issued_at: access.record.terms.issued_at,
            expires_at: access.record.terms.expires_at,
            auth_time: Some(grant.auth_time),
            email: user.email.map(str::to_owned),
            email_verified: further.get("email_verified").and_then(Value::as_bool),
            name: user.name.map(str::to_owned),
            claims: further.without("email_verified"),
        };
        let key = self.inner.signing_keys.id_token_key(client.id_token_algorithm);
        let key = key.ok_or_else(|| SigningError::new("no key of the registered ID token algorithm"))?;
        Ok(Some(claims.sign(key, Some(&access.token))?))
    }
}

/// Returns the `token_type` of an access token with this binding.
pub(super) fn token_type(confirmation: Option<Confirmation>) -> &'static str {
    confirmation.map_or("Bearer", Confirmation::token_type)
}

impl Issued<'_> {
    /// Builds the token response of [RFC 6749
    /// §5.1](https://www.rfc-editor.org/rfc/rfc6749#section-5.1), with `Cache-Control: no-store`.
    pub(super) fn into_response(self) -> Response<Bytes> {
        #[derive(Serialize)]
        struct Body<'a> {
            access_token: &'a str,
            token_type: &'static str,
            expires_in: u64,
            scope: &'a Scopes,
            #[serde(skip_serializing_if = "Option::is_none")]
            refresh_token: Option<&'a str>,
            #[serde(skip_serializing_if = "Option::is_none")]
            id_token: Option<&'a str>,
        }
        let terms = &self.access.record.terms;
        let body = Body {
            access_token: self.access.token.expose(),
            token_type: token_type(terms.confirmation),
            expires_in: terms
                .expires_at
                .duration_since(terms.issued_at)
                .map_or(0, |life| life.as_secs()),
            scope: &terms.scopes,
            refresh_token: self.refresh.map(RefreshToken::expose),
            id_token: self.id_token.as_deref(),
        };
        json(StatusCode::OK, &body)
    }
}
