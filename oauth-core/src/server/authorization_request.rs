//! Parameters of an authorization request, parsed after client and redirect URI are known: [RFC
//! 6749 §4.1.1](https://www.rfc-editor.org/rfc/rfc6749#section-4.1.1) and [OpenID Connect Core
//! §3.1.2.1](https://openid.net/specs/openid-connect-core-1_0.html#AuthRequest).

use std::collections::BTreeSet;
use std::time::Duration;

use super::{Inner, form, scope_shape};
use crate::error::{AuthorizationErrorCode as Error, Reason};
use crate::grant::narrow;
use crate::jose::{IdTokenClaims, JwtError};
use crate::params::Params;
use crate::pkce::{self, CodeChallenge};
use crate::store::{AuthorizationRequest, GrantType, Prompt, RegisteredClient};
use crate::vocabulary::{
    Audience, Nonce, OPENID, RedirectUri, ResponseMode, Scopes, State, Subject, Thumbprint,
};

/// Longest `login_hint` or `ui_locales` that is stored, in bytes; an email address has at most 254.
const MAX_HINT: usize = 256;

/// Scope that requests a refresh token, [OpenID Connect Core
/// §11](https://openid.net/specs/openid-connect-core-1_0.html#OfflineAccess).
const OFFLINE_ACCESS: &str = "offline_access";

/// Value of `prompt` with which the host must show no page.
const NO_PROMPT: &str = "none";

/// Error for the client, and the precise reason for the host.
pub(super) type Declined = (Error, Reason);

/// Parses the request and makes the checks whose errors are sent to the client. The caller must
/// check for repeated parameters before.
pub(super) fn read(
    params: &Params,
    client: &RegisteredClient,
    redirect_uri: &RedirectUri,
    state: Option<&State>,
    server: &Inner,
) -> Result<AuthorizationRequest, Declined> {
    // a malformed state is refused even if the client need not send one
    if state.is_none() && (params.optional("state").is_some() || !client.is_state_optional()) {
        return Err((Error::InvalidRequest, Reason::StateMissing));
    }
    offered(params, client, redirect_uri)?;
    if !client.may_use(GrantType::AuthorizationCode) {
        return Err((Error::UnauthorizedClient, Reason::GrantTypeNotAllowed));
    }
    let code_challenge = code_challenge(params)?;
    let silent = params.optional("prompt") == Some(NO_PROMPT);
    let scopes = scopes(params, client)?;
    if server.options.scopes_are_verb_noun && !scopes.iter().all(scope_shape::is_verb_noun) {
        return Err((Error::InvalidScope, Reason::ScopeShape));
    }
    if scopes.contains_str(OPENID)
        && server
            .signing_keys
            .id_token_key(client.id_token_algorithm)
            .is_none()
    {
        return Err((Error::UnauthorizedClient, Reason::IdTokenAlgorithmUnsupported));
    }
    Ok(AuthorizationRequest {
        client_id: client.id.clone(),
        redirect_uri: redirect_uri.clone(),
        nonce: nonce(params, &scopes, server.options.nonce_required)?,
        scopes,
        resources: resources(params, &server.audience)?,
        state: state.cloned(),
        response_mode: response_mode(params),
        code_challenge,
        // if the server does not verify DPoP proofs, the client could never redeem a bound code
        dpop_jkt: match server.possession {
            Some(_) => dpop_jkt(params)?,
            None => None,
        },
        prompts: prompts(params)?,
        silent,
        max_age: max_age(params)?,
        login_hint: hint(params, "login_hint"),
        expected_subject: expected_subject(params, client, silent, server)?,
        ui_locales: hint(params, "ui_locales"),
    })
}

/// Refuses request objects, and response types and modes that this server does not support.
fn offered(params: &Params, client: &RegisteredClient, redirect_uri: &RedirectUri) -> Result<(), Declined> {
    if params.optional("request").is_some() {
        return Err((Error::RequestNotSupported, Reason::RequestObject));
    }
    if params.optional("request_uri").is_some() {
        return Err((Error::RequestUriNotSupported, Reason::RequestUri));
    }
    match params.optional("response_type") {
        Some("code") => {}
        Some(_) => return Err((Error::UnsupportedResponseType, Reason::ResponseTypeUnsupported)),
        None => return Err((Error::InvalidRequest, Reason::ResponseTypeMissing)),
    }
    let mode = params
        .optional("response_mode")
        .unwrap_or(ResponseMode::Query.as_str());
    match ResponseMode::from_name(mode) {
        Some(mode) if mode.can_reach(redirect_uri) && client.may_respond_in(mode) => Ok(()),
        _ => Err((Error::InvalidRequest, Reason::ResponseModeUnsupported)),
    }
}

/// Returns the response mode of a request, also of one that is refused. Absent and unknown values
/// stand for the query.
pub(super) fn response_mode(params: &Params) -> ResponseMode {
    let mode = params.optional("response_mode").and_then(ResponseMode::from_name);
    mode.unwrap_or_default()
}

/// Parses the S256 code challenge. An absent `code_challenge_method` means `plain` ([RFC 7636
/// §4.3](https://www.rfc-editor.org/rfc/rfc7636#section-4.3)), which is refused.
fn code_challenge(params: &Params) -> Result<CodeChallenge, Declined> {
    if params.optional("code_challenge_method") != Some(pkce::METHOD) {
        return Err((Error::InvalidRequest, Reason::CodeChallengeMethodNotS256));
    }
    let challenge = params
        .optional("code_challenge")
        .ok_or((Error::InvalidRequest, Reason::CodeChallengeMissing))?;
    challenge
        .parse()
        .map_err(|_| (Error::InvalidRequest, Reason::CodeChallengeMalformed))
}

/// Parses `dpop_jkt`, the thumbprint of the DPoP key to which the code is bound.
fn dpop_jkt(params: &Params) -> Result<Option<Thumbprint>, Declined> {
    let jkt = params.optional("dpop_jkt").map(str::parse).transpose();
    jkt.map_err(|_| (Error::InvalidRequest, Reason::DpopJktMalformed))
}

/// Parses the values of `resource`, each of which must be an audience of this server.
fn resources(params: &Params, audience: &[Audience]) -> Result<Vec<Audience>, Declined> {
    let resources = form::resources(params).map_err(|_| (Error::InvalidTarget, Reason::ResourceMalformed))?;
    match narrow(audience, &resources) {
        Some(_) => Ok(resources),
        None => Err((Error::InvalidTarget, Reason::ResourceExceeded)),
    }
}

/// Parses `scope`, which must be a subset of the client's registered scopes.
///
/// - An absent `scope` stands for all registered scopes except `openid` ([RFC 6749
///   §3.3](https://www.rfc-editor.org/rfc/rfc6749#section-3.3)).
/// - `offline_access` is ignored if it is not registered: many clients always request it, and the
///   server issues refresh tokens by the client's grant types.
fn scopes(params: &Params, client: &RegisteredClient) -> Result<Scopes, Declined> {
    let missing = (Error::InvalidScope, Reason::ScopeMissing);
    let Some(text) = params.optional("scope") else {
        let default = client.scopes.without(OPENID);
        return if default.is_empty() {
            Err(missing)
        } else {
            Ok(default)
        };
    };
    let scopes: Scopes = text.parse().map_err(|_| missing)?;
    let scopes = without_unregistered_offline_access(scopes, client);
    if scopes.is_empty() || !scopes.is_subset(&client.scopes) {
        return Err((Error::InvalidScope, Reason::ScopeExceeded));
    }
    Ok(scopes)
}

/// Removes `offline_access` from the scopes of a request if it is not registered.
pub(super) fn without_unregistered_offline_access(scopes: Scopes, client: &RegisteredClient) -> Scopes {
    if client.scopes.contains_str(OFFLINE_ACCESS) {
        scopes
    } else {
        scopes.without(OFFLINE_ACCESS)
    }
}

fn nonce(params: &Params, scopes: &Scopes, is_required: bool) -> Result<Option<Nonce>, Declined> {
    let nonce = params.optional("nonce").map(str::parse).transpose();
    let nonce = nonce.map_err(|_| (Error::InvalidRequest, Reason::NonceMalformed))?;
    if is_required && nonce.is_none() && scopes.contains_str(OPENID) {
        return Err((Error::InvalidRequest, Reason::NonceMissing));
    }
    Ok(nonce)
}

/// Parses `prompt`. Unknown values are ignored, as the specification advises.
fn prompts(params: &Params) -> Result<BTreeSet<Prompt>, Declined> {
    let values: Vec<_> = params.optional("prompt").unwrap_or_default().split(' ').collect();
    match *values.as_slice() {
        ref several if several.len() > 1 && several.contains(&NO_PROMPT) => {
            Err((Error::InvalidRequest, Reason::PromptNoneWithOthers))
        }
        ref several => Ok(several.iter().copied().filter_map(Prompt::from_name).collect()),
    }
}

/// Returns the user of `id_token_hint`, an ID token that this server issued to the client. It may
/// have expired.
///
/// If the key of the token is no longer published, the user is unknown: a silent request is
/// refused, because it could be answered for another user, and an interactive request ignores the
/// hint.
fn expected_subject(
    params: &Params,
    client: &RegisteredClient,
    silent: bool,
    server: &Inner,
) -> Result<Option<Subject>, Declined> {
    let Some(token) = params.optional("id_token_hint") else {
        return Ok(None);
    };
    let keys = server.signing_keys.published(server.clock.now());
    match IdTokenClaims::verify_hint(token, &keys, &server.issuer) {
        Ok(hint) if hint.audience.contains(&client.id) => Ok(Some(hint.subject)),
        Err(JwtError::UnknownKey) if !silent => Ok(None),
        Err(JwtError::UnknownKey) => Err((Error::LoginRequired, Reason::LoginRequired)),
        _ => Err((Error::InvalidRequest, Reason::IdTokenHintInvalid)),
    }
}

fn max_age(params: &Params) -> Result<Option<Duration>, Declined> {
    let Some(text) = params.optional("max_age") else {
        return Ok(None);
    };
    // the parser of integers would accept a plus sign
    let digits = text.bytes().all(|byte| byte.is_ascii_digit()).then_some(text);
    let seconds = digits.and_then(|digits| digits.parse().ok());
    let seconds = seconds.ok_or((Error::InvalidRequest, Reason::MaxAgeMalformed))?;
    Ok(Some(Duration::from_secs(seconds)))
}

/// Returns a hint for the host's pages. A hint that is too long or has control characters is
/// ignored, because hints are stored and shown without verification.
fn hint(params: &Params, name: &str) -> Option<String> {
    let hint = params.optional(name)?;
    let plausible = hint.len() <= MAX_HINT && !hint.chars().any(char::is_control);
    plausible.then(|| hint.to_owned())
}
