use std::time::SystemTime;

use bytes::Bytes;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderValue, Method, Request, Response, Uri};

use super::Client;
use super::form::Form;
use crate::jose::SigningError;
use crate::ports::Entropy;
use crate::vocabulary::Endpoint;

/// A request but for what is made anew each time it is sent.
pub(super) struct Draft {
    client: Client,
    endpoint: Endpoint,
    pub(super) form: Form,
}

impl Draft {
    /// A form for the server of `client`, which proves to be itself.
    pub(super) fn of_client(client: &Client, endpoint: &Endpoint, form: Form) -> Self {
        Self {
            client: client.clone(),
            endpoint: endpoint.clone(),
            form,
        }
    }

    pub(super) fn uri(&self) -> &Uri {
        self.endpoint.uri()
    }

    pub(super) fn sign(
        &self,
        entropy: &dyn Entropy,
        now: SystemTime,
    ) -> Result<Request<Bytes>, SigningError> {
        let mut form = self.form.clone();
        let client = &*self.client.inner;
        let issuer = client.provider.issuer();
        let authorization = client
            .credentials
            .prove(&mut form, &client.client_id, issuer, (entropy, now))?;
        let mut request = Request::new(form.to_body());
        *request.method_mut() = Method::POST;
        *request.uri_mut() = self.uri().clone();
        let headers = request.headers_mut();
        let form = HeaderValue::from_static("application/x-www-form-urlencoded");
        headers.insert(CONTENT_TYPE, form);
        headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
        if let Some(authorization) = authorization {
            headers.insert(AUTHORIZATION, authorization);
        }
        Ok(request)
    }

    /// Whether the same with a nonce may do.
    pub(super) fn wants_nonce(&self, _response: &Response<Bytes>) -> bool {
        false
    }

    pub(super) fn learn(&self, _response: &Response<Bytes>) {}
}
