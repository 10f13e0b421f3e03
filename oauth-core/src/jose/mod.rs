//! JSON Web Tokens, keys and JWKS: [RFC 7515](https://www.rfc-editor.org/rfc/rfc7515) to [RFC
//! 7519](https://www.rfc-editor.org/rfc/rfc7519), with the best practices of [RFC
//! 8725](https://www.rfc-editor.org/rfc/rfc8725).
//!
//! - A [`SigningKey`] signs [`AccessTokenClaims`] (`at+jwt`, [RFC
//!   9068](https://www.rfc-editor.org/rfc/rfc9068)), [`IdTokenClaims`], [`ClientAssertion`]s and
//!   [`LogoutToken`]s. A [`KeySet`] verifies them.
//! - [`SigningKeys`] rotates the keys of an issuer.
//! - [`RemoteKeySet`] is the JWKS client for the keys of another issuer.
//!
//! A cryptographic back end, AWS-LC or RustCrypto, creates and verifies the signatures. For keys in
//! a hardware module the host implements [`Signer`]. A `verify` function checks header and claims
//! before the signature, because these checks are cheaper, and returns claims only if the signature
//! is valid. It applies these rules:
//!
//! - A token has three segments of canonical base64url, no repeated member in header or claims, and
//!   at most 16 KiB.
//! - The key determines the algorithm, and `alg` must match it. `none` and HMAC are not supported.
//! - `kid` selects the key. `jku`, `jwk`, `x5u` and `x5c` are ignored, except for the `jwk` of a
//!   [DPoP proof](crate::dpop).
//! - `crit`, `b64` and `zip` are refused. `typ` must name the expected type of token; ID tokens,
//!   client assertions and logout tokens may omit it.
//! - `iss` and `aud` are compared byte for byte. Times are compared with the argument `now`.
//!
//! ```
//! use std::time::{Duration, SystemTime};
//! use oauth_core::jose::{AccessTokenClaims, AccessTokenPolicy, KeySet, SigningKey};
//! use oauth_core::ports::OsEntropy;
//! use oauth_core::vocabulary::AccessTokenTerms;
//!
//! let key = SigningKey::generate_es256(&OsEntropy)?;
//! let keys = KeySet::new([key.public_key().clone()])?;
//!
//! let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000);
//! let claims = AccessTokenClaims {
//!     terms: AccessTokenTerms {
//!         subject: "ada".parse()?,
//!         audience: vec!["https://api.example".parse()?],
//!         client_id: "demo-web".parse()?,
//!         scopes: "read:charges".parse()?,
//!         issued_at: now,
//!         expires_at: now + Duration::from_secs(600),
//!         confirmation: None,
//!     },
//!     issuer: "https://as.example".parse()?,
//!     jti: "1".to_owned(),
//!     auth_time: None,
//! };
//! let token = claims.sign(&key)?;
//!
//! let (issuer, audience) = ("https://as.example".parse()?, "https://api.example".parse()?);
//! let policy = AccessTokenPolicy::new(issuer, audience);
//! assert_eq!(AccessTokenClaims::verify(token.expose(), &keys, &policy, now)?, claims);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod access_token;
mod algorithm;
mod backend;
mod claims;
mod client_assertion;
mod compact;
mod crypto;
mod id_token;
mod issuer_keys;
mod issuer_profile;
mod jwk;
mod jwt;
mod key_set;
mod logout_token;
mod pkcs8;
mod remote_key_set;
mod signing_key;
mod signing_keys;
mod stand_in;
#[cfg(feature = "_verifications")]
#[doc(hidden)]
pub mod verifications;

pub use access_token::{AccessTokenClaims, AccessTokenPolicy};
pub use algorithm::{Algorithm, UnknownAlgorithm};
pub(crate) use claims::{Audiences, MAX_LEEWAY, NumericDate, Times};
pub use client_assertion::{ClientAssertion, ClientAssertionPolicy, SignedClientAssertion};
pub(crate) use compact::Compact;
pub use crypto::{Signer, SigningError};
pub(crate) use id_token::IdTokenHint;
pub use id_token::{IdTokenClaims, IdTokenPolicy};
pub use issuer_keys::IssuerKeys;
pub use issuer_profile::IssuerProfile;
pub(crate) use issuer_profile::Profiled;
pub use jwk::{InvalidKey, Jwk};
pub use jwt::JwtError;
pub(crate) use jwt::sign_with_key;
pub use key_set::{InvalidKeySet, KeySet};
pub use logout_token::LogoutToken;
pub use pkcs8::PrivateKeyPem;
pub use remote_key_set::{KeysUnavailable, RemoteKeySet, VerifyError};
pub use signing_key::SigningKey;
pub use signing_keys::SigningKeys;

#[cfg(test)]
mod tests;
