//! Signatures: the schemes, the signers, and the three headers of a signed message.
//!
//! The sender of this crate signs with a [`SignerScheme`]. [`Signers`] holds all signers of one
//! endpoint, with the old secrets during a rotation, and writes the headers. A receiver verifies
//! the webhooks of any sender with a [`Verifier`](crate::receiver::Verifier), which has one
//! [`Scheme`] and never tries another.
//!
//! ```
//! use std::time::{Duration, SystemTime};
//! use webhook_core::{secret::SigningSecret, signature::{Signer, Signers}};
//!
//! let secret = SigningSecret::from_whsec("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")?;
//! let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_614_265_330);
//! let headers = Signers::from(Signer::standard_webhooks(&secret)).sign(
//!     &"msg_p5jXN8AQM9LWM0D4loKWxJek".parse()?,
//!     now,
//!     br#"{"test": 2432232314}"#,
//! );
//! assert_eq!(headers.timestamp, "1614265330");
//! assert_eq!(headers.signature, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#[cfg(feature = "ecdsa")]
pub(crate) mod ecdsa;
#[cfg(feature = "ed25519")]
pub mod ed25519;
pub(crate) mod mac;
pub mod scheme;
mod signer;
mod signers;

use std::{fmt, str::FromStr};

use http::HeaderName;

use self::scheme::{Encoding, Scheme};
pub use signer::Signer;
pub use signers::{ActiveSigner, InvalidSigners, SignatureHeaders, Signers};

/// Maximum number of public-key signatures of one message that a receiver verifies.
///
/// Each signature costs one verification per key, which hashes the body, and any client can send
/// signatures. A sender that rotates its key sends two signatures.
#[cfg(any(feature = "ecdsa", feature = "ed25519"))]
pub(crate) const MAX_PUBLIC_KEY_SIGNATURES: usize = 4;

/// `Webhook-Id`: the event id, the same for every attempt.
pub const WEBHOOK_ID: HeaderName = HeaderName::from_static("webhook-id");
/// `Webhook-Timestamp`: the time at which this attempt was signed, in Unix seconds.
pub const WEBHOOK_TIMESTAMP: HeaderName = HeaderName::from_static("webhook-timestamp");
/// `Webhook-Signature`: space-separated tokens, each a tag, a comma and a signature.
pub const WEBHOOK_SIGNATURE: HeaderName = HeaderName::from_static("webhook-signature");

/// Signature scheme of a [`Signer`]: the signed text, the algorithm, and the encoding.
///
/// The two hexadecimal schemes and Standard Webhooks share the tag `v1`, although their signed text
/// or encoding differs. So the host must configure the scheme of a receiver. A sender may put
/// signatures of several schemes into one header.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum SignerScheme {
    /// `v1,` and the HMAC-SHA256 of `timestamp.body` in lowercase hexadecimal.
    ///
    /// # Security
    ///
    /// The `Webhook-Id` header is not signed. Detect duplicates by the id inside the body, as
    /// [`Verified::authenticated_id`](crate::receiver::Verified::authenticated_id) does.
    TimestampBodyHex,
    /// `v1,` and the HMAC-SHA256 of `id.timestamp.body` in lowercase hexadecimal.
    IdTimestampBodyHex,
    /// `v1,` and the HMAC-SHA256 of `id.timestamp.body` in base64, as in [Standard
    /// Webhooks](https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md).
    StandardWebhooks,
    /// `v1a,` and the Ed25519 signature of `id.timestamp.body` in base64: the asymmetric scheme of
    /// Standard Webhooks.
    #[cfg(feature = "ed25519")]
    Ed25519,
}

impl SignerScheme {
    const ALL: &[Self] = &[
        Self::TimestampBodyHex,
        Self::IdTimestampBodyHex,
        Self::StandardWebhooks,
        #[cfg(feature = "ed25519")]
        Self::Ed25519,
    ];

    /// Name for configuration files and stores; [`FromStr`] parses it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::TimestampBodyHex => "timestamp-body-hex",
            Self::IdTimestampBodyHex => "id-timestamp-body-hex",
            Self::StandardWebhooks => "standard-webhooks",
            #[cfg(feature = "ed25519")]
            Self::Ed25519 => "ed25519",
        }
    }

    /// Returns `true` if the signature covers the `Webhook-Id` header.
    #[must_use]
    pub fn signs_id(self) -> bool {
        self != Self::TimestampBodyHex
    }

    /// The tag before the comma of a token.
    pub(crate) fn tag(self) -> &'static str {
        match self {
            Self::TimestampBodyHex | Self::IdTimestampBodyHex | Self::StandardWebhooks => "v1",
            #[cfg(feature = "ed25519")]
            Self::Ed25519 => "v1a",
        }
    }

    /// Scheme with which a receiver verifies the signatures.
    pub(crate) fn verified_by(self) -> &'static Scheme {
        match self {
            Self::TimestampBodyHex => &Scheme::TIMESTAMP_BODY_HEX,
            Self::IdTimestampBodyHex => &Scheme::ID_TIMESTAMP_BODY_HEX,
            Self::StandardWebhooks => &Scheme::STANDARD_WEBHOOKS,
            #[cfg(feature = "ed25519")]
            Self::Ed25519 => &Scheme::STANDARD_WEBHOOKS_ED25519,
        }
    }

    /// Encoding of the signature.
    pub(crate) fn encoding(self) -> Encoding {
        match self {
            Self::TimestampBodyHex | Self::IdTimestampBodyHex => Encoding::Hex,
            Self::StandardWebhooks => Encoding::Base64,
            #[cfg(feature = "ed25519")]
            Self::Ed25519 => Encoding::Base64,
        }
    }

    /// The signed text in pieces, so that the body is not copied.
    pub(crate) fn signed<'a>(self, id: &'a str, timestamp: &'a str, body: &'a [u8]) -> [&'a [u8]; 5] {
        let (id, dot): (&[u8], &[u8]) = if self.signs_id() {
            (id.as_bytes(), b".")
        } else {
            (b"", b"")
        };
        [id, dot, timestamp.as_bytes(), b".", body]
    }
}

impl fmt::Display for SignerScheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for SignerScheme {
    type Err = UnknownScheme;

    fn from_str(name: &str) -> Result<Self, UnknownScheme> {
        Self::ALL
            .iter()
            .copied()
            .find(|scheme| scheme.as_str() == name)
            .ok_or(UnknownScheme(()))
    }
}

/// Error: not the name of a scheme.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("not the name of a signature scheme")]
pub struct UnknownScheme(());
