use std::time::{Duration, SystemTime};

use http::{HeaderMap, Method};
use subtle::ConstantTimeEq;

use super::proof::Wire;
use super::{ALGORITHMS, Freshness, HEADER, Htu, Nonces};
use crate::jose::{Compact, JwtError};
use crate::secret::TokenHash;
use crate::time::{CLIENT_LEEWAY, PURGE_ALLOWANCE, later};
use crate::vocabulary::Thumbprint;

/// Default maximum age of a proof: one minute.
const WINDOW: Duration = Duration::from_secs(60);
/// Upper limit of the maximum age: five minutes. Replay detection stores each proof about that
/// long.
const MAX_WINDOW: Duration = Duration::from_secs(300);
/// Maximum length of `jti` in bytes.
const MAX_JTI: usize = 256;

/// Reason to refuse a DPoP proof.
///
/// The reason is for the host and its logs. The client learns only that the proof is invalid or
/// needs another nonce.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq, thiserror::Error)]
pub enum ProofError {
    /// The request has no proof.
    #[error("there is no proof of possession")]
    Missing,
    /// The request has several proofs.
    #[error("there are several proofs of possession")]
    Repeated,
    /// The proof is not a JWT, lacks a claim or header member, exceeds 16 KiB, or its `jti` is not
    /// 1 to 256 bytes long.
    #[error("the proof is malformed")]
    Malformed,
    /// `typ` is not `dpop+jwt`.
    #[error("the proof is a token of another type")]
    WrongType,
    /// `alg` is not accepted.
    #[error("the algorithm of the proof is not accepted")]
    UnsupportedAlgorithm,
    /// `jwk` is not a public key for `alg`, or contains a private key.
    #[error("the key of the proof is not usable: unsupported type, or private part")]
    UnusableKey,
    /// The signature does not match the key.
    #[error("the signature of the proof does not match")]
    SignatureMismatch,
    /// `htm` is not the method of the request.
    #[error("the proof is for another method")]
    WrongMethod,
    /// `htu` is not the URL of the request.
    #[error("the proof is for another url")]
    WrongUri,
    /// `nonce` is missing, and the server requires one.
    #[error("the proof has no nonce")]
    NonceMissing,
    /// `nonce` is not a recent nonce of the server.
    #[error("the nonce of the proof is not a recent nonce of the server")]
    NonceMismatch,
    /// `iat` is too old, or `exp` has passed.
    #[error("the proof is too old")]
    TooOld,
    /// `iat` or `nbf` is in the future.
    #[error("the proof is not valid yet")]
    NotYetValid,
    /// `ath` is missing or does not match the access token.
    #[error("the proof is for another access token")]
    WrongAccessToken,
    /// The token is bound to another key.
    #[error("the token is bound to another key than that of the proof")]
    WrongKey,
    /// The proof was presented before (replay).
    #[error("the proof was presented before")]
    Replayed,
}

impl ProofError {
    /// Returns `true` if the client should retry with a nonce that the response contains.
    #[must_use]
    pub const fn wants_nonce(self) -> bool {
        matches!(self, Self::NonceMissing | Self::NonceMismatch)
    }

    /// Returns the error code: `use_dpop_nonce`, `invalid_dpop_proof`, or `invalid_token` if the
    /// proof is valid and the token is bound to another key ([RFC 9449
    /// §7.1](https://www.rfc-editor.org/rfc/rfc9449#section-7.1)).
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::NonceMissing | Self::NonceMismatch => "use_dpop_nonce",
            Self::WrongKey => "invalid_token",
            _ => "invalid_dpop_proof",
        }
    }
}

/// Request that a proof must match.
#[expect(
    clippy::exhaustive_structs,
    reason = "callers build it; a new thing to prove must not go unnoticed"
)]
#[derive(Clone, Copy, Debug)]
pub struct Target<'a> {
    /// Method of the request.
    pub method: &'a Method,
    /// Public URL of the request, from the server's configuration, never from the `Host` of the
    /// request.
    pub uri: &'a Htu,
    /// Access token in the request. With `None`, `ath` is not checked.
    pub access_token: Option<&'a str>,
}

/// Policy for accepting DPoP proofs.
#[derive(Clone, Debug)]
pub struct ProofPolicy {
    window: Duration,
    nonces: Option<Nonces>,
}

impl ProofPolicy {
    /// Creates a policy that accepts proofs of the last minute and requires no nonce. The clock of
    /// the client may be up to ten seconds ahead.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            window: WINDOW,
            nonces: None,
        }
    }

    /// Sets the maximum age of a proof. Default: one minute. Longer values are reduced to five
    /// minutes.
    #[must_use]
    pub fn with_window(mut self, window: Duration) -> Self {
        self.window = window.min(MAX_WINDOW);
        self
    }

    /// Requires a nonce of the server in each proof, so that a client cannot make proofs in
    /// advance.
    #[must_use]
    pub fn with_nonces(mut self, nonces: Nonces) -> Self {
        self.nonces = Some(nonces);
        self
    }

    /// Returns the required nonces.
    #[must_use]
    pub const fn nonces(&self) -> Option<&Nonces> {
        self.nonces.as_ref()
    }

    /// Verifies the proof in the headers of a request by [RFC 9449
    /// §4.3](https://www.rfc-editor.org/rfc/rfc9449#section-4.3). The signature is verified last,
    /// because it is the most expensive check.
    ///
    /// # Errors
    ///
    /// [`ProofError`] when the proof is invalid or missing.
    ///
    /// # Security
    ///
    /// The caller must
    ///
    /// - compare the [`thumbprint`](ProvenKey::thumbprint) with `cnf.jkt` of the access token,
    /// - store the [`replay_key`](ProvenKey::replay_key) until
    ///   [`replayable_until`](ProvenKey::replayable_until),
    /// - refuse the proof as a replay if the key was stored before.
    pub fn verify(
        &self,
        headers: &HeaderMap,
        target: &Target<'_>,
        now: SystemTime,
    ) -> Result<ProvenKey, ProofError> {
        let mut found = headers.get_all(HEADER).iter();
        let proof = found.next().ok_or(ProofError::Missing)?;
        if found.next().is_some() {
            return Err(ProofError::Repeated);
        }
        let proof = proof.to_str().map_err(|_| ProofError::Malformed)?;
        let token = Compact::parse(proof).map_err(malformed)?;
        let key = token.embedded_key(&ALGORITHMS).map_err(malformed)?;
        let wire: Wire<'_> = token.claims().map_err(malformed)?;
        let freshness = self.check(&wire, target, now)?;
        token.verify_embedded(&key).map_err(malformed)?;
        Ok(ProvenKey {
            thumbprint: key.thumbprint(),
            jti: wire.jti.into_owned(),
            uri: target.uri.clone(),
            forgotten_at: later(wire.iat.time(), self.window),
            wants_nonce: freshness == Some(Freshness::Older),
        })
    }

    /// Checks the claims. Returns the age of the nonce if the policy requires nonces.
    fn check(
        &self,
        claims: &Wire<'_>,
        target: &Target<'_>,
        now: SystemTime,
    ) -> Result<Option<Freshness>, ProofError> {
        if !(1..=MAX_JTI).contains(&claims.jti.len()) {
            return Err(ProofError::Malformed);
        }
        if claims.htm != target.method.as_str() {
            return Err(ProofError::WrongMethod);
        }
        if claims.htu.parse::<Htu>().as_ref() != Ok(target.uri) {
            return Err(ProofError::WrongUri);
        }
        let freshness = self.check_nonce(claims, now)?;
        self.check_times(claims, now)?;
        if let Some(token) = target.access_token {
            let expected = TokenHash::new(token).to_string();
            let presented = claims.ath.as_deref().unwrap_or_default();
            if !bool::from(expected.as_bytes().ct_eq(presented.as_bytes())) {
                return Err(ProofError::WrongAccessToken);
            }
        }
        Ok(freshness)
    }

    fn check_nonce(&self, claims: &Wire<'_>, now: SystemTime) -> Result<Option<Freshness>, ProofError> {
        let Some(nonces) = &self.nonces else {
            return Ok(None);
        };
        let nonce = claims.nonce.as_deref().ok_or(ProofError::NonceMissing)?;
        let freshness = nonces.freshness(nonce, now);
        freshness.ok_or(ProofError::NonceMismatch).map(Some)
    }

    fn check_times(&self, claims: &Wire<'_>, now: SystemTime) -> Result<(), ProofError> {
        let is_expired = claims
            .exp
            .is_some_and(|exp| now >= later(exp.time(), CLIENT_LEEWAY));
        if is_expired || now >= later(claims.iat.time(), self.window) {
            return Err(ProofError::TooOld);
        }
        let starts_at = claims
            .nbf
            .map_or(claims.iat.time(), |nbf| nbf.time().max(claims.iat.time()));
        if starts_at > later(now, CLIENT_LEEWAY) {
            return Err(ProofError::NotYetValid);
        }
        Ok(())
    }
}

impl Default for ProofPolicy {
    fn default() -> Self {
        Self::new()
    }
}

/// Key whose possession the sender of a request has proven by a valid DPoP proof.
///
/// Only [`ProofPolicy::verify`] creates values of this type.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ProvenKey {
    thumbprint: Thumbprint,
    jti: String,
    uri: Htu,
    /// Instant from which on the proof is refused as too old.
    forgotten_at: SystemTime,
    wants_nonce: bool,
}

impl ProvenKey {
    /// Returns the JWK thumbprint of the key: `cnf.jkt` of a token that is bound to this key.
    #[must_use]
    pub const fn thumbprint(&self) -> Thumbprint {
        self.thumbprint
    }

    /// Returns the key for a [`ReplayStore`](crate::store::ReplayStore): a hash of purpose, key,
    /// `jti` and URL, so that the keys of different clients never collide.
    #[must_use]
    pub fn replay_key(&self) -> TokenHash {
        // the thumbprint has a fixed length and `jti` follows its length, so the text is
        // unambiguous
        let Self {
            thumbprint, jti, uri, ..
        } = self;
        TokenHash::new(&format!("dpop\0{thumbprint}\0{}\0{jti}\0{uri}", jti.len()))
    }

    /// Returns the instant until which the replay key must be stored: one minute after this server
    /// starts to refuse the proof as too old, because other servers that share the store may have a
    /// clock that is up to one minute behind.
    #[must_use]
    pub fn replayable_until(&self) -> SystemTime {
        later(self.forgotten_at, PURGE_ALLOWANCE)
    }

    /// Returns `true` if the response should contain the newest nonce, because the nonce of the
    /// proof is an older one.
    #[must_use]
    pub const fn wants_nonce(&self) -> bool {
        self.wants_nonce
    }
}

const fn malformed(error: JwtError) -> ProofError {
    match error {
        JwtError::UnsupportedAlgorithm => ProofError::UnsupportedAlgorithm,
        JwtError::WrongType => ProofError::WrongType,
        JwtError::UnknownKey => ProofError::UnusableKey,
        JwtError::SignatureMismatch => ProofError::SignatureMismatch,
        // the other errors that occur here concern the format; no other check of a JWT runs for a
        // proof
        _ => ProofError::Malformed,
    }
}
