//! Diagnosis for a listed provider or a scheme of the host.

use std::{
    fmt,
    time::{Duration, SystemTime},
};

use http::HeaderName;
use zeroize::Zeroizing;

use super::{Cause, Finding, SecretReading, body};
use crate::{
    receiver::{Head, Provider, VerifyFailure, keys::Keys, providers},
    secret::InvalidSecret,
    signature::scheme::{Check, IdSource, KeyText, Message, Scheme, Source, TimeUnit, TimestampSource},
};

/// Provider with its keys as text, so that they can be decoded differently.
#[derive(Clone)]
pub(super) struct Suspected {
    provider: Provider,
    keys: Vec<Zeroizing<String>>,
    pub(super) url: Option<String>,
}

/// Message under examination.
#[derive(Clone, Copy)]
struct Received<'m> {
    head: Head<'m>,
    url: Option<&'m str>,
}

impl Suspected {
    pub(super) fn new<T: AsRef<str>>(
        provider: Provider,
        keys: impl IntoIterator<Item = T>,
    ) -> Result<Self, InvalidSecret> {
        let keys = keys
            .into_iter()
            .map(|key| Zeroizing::new(key.as_ref().to_owned()));
        let keys: Vec<_> = keys.collect();
        // the same errors as at the verifier
        provider.verifier(keys.iter().map(|key| key.as_str()))?;
        Ok(Self {
            provider,
            keys,
            url: None,
        })
    }

    /// Verifies the message and, if it is invalid, searches for causes.
    pub(super) fn finding(
        &self,
        head: Head<'_>,
        body: &[u8],
        now: SystemTime,
        tolerance: Option<Duration>,
    ) -> Finding {
        let scheme = self.provider.scheme();
        let received = Received {
            head,
            url: self.url.as_deref(),
        };
        let mut causes = Vec::new();
        match self.explanation(scheme, received, body) {
            Ok(explanation) => {
                causes.extend(explanation);
                causes.extend(skew(scheme, received, body, now, tolerance));
                if causes.is_empty() {
                    return Finding::Verifies;
                }
            }
            Err(VerifyFailure::MissingHeader) => {
                causes.extend(self.other_provider(received, body));
                causes.extend(missing(scheme, head).map(Cause::MissingHeader));
            }
            Err(VerifyFailure::NoUrl) => causes.push(Cause::NoUrl),
            Err(VerifyFailure::TooManySignatures) => causes.push(Cause::TooManySignatures),
            Err(VerifyFailure::InvalidTimestamp) => causes.push(Cause::TimestampFormat),
            Err(VerifyFailure::InvalidId) => causes.push(Cause::IdFormat),
            Err(_) => causes.extend(self.other_provider(received, body)),
        }
        if causes.is_empty() {
            Finding::Unexplained
        } else {
            Finding::Explained(causes)
        }
    }

    /// Cause with which a signature matches; `None` if it matches as it is.
    fn explanation(
        &self,
        scheme: &Scheme,
        received: Received<'_>,
        body: &[u8],
    ) -> Result<Option<Cause>, VerifyFailure> {
        let failure = match self.check(scheme, received, body) {
            Ok(()) => return Ok(None),
            Err(failure @ (VerifyFailure::Mismatch | VerifyFailure::NoUsableSignature)) => failure,
            Err(failure) => return Err(failure),
        };
        for (reading, key) in [
            (SecretReading::TextAsBase64, KeyText::Base64),
            (SecretReading::TextAsBase64, KeyText::Whsec),
            (SecretReading::TextAsHex, KeyText::Hex),
            (SecretReading::WhsecAsText, KeyText::Utf8),
        ] {
            let scheme = Scheme { key, ..*scheme };
            if self.check(&scheme, received, body).is_ok() {
                return Ok(Some(Cause::Secret(reading)));
            }
        }
        for url in received.url.map(urls).unwrap_or_default() {
            let received = Received {
                url: Some(&url),
                ..received
            };
            if self.check(scheme, received, body).is_ok() {
                return Ok(Some(Cause::Url(url)));
            }
        }
        for (change, body) in body::variants(body) {
            if let Some(change) = change
                && self.check(scheme, received, &body).is_ok()
            {
                return Ok(Some(Cause::Body(change)));
            }
        }
        Err(failure)
    }

    /// Another provider whose scheme verifies the message with the same keys, or whose signature
    /// header it has.
    fn other_provider(&self, received: Received<'_>, body: &[u8]) -> Option<Cause> {
        let others = || {
            providers::ALL
                .iter()
                .filter(|other| other.scheme() != self.provider.scheme())
        };
        let verified = |by_token| {
            others()
                .filter(|other| (other.scheme().check == Check::Token) == by_token)
                .find(|other| self.check(other.scheme(), received, body).is_ok())
        };
        let named = || {
            let signature = |provider: &&Provider| match provider.scheme().signature.source {
                Source::Headers(names) => names.iter().any(|name| received.head.headers.contains_key(*name)),
                Source::JsonPointer(_) => false,
            };
            others().find(signature)
        };
        // a token proves less than a signature
        let other = verified(false).or_else(|| verified(true)).or_else(named)?;
        Some(Cause::OtherProvider(other.name()))
    }

    fn check(&self, scheme: &Scheme, received: Received<'_>, body: &[u8]) -> Result<(), VerifyFailure> {
        let keys = Keys::parse(scheme, true, self.keys.iter().map(|key| key.as_str()));
        let keys = keys.map_err(|_| VerifyFailure::Mismatch)?;
        let (message, signatures) = Message::read(scheme, received.url, received.head, body)?;
        keys.check(
            scheme.encoding,
            &signatures,
            message.signed(scheme, true).as_slice(),
        )
    }
}

impl fmt::Debug for Suspected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Suspected")
            .field("provider", &self.provider.name())
            .finish_non_exhaustive()
    }
}

/// Headers of the scheme that the message lacks.
fn missing<'s>(scheme: &'s Scheme, head: Head<'s>) -> impl Iterator<Item = HeaderName> + 's {
    let of_source = |source: Source| match source {
        Source::Headers(names) => names,
        Source::JsonPointer(_) => &[],
    };
    let time = match scheme.timestamp.map(|field| field.source) {
        Some(TimestampSource::Field(source)) => of_source(source),
        Some(TimestampSource::Pair) | None => &[],
    };
    let id = match scheme.id {
        IdSource::Header(names) => names,
        _ => &[],
    };
    let all = [of_source(scheme.signature.source), time, id];
    all.into_iter().filter_map(move |names| {
        let is_present = names.iter().any(|name| head.headers.contains_key(*name));
        let name = names.first().filter(|_| !is_present)?;
        Some(HeaderName::from_static(name))
    })
}

/// The difference between the signed timestamp and `now`, if it exceeds the tolerance.
fn skew(
    scheme: &Scheme,
    received: Received<'_>,
    body: &[u8],
    now: SystemTime,
    tolerance: Option<Duration>,
) -> Option<Cause> {
    let field = scheme.timestamp?;
    let (message, _) = Message::read(scheme, received.url, received.head, body).ok()?;
    let text = message.timestamp.as_deref()?;
    let Some(signed) = field.unit.parse(text) else {
        let in_milliseconds = field.unit == TimeUnit::Seconds && TimeUnit::Milliseconds.parse(text).is_some();
        return Some(if in_milliseconds {
            Cause::TimestampInMilliseconds
        } else {
            Cause::TimestampFormat
        });
    };
    super::skew(signed, now, tolerance.unwrap_or(field.tolerance))
}

/// The URL as a proxy may have changed it.
fn urls(url: &str) -> Vec<String> {
    let other_scheme = match url.split_once("://") {
        Some(("http", rest)) => format!("https://{rest}"),
        Some((_, rest)) => format!("http://{rest}"),
        None => format!("https://{url}"),
    };
    let other_slash = |url: &str| match url.strip_suffix('/') {
        Some(short) => short.to_owned(),
        None => format!("{url}/"),
    };
    vec![other_slash(url), other_slash(&other_scheme), other_scheme]
}
