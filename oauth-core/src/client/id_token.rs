//! ID token of a token response, [OpenID Connect Core
//! §3.1.3.7](https://openid.net/specs/openid-connect-core-1_0.html#IDTokenValidation).

use std::time::SystemTime;

use super::TokenResponse;
use crate::jose::{IdTokenClaims, IdTokenPolicy, JwtError, KeySet, RemoteKeySet, VerifyError};

impl TokenResponse {
    /// Verifies the ID token and returns its claims, which identify the user. `None` if the
    /// response has no ID token: `openid` was not requested or not granted, or the server omitted
    /// it in a refresh.
    ///
    /// The issuer, the client, the nonce, `max_age` and, after a [refresh](Self::refresh), the user
    /// must match those of the request. The signature is always verified, although the token came
    /// directly from the server.
    ///
    /// # Errors
    ///
    /// [`JwtError`] when the token is invalid; the sign-in has failed. After
    /// [`JwtError::UnknownKey`] the issuer may have rotated its keys;
    /// [`identity_with`](Self::identity_with) fetches them again.
    pub fn identity(&self, keys: &KeySet, now: SystemTime) -> Result<Option<IdTokenClaims>, JwtError> {
        let verify = |id_token: &String| IdTokenClaims::verify(id_token, keys, &self.policy(), now);
        self.id_token.as_ref().map(verify).transpose()
    }

    /// Like [`identity`](Self::identity), with the JWKS of the server
    /// ([`Provider::keys`](super::Provider::keys)), fetched when needed.
    ///
    /// ```no_run
    /// # use std::{error::Error, sync::Arc, time::SystemTime};
    /// # use oauth_core::client::{Provider, TokenResponse};
    /// # use oauth_core::ports::Transport;
    /// # async fn example(
    /// #     provider: Provider,
    /// #     transport: Arc<dyn Transport>,
    /// #     tokens: TokenResponse,
    /// #     now: SystemTime,
    /// # ) -> Result<(), Box<dyn Error>> {
    /// // once
    /// let keys = provider.keys(transport).ok_or("a server without keys")?;
    /// // at each sign-in
    /// let user = tokens.identity_with(&keys, now).await?.ok_or("no ID token")?;
    /// # drop(user);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`VerifyError`] when the token is invalid or the keys cannot be fetched; the sign-in has
    /// failed.
    pub async fn identity_with(
        &self,
        keys: &RemoteKeySet,
        now: SystemTime,
    ) -> Result<Option<IdTokenClaims>, VerifyError> {
        // without a token no keys are needed
        if self.id_token.is_none() {
            return Ok(None);
        }
        keys.verify(|keys| self.identity(keys, now), now).await
    }

    fn policy(&self) -> IdTokenPolicy {
        let expected = &self.expected;
        let issuer = expected.client.provider().issuer().clone();
        let mut policy = IdTokenPolicy::new(issuer, expected.client.client_id().clone())
            .with_access_token(self.access_token.clone());
        if let Some(algorithm) = expected.client.inner.id_token_algorithm {
            policy = policy.with_algorithm(algorithm);
        }
        if let Some(nonce) = &expected.nonce {
            policy = policy.with_nonce(nonce.clone());
        }
        if let Some(subject) = &expected.subject {
            policy = policy.with_subject(subject.clone());
        }
        if let Some(earliest) = expected.signed_in_since {
            policy = policy.with_signed_in_since(earliest);
        }
        policy
    }
}
