//! PKCS#8 encoding of private keys, [RFC 5958](https://www.rfc-editor.org/rfc/rfc5958): fixed DER
//! bytes, between which the key is inserted. The back end decodes the DER.

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use zeroize::Zeroizing;

use super::jwk::InvalidKey;

const BEGIN: &str = "-----BEGIN PRIVATE KEY-----";
const END: &str = "-----END PRIVATE KEY-----";

/// DER before a P-256 private key: version 0 and the algorithm `ecPublicKey` on `prime256v1`,
/// followed by an `ECPrivateKey` ([RFC 5915 §3](https://www.rfc-editor.org/rfc/rfc5915#section-3)).
const P256_PREFIX: &[u8] = b"\x30\x81\x87\x02\x01\x00\x30\x13\x06\x07\x2a\x86\x48\xce\x3d\x02\x01\x06\x08\x2a\x86\x48\xce\x3d\x03\x01\x07\
    \x04\x6d\x30\x6b\x02\x01\x01\x04\x20";
/// DER before the optional P-256 public key, which most decoders expect.
const P256_PUBLIC: &[u8] = b"\xa1\x44\x03\x42\x00\x04";
/// DER before a P-256 private key in a document without a public key.
const P256_SHORT_PREFIX: &[u8] = b"\x30\x41\x02\x01\x00\x30\x13\x06\x07\x2a\x86\x48\xce\x3d\x02\x01\x06\x08\x2a\x86\x48\xce\x3d\x03\x01\x07\
    \x04\x27\x30\x25\x02\x01\x01\x04\x20";
/// DER before a P-384 private key: version 0 and the algorithm `ecPublicKey` on `secp384r1`,
/// followed by an `ECPrivateKey`.
const P384_PREFIX: &[u8] =
    b"\x30\x81\xb6\x02\x01\x00\x30\x10\x06\x07\x2a\x86\x48\xce\x3d\x02\x01\x06\x05\x2b\x81\x04\x00\x22\
    \x04\x81\x9e\x30\x81\x9b\x02\x01\x01\x04\x30";
/// DER before the optional P-384 public key.
const P384_PUBLIC: &[u8] = b"\xa1\x64\x03\x62\x00\x04";
/// DER before a P-384 private key in a document without a public key.
const P384_SHORT_PREFIX: &[u8] =
    b"\x30\x4e\x02\x01\x00\x30\x10\x06\x07\x2a\x86\x48\xce\x3d\x02\x01\x06\x05\x2b\x81\x04\x00\x22\
    \x04\x37\x30\x35\x02\x01\x01\x04\x30";
/// DER before an Ed25519 private key, [RFC 8410
/// §7](https://www.rfc-editor.org/rfc/rfc8410#section-7).
const ED25519_PREFIX: &[u8] = b"\x30\x2e\x02\x01\x00\x30\x05\x06\x03\x2b\x65\x70\x04\x22\x04\x20";

/// A private key in PKCS#8 PEM. Store it where only the server can read it.
///
/// Its `Debug` output is redacted, and its memory is overwritten with zeros on drop.
#[derive(Clone)]
pub struct PrivateKeyPem(Zeroizing<String>);

impl PrivateKeyPem {
    /// Returns the PEM text.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for PrivateKeyPem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PrivateKeyPem([redacted])")
    }
}

/// Encodes a P-256 private key without its public key.
pub(super) fn p256_without_public(scalar: &[u8; 32]) -> Zeroizing<Vec<u8>> {
    Zeroizing::new([P256_SHORT_PREFIX, scalar].concat())
}

pub(super) fn p256(scalar: &[u8; 32], x: &[u8; 32], y: &[u8; 32]) -> Zeroizing<Vec<u8>> {
    Zeroizing::new([P256_PREFIX, scalar, P256_PUBLIC, x, y].concat())
}

/// Encodes a P-384 private key without its public key.
pub(super) fn p384_without_public(scalar: &[u8; 48]) -> Zeroizing<Vec<u8>> {
    Zeroizing::new([P384_SHORT_PREFIX, scalar].concat())
}

pub(super) fn p384(scalar: &[u8; 48], x: &[u8; 48], y: &[u8; 48]) -> Zeroizing<Vec<u8>> {
    Zeroizing::new([P384_PREFIX, scalar, P384_PUBLIC, x, y].concat())
}

pub(super) fn ed25519(seed: &[u8; 32]) -> Zeroizing<Vec<u8>> {
    Zeroizing::new([ED25519_PREFIX, seed].concat())
}

/// Encodes PKCS#8 DER as PEM, [RFC 7468 §10](https://www.rfc-editor.org/rfc/rfc7468#section-10).
pub(super) fn to_pem(der: &[u8]) -> PrivateKeyPem {
    let body = Zeroizing::new(STANDARD.encode(der));
    let mut pem = Zeroizing::new(String::with_capacity(body.len() + 80));
    pem.push_str(BEGIN);
    for (index, character) in body.chars().enumerate() {
        if index % 64 == 0 {
            pem.push('\n');
        }
        pem.push(character);
    }
    pem.push('\n');
    pem.push_str(END);
    pem.push('\n');
    PrivateKeyPem(pem)
}

/// Decodes a PEM text with a single private key to DER.
pub(super) fn from_pem(pem: &str) -> Result<Zeroizing<Vec<u8>>, InvalidKey> {
    let body = pem
        .trim()
        .strip_prefix(BEGIN)
        .and_then(|rest| rest.strip_suffix(END))
        .ok_or(InvalidKey)?;
    let body: Zeroizing<String> = Zeroizing::new(body.split_ascii_whitespace().collect());
    STANDARD
        .decode(body.as_bytes())
        .map(Zeroizing::new)
        .map_err(|_| InvalidKey)
}
