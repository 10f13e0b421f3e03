//! Keys of a verifier, and the comparison of signatures.

use super::VerifyFailure;
#[cfg(feature = "ed25519")]
use crate::signature::ed25519::{self, PublicKey};
use crate::{
    secret::Keyring,
    signature::{
        Scheme,
        header::SignatureList,
        hmac_sha256::{self, MacKey},
    },
};

/// Keys of one scheme; any of them may have signed.
#[derive(Clone, Debug)]
pub(super) enum Keys {
    Hmac {
        scheme: Scheme,
        ring: Keyring<MacKey>,
    },
    #[cfg(feature = "ed25519")]
    Ed25519(Keyring<PublicKey>),
}

impl Keys {
    pub(super) fn scheme(&self) -> Scheme {
        match self {
            Self::Hmac { scheme, .. } => *scheme,
            #[cfg(feature = "ed25519")]
            Self::Ed25519(_) => Scheme::Ed25519,
        }
    }

    /// Checks that at least one key made at least one of the signatures over the pieces.
    pub(super) fn check(
        &self,
        signatures: &SignatureList<'_>,
        pieces: &[&[u8]],
    ) -> Result<(), VerifyFailure> {
        match self {
            Self::Hmac { scheme, ring } => check_hmac(*scheme, ring, signatures, pieces),
            #[cfg(feature = "ed25519")]
            Self::Ed25519(ring) => check_ed25519(ring, signatures, pieces),
        }
    }
}

/// Compares the MAC of every key with every signature, without an early exit.
fn check_hmac(
    scheme: Scheme,
    ring: &Keyring<MacKey>,
    signatures: &SignatureList<'_>,
    pieces: &[&[u8]],
) -> Result<(), VerifyFailure> {
    let mut candidates = signatures
        .tagged(scheme.tag())
        .filter_map(|text| hmac_sha256::read(scheme.encoding(), text))
        .peekable();
    candidates.peek().ok_or(VerifyFailure::NoUsableSignature)?;
    let mut macs = [const { None }; Keyring::<MacKey>::CAPACITY];
    for (mac, key) in macs.iter_mut().zip(ring.iter()) {
        *mac = Some(key.mac(pieces));
    }
    let mut right = false;
    for candidate in candidates {
        for mac in macs.iter().map_while(Option::as_ref) {
            right |= *mac == candidate;
        }
    }
    if right {
        Ok(())
    } else {
        Err(VerifyFailure::Mismatch)
    }
}

/// Tries every key on every signature, at most 8 times 4. Public keys need no constant time.
#[cfg(feature = "ed25519")]
fn check_ed25519(
    ring: &Keyring<PublicKey>,
    signatures: &SignatureList<'_>,
    pieces: &[&[u8]],
) -> Result<(), VerifyFailure> {
    let candidates = signatures.tagged(Scheme::Ed25519.tag()).filter_map(ed25519::read);
    match candidates.clone().take(ed25519::MAX_SIGNATURES + 1).count() {
        0 => return Err(VerifyFailure::NoUsableSignature),
        1..=ed25519::MAX_SIGNATURES => {}
        _ => return Err(VerifyFailure::TooManySignatures),
    }
    let is_right = |candidate| ring.iter().any(|key| key.verifies(pieces, &candidate));
    if candidates.into_iter().any(is_right) {
        Ok(())
    } else {
        Err(VerifyFailure::Mismatch)
    }
}
