//! `--scheme`, `--as`, and the sources of secrets.

use std::{fmt::Display, fs::File, io::Read};

use webhook_core::{
    receiver::{Provider, Verifier, diagnosis::Diagnosis, providers},
    secret::{InvalidSecret, Keyring, SigningSecret},
    signature::{
        ActiveSigner, Signer, Signers,
        ed25519::{PublicKey, SecretKey},
        scheme::RequestSigner,
    },
};

use crate::{Failure, args::Args, failed, show, usage};

/// Flags of this module that every command with signatures has.
pub(crate) const FLAGS: [&str; 3] = ["--scheme", "--secret", "--secret-file"];
/// Flags for the provider whose scheme is used.
pub(crate) const PROVIDER: [&str; 2] = ["--as", "--url"];

/// Environment variable for secrets, used without a flag.
const VARIABLE: &str = "WEBHOOK_SECRET";
const MAX_SECRET_FILE: usize = 64 * 1024;

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
            "--scheme does not take `{}`: standard, hex, hex-id or ed25519",
            show::word(other)
        ))),
    }
}

/// Signers for the command line.
pub(crate) fn signers(args: &Args) -> Result<Signers, Failure> {
    let scheme = scheme(args)?;
    let secrets = secrets(args)?;
    let active = secrets.iter().map(|text| {
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
    Signers::new(active).map_err(usage)
}

/// Provider of `--as`.
pub(crate) fn provider(args: &Args) -> Result<Option<Provider>, Failure> {
    let Some(name) = args.one("--as")? else {
        return match args.has("--url") {
            true => Err(usage("--url is for --as")),
            false => Ok(None),
        };
    };
    if args.has("--scheme") {
        return Err(usage("--as and --scheme exclude each other"));
    }
    let unknown = || {
        usage(format!(
            "--as does not take `{}`; see webhook --list",
            show::word(name)
        ))
    };
    providers::named(name).ok_or_else(unknown).map(Some)
}

/// URL without its query, and the query, of `--url`.
pub(crate) fn url(args: &Args) -> Result<(Option<&str>, Option<&str>), Failure> {
    let url = args.one("--url")?;
    Ok(match url.and_then(|url| url.split_once('?')) {
        Some((url, query)) => (Some(url), Some(query)),
        None => (url, None),
    })
}

/// Signer of the provider, with the URL of `--url`.
pub(crate) fn provider_signer(args: &Args, provider: Provider) -> Result<RequestSigner, Failure> {
    let secrets = secrets(args)?;
    let [secret] = secrets.as_slice() else {
        return Err(usage("--as signs with one secret"));
    };
    let signer = provider.signer(secret).map_err(refused)?;
    Ok(match url(args)?.0 {
        Some(url) => signer.with_url(url),
        None => signer,
    })
}

/// Verifier and diagnosis for the command line.
pub(crate) fn verifier(args: &Args) -> Result<(Verifier, Diagnosis), Failure> {
    if let Some(provider) = provider(args)? {
        return provider_verifier(args, provider);
    }
    let scheme = scheme(args)?;
    let secrets = secrets(args)?;
    if let Scheme::Ed25519 = scheme {
        let keys = ring(secrets.iter().map(|text| public_key(text).map_err(refused)))?;
        return Ok((Verifier::ed25519(keys.clone()), Diagnosis::ed25519(keys)));
    }
    let keys = ring(secrets.iter().map(|text| hmac(scheme, text)))?;
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

fn provider_verifier(args: &Args, provider: Provider) -> Result<(Verifier, Diagnosis), Failure> {
    let secrets = secrets(args)?;
    let verifier = provider.verifier(&secrets).map_err(refused)?;
    let diagnosis = Diagnosis::provider(provider, &secrets).map_err(refused)?;
    Ok(match url(args)?.0 {
        Some(url) => (verifier.with_url(url), diagnosis.with_url(url)),
        None => (verifier, diagnosis),
    })
}

fn ring<K>(keys: impl Iterator<Item = Result<K, Failure>>) -> Result<Keyring<K>, Failure> {
    let keys = keys.collect::<Result<Vec<K>, Failure>>()?;
    Keyring::new(keys).map_err(usage)
}

/// Secrets of the flags, or of the environment if no flag has one; at least one.
fn secrets(args: &Args) -> Result<Vec<String>, Failure> {
    let mut secrets: Vec<String> = args.all("--secret").map(str::to_owned).collect();
    for file in args.all("--secret-file") {
        let said = |what: &dyn Display| failed(format!("{}: {what}", show::word(file)));
        let mut text = String::new();
        let read =
            File::open(file).and_then(|file| file.take(MAX_SECRET_FILE as u64 + 1).read_to_string(&mut text));
        if read.map_err(|error| said(&error))? > MAX_SECRET_FILE {
            return Err(said(&"more than 64 KiB"));
        }
        secrets.extend(lines(&text));
    }
    if !args.has("--secret") && !args.has("--secret-file") {
        let text = std::env::var(VARIABLE).unwrap_or_default();
        secrets.extend(lines(&text));
    }
    if secrets.is_empty() {
        return Err(usage(format!(
            "a secret is missing: --secret, --secret-file or {VARIABLE}"
        )));
    }
    Ok(secrets)
}

fn lines(text: &str) -> impl Iterator<Item = String> {
    text.lines().filter(|line| !line.is_empty()).map(str::to_owned)
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

/// Reports the error without the secret.
fn refused(error: InvalidSecret) -> Failure {
    usage(format!("invalid secret: {error}"))
}
