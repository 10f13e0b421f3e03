//! A signature scheme with its key.

use subtle::ConstantTimeEq as _;
use zeroize::Zeroizing;

use super::{
    SignerScheme,
    mac::{self, MacKey},
    scheme::Check,
};
#[cfg(feature = "ed25519")]
use crate::signature::ed25519::SecretKey;
use crate::{
    event::{EventId, Timestamp},
    secret::{InvalidSecret, SigningSecret},
};

/// Signs messages with one scheme and one key; writes one token of a `Webhook-Signature` header.
#[derive(Clone, Debug)]
pub struct Signer(Key);

#[derive(Clone, Debug)]
enum Key {
    Hmac {
        scheme: SignerScheme,
        secret: SigningSecret,
        key: MacKey,
    },
    #[cfg(feature = "ed25519")]
    Ed25519(SecretKey),
}

impl Signer {
    /// Capacity for a tag, a comma, the longest signature and a space.
    pub(super) const TOKEN_LENGTH: usize = 96;

    /// Creates a signer for [`SignerScheme::TimestampBodyHex`].
    #[must_use]
    pub fn timestamp_body_hex(secret: &SigningSecret) -> Self {
        Self::hmac(SignerScheme::TimestampBodyHex, secret)
    }

    /// Creates a signer for [`SignerScheme::IdTimestampBodyHex`].
    #[must_use]
    pub fn id_timestamp_body_hex(secret: &SigningSecret) -> Self {
        Self::hmac(SignerScheme::IdTimestampBodyHex, secret)
    }

    /// Creates a signer for [`SignerScheme::StandardWebhooks`].
    #[must_use]
    pub fn standard_webhooks(secret: &SigningSecret) -> Self {
        Self::hmac(SignerScheme::StandardWebhooks, secret)
    }

    /// Creates a signer for [`SignerScheme::Ed25519`].
    #[cfg(feature = "ed25519")]
    #[must_use]
    pub fn ed25519(key: &SecretKey) -> Self {
        Self(Key::Ed25519(key.clone()))
    }

    /// Creates a signer from the [`scheme`](Self::scheme) and the
    /// [`expose_text`](Self::expose_text) that a store kept.
    ///
    /// The length of the secret is not checked, so that every stored secret can be loaded. For
    /// secrets that a person enters use [`SigningSecret::from_whsec`], which checks the length.
    ///
    /// # Errors
    ///
    /// [`InvalidSecret`] if `secret` is not a `whsec_` text, or not a `whsk_` text for
    /// [`SignerScheme::Ed25519`].
    pub fn from_text(scheme: SignerScheme, secret: &str) -> Result<Self, InvalidSecret> {
        match scheme {
            #[cfg(feature = "ed25519")]
            SignerScheme::Ed25519 => SecretKey::from_whsk(secret).map(|key| Self(Key::Ed25519(key))),
            _ => SigningSecret::from_exposed(secret).map(|secret| Self::hmac(scheme, &secret)),
        }
    }

    /// The secret as text, for a store that keeps it with the name of the scheme.
    ///
    /// # Security
    ///
    /// The returned text is not wiped from memory. Encrypt it before it is stored, and keep it out
    /// of logs.
    #[must_use]
    pub fn expose_text(&self) -> String {
        match &self.0 {
            Key::Hmac { secret, .. } => secret.expose_whsec(),
            #[cfg(feature = "ed25519")]
            Key::Ed25519(key) => key.expose_whsk(),
        }
    }

    /// Compares scheme and key, in constant time.
    pub(super) fn has_key_of(&self, other: &Self) -> bool {
        let [own, others] = [self, other].map(|signer| Zeroizing::new(signer.expose_text()));
        let same = own.as_bytes().ct_eq(others.as_bytes());
        self.scheme() == other.scheme() && bool::from(same)
    }

    /// Signature scheme.
    #[must_use]
    pub fn scheme(&self) -> SignerScheme {
        match &self.0 {
            Key::Hmac { scheme, .. } => *scheme,
            #[cfg(feature = "ed25519")]
            Key::Ed25519(_) => SignerScheme::Ed25519,
        }
    }

    /// Signs one message; returns the token: tag, comma, signature.
    #[must_use]
    pub fn token(&self, id: &EventId, timestamp: Timestamp, body: &[u8]) -> String {
        let mut token = String::with_capacity(Self::TOKEN_LENGTH);
        self.write_token(id, &timestamp.to_string(), body, &mut token);
        token
    }

    /// Appends the token of one message.
    pub(crate) fn write_token(&self, id: &EventId, timestamp: &str, body: &[u8], text: &mut String) {
        let scheme = self.scheme();
        let pieces = scheme.signed(id.as_str(), timestamp, body);
        text.push_str(scheme.tag());
        text.push(',');
        match &self.0 {
            Key::Hmac { key, .. } => mac::write(scheme.encoding(), &key.mac(&pieces), text),
            #[cfg(feature = "ed25519")]
            Key::Ed25519(key) => key.write(&pieces, text),
        }
    }

    fn hmac(scheme: SignerScheme, secret: &SigningSecret) -> Self {
        Self(Key::Hmac {
            scheme,
            secret: secret.clone(),
            key: MacKey::new(Check::HmacSha256, secret),
        })
    }
}
