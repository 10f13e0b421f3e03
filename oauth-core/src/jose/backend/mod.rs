//! Signature back ends: AWS-LC, or RustCrypto where no C compiler is available.
//!
//! A back end has two functions: `signer` decodes a private key for one algorithm, and `verifier`
//! takes a public key whose format was checked. AWS-LC also generates RSA keys. If the features of
//! both back ends are enabled, AWS-LC is used, because it is several times faster.

#[cfg(feature = "aws-lc-rs")]
mod aws_lc;
#[cfg(all(feature = "rust-crypto", any(test, not(feature = "aws-lc-rs"))))]
mod rust_crypto;

#[cfg(feature = "aws-lc-rs")]
pub(super) use aws_lc::{generate_rsa, signer, verifier};
#[cfg(all(feature = "rust-crypto", not(feature = "aws-lc-rs")))]
pub(super) use rust_crypto::{signer, verifier};

#[cfg(all(test, feature = "aws-lc-rs", feature = "rust-crypto"))]
mod tests;
