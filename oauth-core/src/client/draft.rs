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

/// A request but for what is made anew each time it is sent.
#[derive(Clone)]
pub(super) struct Draft {
    target: Htu,
    sender: Sender,
    /// The key to prove, where the endpoint looks at that.
    dpop: Option<DpopKey>,
}

/// Who the server will know that a request is from.
#[derive(Clone)]
enum Sender {
    /// The client, which authenticates with a form.
    Client(Client, Endpoint, Form),
    /// Whoever has the token.
    Token(AccessToken, Box<Request<Bytes>>),
}

impl Draft {
    /// A form for an endpoint that proofs are shown to.
    pub(super) fn of_client(client: &Client, endpoint: &Endpoint, form: Form) -> Self {
        Self {
            dpop: client.inner.dpop.clone(),
            ..Self::without_proof(client, endpoint, form)
        }
    }

    /// A form for an endpoint that knows nothing of proofs.
    pub(super) fn without_proof(client: &Client, endpoint: &Endpoint, form: Form) -> Self {
        Self {
            target: Htu::of_endpoint(endpoint),
            sender: Sender::Client(client.clone(), endpoint.clone(), form),
            dpop: None,
        }
    }

    /// A request that presents a token, which is bound to `dpop` if there is one.
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

    /// One more parameter; a request that is no form has none.
    pub(super) fn add(&mut self, name: &'static str, value: &str) {
        if let Sender::Client(.., form) = &mut self.sender {
            form.add(name, value);
        }
    }

    /// The request, with assertion and proof of its own: with this nonce, or else the newest of the server.
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

    /// The nonce with which the same may do. It is this answer's: by now another may have come to somebody else from the same server.
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

    /// Keeps the nonce that came along, if proofs need one.
    pub(super) fn learn<'r>(&self, response: &'r Response<Bytes>) -> Option<&'r str> {
        self.dpop.as_ref()?.learn(&self.target, response.headers())
    }
}

/// A form of the client's, by which it authenticates.
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
