//! Who signed in: the ID token of a token response,
//! [OpenID Connect Core §3.1.3.7](https://openid.net/specs/openid-connect-core-1_0.html#IDTokenValidation).

use std::time::SystemTime;

use super::TokenResponse;
use crate::jose::{IdTokenClaims, IdTokenPolicy, JwtError, KeySet};

impl TokenResponse {
    /// Verifies the ID token and tells who signed in; nobody if there is none: `openid` was not asked for, or the server
    /// did not grant it, or did not repeat the token at a refresh.
    ///
    /// Everything it must fit has been kept since the request was made: issuer, client, nonce, how long ago the person may have signed
    /// in, and after a refresh the person. The signature is checked also though the token came straight from the server.
    ///
    /// # Errors
    ///
    /// Anything is wrong with the token; the sign-in has failed. After [`JwtError::UnknownKey`], fetch the
    /// issuer's keys again once.
    pub fn identity(&self, keys: &KeySet, now: SystemTime) -> Result<Option<IdTokenClaims>, JwtError> {
        let Some(id_token) = &self.id_token else {
            return Ok(None);
        };
        let client = &self.expected.client;
        let policy = IdTokenPolicy::new(client.provider().issuer().clone(), client.client_id().clone())
            .with_access_token(self.access_token.clone());
        let policy = match &self.expected.nonce {
            Some(nonce) => policy.with_nonce(nonce.clone()),
            None => policy,
        };
        let policy = match &self.expected.subject {
            Some(subject) => policy.with_subject(subject.clone()),
            None => policy,
        };
        let policy = match self.expected.signed_in_since {
            Some(earliest) => policy.with_signed_in_since(earliest),
            None => policy,
        };
        IdTokenClaims::verify(id_token, keys, &policy, now).map(Some)
    }
}
