//! Authorization requests and responses through the browser: [RFC 6749
//! §4.1.1](https://www.rfc-editor.org/rfc/rfc6749#section-4.1.1) and
//! [§4.1.2](https://www.rfc-editor.org/rfc/rfc6749#section-4.1.2).

mod text;

use std::fmt;
use std::time::{Duration, SystemTime};

pub use self::text::{InvalidPendingText, PendingText};
use super::form::Form;
use super::token::{Expected, TokenResponse};
use super::{AuthorizationParams, Call, Client, NotOffered, OAuthError};
use crate::params::Params;
use crate::pkce::{self, CodeVerifier};
use crate::ports::Entropy;
use crate::secret::AuthorizationCode;
use crate::time::later;
use crate::vocabulary::{Nonce, OPENID, RedirectUri, Scopes, State};

/// Maximum duration of a sign-in: ten minutes.
pub(super) const MAX_AGE: Duration = Duration::from_secs(600);

/// Refusal of an authorization response.
#[non_exhaustive]
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum CallbackError {
    /// A parameter is missing, repeated or malformed, or the response has both a code and an error.
    #[error("the authorization response is malformed")]
    Malformed,
    /// The state is missing or does not match: the response belongs to another browser or request.
    #[error("the state does not match")]
    WrongState,
    /// The response arrived more than ten minutes after the request.
    #[error("the authorization response came after more than ten minutes")]
    Expired,
    /// The response is from another server, or lacks the required `iss`.
    #[error("the authorization response is from another issuer")]
    WrongIssuer,
    /// The server or the user refused.
    #[error("the authorization was refused")]
    Refused(#[source] OAuthError),
}

/// An authorization request whose response has not arrived yet.
///
/// It contains the [`Client`] that created it. The code is redeemed only at the server of this
/// client, with the credentials and the DPoP key of this client ([RFC 9700
/// §4.4](https://www.rfc-editor.org/rfc/rfc9700#section-4.4)).
///
/// # Security
///
/// Keep it in the session of the browser that is redirected. This binds the response to the user
/// ([RFC 9700 §4.7](https://www.rfc-editor.org/rfc/rfc9700#section-4.7)). It cannot be cloned, and
/// [`finish`](Self::finish) consumes it, so that only one response is accepted. To store it outside
/// this process, use [`into_text`](Self::into_text).
///
/// `Debug` shows neither state nor nonce nor code verifier.
pub struct PendingAuthorization {
    client: Client,
    redirect_uri: RedirectUri,
    scopes: Scopes,
    state: State,
    nonce: Option<Nonce>,
    verifier: CodeVerifier,
    max_age: Option<Duration>,
    created_at: SystemTime,
}

impl Client {
    /// Starts a sign-in: returns the URL for the browser, and the pending request.
    ///
    /// Each call generates a new state and code verifier and, with the scope `openid`, a new nonce.
    ///
    /// # Errors
    ///
    /// [`NotOffered`] when the server accepts only pushed requests. Use [`push`](Self::push)
    /// instead.
    pub fn authorize(
        &self,
        params: &AuthorizationParams,
        entropy: &dyn Entropy,
        now: SystemTime,
    ) -> Result<(String, PendingAuthorization), NotOffered> {
        let provider = &self.inner.provider;
        if provider.requires_pushed_authorization_requests {
            return Err(NotOffered::UnpushedAuthorizationRequest);
        }
        let (form, pending) = PendingAuthorization::new(self, params, entropy, now);
        Ok((
            provider.authorization_endpoint.with_query(&form.encode()),
            pending,
        ))
    }
}

impl PendingAuthorization {
    /// Creates a request and its parameters.
    pub(super) fn new(
        client: &Client,
        params: &AuthorizationParams,
        entropy: &dyn Entropy,
        now: SystemTime,
    ) -> (Form, Self) {
        let pending = Self {
            client: client.clone(),
            redirect_uri: params.redirect_uri.clone(),
            scopes: params.scopes.clone(),
            state: State::generate(entropy),
            nonce: params
                .scopes
                .contains_str(OPENID)
                .then(|| Nonce::generate(entropy)),
            verifier: CodeVerifier::generate(entropy),
            max_age: params.max_age,
            created_at: now,
        };
        let mut form = Form::from([
            ("response_type", "code"),
            ("client_id", client.inner.client_id.as_str()),
            ("redirect_uri", pending.redirect_uri.as_str()),
            ("state", pending.state.as_str()),
            ("code_challenge", &pending.verifier.challenge().to_string()),
            ("code_challenge_method", pkce::METHOD),
        ]);
        form.add_some("nonce", pending.nonce.as_ref().map(Nonce::as_str));
        if let Some(key) = &client.inner.dpop {
            form.add("dpop_jkt", &key.thumbprint().to_string());
        }
        params.write(&mut form);
        (form, pending)
    }

    pub(super) fn client(&self) -> &Client {
        &self.client
    }

    /// Returns the state of the request: the key under which a session can store this value.
    #[must_use]
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Checks the authorization response and returns the call that redeems the code. `query` is the
    /// query of the browser's request to the redirect URI. The response must arrive within ten
    /// minutes.
    ///
    /// # Errors
    ///
    /// [`CallbackError`] when the response does not match this request, or is a refusal. The state
    /// and the issuer are checked first, so that a forged response is not reported as a refusal by
    /// the server.
    pub fn finish(self, query: &str, now: SystemTime) -> Result<Call<TokenResponse>, CallbackError> {
        let params = Params::parse(query.as_bytes()).map_err(|_| CallbackError::Malformed)?;
        if params.first_repeated(&[]).is_some() {
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
                return Err(CallbackError::Refused(OAuthError::new(
                    error,
                    params.optional("error_description"),
                )));
            }
            _ => return Err(CallbackError::Malformed),
        };
        Ok(self.redemption(&code))
    }

    /// Compares `iss` without normalisation, [RFC 9207
    /// §2.4](https://www.rfc-editor.org/rfc/rfc9207#section-2.4).
    fn is_from_issuer(&self, issuer: Option<&str>) -> bool {
        let provider = &self.client.inner.provider;
        match issuer {
            Some(issuer) => issuer == provider.issuer.as_str(),
            None => !provider.sends_issuer,
        }
    }

    /// Builds the token request, [RFC 6749
    /// §4.1.3](https://www.rfc-editor.org/rfc/rfc6749#section-4.1.3).
    fn redemption(self, code: &AuthorizationCode) -> Call<TokenResponse> {
        let form = Form::from([
            ("grant_type", "authorization_code"),
            ("code", code.expose()),
            ("redirect_uri", self.redirect_uri.as_str()),
            ("code_verifier", self.verifier.expose()),
        ]);
        let earliest = |max_age| self.created_at.checked_sub(max_age);
        let signed_in_since = self.max_age.and_then(earliest);
        let expected = Expected {
            nonce: self.nonce,
            signed_in_since,
            ..Expected::new(&self.client, self.scopes)
        };
        Call::of_tokens(form, expected)
    }
}

impl fmt::Debug for PendingAuthorization {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PendingAuthorization")
            .field("redirect_uri", &self.redirect_uri)
            .field("scopes", &self.scopes)
            .field("created_at", &self.created_at)
            .finish_non_exhaustive()
    }
}
