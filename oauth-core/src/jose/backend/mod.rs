//! Signature back ends: AWS-LC, or RustCrypto where no C compiler is available.
//!
//! A back end is two functions over a key whose format was checked. If feature unification enables
//! both, AWS-LC is used, because it is several times faster.

#[cfg(feature = "aws-lc-rs")]
mod aws_lc;
#[cfg(all(feature = "rust-crypto", any(test, not(feature = "aws-lc-rs"))))]
mod rust_crypto;

#[cfg(feature = "aws-lc-rs")]
pub(super) use aws_lc::{signer, verifier};
#[cfg(all(feature = "rust-crypto", not(feature = "aws-lc-rs")))]
pub(super) use rust_crypto::{signer, verifier};

#[cfg(all(test, feature = "aws-lc-rs", feature = "rust-crypto"))]
mod tests;
