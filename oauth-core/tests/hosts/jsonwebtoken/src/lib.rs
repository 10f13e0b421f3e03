//! A host that uses jsonwebtoken with `rust_crypto` beside oauth-core with its default features.
//!
//! jsonwebtoken 11 takes its cryptography from whichever provider feature is on, and panics in
//! `encode` and `decode` if two are on. Features are unified over a build, so oauth-core must
//! enable neither.

/// The claims that this host reads and writes with jsonwebtoken.
#[derive(Debug, PartialEq, serde::Deserialize, serde::Serialize)]
pub struct Claims {
    /// The subject.
    pub sub: String,
    /// The expiry, in seconds since 1970.
    pub exp: u64,
}
