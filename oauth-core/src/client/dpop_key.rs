use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use http::{HeaderMap, HeaderValue, Method};

use crate::dpop::{Htu, NONCE_HEADER, Proof};
use crate::jose::{SigningError, SigningKey};
use crate::ports::Entropy;
use crate::secret::AccessToken;
use crate::vocabulary::Thumbprint;

/// Maximum number of servers whose nonces are stored. The server that responded least recently is
/// evicted first.
const MAX_ORIGINS: usize = 64;
/// Longest nonce that is stored, in bytes.
const MAX_NONCE: usize = 1024;

/// DPoP key of a client. The client signs a proof for each request, so that stolen tokens are
/// useless ([RFC 9449](https://www.rfc-editor.org/rfc/rfc9449)).
///
/// It stores the newest nonce of each authorization server and API, and updates it from each
/// response. Cheap to clone; clones share the nonces.
///
/// The refresh tokens of a public client are bound to the key. A host that stores them must also
/// store the key ([`SigningKey::to_pkcs8_pem`]).
///
/// ```
/// use oauth_core::client::{Client, DpopKey, Provider};
/// use oauth_core::jose::SigningKey;
/// use oauth_core::ports::OsEntropy;
///
/// # let provider = Provider::new(
/// #     "https://as.example".parse()?,
/// #     "https://as.example/authorize".parse()?,
/// #     "https://as.example/token".parse()?,
/// # );
/// let key = DpopKey::new(SigningKey::generate_es256(&OsEntropy)?);
/// let client = Client::new(provider, "demo-native".parse()?).with_dpop(key);
/// # drop(client);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct DpopKey {
    inner: Arc<Inner>,
}

struct Inner {
    key: SigningKey,
    /// Newest nonce of each origin; the most recently learned is at the end.
    nonces: Mutex<VecDeque<(Box<str>, Box<str>)>>,
}

impl DpopKey {
    /// Creates a key without stored nonces.
    #[must_use]
    pub fn new(key: SigningKey) -> Self {
        let nonces = Mutex::new(VecDeque::new());
        Self {
            inner: Arc::new(Inner { key, nonces }),
        }
    }

    /// Returns the thumbprint to which tokens are bound: `jkt`.
    #[must_use]
    pub fn thumbprint(&self) -> Thumbprint {
        self.inner.key.public_key().thumbprint()
    }

    /// Signs a proof for one request, for the presented token if there is one. Without `nonce` it
    /// uses the newest one of the server.
    pub(super) fn prove(
        &self,
        method: &Method,
        uri: &Htu,
        (token, nonce): (Option<&AccessToken>, Option<&str>),
        (entropy, now): (&dyn Entropy, SystemTime),
    ) -> Result<HeaderValue, SigningError> {
        let mut proof = Proof::new(method.clone(), uri.clone(), entropy, now);
        if let Some(token) = token {
            proof = proof.with_access_token(token.expose());
        }
        proof.nonce = nonce.map(str::to_owned).or_else(|| self.nonce(uri.origin()));
        Ok(proof.sign(&self.inner.key)?.to_header())
    }

    fn nonce(&self, origin: &str) -> Option<String> {
        let nonces = self.inner.nonces.lock().unwrap_or_else(PoisonError::into_inner);
        let known = nonces.iter().find(|(known, _)| **known == *origin);
        known.map(|(_, nonce)| String::from(&**nonce))
    }

    /// Stores the nonce of a response, if it has one.
    pub(super) fn learn<'h>(&self, uri: &Htu, headers: &'h HeaderMap) -> Option<&'h str> {
        let mut values = headers.get_all(NONCE_HEADER).iter();
        let (Some(nonce), None) = (values.next().and_then(nonce), values.next()) else {
            return None;
        };
        let origin = uri.origin();
        let mut nonces = self.inner.nonces.lock().unwrap_or_else(PoisonError::into_inner);
        nonces.retain(|(known, _)| **known != *origin);
        if nonces.len() >= MAX_ORIGINS {
            nonces.pop_front();
        }
        nonces.push_back((origin.into(), nonce.into()));
        Some(nonce)
    }
}

impl fmt::Debug for DpopKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("DpopKey").field(&self.inner.key).finish()
    }
}

/// `1*NQCHAR`, [RFC 9449 §8.1](https://www.rfc-editor.org/rfc/rfc9449#section-8.1).
fn nonce(value: &HeaderValue) -> Option<&str> {
    let is_nqchar = |byte: u8| matches!(byte, b'!' | b'#'..=b'[' | b']'..=b'~');
    let text = value.to_str().ok()?;
    ((1..=MAX_NONCE).contains(&text.len()) && text.bytes().all(is_nqchar)).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ports::entropy_fn;

    fn key() -> DpopKey {
        DpopKey::new(SigningKey::generate_es256(&entropy_fn(|bytes: &mut [u8]| bytes.fill(7))).unwrap())
    }

    fn from(nonce: &str) -> HeaderMap {
        HeaderMap::from_iter([(NONCE_HEADER, HeaderValue::from_str(nonce).unwrap())])
    }

    fn at(host: usize) -> Htu {
        format!("https://api-{host}.example/charges").parse().unwrap()
    }

    /// O20, 96: a nonce is for the server that gave it out, which is its scheme, host and port, and
    /// the newest counts.
    #[test]
    fn a_nonce_is_kept_for_its_origin() {
        let key = key();
        let token: Htu = "https://as.example/token".parse().unwrap();
        assert_eq!(key.learn(&token, &from("first")), Some("first"));
        let par = "https://AS.example:443/par?x=y".parse().unwrap();
        assert_eq!(key.learn(&par, &from("second")), Some("second"));
        assert_eq!(key.clone().nonce(token.origin()).as_deref(), Some("second"));
        for other in [
            "https://as.example:8443/token",
            "http://as.example/token",
            "https://as.example.evil.com/token",
        ] {
            assert_eq!(key.nonce(other.parse::<Htu>().unwrap().origin()), None, "{other}");
        }
    }

    /// O20, 96: requests to ever new servers take bounded memory, and servers in use are not
    /// evicted.
    #[test]
    fn the_nonces_of_64_servers_are_kept() {
        let key = key();
        let busy: Htu = "https://as.example/token".parse().unwrap();
        for host in 0..1_000 {
            assert!(key.learn(&at(host), &from("n")).is_some());
            assert!(key.learn(&busy, &from(&host.to_string())).is_some());
        }
        assert_eq!(key.inner.nonces.lock().unwrap().len(), MAX_ORIGINS);
        assert_eq!(key.nonce(busy.origin()).as_deref(), Some("999"));
        assert_eq!(key.nonce(at(999).origin()).as_deref(), Some("n"));
        assert_eq!(key.nonce(at(0).origin()), None);
    }

    /// O20, 96: an invalid or repeated nonce is ignored, and the stored one stays.
    #[test]
    fn invalid_nonces_are_ignored() {
        let (key, uri) = (key(), at(1));
        assert!(key.learn(&uri, &from(&"n".repeat(MAX_NONCE))).is_some());
        for nonce in ["", " ", "a b", "a\"b", "a\\b", "a\tb", &"n".repeat(MAX_NONCE + 1)] {
            assert_eq!(key.learn(&uri, &from(nonce)), None, "{nonce:?}");
        }
        let mut several = from("one");
        several.append(NONCE_HEADER, HeaderValue::from_static("two"));
        let binary = HeaderMap::from_iter([(NONCE_HEADER, HeaderValue::from_bytes(b"\xff").unwrap())]);
        for headers in [HeaderMap::new(), several, binary] {
            assert_eq!(key.learn(&uri, &headers), None);
        }
        assert_eq!(key.nonce(uri.origin()), Some("n".repeat(MAX_NONCE)));
    }
}
