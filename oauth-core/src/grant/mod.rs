//! Grants as pure functions, without store, clock or server: redeem a code, rotate a refresh token,
//! issue a token for client credentials.
//!
//! Each function takes the request, the stored record, the policy and the current instant. It
//! returns a decision: a plan for the records to store, or a refusal. [`server`](crate::server)
//! calls these functions. A host with its own endpoints calls them in three steps:
//!
//! 1. Read the record ([`TokenStore::code`](crate::store::TokenStore::code)).
//! 2. Decide ([`authorization_code::redeem`], [`refresh_token::rotate`],
//!    [`client_credentials::issue`]).
//! 3. Generate the tokens and store them in **one** step of the store. This step checks the rows
//!    again, because they may have changed since the read.
//!
//! ```
//! use std::time::{Duration, SystemTime};
//! use oauth_core::grant::{TokenPolicy, authorization_code, refresh_token};
//! use oauth_core::pkce::CodeVerifier;
//! use oauth_core::ports::OsEntropy;
//! use oauth_core::secret::{AuthorizationCode, RefreshToken, TokenHash};
//! use oauth_core::store::{
//!     AccessTokenRecord, AuthorizationCodeRecord, FamilyId, Grant, RefreshTokenState,
//!     RegisteredClient, Rotated,
//! };
//!
//! let policy = TokenPolicy::default();
//! let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000);
//! let client = RegisteredClient::public("app".parse()?).with_scopes("read:charges".parse()?);
//!
//! // the user consented: store the record, send the code
//! let code = AuthorizationCode::generate(&OsEntropy);
//! let verifier = CodeVerifier::generate(&OsEntropy);
//! let grant = Grant::new(client.id.clone(), "ada".parse()?, client.scopes.clone(), now);
//! let callback = "com.example.app:/callback".parse()?;
//! let challenge = verifier.challenge();
//! let record = AuthorizationCodeRecord::new(code.hash(), callback, challenge, grant, now);
//!
//! // the client presents code and verifier
//! let request = authorization_code::Request {
//!     client: &client,
//!     redirect_uri: None,
//!     code_verifier: Some(verifier.expose()),
//!     resources: &[],
//!     confirmation: None,
//! };
//! let decision = authorization_code::redeem(&record, &request, &policy, now);
//! let authorization_code::RedemptionDecision::Redeem(plan) = decision else {
//!     panic!("a code in order is redeemed");
//! };
//! let (family, refresh) = (FamilyId::generate(&OsEntropy), RefreshToken::generate(&OsEntropy));
//! let hash = TokenHash::new("the access token");
//! let access = AccessTokenRecord::new(hash, "its jti", Some(family), plan.access.clone());
//! let stored = plan.commit(family, access, Some(refresh.hash()));
//!
//! // a day later the client refreshes, then a thief presents the same token
//! let request = refresh_token::Request {
//!     client: &client,
//!     scopes: None,
//!     resources: &[],
//!     confirmation: None,
//! };
//! let tomorrow = now + Duration::from_secs(86_400);
//! let token = stored.refresh.ok_or("no refresh token")?;
//! let mut state = RefreshTokenState::new(token, stored.family);
//! let first = refresh_token::rotate(&state, &request, &policy, tomorrow);
//! assert!(matches!(first, refresh_token::RotationDecision::Rotate(_)));
//! let (successor, access) = (TokenHash::new("its successor"), TokenHash::new("its access token"));
//! state.token.rotated = Some(Rotated::new(tomorrow, successor, access));
//! let second = refresh_token::rotate(&state, &request, &policy, tomorrow);
//! assert_eq!(second, refresh_token::RotationDecision::RevokeFamily(family));
//! # Ok::<_, Box<dyn std::error::Error>>(())
//! ```
//!
//! A refusal changes nothing. A failed request does not consume the code or the refresh token, so
//! an attacker without the code verifier cannot lock the user out.

pub mod authorization_code;
pub mod client_credentials;
mod policy;
pub mod refresh_token;
mod retry;
mod target;

pub use crate::lifetime::{AccessTokenLifetime, InvalidLifetime, RefreshTokenLifetime};
pub use policy::{AccessTokenFormat, TokenPolicy};
pub use retry::{RetryPepper, RetryWindow};
pub(crate) use target::narrow;

#[cfg(test)]
mod tests;
