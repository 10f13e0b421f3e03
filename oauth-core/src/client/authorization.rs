//! The way through the browser: [RFC 6749 §4.1.1](https://www.rfc-editor.org/rfc/rfc6749#section-4.1.1) and
//! [§4.1.2](https://www.rfc-editor.org/rfc/rfc6749#section-4.1.2).

use std::time::{Duration, SystemTime};

use super::token::ErrorAnswer;
use super::{Client, Provider};
use crate::params::{self, Params};
use crate::pkce::{self, CodeVerifier};
use crate::ports::Entropy;
use crate::secret::AuthorizationCode;
use crate::time::later;
use crate::vocabulary::{ClientId, Nonce, OPENID, RedirectUri, Scopes, State};

/// How long a person may take to sign in.
const MAX_AGE: Duration = Duration::from_secs(600);

/// Why the answer that came through the browser is not used.
#[non_exhaustive]
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum CallbackError {
    /// A parameter is missing or repeated, or there is both a code and an error.
    #[error("the authorization response is malformed")]
    Malformed,
    /// The state is missing or not that of the request: this browser did not ask for it.
    #[error("the state does not match")]
    WrongState,
    /// The answer took more than ten minutes.
    #[error("the authorization request is too old")]
    Expired,
    /// Another server answered than was asked, or it does not say who it is.
    #[error("the authorization response is from another issuer")]
    WrongIssuer,
    /// The server or the person said no.
    #[error("the authorization was refused")]
    Refused(#[source] ErrorAnswer),
}

/// An authorization request that a browser is on its way with.
///
/// # Security
///
/// Keep it in the session of the very browser that is sent away: this is what ties the answer to the person
/// ([RFC 9700 §4.7](https://www.rfc-editor.org/rfc/rfc9700#section-4.7)). It cannot be cloned, and finishing
/// consumes it.
#[derive(Debug)]
pub struct PendingAuthorization {
    provider: Provider,
    client_id: ClientId,
    redirect_uri: RedirectUri,
    scopes: Scopes,
    state: State,
    nonce: Option<Nonce>,
    verifier: CodeVerifier,
    created_at: SystemTime,
}

/// A code and all that is needed to redeem it, once.
#[derive(Debug)]
pub struct AuthorizationGrant {
    pub(super) provider: Provider,
    pub(super) client_id: ClientId,
    pub(super) code: AuthorizationCode,
    pub(super) verifier: CodeVerifier,
    pub(super) redirect_uri: RedirectUri,
    pub(super) scopes: Scopes,
    pub(super) nonce: Option<Nonce>,
}

impl Client {
    /// Starts a sign-in: the URL to send the browser to, and what to remember meanwhile.
    ///
    /// State, code verifier and, with the scope `openid`, nonce are fresh for each call.
    #[must_use]
    pub fn authorize(
        &self,
        scopes: &Scopes,
        entropy: &dyn Entropy,
        now: SystemTime,
    ) -> (String, PendingAuthorization) {
        let pending = PendingAuthorization {
            provider: self.provider.clone(),
            client_id: self.client_id.clone(),
            redirect_uri: self.redirect_uri.clone(),
            scopes: scopes.clone(),
            state: State::generate(entropy),
            nonce: scopes.contains_str(OPENID).then(|| Nonce::generate(entropy)),
            verifier: CodeVerifier::generate(entropy),
            created_at: now,
        };
        let (scope, challenge) = (scopes.to_string(), pending.verifier.challenge().to_string());
        let required = [
            ("response_type", "code"),
            ("client_id", self.client_id.as_str()),
            ("redirect_uri", self.redirect_uri.as_str()),
            ("state", pending.state.as_str()),
            ("code_challenge", &challenge),
            ("code_challenge_method", pkce::METHOD),
        ];
        let scope = (!scopes.is_empty()).then_some(("scope", scope.as_str()));
        let nonce = pending.nonce.as_ref().map(|nonce| ("nonce", nonce.as_str()));
        let query = params::encode(required.into_iter().chain(scope).chain(nonce));
        (self.provider.authorization_endpoint.with_query(&query), pending)
    }
}

impl PendingAuthorization {
    /// The state of the request: a name under which to find this value again.
    #[must_use]
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Takes the answer: the query with which the browser came back to the redirect URI.
    ///
    /// # Errors
    ///
    /// The answer is not one to this request, or it is a refusal. Who refuses is checked first, so that
    /// nobody can put words into the server's mouth.
    pub fn finish(self, query: &str, now: SystemTime) -> Result<AuthorizationGrant, CallbackError> {
        let params = Params::parse(query.as_bytes()).map_err(|_| CallbackError::Malformed)?;
        if params.repeated(&[]).is_some() {
            return Err(CallbackError::Malformed);
        }
        if !params
            .optional("state")
            .is_some_and(|state| self.state.matches(state))
        {
            return Err(CallbackError::WrongState);
        }
        if now >= later(self.created_at, MAX_AGE) {
            return Err(CallbackError::Expired);
        }
        if !self.is_from_issuer(params.optional("iss")) {
            return Err(CallbackError::WrongIssuer);
        }
        let code = match (params.optional("code"), params.optional("error")) {
            (Some(code), None) => code.parse().map_err(|_| CallbackError::Malformed)?,
            (None, Some(error)) => {
                return Err(CallbackError::Refused(ErrorAnswer::new(
                    error,
                    params.optional("error_description"),
                )));
            }
            _ => return Err(CallbackError::Malformed),
        };
        Ok(AuthorizationGrant {
            provider: self.provider,
            client_id: self.client_id,
            code,
            verifier: self.verifier,
            redirect_uri: self.redirect_uri,
            scopes: self.scopes,
            nonce: self.nonce,
        })
    }

    /// [RFC 9207 §2.4](https://www.rfc-editor.org/rfc/rfc9207#section-2.4): compared without any
    /// normalisation.
    fn is_from_issuer(&self, issuer: Option<&str>) -> bool {
        match issuer {
            Some(issuer) => issuer == self.provider.issuer.as_str(),
            None => !self.provider.sends_issuer,
        }
    }
}
