//! Signatures of requests as a provider makes them, for tests and tools.

use std::time::SystemTime;

use bytes::Bytes;
use http::{HeaderName, HeaderValue, Request};

use super::{Check, Grammar, IdSource, Message, Scheme, Source, TimestampSource};
use crate::{
    receiver::Head,
    secret::{InvalidSecret, SigningSecret},
    signature::mac::{self, MacKey},
};

/// Signs requests with the scheme of a provider; see
/// [`Provider::signer`](crate::receiver::Provider::signer).
///
/// The sender of this crate uses [`Signers`](crate::signature::Signers) instead.
///
/// ```
/// use std::time::SystemTime;
/// use bytes::Bytes;
/// use http::Request;
/// use webhook_core::receiver::providers::GITHUB;
///
/// let mut request = Request::post("/hooks").body(Bytes::from("Hello, World!"))?;
/// let signer = GITHUB.signer("It's a Secret to Everybody")?;
/// signer.sign(&mut request, None, SystemTime::now())?;
/// assert_eq!(
///     request.headers()["x-hub-signature-256"],
///     "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17",
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct RequestSigner {
    scheme: &'static Scheme,
    secret: SigningSecret,
    key: MacKey,
    url: Option<String>,
}

impl RequestSigner {
    pub(crate) fn new(
        scheme: &'static Scheme,
        is_lenient: bool,
        secret: &str,
    ) -> Result<Self, InvalidSecret> {
        match scheme.check {
            #[cfg(feature = "ed25519")]
            Check::Ed25519 => return Err(InvalidSecret("this provider signs with a key pair")),
            #[cfg(feature = "ecdsa")]
            Check::EcdsaP256Sha256 => return Err(InvalidSecret("this provider signs with a key pair")),
            _ => {}
        }
        let secret = scheme.key.secret(secret, is_lenient)?;
        Ok(Self {
            scheme,
            key: MacKey::new(scheme.check, &secret),
            secret,
            url: None,
        })
    }

    /// Sets the URL of the receiver, with path and without query, for schemes that sign it.
    #[must_use]
    pub fn with_url(mut self, url: &str) -> Self {
        self.url = Some(url.to_owned());
        self
    }

    /// Signs `request`: inserts the headers of the scheme. `id` is the value of the id header, if
    /// the scheme has one.
    ///
    /// # Errors
    ///
    /// [`CannotSign`] if the id is missing or cannot be a header, the body lacks a member of the
    /// scheme, or the URL is not set.
    pub fn sign(
        &self,
        request: &mut Request<Bytes>,
        id: Option<&str>,
        now: SystemTime,
    ) -> Result<(), CannotSign> {
        let scheme = self.scheme;
        if let IdSource::Header([name, ..]) | IdSource::EnvelopeId { header: name } = &scheme.id {
            insert(
                request,
                name,
                id.ok_or(CannotSign("the scheme has an id header"))?,
            )?;
        }
        let timestamp = scheme.timestamp.map(|field| field.unit.write(now));
        let source = scheme.timestamp.map(|field| field.source);
        if let Some(TimestampSource::Field(Source::Headers([name, ..]))) = source {
            insert(request, name, timestamp.as_deref().unwrap_or_default())?;
        }
        let Source::Headers([name, ..]) = scheme.signature.source else {
            // the token is a member of the body already
            return Ok(());
        };
        let signature = self.signature(request, timestamp.as_deref())?;
        let value = match scheme.signature.grammar {
            Grammar::Whole { prefix } => format!("{prefix}{signature}"),
            Grammar::Tokens { tag } => format!("{tag},{signature}"),
            Grammar::Pairs {
                signature: name,
                timestamp: time_name,
                separator,
            } => {
                let time = time_name.zip(timestamp);
                let time = time.map(|(name, time)| format!("{name}={time}{separator}"));
                format!("{}{name}={signature}", time.unwrap_or_default())
            }
        };
        insert(request, name, &value)
    }

    /// Signature in the encoding of the scheme.
    fn signature(&self, request: &Request<Bytes>, timestamp: Option<&str>) -> Result<String, CannotSign> {
        if self.scheme.check == Check::Token {
            let token = str::from_utf8(self.secret.expose_bytes());
            return Ok(token.map_err(|_| CannotSign("the token is not text"))?.to_owned());
        }
        let (head, body) = (Head::from(request), request.body());
        let message = Message::read_texts(self.scheme, self.url.as_deref(), head, body, timestamp);
        let message =
            message.map_err(|_| CannotSign("the request lacks a part of the scheme, or the URL"))?;
        let mac = self.key.mac(message.signed(self.scheme, true).as_slice());
        let mut text = String::new();
        mac::write(self.scheme.encoding, &mac, &mut text);
        Ok(text)
    }
}

fn insert(request: &mut Request<Bytes>, name: &'static str, value: &str) -> Result<(), CannotSign> {
    let value = HeaderValue::from_str(value).map_err(|_| CannotSign("a value cannot be a header"))?;
    request.headers_mut().insert(HeaderName::from_static(name), value);
    Ok(())
}

/// Error: a request cannot be signed by the scheme.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{0}")]
pub struct CannotSign(&'static str);
