use std::time::SystemTime;

use bytes::Bytes;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderValue, Method, Request, Response, StatusCode};

use super::challenge::wants_dpop_nonce;
use super::form::Form;
use super::{Client, DpopKey, OAuthError};
use crate::dpop::{HEADER, Htu};
use crate::jose::SigningError;
use crate::ports::Entropy;
use crate::secret::AccessToken;
use crate::vocabulary::Endpoint;

/// A request without the parts that are new in each attempt.
#[derive(Clone)]
pub(super) struct Draft {
    target: Htu,
    sender: Sender,
    /// DPoP key, if the endpoint accepts proofs.
    dpop: Option<DpopKey>,
}

/// Sender of a request.
#[derive(Clone)]
enum Sender {
    /// A client that authenticates with a form.
    Client(Client, Endpoint, Form),
    /// A holder of an access token.
    Token(AccessToken, Box<Request<Bytes>>),
}

impl Draft {
    /// Creates a form for an endpoint that accepts DPoP proofs.
    pub(super) fn of_client(client: &Client, endpoint: &Endpoint, form: Form) -> Self {
        Self {
            dpop: client.inner.dpop.clone(),
            ..Self::without_proof(client, endpoint, form)
        }
    }

    /// Creates a form for an endpoint without DPoP.
    pub(super) fn without_proof(client: &Client, endpoint: &Endpoint, form: Form) -> Self {
        Self {
            target: Htu::of_endpoint(endpoint),
            sender: Sender::Client(client.clone(), endpoint.clone(), form),
            dpop: None,
        }
    }

    /// Creates a request with an access token, which is bound to `dpop` if there is one.
    pub(super) fn of_token(
        token: &AccessToken,
        dpop: Option<&DpopKey>,
        target: Htu,
        request: Request<Bytes>,
    ) -> Self {
        Self {
            target,
            sender: Sender::Token(token.clone(), Box::new(request)),
            dpop: dpop.cloned(),
        }
    }

    pub(super) fn target(&self) -> &Htu {
        &self.target
    }

    /// Adds a parameter to a form; other requests do not change.
    pub(super) fn add(&mut self, name: &'static str, value: &str) {
        if let Sender::Client(.., form) = &mut self.sender {
            form.add(name, value);
        }
    }

    /// Builds the request with a new assertion and proof. Without `nonce` the proof has the newest
    /// one of the server.
    pub(super) fn sign(
        &self,
        nonce: Option<&str>,
        entropy: &dyn Entropy,
        now: SystemTime,
    ) -> Result<Request<Bytes>, SigningError> {
        let mut request = match &self.sender {
            Sender::Client(client, endpoint, form) => post(client, endpoint, form.clone(), (entropy, now))?,
            Sender::Token(token, request) => self.present(token, (**request).clone()),
        };
        request.headers_mut().remove(HEADER);
        if let Some(key) = &self.dpop {
            let token = match &self.sender {
                Sender::Client(..) => None,
                Sender::Token(token, _) => Some(token),
            };
            let proof = key.prove(request.method(), &self.target, (token, nonce), (entropy, now))?;
            request.headers_mut().insert(HEADER, proof);
        }
        Ok(request)
    }

    fn present(&self, token: &AccessToken, mut request: Request<Bytes>) -> Request<Bytes> {
        let scheme = if self.dpop.is_some() { "DPoP" } else { "Bearer" };
        // a token is printable ASCII
        let value = HeaderValue::try_from(format!("{scheme} {}", token.expose()));
        let mut value = value.unwrap_or(HeaderValue::from_static(""));
        value.set_sensitive(true);
        request.headers_mut().insert(AUTHORIZATION, value);
        request
    }

    /// Nonce to retry with, from this response: by now a concurrent request may have stored a newer
    /// one.
    pub(super) fn wanted_nonce<'r>(&self, response: &'r Response<Bytes>) -> Option<&'r str> {
        let nonce = self.learn(response)?;
        let is_wanted = match self.sender {
            Sender::Client(..) => {
                OAuthError::read(response).is_some_and(|error| error.code() == "use_dpop_nonce")
            }
            Sender::Token(..) => {
                response.status() == StatusCode::UNAUTHORIZED && wants_dpop_nonce(response.headers())
            }
        };
        is_wanted.then_some(nonce)
    }

    /// Stores the nonce of the response, if proofs are in use.
    pub(super) fn learn<'r>(&self, response: &'r Response<Bytes>) -> Option<&'r str> {
        self.dpop.as_ref()?.learn(&self.target, response.headers())
    }
}

/// Form request that authenticates the client.
fn post(
    client: &Client,
    endpoint: &Endpoint,
    mut form: Form,
    ports: (&dyn Entropy, SystemTime),
) -> Result<Request<Bytes>, SigningError> {
    let client = &*client.inner;
    let issuer = client.provider.issuer();
    let proven = client
        .credentials
        .prove(&mut form, &client.client_id, issuer, ports)?;
    let mut request = Request::new(form.to_body());
    *request.method_mut() = Method::POST;
    *request.uri_mut() = endpoint.uri().clone();
    let headers = request.headers_mut();
    let form = HeaderValue::from_static("application/x-www-form-urlencoded");
    headers.insert(CONTENT_TYPE, form);
    headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
    if let Some(authorization) = proven {
        headers.insert(AUTHORIZATION, authorization);
    }
    Ok(request)
}
