//! Storage format of an endpoint's secrets: its signers and static headers.

use std::{fmt, sync::Arc, time::SystemTime};

use base64::{Engine, prelude::BASE64_STANDARD};
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use super::{EndpointId, StaticHeaders};
use crate::{
    ports::{Sealer, StoreError},
    signature::{ActiveSigner, Signer, Signers},
};

/// Prefix of encrypted text. Plain text is a JSON object and begins with `{`.
const SEALED: &str = "sealed:";

/// Capacity for one signer as JSON, so that the buffer does not grow and leave copies of secrets.
const ROW: usize = 256;

/// Codec for the signers and the static headers of an endpoint: writes the text that a store keeps,
/// in plain text or encrypted, and parses it.
///
/// Encrypted text is bound to its endpoint id and refused in the row of another endpoint. All
/// stores use this format, so rows can be copied between stores.
///
/// # Examples
///
/// ```
/// use webhook_core::{
///     ports::Sealer,
///     secret::SigningSecret,
///     sender::{SecretsAtRest, StaticHeaders},
///     signature::{Signer, Signers},
/// };
///
/// # fn example(sealer: impl Sealer + 'static) -> Result<(), Box<dyn std::error::Error>> {
/// let signers = Signers::from(Signer::standard_webhooks(&SigningSecret::from_bytes(&[7; 32])?));
/// let at_rest = SecretsAtRest::with_sealer(sealer); // for example AES-256-GCM
/// let text = at_rest.write(&"ep_1".parse()?, &signers, &StaticHeaders::default())?;
/// assert!(text.starts_with("sealed:"));
/// let (signers, headers) = at_rest.read(&"ep_1".parse()?, &text)?;
/// assert!(signers.iter().count() == 1 && headers.is_empty());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Default)]
pub struct SecretsAtRest {
    sealer: Option<Arc<dyn Sealer>>,
    only_sealed: bool,
}

#[derive(Serialize)]
struct Written<'a> {
    signers: Vec<WrittenSigner<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    headers: Vec<(&'a str, &'a str)>,
}

#[derive(Serialize)]
struct WrittenSigner<'a> {
    scheme: &'a str,
    secret: &'a str,
    not_after: Option<SystemTime>,
}

#[derive(Deserialize)]
struct Stored {
    signers: Vec<StoredSigner>,
    #[serde(default)]
    headers: Vec<(String, Zeroized)>,
}

#[derive(Deserialize)]
struct StoredSigner {
    scheme: String,
    secret: Zeroized,
    not_after: Option<SystemTime>,
}

/// Text that is wiped from memory on drop.
#[derive(Deserialize)]
#[serde(from = "String")]
struct Zeroized(Zeroizing<String>);

impl From<String> for Zeroized {
    fn from(text: String) -> Self {
        Self(Zeroizing::new(text))
    }
}

impl SecretsAtRest {
    /// Writes plain text.
    ///
    /// # Security
    ///
    /// An attacker who can read the store, or a copy of it, can forge messages to every endpoint.
    #[must_use]
    pub fn plaintext() -> Self {
        Self::default()
    }

    /// Encrypts with `sealer`; also reads plain text that was written earlier.
    ///
    /// The next rotation of an endpoint encrypts its signers. `Database::seal_secrets` of the SQL
    /// stores encrypts all of them at once.
    #[must_use]
    pub fn with_sealer(sealer: impl Sealer + 'static) -> Self {
        Self {
            sealer: Some(Arc::new(sealer)),
            only_sealed: false,
        }
    }

    /// Refuses to read plain text. Use it once all rows are encrypted, so that an attacker with
    /// write access to the store cannot insert a secret.
    #[must_use]
    pub fn reject_plaintext(self) -> Self {
        Self {
            only_sealed: true,
            ..self
        }
    }

    /// Writes the text to store.
    ///
    /// # Errors
    ///
    /// [`Unavailable`](crate::ports::StoreErrorKind::Unavailable) if the encryption fails, or a
    /// `not_after` is before 1970. A failed encryption never falls back to plain text.
    pub fn write(
        &self,
        endpoint: &EndpointId,
        signers: &Signers,
        headers: &StaticHeaders,
    ) -> Result<String, StoreError> {
        let clear = clear(signers, headers)?;
        let Some(sealer) = &self.sealer else {
            let clear = String::from_utf8(clear.to_vec());
            return clear.map_err(|_| StoreError::unavailable("cannot write the secrets: JSON is not UTF-8"));
        };
        let sealed = sealer.seal(&clear, endpoint.as_str().as_bytes());
        let sealed = sealed.map_err(StoreError::unavailable)?;
        Ok(format!("{SEALED}{}", BASE64_STANDARD.encode(sealed)))
    }

    /// Parses the text of a store.
    ///
    /// # Errors
    ///
    /// [`Corrupt`](crate::ports::StoreErrorKind::Corrupt) if the text is not the output of
    /// [`write`](Self::write) for this endpoint, or is plain text that must be refused. The error
    /// does not quote the text.
    pub fn read(&self, endpoint: &EndpointId, text: &str) -> Result<(Signers, StaticHeaders), StoreError> {
        let Some(encoded) = text.strip_prefix(SEALED) else {
            return if self.only_sealed {
                Err(StoreError::corrupt(
                    "the secrets of an endpoint are in plain text, which this store rejects",
                ))
            } else {
                parse(text.as_bytes())
            };
        };
        let sealer = self.sealer.as_ref();
        let sealer = sealer
            .ok_or_else(|| StoreError::corrupt("the secrets are encrypted, and no sealer is configured"))?;
        let sealed = BASE64_STANDARD.decode(encoded).map_err(|_| malformed())?;
        let clear = sealer.open(&sealed, endpoint.as_str().as_bytes());
        parse(&Zeroizing::new(clear.map_err(StoreError::corrupt)?))
    }
}

fn clear(signers: &Signers, headers: &StaticHeaders) -> Result<Zeroizing<Vec<u8>>, StoreError> {
    let secrets: Vec<_> = signers
        .iter()
        .map(|active| Zeroizing::new(active.signer.expose_text()))
        .collect();
    let rows = signers
        .iter()
        .zip(&secrets)
        .map(|(active, secret)| WrittenSigner {
            scheme: active.signer.scheme().as_str(),
            secret,
            not_after: active.not_after,
        });
    let headers: Vec<(&str, &str)> = headers
        .iter()
        .filter_map(|(name, value)| Some((name.as_str(), value.to_str().ok()?)))
        .collect();
    let of_headers: usize = headers
        .iter()
        .map(|(name, value)| name.len() + 2 * value.len() + 8)
        .sum();
    let mut clear = Zeroizing::new(Vec::with_capacity(ROW * (1 + secrets.len()) + of_headers));
    let written = Written {
        signers: rows.collect(),
        headers,
    };
    serde_json::to_writer(&mut *clear, &written)
        .map_err(|_| StoreError::unavailable("cannot write the secrets: a time is before 1970"))?;
    Ok(clear)
}

/// Parses plain JSON; drops the parser's errors, because they quote the secret.
fn parse(clear: &[u8]) -> Result<(Signers, StaticHeaders), StoreError> {
    let stored: Stored = serde_json::from_slice(clear).map_err(|_| malformed())?;
    let active = stored.signers.into_iter().map(|stored| {
        let scheme = stored.scheme.parse().map_err(StoreError::corrupt)?;
        let signer = Signer::from_text(scheme, &stored.secret.0).map_err(StoreError::corrupt)?;
        Ok(ActiveSigner {
            signer,
            not_after: stored.not_after,
        })
    });
    let signers = Signers::new(active.collect::<Result<Vec<_>, StoreError>>()?);
    let headers = stored
        .headers
        .iter()
        .map(|(name, value)| (&**name, value.0.as_str()));
    let headers = StaticHeaders::new(headers).map_err(StoreError::corrupt)?;
    Ok((signers.map_err(StoreError::corrupt)?, headers))
}

fn malformed() -> StoreError {
    StoreError::corrupt("the secrets of an endpoint are not in their JSON format")
}

impl fmt::Debug for SecretsAtRest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SecretsAtRest")
            .field("sealed", &self.sealer.is_some())
            .field("only_sealed", &self.only_sealed)
            .finish()
    }
}
