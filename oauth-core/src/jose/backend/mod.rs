//! What makes and checks raw signatures: AWS-LC, or RustCrypto where no C compiler is at hand.
//!
//! A back end is two functions over a key whose shape has been checked, so that turning on both, as feature
//! unification may, has one meaning: AWS-LC does the work, because it is several times as fast.

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
