//! HMAC over the pieces of a message, in hexadecimal and base64.

use std::fmt;

use base64::{Engine, prelude::BASE64_STANDARD};
use hmac::{Hmac, KeyInit};
use sha2::{Sha256, Sha512};
use subtle::ConstantTimeEq as _;
use zeroize::Zeroize as _;

use super::scheme::{Check, Encoding};
use crate::secret::SigningSecret;

/// Length of the longest MAC, that of SHA-512.
const LONGEST: usize = 64;

/// Secret with its precomputed HMAC key schedule. Wiped from memory on drop.
#[derive(Clone)]
pub(crate) enum MacKey {
    Sha256(Hmac<Sha256>),
    // larger than the others
    Sha512(Box<Hmac<Sha512>>),
    #[cfg(feature = "sha1")]
    Sha1(Hmac<sha1::Sha1>),
}

/// MAC, compared in constant time.
#[derive(Clone, Debug)]
pub(crate) struct Mac {
    bytes: [u8; LONGEST],
    length: usize,
}

impl Mac {
    pub(crate) fn as_bytes(&self) -> &[u8] {
        self.bytes.get(..self.length).unwrap_or_default()
    }
}

impl PartialEq for Mac {
    fn eq(&self, other: &Self) -> bool {
        self.as_bytes().ct_eq(other.as_bytes()).into()
    }
}

impl Eq for Mac {}

impl Drop for Mac {
    fn drop(&mut self) {
        self.bytes.zeroize();
    }
}

impl From<&[u8]> for Mac {
    /// Bytes after the 64th are ignored; no MAC is longer.
    fn from(mac: &[u8]) -> Self {
        let mut bytes = [0; LONGEST];
        let length = mac.len().min(LONGEST);
        for (to, from) in bytes.iter_mut().zip(mac) {
            *to = *from;
        }
        Self { bytes, length }
    }
}

impl MacKey {
    /// Prepares the HMAC key for `check`, or for HMAC-SHA256 if `check` is not an HMAC.
    pub(crate) fn new(check: Check, secret: &SigningSecret) -> Self {
        let key = secret.expose_bytes();
        match check {
            Check::HmacSha512 => Self::Sha512(Box::new(prepared(key))),
            #[cfg(feature = "sha1")]
            Check::HmacSha1 => Self::Sha1(prepared(key)),
            _ => Self::Sha256(prepared(key)),
        }
    }

    /// Length of a MAC in bytes.
    pub(crate) fn length(&self) -> usize {
        match self {
            Self::Sha256(_) => 32,
            Self::Sha512(_) => 64,
            #[cfg(feature = "sha1")]
            Self::Sha1(_) => 20,
        }
    }

    /// The MAC of the concatenated pieces.
    pub(crate) fn mac(&self, pieces: &[&[u8]]) -> Mac {
        fn run<M: hmac::Mac + Clone>(key: &M, pieces: &[&[u8]]) -> Mac {
            let mut mac = key.clone();
            for piece in pieces {
                mac.update(piece);
            }
            Mac::from(&*mac.finalize().into_bytes())
        }
        match self {
            Self::Sha256(key) => run(key, pieces),
            Self::Sha512(key) => run(&**key, pieces),
            #[cfg(feature = "sha1")]
            Self::Sha1(key) => run(key, pieces),
        }
    }
}

/// Signature of a message as its sender wrote it, decoded. It is no secret, so it is not wiped.
#[derive(Clone, Copy)]
pub(crate) struct Claimed {
    bytes: [u8; LONGEST],
    length: usize,
}

impl Claimed {
    pub(crate) fn as_bytes(&self) -> &[u8] {
        self.bytes.get(..self.length).unwrap_or_default()
    }
}

impl From<Claimed> for Mac {
    fn from(Claimed { bytes, length }: Claimed) -> Self {
        Self { bytes, length }
    }
}

impl MacKey {
    /// Returns `true` if one of the signatures is the MAC of the concatenated pieces. It compares
    /// all of them, in constant time, and leaves no copy of the MAC.
    pub(crate) fn verifies(&self, pieces: &[&[u8]], claimed: impl Iterator<Item = Claimed>) -> bool {
        fn run<M: hmac::Mac + Clone>(
            key: &M,
            pieces: &[&[u8]],
            claimed: impl Iterator<Item = Claimed>,
        ) -> bool {
            let mut mac = key.clone();
            for piece in pieces {
                mac.update(piece);
            }
            let tag = mac.finalize();
            claimed.fold(false, |is_right, claimed| {
                is_right | bool::from(tag.as_bytes().as_slice().ct_eq(claimed.as_bytes()))
            })
        }
        match self {
            Self::Sha256(key) => run(key, pieces, claimed),
            Self::Sha512(key) => run(&**key, pieces, claimed),
            #[cfg(feature = "sha1")]
            Self::Sha1(key) => run(key, pieces, claimed),
        }
    }
}

fn prepared<M: KeyInit>(key: &[u8]) -> M {
    #[expect(clippy::expect_used, reason = "HMAC takes a key of any length")]
    M::new_from_slice(key).expect("HMAC takes a key of any length")
}

impl fmt::Debug for MacKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MacKey(..)")
    }
}

/// Appends the MAC in `encoding`.
pub(crate) fn write(encoding: Encoding, mac: &Mac, text: &mut String) {
    match encoding {
        Encoding::Hex => write_hex(mac.as_bytes(), text),
        Encoding::Base64 | Encoding::Text => BASE64_STANDARD.encode_string(mac.as_bytes(), text),
    }
}

/// Parses a MAC of `length` bytes in the canonical form of `encoding`.
pub(crate) fn read(encoding: Encoding, length: usize, text: &[u8]) -> Option<Claimed> {
    match encoding {
        Encoding::Hex => read_hex(length, text),
        Encoding::Base64 => read_base64(length, text),
        Encoding::Text => None,
    }
}

/// Appends lowercase hexadecimal.
pub(crate) fn write_hex(bytes: &[u8], text: &mut String) {
    let digit = |value: u8| {
        if value < 10 {
            b'0' + value
        } else {
            b'a' + value - 10
        }
    };
    let mut digits = [0; 2 * LONGEST];
    for (pair, byte) in digits.as_chunks_mut::<2>().0.iter_mut().zip(bytes) {
        *pair = [digit(byte >> 4), digit(byte & 0xf)];
    }
    let digits = digits.get(..2 * bytes.len().min(LONGEST)).unwrap_or_default();
    text.push_str(str::from_utf8(digits).unwrap_or_default());
}

fn read_hex(length: usize, text: &[u8]) -> Option<Claimed> {
    if text.len() != 2 * length {
        return None;
    }
    let mut bytes = [0; LONGEST];
    for (byte, pair) in bytes.iter_mut().zip(text.as_chunks::<2>().0) {
        *byte = hex_digit(pair[0])? << 4 | hex_digit(pair[1])?;
    }
    Some(Claimed { bytes, length })
}

/// The value of a lowercase hexadecimal digit.
fn hex_digit(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    }
}

fn read_base64(length: usize, text: &[u8]) -> Option<Claimed> {
    // the decoder needs space for whole groups of three bytes
    let mut bytes = [0; LONGEST + 2];
    if text.len() != length.div_ceil(3) * 4 || BASE64_STANDARD.decode_slice(text, &mut bytes).ok()? != length
    {
        return None;
    }
    let bytes = *bytes.first_chunk()?;
    Some(Claimed { bytes, length })
}
