//! What an authorization request asks for, once it is known who asks and where the answer goes:
//! [RFC 6749 §4.1.1](https://www.rfc-editor.org/rfc/rfc6749#section-4.1.1) and
//! [OpenID Connect Core §3.1.2.1](https://openid.net/specs/openid-connect-core-1_0.html#AuthRequest).

use std::collections::BTreeSet;
use std::time::Duration;

use super::form;
use crate::error::AuthorizationErrorCode as Error;
use crate::grant::narrow;
use crate::params::Params;
use crate::pkce::{self, CodeChallenge};
use crate::store::{AuthorizationRequest, GrantType, Prompt, RegisteredClient};
use crate::vocabulary::{Audience, Nonce, OPENID, RedirectUri, Scopes, State};

/// Longest hint that is kept, in bytes: an address has at most 254.
const MAX_HINT: usize = 256;

/// The `prompt` that forbids every page.
const NO_PROMPT: &str = "none";

/// What the client is told, and the precise reason, which it is not.
pub(super) type Reason = (Error, &'static str);

/// Checks everything whose fault the client is told; that no parameter is repeated was checked before.
pub(super) fn read(
    params: &Params,
    client: &RegisteredClient,
    redirect_uri: &RedirectUri,
    state: Option<&State>,
    audience: &[Audience],
) -> Result<AuthorizationRequest, Reason> {
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
    Ok(AuthorizationRequest {
        client_id: client.id.clone(),
        redirect_uri: redirect_uri.clone(),
        nonce: nonce(params, &scopes)?,
        scopes,
        resources: resources(params, audience)?,
        state: state.clone(),
        code_challenge,
        prompts: prompts(params)?,
        silent: params.optional("prompt") == Some(NO_PROMPT),
        max_age: max_age(params)?,
        login_hint: hint(params, "login_hint"),
        ui_locales: hint(params, "ui_locales"),
    })
}

/// Refuses what OAuth knows and this server does not offer.
fn offered(params: &Params) -> Result<(), Reason> {
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

/// The resource servers asked for, each of them one that tokens are issued for.
fn resources(params: &Params, audience: &[Audience]) -> Result<Vec<Audience>, Reason> {
    let resources = form::resources(params).map_err(|_| (Error::InvalidTarget, "resource_malformed"))?;
    match narrow(audience, &resources) {
        Some(_) => Ok(resources),
        None => Err((Error::InvalidTarget, "resource_exceeded")),
    }
}

fn nonce(params: &Params, scopes: &Scopes) -> Result<Option<Nonce>, Reason> {
    let nonce = params.optional("nonce").map(str::parse).transpose();
    let nonce = nonce.map_err(|_| (Error::InvalidRequest, "nonce_malformed"))?;
    if nonce.is_none() && scopes.contains_str(OPENID) {
        return Err((Error::InvalidRequest, "nonce_missing"));
    }
    Ok(nonce)
}

/// The pages that the client wants shown. Values that nobody knows are left out, as the specification advises.
fn prompts(params: &Params) -> Result<BTreeSet<Prompt>, Reason> {
    let values: Vec<_> = params.optional("prompt").unwrap_or_default().split(' ').collect();
    match *values.as_slice() {
        ref several if several.len() > 1 && several.contains(&NO_PROMPT) => {
            Err((Error::InvalidRequest, "prompt_none_with_others"))
        }
        ref several => Ok(several.iter().copied().filter_map(Prompt::of).collect()),
    }
}

fn max_age(params: &Params) -> Result<Option<Duration>, Reason> {
    let Some(text) = params.optional("max_age") else {
        return Ok(None);
    };
    // the integer parser would take a plus sign
    let digits = text.bytes().all(|byte| byte.is_ascii_digit()).then_some(text);
    let seconds = digits.and_then(|digits| digits.parse().ok());
    let seconds = seconds.ok_or((Error::InvalidRequest, "max_age_malformed"))?;
    Ok(Some(Duration::from_secs(seconds)))
}

/// Text for the pages, where it could be what it says: anybody may send it, and it is stored and shown.
fn hint(params: &Params, name: &str) -> Option<String> {
    let hint = params.optional(name)?;
    let plausible = hint.len() <= MAX_HINT && !hint.chars().any(char::is_control);
    plausible.then(|| hint.to_owned())
}
