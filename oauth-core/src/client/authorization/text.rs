//! Text form of a pending authorization request.

use std::borrow::Cow;
use std::fmt;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use super::PendingAuthorization;
use crate::client::Client;
use crate::exchange::MAX_LENGTH;
use crate::json;
use crate::pkce::CodeVerifier;
use crate::vocabulary::{Nonce, OPENID, Scopes};

/// Version of the text form. A text of another version is refused.
const VERSION: u8 = 1;

/// Error for a text that is malformed, has another format version, or belongs to another client or
/// server.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("not a pending authorization request of this client")]
pub struct InvalidPendingText;

/// Text form of a [`PendingAuthorization`], for a session store or an encrypted cookie.
///
/// It has no `Display`, its `Debug` is redacted, and it is wiped from memory when dropped.
///
/// # Security
///
/// It contains the code verifier, and the state that binds the response to the browser. An attacker
/// who can read the text can redeem a stolen code; an attacker who can replace the text can sign
/// the user in to another account.
///
/// - Keep the text in the session record of this browser, or in a cookie that is encrypted and
///   authenticated, `HttpOnly`, `Secure`, `SameSite=Lax` and expires after ten minutes.
/// - Remove the text from a session store when the browser returns. A cookie can be presented
///   twice; the server then refuses the code.
pub struct PendingText(Zeroizing<String>);

impl PendingText {
    /// Returns the text, a JSON object with secrets: encrypt or store it, and do not log it.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for PendingText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PendingText([redacted])")
    }
}

#[derive(Deserialize, Serialize)]
struct Wire<'a> {
    version: u8,
    #[serde(borrow)]
    issuer: Cow<'a, str>,
    #[serde(borrow)]
    client_id: Cow<'a, str>,
    #[serde(borrow)]
    redirect_uri: Cow<'a, str>,
    #[serde(borrow)]
    scope: Cow<'a, str>,
    #[serde(borrow)]
    state: Cow<'a, str>,
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    nonce: Option<Cow<'a, str>>,
    #[serde(borrow)]
    code_verifier: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_age: Option<u64>,
    created_at: u64,
}

impl PendingAuthorization {
    /// Converts the request to its text form, with the time truncated to whole seconds.
    /// [`Client::resume`] reads it.
    ///
    /// ```
    /// # use std::time::{Duration, SystemTime};
    /// # use oauth_core::client::{AuthorizationParams, Client, Provider};
    /// # use oauth_core::ports::OsEntropy;
    /// # let provider = Provider::new(
    /// #     "https://as.example".parse()?,
    /// #     "https://as.example/authorize".parse()?,
    /// #     "https://as.example/token".parse()?,
    /// # );
    /// # let client = Client::new(provider, "demo-web".parse()?);
    /// # let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000);
    /// # let redirect_uri = "https://app.example/callback".parse()?;
    /// # let params = AuthorizationParams::new(redirect_uri, "openid".parse()?);
    /// let (url, pending) = client.authorize(&params, &OsEntropy, now)?;
    /// # let query = format!("code=c&state={}&iss=https%3A%2F%2Fas.example", pending.state());
    /// let text = pending.into_text();
    ///
    /// // … on whichever machine the browser comes back to …
    /// let pending = client.resume(text.expose())?;
    /// let call = pending.finish(&query, now)?;
    /// # drop((url, call));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn into_text(self) -> PendingText {
        let since_1970 = self.created_at.duration_since(SystemTime::UNIX_EPOCH);
        let scopes = self.scopes.to_string();
        let wire = Wire {
            version: VERSION,
            issuer: self.client.provider().issuer().as_str().into(),
            client_id: self.client.client_id().as_str().into(),
            redirect_uri: self.redirect_uri.as_str().into(),
            scope: scopes.as_str().into(),
            state: self.state.as_str().into(),
            nonce: self.nonce.as_ref().map(|nonce| nonce.as_str().into()),
            code_verifier: self.verifier.expose().into(),
            max_age: self.max_age.map(|span| span.as_secs()),
            created_at: since_1970.unwrap_or_default().as_secs(),
        };
        PendingText(wire.write())
    }
}

impl Wire<'_> {
    fn write(&self) -> Zeroizing<String> {
        let texts = [
            &self.issuer,
            &self.client_id,
            &self.redirect_uri,
            &self.scope,
            &self.state,
            &self.code_verifier,
        ];
        let length: usize = texts.into_iter().chain(&self.nonce).map(|text| text.len()).sum();
        // never grown, because a move leaves a copy of the secrets; an escape doubles a character
        // at most
        let mut text = Vec::with_capacity(length * 2 + 256);
        // writing texts and numbers to memory cannot fail
        let written = serde_json::to_writer(&mut text, self);
        debug_assert!(written.is_ok());
        Zeroizing::new(String::from_utf8(text).unwrap_or_default())
    }

    fn read(&self, client: &Client) -> Option<PendingAuthorization> {
        let scopes = match &*self.scope {
            "" => Scopes::default(),
            scopes => scopes.parse().ok()?,
        };
        let nonce = self.nonce.as_deref().map(str::parse::<Nonce>).transpose().ok()?;
        // a lost nonce would disable its check
        if nonce.is_some() != scopes.contains_str(OPENID) {
            return None;
        }
        let verifier: CodeVerifier = self.code_verifier.parse().ok()?;
        Some(PendingAuthorization {
            client: client.clone(),
            redirect_uri: self.redirect_uri.parse().ok()?,
            scopes,
            state: self.state.parse().ok()?,
            nonce,
            verifier,
            max_age: self.max_age.map(Duration::from_secs),
            created_at: SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(self.created_at))?,
        })
    }
}

impl Client {
    /// Restores a request of this client from its [text](PendingAuthorization::into_text).
    ///
    /// A client with a [`DpopKey`](crate::client::DpopKey) must have the same key as when it made
    /// the request.
    ///
    /// # Errors
    ///
    /// [`InvalidPendingText`] when the text is invalid, or belongs to another client or server. The
    /// user must start again.
    pub fn resume(&self, text: &str) -> Result<PendingAuthorization, InvalidPendingText> {
        if text.len() > MAX_LENGTH {
            return Err(InvalidPendingText);
        }
        let wire: Wire<'_> = json::object(text.as_bytes()).map_err(|_| InvalidPendingText)?;
        let is_ours = wire.version == VERSION
            && wire.issuer == self.provider().issuer().as_str()
            && wire.client_id == self.client_id().as_str();
        if !is_ours {
            return Err(InvalidPendingText);
        }
        wire.read(self).ok_or(InvalidPendingText)
    }
}
