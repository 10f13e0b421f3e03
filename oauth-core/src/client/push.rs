//! Pushed authorization requests (PAR) of the client, [RFC
//! 9126](https://www.rfc-editor.org/rfc/rfc9126).

use std::borrow::Cow;
use std::time::SystemTime;

use bytes::Bytes;
use http::{Response, StatusCode};
use serde::Deserialize;

use super::call::{CallResponse, sealed};
use super::draft::Draft;
use super::form::Form;
use super::oauth_error::MAX_BODY;
use super::response_error::ResponseError;
use super::{AuthorizationParams, Call, CallError, Client, NotOffered, PendingAuthorization, Ports};
use crate::json;
use crate::ports::Entropy;

/// Longest `request_uri`, in bytes.
const MAX_REQUEST_URI: usize = 2048;

impl Client {
    /// Starts a sign-in: by [`push`](Self::push) if the server supports it, otherwise by
    /// [`authorize`](Self::authorize).
    ///
    /// # Errors
    ///
    /// [`CallError`] when the pushed request got no response or was refused.
    pub async fn sign_in(
        &self,
        params: &AuthorizationParams,
        ports: &Ports,
    ) -> Result<(String, PendingAuthorization), CallError<ResponseError>> {
        match self.push(params, ports.entropy(), ports.now()) {
            Ok(call) => call.send(ports).await,
            Err(_) => Ok(self.authorize(params, ports.entropy(), ports.now())?),
        }
    }

    /// Starts a sign-in like [`authorize`](Self::authorize), but sends the parameters directly to
    /// the server. The browser carries only a `request_uri`, so the user or a browser extension
    /// cannot read or change the parameters. The URL is valid as long as the server stores the
    /// request, usually for one minute.
    ///
    /// # Errors
    ///
    /// [`NotOffered`] when the server does not support pushed requests.
    pub fn push(
        &self,
        params: &AuthorizationParams,
        entropy: &dyn Entropy,
        now: SystemTime,
    ) -> Result<Call<(String, PendingAuthorization)>, NotOffered> {
        let provider = &self.inner.provider;
        let endpoint = provider.pushed_authorization_request_endpoint.as_ref();
        let endpoint = endpoint.ok_or(NotOffered::PushedAuthorizationRequest)?;
        let alias = provider
            .mtls_aliases
            .pushed_authorization_request_endpoint
            .as_ref();
        let (form, pending) = PendingAuthorization::new(self, params, entropy, now);
        Ok(Call {
            draft: Draft::of_client(self, self.inner.certificate_or(alias, endpoint), form),
            expected: pending,
        })
    }
}

#[derive(Deserialize)]
struct Wire<'a> {
    #[serde(borrow)]
    request_uri: Cow<'a, str>,
}

impl sealed::Sealed for (String, PendingAuthorization) {}

impl CallResponse for (String, PendingAuthorization) {
    type Error = ResponseError;
    type Expected = PendingAuthorization;

    fn read(
        response: Response<Bytes>,
        pending: PendingAuthorization,
        _: SystemTime,
    ) -> Result<Self, ResponseError> {
        // some servers respond with 200
        if !matches!(response.status(), StatusCode::CREATED | StatusCode::OK) {
            return Err(ResponseError::of(&response));
        }
        if response.body().len() > MAX_BODY {
            return Err(ResponseError::Malformed);
        }
        let wire: Wire<'_> = json::object(response.body()).map_err(|_| ResponseError::Malformed)?;
        let is_name = (1..=MAX_REQUEST_URI).contains(&wire.request_uri.len())
            && wire.request_uri.bytes().all(|byte| byte.is_ascii_graphic());
        if !is_name {
            return Err(ResponseError::Malformed);
        }
        let client = &pending.client().inner;
        let form = Form::from([
            ("client_id", client.client_id.as_str()),
            ("request_uri", &wire.request_uri),
        ]);
        let url = client.provider.authorization_endpoint.with_query(&form.encode());
        Ok((url, pending))
    }
}
