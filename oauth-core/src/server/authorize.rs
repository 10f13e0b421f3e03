//! The authorization endpoint, [RFC 6749 §3.1](https://www.rfc-editor.org/rfc/rfc6749#section-3.1).

use bytes::Bytes;
use http::{Method, Request, Response, StatusCode};

use super::AuthorizationServer;
use super::authorization_request;
use super::endpoint_response::{Broken, EndpointResponse};
use super::form::{MAX_BODY, REPEATABLE, method_not_allowed};
use super::interaction::Interaction;
use super::page::{AuthorizationFault, error_page};
use super::par;
use crate::error::{AuthorizationErrorCode, AuthorizationErrorResponse, ErrorCode, Reason};
use crate::event::{AuthEvent, AuthEventKind, RequestContext};
use crate::params::{Params, is_form};
use crate::secret::TokenHash;
use crate::store::{AuthorizationRequest, RegisteredClient};
use crate::vocabulary::{ClientId, RedirectUri, ResponseMode, State};

/// Outcome of an authorization request.
#[derive(Debug)]
#[must_use]
#[expect(
    clippy::exhaustive_enums,
    reason = "the host must handle both, and there is no third"
)]
pub enum Authorize {
    /// The request was refused, or answered without a page: send this page or redirect.
    Respond(EndpointResponse),
    /// The request is valid: show the sign-in and consent pages, then call
    /// [`AuthorizationServer::resume`].
    Interact(Interaction),
}

/// Authorization request that has passed all checks.
#[derive(Clone)]
pub(super) struct Checked {
    pub(super) request: AuthorizationRequest,
    pub(super) client: RegisteredClient,
    /// Hash of the pushed request with these parameters, if the client pushed them.
    pub(super) pushed: Option<TokenHash>,
}

/// Refusal of an authorization request.
pub(super) enum Refusal {
    /// Error page for the user, without a redirect, because the client or the redirect URI may be
    /// wrong. With the client identifier of the request, if known.
    Page(Reason, Option<ClientId>),
    /// Error for the client, sent by redirect.
    Redirect(Box<Redirect>),
    /// The request method is neither `GET` nor `POST`.
    Method,
    /// A store or another dependency failed.
    Broken(Broken),
}

pub(super) struct Redirect {
    to: RedirectUri,
    state: Option<State>,
    mode: ResponseMode,
    error: AuthorizationErrorCode,
    reason: Reason,
    client_id: ClientId,
}

impl Refusal {
    /// Creates the refusal of a request with a verified redirect URI, sent to its client.
    pub(super) fn of(request: &AuthorizationRequest, error: AuthorizationErrorCode, reason: Reason) -> Self {
        Self::Redirect(Box::new(Redirect {
            to: request.redirect_uri.clone(),
            state: request.state.clone(),
            mode: request.response_mode,
            error,
            reason,
            client_id: request.client_id.clone(),
        }))
    }
}

impl From<Broken> for Refusal {
    fn from(broken: Broken) -> Self {
        Self::Broken(broken)
    }
}

impl AuthorizationServer {
    /// Serves the authorization endpoint, `GET /authorize` and `POST /authorize`.
    ///
    /// A request that passes all checks is stored as an interaction for ten minutes, and the host's
    /// pages authenticate the user. A request with `prompt=none` is answered without a page, from
    /// the [session lookup](super::AuthorizationServerBuilder::with_session_lookup) and the stored
    /// consent.
    ///
    /// # Security
    ///
    /// If `client_id` or `redirect_uri` is missing, repeated or not registered, the response is an
    /// error page with status 400 and never a redirect, because the URI may belong to an attacker.
    pub async fn authorize(&self, request: Request<Bytes>) -> Authorize {
        match self.answer(&request).await {
            Ok(Authorize::Interact(mut interaction)) => {
                self.stamp(&request, &mut interaction.events);
                Authorize::Interact(interaction)
            }
            Ok(Authorize::Respond(response)) => Authorize::Respond(self.stamped(&request, response)),
            Err(refusal) => Authorize::Respond(self.refuse(refusal, &request)),
        }
    }

    async fn answer(&self, request: &Request<Bytes>) -> Result<Authorize, Refusal> {
        let checked = self.checked(request).await?;
        if checked.request.silent {
            let response = self.answer_silently(checked, request.headers(), request.method());
            return Ok(Authorize::Respond(response.await?));
        }
        Ok(Authorize::Interact(self.begin(checked).await?))
    }

    async fn checked(&self, request: &Request<Bytes>) -> Result<Checked, Refusal> {
        let params = params(request)?;
        let repeated = repeated(&params);
        if repeated
            .iter()
            .any(|name| matches!(*name, "client_id" | "redirect_uri" | "request_uri"))
        {
            return Err(Refusal::Page(Reason::ClientOrRedirectUriRepeated, None));
        }
        let client_id = params.optional("client_id").and_then(|id| id.parse().ok());
        let client_id: ClientId = client_id.ok_or(Refusal::Page(Reason::ClientIdMissing, None))?;
        let client = self
            .inner
            .clients
            .client(&client_id)
            .await
            .map_err(Broken::from)?;
        let client = client.ok_or(Refusal::Page(Reason::ClientUnknown, Some(client_id)))?;
        match par::name(&params) {
            Some(name) => self.load_pushed(name, client).await,
            None => self.check_parameters(&params, &repeated, client),
        }
    }

    /// Checks a request that was not pushed: the browser sent its parameters.
    fn check_parameters(
        &self,
        params: &Params,
        repeated: &[&str],
        client: RegisteredClient,
    ) -> Result<Checked, Refusal> {
        let doubt = |reason| Refusal::Page(reason, Some(client.id.clone()));
        let redirect_uri = params.optional("redirect_uri").and_then(|uri| uri.parse().ok());
        let redirect_uri: RedirectUri = redirect_uri.ok_or_else(|| doubt(Reason::RedirectUriMissing))?;
        if !client.may_redirect_to(&redirect_uri) {
            return Err(doubt(Reason::RedirectUriNotRegistered));
        }
        let state = params.optional("state").and_then(|state| state.parse().ok());
        let state: Option<State> = state.filter(|_| !repeated.contains(&"state"));
        let read = if !repeated.is_empty() {
            Err((AuthorizationErrorCode::InvalidRequest, Reason::ParameterRepeated))
        } else if self.inner.options.pushed_requests_required {
            Err((AuthorizationErrorCode::InvalidRequest, Reason::RequestNotPushed))
        } else {
            authorization_request::read(params, &client, &redirect_uri, state.as_ref(), &self.inner)
        };
        match read {
            Ok(request) => Ok(Checked {
                request,
                client,
                pushed: None,
            }),
            Err((error, reason)) => Err(Refusal::Redirect(Box::new(Redirect {
                mode: match repeated.contains(&"response_mode") {
                    true => ResponseMode::Query,
                    false => answerable_mode(params, &client, &redirect_uri),
                },
                to: redirect_uri,
                state,
                error,
                reason,
                client_id: client.id,
            }))),
        }
    }

    pub(super) fn refuse(&self, refusal: Refusal, request: &Request<Bytes>) -> EndpointResponse {
        let refused = |reason| AuthEvent::new(AuthEventKind::RequestRefused).because(reason);
        let response = match refusal {
            Refusal::Page(reason, client_id) => {
                let presented = params(request).ok();
                let redirect_uri = presented
                    .as_ref()
                    .and_then(|params| params.optional("redirect_uri"));
                let fault = AuthorizationFault {
                    reason,
                    client_id: client_id.clone(),
                    redirect_uri: redirect_uri.map(str::to_owned),
                    request_id: request_id(request),
                };
                let event = AuthEvent {
                    client_id,
                    ..refused(reason)
                };
                EndpointResponse::new(self.error_page(StatusCode::BAD_REQUEST, &fault), vec![event])
            }
            Refusal::Redirect(redirect) => {
                let error = self.authorization_error(redirect.error, redirect.reason);
                let response = error
                    .with_state(redirect.state)
                    .with_response_mode(redirect.mode)
                    .into_response(&redirect.to, request.method());
                EndpointResponse::new(response, vec![refused(redirect.reason).by(&redirect.client_id)])
            }
            Refusal::Method => EndpointResponse::new(
                method_not_allowed("GET, POST"),
                vec![refused(Reason::MethodNotAllowed)],
            ),
            Refusal::Broken(broken) => self.broken_page(broken, request_id(request)),
        };
        self.stamped(request, response)
    }

    /// Builds the error for the client, with the description of its reason unless the host has
    /// switched that off. The fault of a server is not described.
    pub(super) fn authorization_error(
        &self,
        error: AuthorizationErrorCode,
        reason: Reason,
    ) -> AuthorizationErrorResponse {
        let response = AuthorizationErrorResponse::new(error, &self.inner.issuer);
        if self.inner.options.descriptions_hidden || error == AuthorizationErrorCode::ServerError {
            return response;
        }
        response.with_description(reason.description())
    }

    pub(super) fn error_page(&self, status: StatusCode, fault: &AuthorizationFault) -> Response<Bytes> {
        error_page(status, fault, self.inner.options.error_page.as_ref())
    }

    /// Builds the error page for a server failure, with status 503 or 500. A server failure is
    /// never redirected to the client.
    pub(super) fn broken_page(&self, broken: Broken, request_id: Option<String>) -> EndpointResponse {
        let fault = AuthorizationFault {
            reason: broken.reason,
            client_id: None,
            redirect_uri: None,
            request_id,
        };
        let status = match broken.error {
            ErrorCode::TemporarilyUnavailable => StatusCode::SERVICE_UNAVAILABLE,
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        };
        let events = vec![broken.event()];
        EndpointResponse {
            fault: Some(broken.cause),
            ..EndpointResponse::new(self.error_page(status, &fault), events)
        }
    }
}

fn request_id(request: &Request<Bytes>) -> Option<String> {
    let context = request.extensions().get::<RequestContext>()?;
    context.request_id.clone()
}

/// Parses the query of a `GET` or the form of a `POST`.
pub(super) fn params(request: &Request<Bytes>) -> Result<Params, Refusal> {
    let text = match *request.method() {
        Method::GET => request.uri().query().unwrap_or_default().as_bytes(),
        Method::POST if is_form(request.headers()) => request.body(),
        Method::POST => return Err(Refusal::Page(Reason::ContentTypeNotAForm, None)),
        _ => return Err(Refusal::Method),
    };
    if text.len() > MAX_BODY {
        return Err(Refusal::Page(Reason::RequestTooLarge, None));
    }
    Params::parse(text).map_err(|_| Refusal::Page(Reason::MalformedParameters, None))
}

/// Returns the response mode for the error of a request: the requested one, if the client may
/// request it and it can reach the redirect URI.
fn answerable_mode(params: &Params, client: &RegisteredClient, redirect_uri: &RedirectUri) -> ResponseMode {
    let mode = authorization_request::response_mode(params);
    if mode.can_reach(redirect_uri) && client.may_respond_in(mode) {
        mode
    } else {
        ResponseMode::Query
    }
}

/// Returns the names of all repeated parameters, except those that may be repeated.
fn repeated(params: &Params) -> Vec<&str> {
    let mut names = REPEATABLE.to_vec();
    while let Some(name) = params.first_repeated(&names) {
        names.push(name);
    }
    names.split_off(REPEATABLE.len())
}
