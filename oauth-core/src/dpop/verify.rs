use std::time::{Duration, SystemTime};

use http::{HeaderMap, Method};
use subtle::ConstantTimeEq;

use super::proof::Wire;
use super::{ALGORITHMS, Freshness, HEADER, Htu, Nonces};
use crate::jose::{Compact, JwtError};
use crate::secret::TokenHash;
use crate::time::{CLIENT_LEEWAY, PURGE_ALLOWANCE, later};
use crate::vocabulary::Thumbprint;

/// How old a proof may be unless said otherwise.
const WINDOW: Duration = Duration::from_secs(60);
/// The longest that one may be: each is remembered for as long.
const MAX_WINDOW: Duration = Duration::from_secs(300);
/// Longest `jti` that is looked at, in bytes.
const MAX_JTI: usize = 256;

/// Why a proof proves nothing.
///
/// For logs and for the host; the peer is told no more than that the proof is invalid, or that it needs another nonce.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq, thiserror::Error)]
pub enum ProofError {
    /// There is none.
    #[error("there is no proof of possession")]
    Missing,
    /// There are several.
    #[error("there are several proofs of possession")]
    Repeated,
    /// It is no JWT, or lacks a claim or a member of its header.
    #[error("the proof is malformed")]
    Malformed,
    /// `typ` is not `dpop+jwt`.
    #[error("the proof is a token of another type")]
    WrongType,
    /// `alg` is none that is accepted.
    #[error("the algorithm of the proof is not accepted")]
    UnsupportedAlgorithm,
    /// `jwk` is no public key that verifies this algorithm: it may have a private part.
    #[error("the key of the proof is not usable")]
    UnusableKey,
    /// The signature is not that of the key.
    #[error("the signature of the proof does not match")]
    SignatureMismatch,
    /// `htm` is not the method of the request.
    #[error("the proof is for another method")]
    WrongMethod,
    /// `htu` is not where the request went.
    #[error("the proof is for another url")]
    WrongUri,
    /// There is no `nonce`, and the server wants one of its own.
    #[error("the proof has no nonce")]
    NonceMissing,
    /// `nonce` is none that the server handed out a moment ago.
    #[error("the nonce of the proof is not one of the server's")]
    NonceMismatch,
    /// `iat` is too long ago, or `exp` is reached.
    #[error("the proof is too old")]
    TooOld,
    /// `iat` or `nbf` is in the future.
    #[error("the proof is not valid yet")]
    NotYetValid,
    /// `ath` is missing, or the hash of another access token.
    #[error("the proof is for another access token")]
    WrongAccessToken,
    /// The token is bound to another key.
    #[error("the proof is under another key than the token is bound to")]
    WrongKey,
    /// The proof was presented before.
    #[error("the proof was used before")]
    Replayed,
}

impl ProofError {
    /// Whether another proof, with a nonce of the server's, may do.
    #[must_use]
    pub const fn wants_nonce(self) -> bool {
        matches!(self, Self::NonceMissing | Self::NonceMismatch)
    }

    /// The code on the wire: `use_dpop_nonce`, `invalid_dpop_proof`, or `invalid_token` where the proof is a good one and the token is
    /// not of its key ([RFC 9449 §7.1](https://www.rfc-editor.org/rfc/rfc9449#section-7.1)).
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::NonceMissing | Self::NonceMismatch => "use_dpop_nonce",
            Self::WrongKey => "invalid_token",
            _ => "invalid_dpop_proof",
        }
    }
}

/// The request that a proof has to be for.
#[expect(
    clippy::exhaustive_structs,
    reason = "callers build it; a new thing to prove must not go unnoticed"
)]
#[derive(Clone, Copy, Debug)]
pub struct Target<'a> {
    /// Its method.
    pub method: &'a Method,
    /// Where it went, as the public knows it: from the configuration, never from what the request says of its own host.
    pub uri: &'a Htu,
    /// The access token that it presents.
    pub access_token: Option<&'a str>,
}

/// Which proofs are accepted.
#[derive(Clone, Debug)]
pub struct ProofPolicy {
    window: Duration,
    nonces: Option<Nonces>,
}

impl ProofPolicy {
    /// Proofs that were made within the last minute, by clocks that are up to ten seconds ahead; no nonce is asked for.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            window: WINDOW,
            nonces: None,
        }
    }

    /// Sets how old a proof may be; more than five minutes count as five minutes.
    #[must_use]
    pub fn with_window(mut self, window: Duration) -> Self {
        self.window = window.min(MAX_WINDOW);
        self
    }

    /// Asks for a nonce in each proof, so that none can be made in advance.
    #[must_use]
    pub fn with_nonces(mut self, nonces: Nonces) -> Self {
        self.nonces = Some(nonces);
        self
    }

    /// The nonces that are asked for.
    #[must_use]
    pub const fn nonces(&self) -> Option<&Nonces> {
        self.nonces.as_ref()
    }

    /// Verifies the proof that a request with these headers brings, by
    /// [RFC 9449 §4.3](https://www.rfc-editor.org/rfc/rfc9449#section-4.3): cheap checks first, the signature last.
    ///
    /// # Errors
    ///
    /// Anything is wrong with the proof, or there is none.
    ///
    /// # Security
    ///
    /// The caller has to compare the [`thumbprint`](ProvenKey::thumbprint) with the one that the token is bound to, and to spend
    /// the [`replay_key`](ProvenKey::replay_key) until [`replayable_until`](ProvenKey::replayable_until): seen twice, it is a replay.
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
        token.verify(&key).map_err(malformed)?;
        Ok(ProvenKey {
            thumbprint: key.thumbprint(),
            jti: wire.jti.into_owned(),
            uri: target.uri.clone(),
            forgotten_at: later(wire.iat.time(), self.window),
            wants_nonce: freshness == Some(Freshness::Older),
        })
    }

    /// Every check but that of the signature; the freshness of the nonce, where one is asked for.
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
            let expected = TokenHash::of(token).to_string();
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

/// A key that the sender of a request has proven to have.
///
/// Only [`ProofPolicy::verify`] makes one.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ProvenKey {
    thumbprint: Thumbprint,
    jti: String,
    uri: Htu,
    forgotten_at: SystemTime,
    wants_nonce: bool,
}

impl ProvenKey {
    /// Which key: what a token that is bound to it has as `cnf.jkt`.
    #[must_use]
    pub const fn thumbprint(&self) -> Thumbprint {
        self.thumbprint
    }

    /// What a [`ReplayStore`](crate::store::ReplayStore) knows the proof by: a hash of its purpose, its key, its `jti` and where it went,
    /// so that no client spends what is another's.
    #[must_use]
    pub fn replay_key(&self) -> TokenHash {
        // the lengths of the other parts are known, so that no two are written alike
        let Self {
            thumbprint, jti, uri, ..
        } = self;
        TokenHash::of(&format!("dpop\0{thumbprint}\0{}\0{jti}\0{uri}", jti.len()))
    }

    /// The instant from which nobody need remember it: a minute after it is refused as too old, so that a server whose clock is behind
    /// that of the one that forgets it, by a minute or less, refuses it too.
    #[must_use]
    pub fn replayable_until(&self) -> SystemTime {
        later(self.forgotten_at, PURGE_ALLOWANCE)
    }

    /// Whether the answer should hand out the newest nonce: that of the proof will soon be refused.
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
        // the rest is about claims that no proof has
        _ => ProofError::Malformed,
    }
}
