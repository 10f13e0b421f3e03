//! `--scheme` and `--secret`.

use webhook_core::{
    receiver::{Verifier, diagnosis::Diagnosis},
    secret::{InvalidSecret, Keyring, SigningSecret},
    signature::{
        ActiveSigner, Signer, Signers,
        ed25519::{PublicKey, SecretKey},
    },
};

use crate::{Failure, args::Args, usage};

/// The flags of this module.
pub(crate) const FLAGS: [&str; 2] = ["--scheme", "--secret"];

#[derive(Clone, Copy)]
enum Scheme {
    Standard,
    Hex,
    HexId,
    Ed25519,
}

fn scheme(args: &Args) -> Result<Scheme, Failure> {
    match args.one("--scheme")? {
        None | Some("standard") => Ok(Scheme::Standard),
        Some("hex") => Ok(Scheme::Hex),
        Some("hex-id") => Ok(Scheme::HexId),
        Some("ed25519") => Ok(Scheme::Ed25519),
        Some(other) => Err(usage(format!(
            "--scheme does not take `{other}`: standard, hex, hex-id or ed25519"
        ))),
    }
}

/// What signs, by the command line.
pub(crate) fn signers(args: &Args) -> Result<Signers, Failure> {
    let scheme = scheme(args)?;
    let active = args.all("--secret").map(|text| {
        let signer = match scheme {
            Scheme::Ed25519 => Signer::ed25519(&SecretKey::from_whsk(text).map_err(refused)?),
            Scheme::Standard => Signer::standard_webhooks(&hmac(scheme, text)?),
            Scheme::Hex => Signer::timestamp_body_hex(&hmac(scheme, text)?),
            Scheme::HexId => Signer::id_timestamp_body_hex(&hmac(scheme, text)?),
        };
        Ok(ActiveSigner {
            signer,
            not_after: None,
        })
    });
    let active = active.collect::<Result<Vec<_>, Failure>>()?;
    Signers::new(active).map_err(|_| usage("--secret must stand one to eight times"))
}

/// What verifies, and what says why it does not, by the command line.
pub(crate) fn verifier(args: &Args) -> Result<(Verifier, Diagnosis), Failure> {
    let scheme = scheme(args)?;
    if let Scheme::Ed25519 = scheme {
        let keys = ring(args.all("--secret").map(|text| public_key(text).map_err(refused)))?;
        return Ok((Verifier::ed25519(keys.clone()), Diagnosis::ed25519(keys)));
    }
    let keys = ring(args.all("--secret").map(|text| hmac(scheme, text)))?;
    let theirs = keys.clone();
    Ok(match scheme {
        Scheme::Hex => (
            Verifier::timestamp_body_hex(keys),
            Diagnosis::timestamp_body_hex(theirs),
        ),
        Scheme::HexId => (
            Verifier::id_timestamp_body_hex(keys),
            Diagnosis::id_timestamp_body_hex(theirs),
        ),
        Scheme::Standard | Scheme::Ed25519 => (
            Verifier::standard_webhooks(keys),
            Diagnosis::standard_webhooks(theirs),
        ),
    })
}

fn ring<K>(keys: impl Iterator<Item = Result<K, Failure>>) -> Result<Keyring<K>, Failure> {
    let keys = keys.collect::<Result<Vec<K>, Failure>>()?;
    Keyring::new(keys).map_err(|_| usage("--secret must stand one to eight times"))
}

fn hmac(scheme: Scheme, text: &str) -> Result<SigningSecret, Failure> {
    let secret = match (text.strip_prefix("text:"), scheme) {
        (Some(text), _) => SigningSecret::from_utf8(text),
        (None, Scheme::Hex | Scheme::HexId) if !text.starts_with("whsec_") => SigningSecret::from_utf8(text),
        (None, _) => SigningSecret::from_whsec(text),
    };
    secret.map_err(refused)
}

fn public_key(text: &str) -> Result<PublicKey, InvalidSecret> {
    if text.starts_with("whsk_") {
        return SecretKey::from_whsk(text).map(|key| key.public_key());
    }
    PublicKey::from_whpk(text)
}

/// Says what is wrong, and never with what.
fn refused(error: InvalidSecret) -> Failure {
    usage(format!("--secret is refused: {error}"))
}
