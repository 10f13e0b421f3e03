//! HMAC-SHA256 over the pieces of a message, in hexadecimal and base64.

use std::fmt;

use base64::{Engine, prelude::BASE64_STANDARD};
use hmac::{Hmac, KeyInit, Mac, digest::CtOutput};
use sha2::Sha256;

use crate::secret::SigningSecret;

const LENGTH: usize = 32;
const HEX_LENGTH: usize = 2 * LENGTH;
const BASE64_LENGTH: usize = 44;

/// Secret with its precomputed HMAC key schedule. Wiped from memory on drop.
#[derive(Clone)]
pub(crate) struct MacKey(Hmac<Sha256>);

/// MAC, compared in constant time.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct MacBytes(CtOutput<Hmac<Sha256>>);

impl From<[u8; LENGTH]> for MacBytes {
    fn from(bytes: [u8; LENGTH]) -> Self {
        Self(CtOutput::new(bytes.into()))
    }
}

impl MacKey {
    pub(crate) fn new(secret: &SigningSecret) -> Self {
        #[expect(clippy::expect_used, reason = "HMAC takes a key of any length")]
        Self(Hmac::new_from_slice(secret.expose_bytes()).expect("HMAC takes a key of any length"))
    }

    /// The MAC of the concatenated pieces.
    pub(crate) fn mac(&self, pieces: &[&[u8]]) -> MacBytes {
        let mut mac = self.0.clone();
        for piece in pieces {
            mac.update(piece);
        }
        MacBytes(mac.finalize())
    }
}

impl fmt::Debug for MacKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MacKey(..)")
    }
}

/// Text encoding of a MAC.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Encoding {
    /// 64 lowercase hexadecimal digits.
    Hex,
    /// 44 base64 characters, the last one padding.
    Base64,
}

/// Appends the MAC in `encoding`.
pub(crate) fn write(encoding: Encoding, mac: &MacBytes, text: &mut String) {
    match encoding {
        Encoding::Hex => write_hex(mac, text),
        Encoding::Base64 => BASE64_STANDARD.encode_string(mac.0.as_bytes(), text),
    }
}

/// Parses a MAC in the canonical form of `encoding`.
pub(crate) fn read(encoding: Encoding, text: &[u8]) -> Option<MacBytes> {
    match encoding {
        Encoding::Hex => read_hex(text),
        Encoding::Base64 => read_base64(text),
    }
}

fn write_hex(mac: &MacBytes, text: &mut String) {
    let digit = |value: u8| {
        if value < 10 {
            b'0' + value
        } else {
            b'a' + value - 10
        }
    };
    let mut digits = [0; HEX_LENGTH];
    for (pair, byte) in digits.as_chunks_mut::<2>().0.iter_mut().zip(mac.0.as_bytes()) {
        *pair = [digit(byte >> 4), digit(byte & 0xf)];
    }
    text.push_str(str::from_utf8(&digits).unwrap_or_default());
}

fn read_hex(text: &[u8]) -> Option<MacBytes> {
    if text.len() != HEX_LENGTH {
        return None;
    }
    let mut mac = [0; LENGTH];
    for (byte, pair) in mac.iter_mut().zip(text.as_chunks::<2>().0) {
        *byte = hex_digit(pair[0])? << 4 | hex_digit(pair[1])?;
    }
    Some(mac.into())
}

/// The value of a lowercase hexadecimal digit.
fn hex_digit(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    }
}

fn read_base64(text: &[u8]) -> Option<MacBytes> {
    // the decoder needs space for whole groups of three bytes
    let mut decoded = [0; LENGTH + 1];
    if text.len() != BASE64_LENGTH || BASE64_STANDARD.decode_slice(text, &mut decoded).ok()? != LENGTH {
        return None;
    }
    decoded.first_chunk().map(|mac| MacBytes::from(*mac))
}
