//! Keys of a verifier, and the comparison of signatures.

use std::iter;

use super::VerifyFailure;
#[cfg(feature = "ecdsa")]
use crate::signature::ecdsa;
use crate::{
    secret::{InvalidSecret, Keyring, SigningSecret},
    signature::{
        mac::{self, Mac, MacKey},
        scheme::{Candidates, Check, Encoding, Scheme},
    },
};
#[cfg(feature = "ed25519")]
use crate::{
    secret::{base64_of, hex_of},
    signature::{
        ed25519::{self, PublicKey},
        scheme::KeyText,
    },
};

/// Keys of one kind; any of them may have signed.
#[derive(Clone, Debug)]
pub(super) enum Keys {
    Mac(Keyring<MacKey>),
    /// Secrets that are sent themselves.
    Token(Keyring<SigningSecret>),
    #[cfg(feature = "ed25519")]
    Ed25519(Keyring<PublicKey>),
    #[cfg(feature = "ecdsa")]
    Ecdsa(Keyring<ecdsa::PublicKey>),
}

impl Keys {
    /// Parses the keys of `scheme` as the sender hands them out.
    pub(super) fn parse<T: AsRef<str>>(
        scheme: &Scheme,
        is_lenient: bool,
        keys: impl IntoIterator<Item = T>,
    ) -> Result<Self, InvalidSecret> {
        let secrets = |text: &T| scheme.key.secret(text.as_ref(), is_lenient);
        let keys = Keyring::new(keys).map_err(|_| InvalidSecret("a key ring holds one to eight keys"))?;
        match scheme.check {
            #[cfg(feature = "ed25519")]
            Check::Ed25519 => keys
                .try_map(|text| match scheme.key {
                    KeyText::Whpk => PublicKey::from_whpk(text.as_ref()),
                    KeyText::Hex => PublicKey::from_bytes(&hex_of(text.as_ref())?),
                    _ => PublicKey::from_bytes(&base64_of(text.as_ref(), is_lenient)?),
                })
                .map(Self::Ed25519),
            #[cfg(feature = "ecdsa")]
            Check::EcdsaP256Sha256 => keys
                .try_map(|text| ecdsa::PublicKey::from_spki(text.as_ref()))
                .map(Self::Ecdsa),
            Check::Token => keys.try_map(secrets).map(Self::Token),
            check => keys.try_map(secrets).map(|secrets| Self::mac(check, &secrets)),
        }
    }

    /// No key: no signature is right.
    pub(super) fn none() -> Self {
        Self::Mac(Keyring::empty())
    }

    pub(super) fn mac(check: Check, secrets: &Keyring) -> Self {
        Self::Mac(secrets.map(|secret| MacKey::new(check, secret)))
    }

    /// Checks that at least one key made at least one of the signatures over the pieces.
    pub(super) fn check(
        &self,
        encoding: Encoding,
        signatures: &Candidates<'_>,
        pieces: &[&[u8]],
    ) -> Result<(), VerifyFailure> {
        match self {
            Self::Mac(ring) => check_mac(encoding, ring, signatures, pieces),
            Self::Token(ring) => check_token(ring, signatures),
            #[cfg(feature = "ed25519")]
            Self::Ed25519(ring) => {
                let signatures = signatures.iter().filter_map(|text| ed25519::read(encoding, text));
                check_public(ring, signatures, |key, signature| key.verifies(pieces, signature))
            }
            #[cfg(feature = "ecdsa")]
            Self::Ecdsa(ring) => {
                let signatures = signatures.iter().filter_map(ecdsa::read);
                check_public(ring, signatures, |key, signature| key.verifies(pieces, signature))
            }
        }
    }

    /// MAC of the pieces under the first key; `None` for keys of other kinds.
    pub(super) fn first_mac(&self, pieces: &[&[u8]]) -> Option<Mac> {
        match self {
            Self::Mac(ring) => ring.iter().next().map(|key| key.mac(pieces)),
            _ => None,
        }
    }
}

/// Compares the MAC of every key with every signature, without an early exit.
fn check_mac(
    encoding: Encoding,
    ring: &Keyring<MacKey>,
    signatures: &Candidates<'_>,
    pieces: &[&[u8]],
) -> Result<(), VerifyFailure> {
    let length = ring.iter().next().map_or(0, MacKey::length);
    let mut others = signatures
        .iter()
        .filter_map(|text| mac::read(encoding, length, text));
    let first = others.next().ok_or(VerifyFailure::NoUsableSignature)?;
    let mut is_right = false;
    for key in ring.iter() {
        is_right |= key.verifies(pieces, iter::once(first).chain(others.clone()));
    }
    if is_right {
        Ok(())
    } else {
        Err(VerifyFailure::Mismatch)
    }
}

/// Compares every secret with every token, without an early exit.
fn check_token(ring: &Keyring<SigningSecret>, signatures: &Candidates<'_>) -> Result<(), VerifyFailure> {
    use subtle::ConstantTimeEq as _;

    let mut is_right = false;
    for secret in ring.iter() {
        for token in signatures.iter() {
            is_right |= bool::from(secret.expose_bytes().ct_eq(token));
        }
    }
    if is_right {
        Ok(())
    } else {
        Err(VerifyFailure::Mismatch)
    }
}

/// Tries every key on every signature, at most 8 times 4. Public keys need no constant time.
#[cfg(any(feature = "ed25519", feature = "ecdsa"))]
fn check_public<K, S>(
    ring: &Keyring<K>,
    signatures: impl Iterator<Item = S> + Clone,
    verifies: impl Fn(&K, &S) -> bool,
) -> Result<(), VerifyFailure> {
    use crate::signature::MAX_PUBLIC_KEY_SIGNATURES;

    match signatures.clone().take(MAX_PUBLIC_KEY_SIGNATURES + 1).count() {
        0 => return Err(VerifyFailure::NoUsableSignature),
        1..=MAX_PUBLIC_KEY_SIGNATURES => {}
        _ => return Err(VerifyFailure::TooManySignatures),
    }
    let mut signatures = signatures;
    if signatures.any(|signature| ring.iter().any(|key| verifies(key, &signature))) {
        Ok(())
    } else {
        Err(VerifyFailure::Mismatch)
    }
}
