//! The authorization endpoint, [RFC 6749 §3.1](https://www.rfc-editor.org/rfc/rfc6749#section-3.1).

use bytes::Bytes;
use http::{Method, Request, StatusCode};

use super::AuthorizationServer;
use super::answer::{Answer, Broken};
use super::event::{AuthEvent, AuthEventKind};
use super::form::{MAX_BODY, REPEATABLE, method_not_allowed};
use super::interaction::Interaction;
use super::page::error_page;
use crate::error::{AuthorizationErrorCode, AuthorizationErrorResponse, ErrorCode};
use crate::params::{Params, is_form};
use crate::pkce::{self, CodeChallenge};
use crate::store::{AuthorizationRequest, GrantType, RegisteredClient};
use crate::vocabulary::{ClientId, Nonce, OPENID, RedirectUri, Scopes, State};

/// Longest login hint that is kept, in bytes: an address has at most 254.
const MAX_LOGIN_HINT: usize = 256;

/// What becomes of an authorization request.
#[derive(Debug)]
#[must_use]
#[expect(
    clippy::exhaustive_enums,
    reason = "the host must handle both, and there is no third"
)]
pub enum Authorize {
    /// Send this: the request was refused, on a page or by redirect.
    Respond(Answer),
    /// Show the user your pages, then call [`AuthorizationServer::resume`].
    Interact(Interaction),
}

/// Why a request goes no further.
enum Refusal {
    /// Whose request this is, or where its answer goes, is in doubt: told to the person, never to the address.
    Page(&'static str, Option<ClientId>),
    /// Told to the client.
    Redirect(Box<Redirect>),
    /// Neither GET nor POST.
    Method,
    /// A fault before the client was known.
    Broken(Broken),
}

struct Redirect {
    to: RedirectUri,
    state: Option<State>,
    error: AuthorizationErrorCode,
    reason: &'static str,
    client_id: ClientId,
}

impl From<Broken> for Refusal {
    fn from(broken: Broken) -> Self {
        Self::Broken(broken)
    }
}

impl AuthorizationServer {
    /// Answers `GET /authorize` and `POST /authorize`.
    ///
    /// A request that passes every check waits in the store for the user. Nothing in it is believed about the user: who signs
    /// in is for the host's pages to find out.
    ///
    /// # Security
    ///
    /// A wrong `client_id` or `redirect_uri` is answered by a page with status 400 and never by a redirect: the address is
    /// not known to be the client's.
    pub async fn authorize(&self, request: Request<Bytes>) -> Authorize {
        match self.checked(&request).await {
            Ok((checked, client)) => match self.begin(checked, &client).await {
                Ok(interaction) => Authorize::Interact(interaction),
                Err(broken) => Authorize::Respond(broken_page(broken)),
            },
            Err(refusal) => Authorize::Respond(self.refuse(refusal, request.method())),
        }
    }

    async fn checked(
        &self,
        request: &Request<Bytes>,
    ) -> Result<(AuthorizationRequest, RegisteredClient), Refusal> {
        let params = params(request)?;
        let repeated = repeated(&params);
        if repeated
            .iter()
            .any(|name| matches!(*name, "client_id" | "redirect_uri"))
        {
            return Err(Refusal::Page("client_or_redirect_uri_repeated", None));
        }
        let client_id = params.optional("client_id").and_then(|id| id.parse().ok());
        let client_id: ClientId = client_id.ok_or(Refusal::Page("client_id_missing", None))?;
        let doubt = |reason| Refusal::Page(reason, Some(client_id.clone()));
        let client = self
            .inner
            .clients
            .client(&client_id)
            .await
            .map_err(Broken::from)?;
        let client = client.ok_or_else(|| doubt("client_unknown"))?;
        let redirect_uri = params.optional("redirect_uri").and_then(|uri| uri.parse().ok());
        let redirect_uri: RedirectUri = redirect_uri.ok_or_else(|| doubt("redirect_uri_missing"))?;
        if !client.may_redirect_to(&redirect_uri) {
            return Err(doubt("redirect_uri_not_registered"));
        }
        let state = params.optional("state").and_then(|state| state.parse().ok());
        let state: Option<State> = state.filter(|_| !repeated.contains(&"state"));
        match details(&params, &repeated, &client, state.as_ref()) {
            Ok(details) => Ok((details.with(client_id, redirect_uri), client)),
            Err((error, reason)) => Err(Refusal::Redirect(Box::new(Redirect {
                to: redirect_uri,
                state,
                error,
                reason,
                client_id,
            }))),
        }
    }

    fn refuse(&self, refusal: Refusal, method: &Method) -> Answer {
        let refused = |reason| AuthEvent::new(AuthEventKind::RequestRefused).because(reason);
        match refusal {
            Refusal::Page(reason, client_id) => Answer::new(
                error_page(),
                vec![AuthEvent {
                    client_id,
                    ..refused(reason)
                }],
            ),
            Refusal::Redirect(redirect) => {
                let error = AuthorizationErrorResponse::new(redirect.error, &self.inner.issuer);
                let response = error
                    .with_state(redirect.state)
                    .into_response(&redirect.to, method);
                Answer::new(response, vec![refused(redirect.reason).by(&redirect.client_id)])
            }
            Refusal::Method => Answer::new(
                method_not_allowed("GET, POST"),
                vec![refused("method_not_allowed")],
            ),
            Refusal::Broken(broken) => broken_page(broken),
        }
    }
}

/// Tells the person, not the client: an error of ours is no reason to leave the page.
pub(super) fn broken_page(broken: Broken) -> Answer {
    let mut response = error_page();
    *response.status_mut() = match broken.error {
        ErrorCode::TemporarilyUnavailable => StatusCode::SERVICE_UNAVAILABLE,
        _ => StatusCode::INTERNAL_SERVER_ERROR,
    };
    let events = vec![broken.event()];
    Answer {
        fault: Some(broken.cause),
        ..Answer::new(response, events)
    }
}

/// The parameters of a GET from its query, of a POST from its form.
fn params(request: &Request<Bytes>) -> Result<Params, Refusal> {
    let text = match *request.method() {
        Method::GET => request.uri().query().unwrap_or_default().as_bytes(),
        Method::POST if is_form(request.headers()) => request.body(),
        Method::POST => return Err(Refusal::Page("content_type_not_a_form", None)),
        _ => return Err(Refusal::Method),
    };
    if text.len() > MAX_BODY {
        return Err(Refusal::Page("request_too_large", None));
    }
    Params::parse(text).map_err(|_| Refusal::Page("malformed_parameters", None))
}

/// Every name that came more than once.
fn repeated(params: &Params) -> Vec<&str> {
    let mut names = REPEATABLE.to_vec();
    while let Some(name) = params.repeated(&names) {
        names.push(name);
    }
    names.split_off(REPEATABLE.len())
}

/// What a request asks for, apart from who asks and where the answer goes.
struct Details {
    scopes: Scopes,
    state: State,
    nonce: Option<Nonce>,
    code_challenge: CodeChallenge,
    login_hint: Option<String>,
}

impl Details {
    fn with(self, client_id: ClientId, redirect_uri: RedirectUri) -> AuthorizationRequest {
        AuthorizationRequest {
            client_id,
            redirect_uri,
            scopes: self.scopes,
            state: self.state,
            nonce: self.nonce,
            code_challenge: self.code_challenge,
            login_hint: self.login_hint,
        }
    }
}

type Reason = (AuthorizationErrorCode, &'static str);

/// Checks everything whose fault the client is told by redirect.
fn details(
    params: &Params,
    repeated: &[&str],
    client: &RegisteredClient,
    state: Option<&State>,
) -> Result<Details, Reason> {
    use AuthorizationErrorCode as Error;
    if !repeated.is_empty() {
        return Err((Error::InvalidRequest, "parameter_repeated"));
    }
    let state = state.ok_or((Error::InvalidRequest, "state_missing"))?;
    offered(params)?;
    if !client.may_use(GrantType::AuthorizationCode) {
        return Err((Error::UnauthorizedClient, "grant_type_not_allowed"));
    }
    let code_challenge = code_challenge(params)?;
    let scopes = params.optional("scope").and_then(|scope| scope.parse().ok());
    let scopes: Scopes = scopes.ok_or((Error::InvalidScope, "scope_missing"))?;
    if !scopes.is_subset(&client.scopes) {
        return Err((Error::InvalidScope, "scope_exceeded"));
    }
    let nonce = nonce(params, &scopes)?;
    if params
        .optional("prompt")
        .is_some_and(|prompt| prompt.split(' ').any(|value| value == "none"))
    {
        // whether somebody is signed in is the host's to know, and asking it takes a page
        return Err((Error::LoginRequired, "prompt_none"));
    }
    Ok(Details {
        scopes,
        state: state.clone(),
        nonce,
        code_challenge,
        login_hint: login_hint(params),
    })
}

/// Refuses what OAuth knows and this server does not offer.
fn offered(params: &Params) -> Result<(), Reason> {
    use AuthorizationErrorCode as Error;
    if params.optional("request").is_some() {
        return Err((Error::RequestNotSupported, "request_object"));
    }
    if params.optional("request_uri").is_some() {
        return Err((Error::RequestUriNotSupported, "request_uri"));
    }
    match params.optional("response_type") {
        Some("code") => {}
        Some(_) => return Err((Error::UnsupportedResponseType, "response_type_unsupported")),
        None => return Err((Error::InvalidRequest, "response_type_missing")),
    }
    match params.optional("response_mode") {
        None | Some("query") => Ok(()),
        Some(_) => Err((Error::InvalidRequest, "response_mode_unsupported")),
    }
}

/// An absent method means `plain` ([RFC 7636 §4.3](https://www.rfc-editor.org/rfc/rfc7636#section-4.3)) and is refused as such.
fn code_challenge(params: &Params) -> Result<CodeChallenge, Reason> {
    use AuthorizationErrorCode as Error;
    if params.optional("code_challenge_method") != Some(pkce::METHOD) {
        return Err((Error::InvalidRequest, "code_challenge_method_not_s256"));
    }
    let challenge = params
        .optional("code_challenge")
        .ok_or((Error::InvalidRequest, "code_challenge_missing"))?;
    challenge
        .parse()
        .map_err(|_| (Error::InvalidRequest, "code_challenge_malformed"))
}

/// Whom the client expects, where the text could be somebody: anybody may send it, and it is stored and shown.
fn login_hint(params: &Params) -> Option<String> {
    let hint = params.optional("login_hint")?;
    let plausible = hint.len() <= MAX_LOGIN_HINT && !hint.chars().any(char::is_control);
    plausible.then(|| hint.to_owned())
}

fn nonce(params: &Params, scopes: &Scopes) -> Result<Option<Nonce>, Reason> {
    use AuthorizationErrorCode as Error;
    let nonce = params.optional("nonce").map(str::parse).transpose();
    let nonce = nonce.map_err(|_| (Error::InvalidRequest, "nonce_malformed"))?;
    if nonce.is_none() && scopes.contains_str(OPENID) {
        return Err((Error::InvalidRequest, "nonce_missing"));
    }
    Ok(nonce)
}
