//! Claims about the user that a client or resource server may read.

use std::sync::Arc;

use async_trait::async_trait;
use serde::Serialize;

use super::AuthorizationServer;
use crate::ports::StoreError;
use crate::store::{Grant, SessionId};
use crate::vocabulary::{AccessTokenTerms, Claims, ClientId, Scopes, Subject};

/// Claims of a sign-in that are also in access tokens and introspection ([RFC 9068
/// §2.2.1](https://www.rfc-editor.org/rfc/rfc9068#section-2.2.1)).
const AUTHENTICATION_CLAIMS: [&str; 2] = ["acr", "amr"];

/// Token or response for which a [`ClaimsSource`] is asked.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum ClaimsTarget {
    /// An ID token, which the client reads.
    IdToken,
    /// A JWT access token, which resource servers read.
    AccessToken,
    /// A UserInfo response, which the client reads.
    UserInfo,
    /// An introspection response, which a resource server reads.
    Introspection,
}

/// Question to a [`ClaimsSource`].
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ClaimsQuery<'a> {
    /// Token or response that gets the claims.
    pub target: ClaimsTarget,
    /// User, or the client itself for a token of the client credentials grant.
    pub subject: &'a Subject,
    /// Client that the token was issued to.
    pub client_id: &'a ClientId,
    /// Scopes of the token.
    pub scopes: &'a Scopes,
}

/// Source of claims that the host adds to tokens and responses when they are issued: roles, tenant,
/// profile.
///
/// # Contract
///
/// - The source is asked for each ID token, JWT access token, UserInfo response and introspection
///   response of an active access token, so the claims are current. It is not asked for the
///   introspection of refresh tokens.
/// - The source decides by [`scopes`](ClaimsQuery::scopes) and [`target`](ClaimsQuery::target) what
///   the reader may know.
#[async_trait]
pub trait ClaimsSource: Send + Sync {
    /// Returns the claims.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when the source cannot answer. The response is then 503 or 500.
    async fn claims(&self, query: ClaimsQuery<'_>) -> Result<Claims, StoreError>;
}

#[async_trait]
impl<S: ClaimsSource + ?Sized> ClaimsSource for Arc<S> {
    async fn claims(&self, query: ClaimsQuery<'_>) -> Result<Claims, StoreError> {
        (**self).claims(query).await
    }
}

/// Claims about the user that a client may read, [OpenID Connect Core
/// §5.4](https://openid.net/specs/openid-connect-core-1_0.html#ScopeClaims).
#[derive(Serialize)]
pub(super) struct ReadableClaims<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) email: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) name: Option<&'a str>,
}

impl AuthorizationServer {
    /// Returns the claims of `grant` that a client may read with a token for `scopes`.
    pub(super) fn readable_claims<'a>(&self, grant: &'a Grant, scopes: &Scopes) -> ReadableClaims<'a> {
        let may_know = |scope| !self.inner.options.claims_by_scope || scopes.contains_str(scope);
        ReadableClaims {
            email: grant.email.as_deref().filter(|_| may_know("email")),
            name: grant.name.as_deref().filter(|_| may_know("profile")),
        }
    }

    /// Returns the host's claims for a token with these terms: those of the sign-in and those of
    /// the claims source. If both have a claim, the claim of the source is used. An ID token of a
    /// session also gets `sid`.
    pub(super) async fn host_claims(
        &self,
        target: ClaimsTarget,
        terms: &AccessTokenTerms,
        grant: Option<&Grant>,
    ) -> Result<Claims, StoreError> {
        let of_sign_in = match (target, grant) {
            (_, None) => Claims::default(),
            (ClaimsTarget::IdToken | ClaimsTarget::UserInfo, Some(grant)) => grant.claims.clone(),
            (ClaimsTarget::AccessToken | ClaimsTarget::Introspection, Some(grant)) => {
                grant.claims.only(&AUTHENTICATION_CLAIMS)
            }
        };
        let claims = match &self.inner.options.claims_source {
            None => of_sign_in,
            Some(source) => {
                let query = ClaimsQuery {
                    target,
                    subject: &terms.subject,
                    client_id: &terms.client_id,
                    scopes: &terms.scopes,
                };
                of_sign_in.and(source.claims(query).await?)
            }
        };
        // a host can deserialize its claims, for example from a token of another issuer
        let claims = claims.without_reserved();
        let session = grant.and_then(|grant| grant.session);
        Ok(match (target, session) {
            (ClaimsTarget::IdToken, Some(session)) => claims.with_session(&SessionId::to_string(&session)),
            _ => claims,
        })
    }
}
