//! How the signers of an endpoint stand in a store.

use std::{fmt, sync::Arc, time::SystemTime};

use base64::{Engine, prelude::BASE64_STANDARD};
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use super::EndpointId;
use crate::{
    ports::{Sealer, StoreError},
    signature::{ActiveSigner, Signer, Signers},
};

/// Before a sealed text; one in clear is a JSON array and begins with `[`.
const SEALED: &str = "sealed:";

/// Room for one signer as JSON, so that no copy is left behind where a buffer grew.
const ROW: usize = 256;

/// Writes the signers of an endpoint as the text that a store keeps, and reads them back: in clear, or sealed.
///
/// A sealed text is bound to its endpoint: in the row of another one it is refused. One codec for every store, so that rows may
/// move from one to another.
///
/// # Examples
///
/// ```
/// use webhook_core::{ports::Sealer, secret::SigningSecret, sender::SignersAtRest, signature::{Signer, Signers}};
///
/// # fn example(sealer: impl Sealer + 'static) -> Result<(), Box<dyn std::error::Error>> {
/// let signers = Signers::from(Signer::standard_webhooks(&SigningSecret::from_bytes(&[7; 32])?));
/// let at_rest = SignersAtRest::sealed(sealer); // a host's own, such as AES-256-GCM
/// let text = at_rest.write(&"ep_1".parse()?, &signers)?;
/// assert!(text.starts_with("sealed:"));
/// assert_eq!(at_rest.read(&"ep_1".parse()?, &text)?.iter().count(), 1);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Default)]
pub struct SignersAtRest {
    sealer: Option<Arc<dyn Sealer>>,
    only_sealed: bool,
}

#[derive(Serialize)]
struct Written<'a> {
    scheme: &'a str,
    secret: &'a str,
    not_after: Option<SystemTime>,
}

#[derive(Deserialize)]
struct Stored {
    scheme: String,
    secret: Zeroized,
    not_after: Option<SystemTime>,
}

/// A text that is wiped from memory.
#[derive(Deserialize)]
#[serde(from = "String")]
struct Zeroized(Zeroizing<String>);

impl From<String> for Zeroized {
    fn from(text: String) -> Self {
        Self(Zeroizing::new(text))
    }
}

impl SignersAtRest {
    /// As they are.
    ///
    /// # Security
    ///
    /// Whoever reads the store, or a copy of it, can forge messages to every endpoint.
    #[must_use]
    pub fn in_clear() -> Self {
        Self::default()
    }

    /// Seals what is written. Reads what stands in clear from before too: the next rotation of that endpoint seals it, and
    /// `Database::seal_signers` of the SQL stores all at once.
    #[must_use]
    pub fn sealed(sealer: impl Sealer + 'static) -> Self {
        Self {
            sealer: Some(Arc::new(sealer)),
            only_sealed: false,
        }
    }

    /// Refuses what stands in clear, once all is sealed: who can write to the store cannot slip in a secret of his own.
    #[must_use]
    pub fn refusing_clear(self) -> Self {
        Self {
            only_sealed: true,
            ..self
        }
    }

    /// The text to keep.
    ///
    /// # Errors
    ///
    /// [`Unavailable`](crate::ports::StoreErrorKind::Unavailable) when it cannot be sealed; nothing is written in clear then.
    pub fn write(&self, endpoint: &EndpointId, signers: &Signers) -> Result<String, StoreError> {
        let clear = clear(signers)?;
        let Some(sealer) = &self.sealer else {
            let clear = String::from_utf8(clear.to_vec());
            return clear.map_err(|_| StoreError::unavailable("JSON that is no text"));
        };
        let sealed = sealer.seal(&clear, endpoint.as_str().as_bytes());
        let sealed = sealed.map_err(StoreError::unavailable)?;
        Ok(format!("{SEALED}{}", BASE64_STANDARD.encode(sealed)))
    }

    /// The signers that a text stands for.
    ///
    /// # Errors
    ///
    /// [`Corrupt`](crate::ports::StoreErrorKind::Corrupt) when it is not what [`write`](Self::write) gave for this endpoint, or stands
    /// in clear and must not. The error says nothing of what stands there.
    pub fn read(&self, endpoint: &EndpointId, text: &str) -> Result<Signers, StoreError> {
        let Some(encoded) = text.strip_prefix(SEALED) else {
            return if self.only_sealed {
                Err(StoreError::corrupt("the signers of an endpoint are not sealed"))
            } else {
                parse(text.as_bytes())
            };
        };
        let sealer = self.sealer.as_ref();
        let sealer =
            sealer.ok_or_else(|| StoreError::corrupt("the signers are sealed, and there is no key"))?;
        let sealed = BASE64_STANDARD.decode(encoded).map_err(|_| malformed())?;
        let clear = sealer.open(&sealed, endpoint.as_str().as_bytes());
        parse(&Zeroizing::new(clear.map_err(StoreError::corrupt)?))
    }
}

fn clear(signers: &Signers) -> Result<Zeroizing<Vec<u8>>, StoreError> {
    let secrets: Vec<_> = signers
        .iter()
        .map(|active| Zeroizing::new(active.signer.expose_text()))
        .collect();
    let rows = signers.iter().zip(&secrets).map(|(active, secret)| Written {
        scheme: active.signer.scheme().as_str(),
        secret,
        not_after: active.not_after,
    });
    let mut clear = Zeroizing::new(Vec::with_capacity(ROW * secrets.len()));
    serde_json::to_writer(&mut *clear, &rows.collect::<Vec<_>>())
        .map_err(|_| StoreError::unavailable("a time before 1970"))?;
    Ok(clear)
}

/// Errors of the parser quote what they found: they are not handed on.
fn parse(clear: &[u8]) -> Result<Signers, StoreError> {
    let stored: Vec<Stored> = serde_json::from_slice(clear).map_err(|_| malformed())?;
    let active = stored.into_iter().map(|stored| {
        let scheme = stored.scheme.parse().map_err(StoreError::corrupt)?;
        let signer = Signer::from_text(scheme, &stored.secret.0).map_err(StoreError::corrupt)?;
        Ok(ActiveSigner {
            signer,
            not_after: stored.not_after,
        })
    });
    Signers::new(active.collect::<Result<Vec<_>, StoreError>>()?).map_err(StoreError::corrupt)
}

fn malformed() -> StoreError {
    StoreError::corrupt("the signers of an endpoint are not in their form")
}

impl fmt::Debug for SignersAtRest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SignersAtRest")
            .field("sealed", &self.sealer.is_some())
            .field("only_sealed", &self.only_sealed)
            .finish()
    }
}
