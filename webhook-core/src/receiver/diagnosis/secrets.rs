//! Other decodings of a secret that the sender may have used.

use std::fmt;

use base64::{Engine, prelude::BASE64_STANDARD};
use zeroize::Zeroizing;

use super::{Cause, SecretReading};
use crate::{
    secret::{SigningSecret, hex_of},
    signature::{mac::MacKey, scheme::Check},
};

/// Key that may have signed, and the cause that it would prove.
#[derive(Clone)]
pub(super) struct Suspect {
    pub(super) key: MacKey,
    pub(super) cause: Option<Cause>,
}

impl Suspect {
    /// The secret, then its other decodings. Retired secrets have no other decodings.
    pub(super) fn all_of(secret: &SigningSecret, is_retired: bool) -> Vec<Self> {
        let itself = Self {
            key: MacKey::new(Check::HmacSha256, secret),
            cause: is_retired.then_some(Cause::RetiredSecret),
        };
        let mut suspects = vec![itself];
        if !is_retired {
            suspects.extend(readings(secret));
        }
        suspects
    }
}

impl fmt::Debug for Suspect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Suspect(..)")
    }
}

fn readings(secret: &SigningSecret) -> Vec<Suspect> {
    let bytes = secret.expose_bytes();
    let whsec = Zeroizing::new(secret.expose_whsec().into_bytes());
    let encoded = Zeroizing::new(BASE64_STANDARD.encode(bytes).into_bytes());
    let with_newline = Zeroizing::new([bytes, b"\n"].concat());
    let text = str::from_utf8(bytes).unwrap_or_default();
    let as_base64 = BASE64_STANDARD.decode(text.strip_prefix("whsec_").unwrap_or(text));
    [
        (SecretReading::WhsecAsText, Some(whsec)),
        (SecretReading::Base64AsText, Some(encoded)),
        (SecretReading::TextAsBase64, as_base64.ok().map(Zeroizing::new)),
        (SecretReading::TextAsHex, hex_of(text).ok()),
        (SecretReading::WithNewline, Some(with_newline)),
    ]
    .into_iter()
    .filter_map(|(reading, bytes)| {
        let secret = SigningSecret::danger_from_bytes_of_any_length(&bytes?).ok()?;
        Some(Suspect {
            key: MacKey::new(Check::HmacSha256, &secret),
            cause: Some(Cause::Secret(reading)),
        })
    })
    .collect()
}
