//! Who signed in: the ID token of a token response,
//! [OpenID Connect Core §3.1.3.7](https://openid.net/specs/openid-connect-core-1_0.html#IDTokenValidation).

use std::time::SystemTime;

use super::TokenResponse;
use crate::jose::{IdTokenClaims, IdTokenPolicy, JwtError, KeySet, RemoteKeySet, VerifyError};

impl TokenResponse {
    /// Verifies the ID token and tells who signed in; nobody if there is none: `openid` was not asked for, or the server
    /// did not grant it, or did not repeat the token at a refresh.
    ///
    /// Everything it must fit has been kept since the request was made: issuer, client, nonce, how long ago the person may have signed
    /// in, and after a [refresh](Self::refresh) the person. The signature is checked also though the token came straight from the server.
    ///
    /// # Errors
    ///
    /// Anything is wrong with the token; the sign-in has failed. After [`JwtError::UnknownKey`] the issuer may have rotated its keys:
    /// [`identity_with`](Self::identity_with) sees to it.
    pub fn identity(&self, keys: &KeySet, now: SystemTime) -> Result<Option<IdTokenClaims>, JwtError> {
        let verify = |id_token: &String| IdTokenClaims::verify(id_token, keys, &self.policy(), now);
        self.id_token.as_ref().map(verify).transpose()
    }

    /// As [`identity`](Self::identity), with the keys that the server publishes
    /// ([`Provider::keys`](super::Provider::keys)), fetched where need be.
    ///
    /// ```no_run
    /// # use std::{error::Error, sync::Arc, time::SystemTime};
    /// # use oauth_core::client::{Provider, TokenResponse};
    /// # use oauth_core::ports::Transport;
    /// # async fn example(
    /// #     provider: Provider, transport: Arc<dyn Transport>, tokens: TokenResponse, now: SystemTime,
    /// # ) -> Result<(), Box<dyn Error>> {
    /// // once
    /// let keys = provider.keys(transport).ok_or("a server without keys")?;
    /// // at each sign-in
    /// let person = tokens.identity_with(&keys, now).await?.ok_or("nobody signed in")?;
    /// # drop(person);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Anything is wrong with the token; the sign-in has failed. Or there are no keys.
    pub async fn identity_with(
        &self,
        keys: &RemoteKeySet,
        now: SystemTime,
    ) -> Result<Option<IdTokenClaims>, VerifyError> {
        // without a token there is nothing to fetch keys for
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
