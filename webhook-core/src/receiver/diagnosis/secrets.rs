//! Other decodings of a secret that the sender may have used.

use std::fmt;

use base64::{Engine, prelude::BASE64_STANDARD};
use zeroize::Zeroizing;

use super::{Cause, SecretReading};
use crate::{secret::SigningSecret, signature::hmac_sha256::MacKey};

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
            key: MacKey::new(secret),
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
        (SecretReading::TextAsHex, from_hex(text)),
        (SecretReading::WithNewline, Some(with_newline)),
    ]
    .into_iter()
    .filter_map(|(reading, bytes)| {
        let secret = SigningSecret::danger_from_bytes_of_any_length(&bytes?).ok()?;
        Some(Suspect {
            key: MacKey::new(&secret),
            cause: Some(Cause::Secret(reading)),
        })
    })
    .collect()
}

fn from_hex(text: &str) -> Option<Zeroizing<Vec<u8>>> {
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    let bytes = pairs.iter().map(|pair| {
        let digits = str::from_utf8(pair).ok()?;
        // `from_str_radix` accepts a sign
        let is_hex = pair.iter().all(u8::is_ascii_hexdigit);
        is_hex.then(|| u8::from_str_radix(digits, 16).ok())?
    });
    let bytes = bytes.collect::<Option<Vec<u8>>>().map(Zeroizing::new);
    bytes.filter(|_| rest.is_empty())
}
