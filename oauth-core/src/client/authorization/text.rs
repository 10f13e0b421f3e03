//! Requests whose browser comes back to another machine.

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

/// What the text says of itself, so that what a later version writes is not taken for this.
const VERSION: u8 = 1;

/// The text is none that this version wrote, or of another client's request.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("not an authorization request of this client")]
pub struct InvalidPendingText;

/// A [`PendingAuthorization`] as a text: for a host whose machines share nothing but what the browser brings back, or a session store.
///
/// It has no `Display`, prints as `[redacted]`, and is wiped from memory when dropped.
///
/// # Security
///
/// The code verifier is in it, and the state that ties the answer to the browser. Keep it in the record of this very browser's session;
/// or in a cookie of its own that is encrypted and authenticated, `HttpOnly`, `Secure`, `SameSite=Lax` and gone after ten minutes. Who can
/// read it can redeem a code that was stolen, and who can write it can sign a person in as somebody else. A cookie may come a
/// second time, when the server takes its code no more; a session store takes the text out when the browser is back.
pub struct PendingText(Zeroizing<String>);

impl PendingText {
    /// The text itself, a JSON object, to be sealed or stored and shown to nobody.
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
    /// As a text, in which the time is cut to whole seconds; [`Client::resume`] reads it back.
    ///
    /// ```
    /// # use std::time::{Duration, SystemTime};
    /// # use oauth_core::client::{AuthorizationParams, Client, Provider};
    /// # use oauth_core::ports::OsEntropy;
    /// # let provider = Provider::new("https://as.example".parse()?, "https://as.example/authorize".parse()?, "https://as.example/token".parse()?);
    /// # let client = Client::new(provider, "demo-web".parse()?);
    /// # let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000);
    /// # let params = AuthorizationParams::new("https://app.example/callback".parse()?, "openid".parse()?);
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
        // never grown: a text that moves leaves a copy behind; one escape to a character at most, since all are printable ASCII
        let mut text = Vec::with_capacity(length * 2 + 256);
        // a map of texts and numbers, written to memory: nothing can fail
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
        // one that was lost would not be asked for
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
    /// A request of this client, from the [text](PendingAuthorization::into_text) that its browser brought back, or that its session has.
    ///
    /// A client with a [`DpopKey`](crate::client::DpopKey) needs the same key here as where the request was made.
    ///
    /// # Errors
    ///
    /// It is no such text, or one of another client's request or for another server: begin anew.
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
