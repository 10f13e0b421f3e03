//! Pushed authorization requests (PAR), [RFC 9126](https://www.rfc-editor.org/rfc/rfc9126).

use bytes::Bytes;
use http::header::CACHE_CONTROL;
use http::{HeaderValue, Request, Response, StatusCode};
use serde::Serialize;

use super::AuthorizationServer;
use super::authorization_request;
use super::authorize::{Checked, Refusal};
use super::endpoint_response::{Broken, EndpointResponse, Failure};
use super::form::form;
use super::possession::Endpoint;
use crate::dpop::{ProofError, ProvenKey};
use crate::error::{AuthorizationErrorCode, ErrorCode, Reason};
use crate::event::{AuthEvent, AuthEventKind};
use crate::params::Params;
use crate::random::random_text;
use crate::response::json;
use crate::secret::TokenHash;
use crate::store::{AuthorizationRequest, Insertion, PushedRequestRecord, RegisteredClient};
use crate::vocabulary::RedirectUri;

/// Prefix of a `request_uri`, [RFC 9126 §2.2](https://www.rfc-editor.org/rfc/rfc9126#section-2.2).
const PREFIX: &str = "urn:ietf:params:oauth:request_uri:";

/// Returns the identifier of the pushed request from `request_uri`. `None` if the parameter is
/// missing or does not begin with [`PREFIX`].
pub(super) fn name(params: &Params) -> Option<&str> {
    params.optional("request_uri")?.strip_prefix(PREFIX)
}

impl AuthorizationServer {
    /// Serves pushed authorization requests, `POST /par`. The server stores the request and returns
    /// a random `request_uri`, which expires after 60 seconds.
    ///
    /// The client authenticates as at the token endpoint, and the server checks the request as
    /// [`authorize`](Self::authorize) does. The browser then sends only `client_id` and
    /// `request_uri` to `/authorize`; the server ignores other parameters. The first completed
    /// interaction also completes the pushed request; its `request_uri` is then refused. If the
    /// request has a DPoP proof, the server binds the code to the key of the proof ([RFC 9449
    /// §10.1](https://www.rfc-editor.org/rfc/rfc9449#section-10.1)).
    pub async fn par(&self, request: Request<Bytes>) -> EndpointResponse {
        let response = match self.push(&request).await {
            Ok((response, event)) => EndpointResponse::new(response, vec![event]),
            Err(failure) => failure.into_response(Vec::new()),
        };
        self.stamped(&request, response)
    }

    async fn push(&self, request: &Request<Bytes>) -> Result<(Response<Bytes>, AuthEvent), Failure> {
        let params = form(request)?;
        let now = self.inner.clock.now();
        let client = self.authenticate(request, &params, now).await?;
        let checked = self
            .pushable(&params, &client)
            .map_err(|failure| failure.by(&client.id))?;
        let refused = |error| self.refused_proof(error, now).by(&client.id);
        let proven = self.proven(request, Endpoint::Par, now).map_err(refused)?;
        let checked = bound(checked, proven.as_ref()).map_err(refused)?;
        self.spend_proof(proven.as_ref(), now).await?.map_err(refused)?;
        let name = random_text::<32>("", &*self.inner.entropy);
        let record = PushedRequestRecord::new(TokenHash::new(&name), checked, now);
        let event = AuthEvent::new(AuthEventKind::RequestPushed)
            .by(&client.id)
            .with_token(record.hash);
        match self.inner.interactions.insert_pushed(record).await? {
            Insertion::Inserted => {
                let mut response = created(&name);
                if proven.as_ref().is_some_and(ProvenKey::wants_nonce) {
                    self.hand_out_nonce(&mut response, now);
                }
                Ok((response, event))
            }
            Insertion::Exists => Err(Broken::entropy_repeats().into()),
        }
    }

    fn pushable(&self, params: &Params, client: &RegisteredClient) -> Result<AuthorizationRequest, Failure> {
        let invalid =
            |reason, description| Failure::described(ErrorCode::InvalidRequest, reason, description);
        if params.optional("request_uri").is_some() {
            return Err(invalid(
                Reason::RequestUriPushed,
                "request_uri is not allowed in a pushed request",
            ));
        }
        let redirect_uri = params.optional("redirect_uri").and_then(|uri| uri.parse().ok());
        let redirect_uri: RedirectUri = redirect_uri
            .ok_or_else(|| invalid(Reason::RedirectUriMissing, "redirect_uri is missing or malformed"))?;
        if !client.may_redirect_to(&redirect_uri) {
            return Err(invalid(
                Reason::RedirectUriNotRegistered,
                "redirect_uri is not registered",
            ));
        }
        let state = params.optional("state").and_then(|state| state.parse().ok());
        authorization_request::read(params, client, &redirect_uri, state.as_ref(), &self.inner)
            .map_err(|(error, reason)| Failure::refused(error_code(error), reason))
    }

    /// Loads the pushed request whose `request_uri` a browser presents for `client`.
    ///
    /// If the request is not one of `client`, the refusal is an error page: a redirect would reveal
    /// to an attacker which client pushed the request.
    pub(super) async fn load_pushed(&self, name: &str, client: RegisteredClient) -> Result<Checked, Refusal> {
        let hash = TokenHash::new(name);
        let doubt = |reason| Refusal::Page(reason, Some(client.id.clone()));
        let pushed = self
            .inner
            .interactions
            .pushed(&hash)
            .await
            .map_err(Broken::from)?;
        let pushed = pushed.ok_or_else(|| doubt(Reason::RequestUriUnknown))?;
        if pushed.request.client_id != client.id {
            return Err(doubt(Reason::RequestUriOfAnotherClient));
        }
        if !client.may_redirect_to(&pushed.request.redirect_uri) {
            return Err(doubt(Reason::RedirectUriNotRegistered));
        }
        let over = |reason| {
            let error = AuthorizationErrorCode::InvalidRequestUri;
            Err(Refusal::of(&pushed.request, error, reason))
        };
        if pushed.completed {
            return over(Reason::RequestUriSpent);
        }
        if self.inner.clock.now() >= pushed.expires_at {
            return over(Reason::RequestUriExpired);
        }
        Ok(Checked {
            request: pushed.request,
            client,
            pushed: Some(hash),
        })
    }
}

/// Binds the code to the key of the proof. Fails if `dpop_jkt` names another key.
fn bound(
    request: AuthorizationRequest,
    proven: Option<&ProvenKey>,
) -> Result<AuthorizationRequest, ProofError> {
    let proven = proven.map(ProvenKey::thumbprint);
    match (request.dpop_jkt, proven) {
        (Some(named), Some(proven)) if named != proven => Err(ProofError::WrongKey),
        (named, proven) => Ok(AuthorizationRequest {
            dpop_jkt: named.or(proven),
            ..request
        }),
    }
}

/// Builds the response of [RFC 9126 §2.2](https://www.rfc-editor.org/rfc/rfc9126#section-2.2),
/// which must not be cached.
fn created(name: &str) -> Response<Bytes> {
    #[derive(Serialize)]
    struct Created {
        request_uri: String,
        expires_in: u64,
    }
    let body = Created {
        request_uri: format!("{PREFIX}{name}"),
        expires_in: PushedRequestRecord::LIFETIME.as_secs(),
    };
    let mut response = json(StatusCode::CREATED, &body);
    let never = HeaderValue::from_static("no-cache, no-store");
    response.headers_mut().insert(CACHE_CONTROL, never);
    response
}

/// Maps an error code of an authorization response to that of a direct response. Codes about the
/// user do not occur here.
const fn error_code(error: AuthorizationErrorCode) -> ErrorCode {
    use AuthorizationErrorCode as Error;
    match error {
        Error::UnauthorizedClient => ErrorCode::UnauthorizedClient,
        Error::UnsupportedResponseType => ErrorCode::UnsupportedResponseType,
        Error::InvalidScope => ErrorCode::InvalidScope,
        Error::InvalidTarget => ErrorCode::InvalidTarget,
        Error::RequestNotSupported => ErrorCode::RequestNotSupported,
        _ => ErrorCode::InvalidRequest,
    }
}
