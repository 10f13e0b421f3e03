//! Token revocation by the client, [RFC 7009](https://www.rfc-editor.org/rfc/rfc7009).

use std::time::SystemTime;

use bytes::Bytes;
use http::{Response, StatusCode};

use super::call::{CallResponse, sealed};
use super::draft::Draft;
use super::form::Form;
use super::response_error::ResponseError;
use super::{Call, Client, NotOffered};
use crate::secret::{AccessToken, RefreshToken};

impl Client {
    /// Revokes a refresh token when the user signs out. Servers usually revoke all tokens of the
    /// same authorization with it.
    ///
    /// # Errors
    ///
    /// [`NotOffered`] when the server has no revocation endpoint.
    pub fn revoke_refresh_token(&self, token: &RefreshToken) -> Result<Call<()>, NotOffered> {
        self.revoke(token.expose(), "refresh_token")
    }

    /// Revokes an access token. An API that verifies JWTs itself accepts it until it expires.
    ///
    /// # Errors
    ///
    /// [`NotOffered`] when the server has no revocation endpoint.
    pub fn revoke_access_token(&self, token: &AccessToken) -> Result<Call<()>, NotOffered> {
        self.revoke(token.expose(), "access_token")
    }

    fn revoke(&self, token: &str, hint: &str) -> Result<Call<()>, NotOffered> {
        let provider = &self.inner.provider;
        let endpoint = provider
            .revocation_endpoint
            .as_ref()
            .ok_or(NotOffered::Revocation)?;
        let alias = provider.mtls_aliases.revocation_endpoint.as_ref();
        let form = Form::from([("token", token), ("token_type_hint", hint)]);
        Ok(Call {
            draft: Draft::without_proof(self, self.inner.certificate_or(alias, endpoint), form),
            expected: (),
        })
    }
}

impl sealed::Sealed for () {}

/// The token is invalid now, or was never valid.
impl CallResponse for () {
    type Error = ResponseError;
    type Expected = ();

    fn read(response: Response<Bytes>, (): (), _: SystemTime) -> Result<(), ResponseError> {
        match response.status() {
            StatusCode::OK => Ok(()),
            _ => Err(ResponseError::of(&response)),
        }
    }
}
