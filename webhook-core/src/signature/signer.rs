//! One scheme with the key it signs with.

use subtle::ConstantTimeEq as _;
use zeroize::Zeroizing;

use super::{
    Scheme,
    hmac_sha256::{self, MacKey},
};
#[cfg(feature = "ed25519")]
use crate::signature::ed25519::SecretKey;
use crate::{
    event::{EventId, Timestamp},
    secret::{InvalidSecret, SigningSecret},
};

/// Makes one token of a `Webhook-Signature` header.
#[derive(Clone, Debug)]
pub struct Signer(Key);

#[derive(Clone, Debug)]
enum Key {
    Hmac {
        scheme: Scheme,
        secret: SigningSecret,
        key: MacKey,
    },
    #[cfg(feature = "ed25519")]
    Ed25519(SecretKey),
}

impl Signer {
    /// Room for a tag, a comma, the longest signature and a space.
    pub(super) const TOKEN_LENGTH: usize = 96;

    /// Signs by [`Scheme::TimestampBodyHex`].
    #[must_use]
    pub fn timestamp_body_hex(secret: &SigningSecret) -> Self {
        Self::hmac(Scheme::TimestampBodyHex, secret)
    }

    /// Signs by [`Scheme::IdTimestampBodyHex`].
    #[must_use]
    pub fn id_timestamp_body_hex(secret: &SigningSecret) -> Self {
        Self::hmac(Scheme::IdTimestampBodyHex, secret)
    }

    /// Signs by [`Scheme::StandardWebhooks`].
    #[must_use]
    pub fn standard_webhooks(secret: &SigningSecret) -> Self {
        Self::hmac(Scheme::StandardWebhooks, secret)
    }

    /// Signs by [`Scheme::Ed25519`].
    #[cfg(feature = "ed25519")]
    #[must_use]
    pub fn ed25519(key: &SecretKey) -> Self {
        Self(Key::Ed25519(key.clone()))
    }

    /// Reads what [`scheme`](Self::scheme) and [`expose_text`](Self::expose_text) gave, from a store.
    ///
    /// Takes a secret of any length back, as the store was given it. One that comes from a person is for
    /// [`SigningSecret::from_whsec`].
    ///
    /// # Errors
    ///
    /// When `secret` is not a `whsec_` text, or for [`Scheme::Ed25519`] not a `whsk_` text.
    pub fn from_text(scheme: Scheme, secret: &str) -> Result<Self, InvalidSecret> {
        match scheme {
            #[cfg(feature = "ed25519")]
            Scheme::Ed25519 => SecretKey::from_whsk(secret).map(|key| Self(Key::Ed25519(key))),
            _ => SigningSecret::from_exposed(secret).map(|secret| Self::hmac(scheme, &secret)),
        }
    }

    /// The secret as a text that a store can keep beside the name of the scheme.
    ///
    /// # Security
    ///
    /// The text is not wiped from memory. Seal it before it is stored, and keep it out of logs.
    #[must_use]
    pub fn expose_text(&self) -> String {
        match &self.0 {
            Key::Hmac { secret, .. } => secret.expose_whsec(),
            #[cfg(feature = "ed25519")]
            Key::Ed25519(key) => key.expose_whsk(),
        }
    }

    /// Whether both sign in the same way with the same key, told in constant time.
    pub(super) fn has_key_of(&self, other: &Self) -> bool {
        let [own, others] = [self, other].map(|signer| Zeroizing::new(signer.expose_text()));
        let same = own.as_bytes().ct_eq(others.as_bytes());
        self.scheme() == other.scheme() && bool::from(same)
    }

    /// How it signs.
    #[must_use]
    pub fn scheme(&self) -> Scheme {
        match &self.0 {
            Key::Hmac { scheme, .. } => *scheme,
            #[cfg(feature = "ed25519")]
            Key::Ed25519(_) => Scheme::Ed25519,
        }
    }

    /// The token for one message: tag, comma, signature.
    #[must_use]
    pub fn token(&self, id: &EventId, timestamp: Timestamp, body: &[u8]) -> String {
        let mut token = String::with_capacity(Self::TOKEN_LENGTH);
        self.write_token(id, &timestamp.to_string(), body, &mut token);
        token
    }

    /// Appends the token for one message.
    pub(crate) fn write_token(&self, id: &EventId, timestamp: &str, body: &[u8], text: &mut String) {
        let scheme = self.scheme();
        let pieces = scheme.signed(id.as_str(), timestamp, body);
        text.push_str(scheme.tag());
        text.push(',');
        match &self.0 {
            Key::Hmac { key, .. } => hmac_sha256::write(scheme.encoding(), &key.mac(&pieces), text),
            #[cfg(feature = "ed25519")]
            Key::Ed25519(key) => key.write(&pieces, text),
        }
    }

    fn hmac(scheme: Scheme, secret: &SigningSecret) -> Self {
        Self(Key::Hmac {
            scheme,
            secret: secret.clone(),
            key: MacKey::new(secret),
        })
    }
}
