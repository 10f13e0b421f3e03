//! DPoP, demonstrating proof of possession, [RFC 9449](https://www.rfc-editor.org/rfc/rfc9449):
//! sender-constrained tokens, which are useless to a thief who lacks the client's key.
//!
//! The client signs a [`Proof`] with its key for each request and sends it in the header `DPoP`.
//! The server calls [`ProofPolicy::verify`], which does no I/O, and gets a [`ProvenKey`]. Then the
//! server
//!
//! 1. compares the [thumbprint](ProvenKey::thumbprint) of the key with the thumbprint in the token,
//! 2. after all other checks, stores the [replay key](ProvenKey::replay_key) of the proof in a
//!    [`ReplayStore`](crate::store::ReplayStore), and refuses the proof as a replay if the store
//!    already had it.
//!
//! The [authorization server](crate::server) and the [resource server](crate::resource) of this
//! crate take both steps.
//!
//! ```
//! use std::time::{Duration, SystemTime};
//! use http::{HeaderMap, Method};
//! use oauth_core::dpop::{HEADER, Htu, Proof, ProofPolicy, Target};
//! use oauth_core::jose::SigningKey;
//! use oauth_core::ports::OsEntropy;
//!
//! let key = SigningKey::generate_es256(&OsEntropy)?;
//! let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000);
//!
//! // the client, for each request
//! let uri: Htu = "https://api.example/v1/charges?limit=2".parse()?;
//! let proof = Proof::new(Method::GET, uri.clone(), &OsEntropy, now);
//! let proof = proof.with_access_token("at_1").sign(&key)?;
//! let headers = HeaderMap::from_iter([(HEADER, proof.to_header())]);
//!
//! // the server; its URL comes from its configuration, and never from the request
//! let target = Target { method: &Method::GET, uri: &uri, access_token: Some("at_1") };
//! let proven = ProofPolicy::new().verify(&headers, &target, now)?;
//! assert_eq!(proven.thumbprint(), key.public_key().thumbprint());
//!
//! // with another token the proof is invalid
//! let target = Target { access_token: Some("at_2"), ..target };
//! assert!(ProofPolicy::new().verify(&headers, &target, now).is_err());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod htu;
mod nonce;
mod proof;
mod verify;

use http::HeaderName;

pub use htu::{Htu, InvalidHtu};
pub use nonce::{Freshness, NonceKey, Nonces};
pub use proof::{Proof, SignedProof};
pub use verify::{ProofError, ProofPolicy, ProvenKey, Target};

use crate::jose::Algorithm;

/// Request header with a proof: `DPoP`.
pub const HEADER: HeaderName = HeaderName::from_static("dpop");

/// Response header with a nonce: `DPoP-Nonce`.
pub const NONCE_HEADER: HeaderName = HeaderName::from_static("dpop-nonce");

/// Algorithms that proofs may use. RSA is excluded, because the client chooses its key, and a long
/// RSA key makes verification slow.
pub const ALGORITHMS: [Algorithm; 2] = [Algorithm::Es256, Algorithm::EdDsa];

/// Returns the `alg` values of [`ALGORITHMS`], for metadata and challenges.
pub(crate) fn algorithms() -> Vec<&'static str> {
    Algorithm::names_of(&ALGORITHMS)
}

#[cfg(test)]
mod tests;
