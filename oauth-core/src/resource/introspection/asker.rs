use std::sync::Arc;
use std::time::SystemTime;

use bytes::Bytes;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderValue, Method, Request};

use crate::basic::BasicCredentials;
use crate::client::ClientCredentials;
use crate::client::form::Form;
use crate::jose::SigningError;
use crate::ports::Entropy;
use crate::secret::ClientSecret;
use crate::vocabulary::{ClientId, Endpoint, Issuer};

/// Client authentication for introspection requests.
#[derive(Clone)]
pub(super) enum Asker {
    /// `client_secret_basic`: the same `Authorization` header for each request.
    Secret(HeaderValue),
    /// New credentials for each request, for example an assertion.
    Client {
        id: ClientId,
        credentials: ClientCredentials,
        issuer: Issuer,
        entropy: Arc<dyn Entropy>,
    },
}

impl Asker {
    pub(super) fn of_secret(client_id: ClientId, secret: ClientSecret) -> Self {
        Self::Secret(BasicCredentials { client_id, secret }.to_header())
    }

    /// Builds an introspection request ([RFC 7662
    /// §2.1](https://www.rfc-editor.org/rfc/rfc7662#section-2.1)).
    pub(super) fn request(
        &self,
        endpoint: &Endpoint,
        token: &str,
        now: SystemTime,
    ) -> Result<Request<Bytes>, SigningError> {
        let mut form = Form::from([("token", token), ("token_type_hint", "access_token")]);
        let authorization = match self {
            Self::Secret(header) => Some(header.clone()),
            Self::Client {
                id,
                credentials,
                issuer,
                entropy,
            } => credentials.prove(&mut form, id, issuer, (&**entropy, now))?,
        };
        let mut request = Request::new(form.to_body());
        *request.method_mut() = Method::POST;
        *request.uri_mut() = endpoint.uri().clone();
        let headers = request.headers_mut();
        let form = HeaderValue::from_static("application/x-www-form-urlencoded");
        headers.insert(CONTENT_TYPE, form);
        headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
        if let Some(authorization) = authorization {
            headers.insert(AUTHORIZATION, authorization);
        }
        Ok(request)
    }
}
