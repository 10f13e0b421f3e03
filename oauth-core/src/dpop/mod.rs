//! Proof of possession, [RFC 9449](https://www.rfc-editor.org/rfc/rfc9449): tokens that are of no use to whoever steals them.
//!
//! A client has a key of its own and signs a [`Proof`] for each request, which travels in the header `DPoP`. The server that the
//! request is for [verifies](ProofPolicy::verify) it: a decision over values, with the present instant as an argument. What it gives is
//! a [`ProvenKey`], and whoever calls has two things left to do: compare its [thumbprint](ProvenKey::thumbprint) with the one that the
//! token is bound to, and, after every other check, spend its [name](ProvenKey::replay_key) in a
//! [`ReplayStore`](crate::store::ReplayStore). The [authorization server](crate::server) and the [resource server](crate::resource) do
//! both.
//!
//! ```
//! use std::time::{Duration, SystemTime};
//! use http::{HeaderMap, Method};
//! use oauth_core::dpop::{HEADER, Htu, Proof, ProofPolicy, Target};
//! use oauth_core::jose::SigningKey;
//! use oauth_core::ports::OsEntropy;
//!
//! let (key, now) = (SigningKey::generate_es256(&OsEntropy)?, SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000));
//!
//! // the client, for each request anew
//! let uri: Htu = "https://api.example/v1/charges?limit=2".parse()?;
//! let proof = Proof::new(Method::GET, uri.clone(), &OsEntropy, now).with_access_token("at_1").sign(&key)?;
//! let headers = HeaderMap::from_iter([(HEADER, proof.to_header())]);
//!
//! // the server; its URL comes from its configuration, and never from the request
//! let target = Target { method: &Method::GET, uri: &uri, access_token: Some("at_1") };
//! let proven = ProofPolicy::new().verify(&headers, &target, now)?;
//! assert_eq!(proven.thumbprint(), key.public_key().thumbprint());
//!
//! // another token, and the proof is of no use
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

/// The header that a proof travels in.
pub const HEADER: HeaderName = HeaderName::from_static("dpop");

/// The header that a nonce is handed out in.
pub const NONCE_HEADER: HeaderName = HeaderName::from_static("dpop-nonce");

/// The algorithms of proofs. RSA is not among them: a stranger's key could be one that takes long to verify with.
pub const ALGORITHMS: [Algorithm; 2] = [Algorithm::Es256, Algorithm::EdDsa];

/// The names of [`ALGORITHMS`], as metadata and challenges list them.
pub(crate) fn algorithms() -> Vec<&'static str> {
    Algorithm::names_of(&ALGORITHMS)
}

#[cfg(test)]
mod tests;
