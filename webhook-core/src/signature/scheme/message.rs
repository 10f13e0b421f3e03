//! Parts of a request that a scheme uses: the signed texts, and the signatures.

use std::borrow::Cow;

use http::{HeaderMap, Method};

use super::{Field, Grammar, IdSource, Part, Scheme, Source, TimestampSource, form::signed_form, text_at};
use crate::receiver::{Head, VerifyFailure};

const MAX_SIGNATURES: usize = 16;
const MAX_BYTES: usize = 4096;
/// Maximum number of pieces of a signed text; a URL has three.
const MAX_PIECES: usize = 16;

/// Texts of a request that a scheme signs.
pub(crate) struct Message<'m> {
    pub(crate) method: &'m Method,
    /// Configured URL and query of the request.
    pub(crate) url: (&'m str, Option<&'m str>),
    /// Value of the id header, if the scheme has one.
    pub(crate) id: Option<&'m str>,
    /// Timestamp, if the scheme has one.
    pub(crate) timestamp: Option<Cow<'m, str>>,
    pub(crate) body: &'m [u8],
    form: Option<String>,
}

impl<'m> Message<'m> {
    /// Reads the texts that `scheme` signs, and the signatures.
    pub(crate) fn read(
        scheme: &Scheme,
        url: Option<&'m str>,
        head: Head<'m>,
        body: &'m [u8],
    ) -> Result<(Self, Candidates<'m>), VerifyFailure> {
        let candidates = Candidates::read(&scheme.signature, head.headers, body)?;
        let message = Self::read_texts(scheme, url, head, body, candidates.timestamp)?;
        Ok((message, candidates))
    }

    /// Reads the texts that `scheme` signs. `in_pair` is the timestamp in the signature field.
    pub(crate) fn read_texts(
        scheme: &Scheme,
        url: Option<&'m str>,
        head: Head<'m>,
        body: &'m [u8],
        in_pair: Option<&'m str>,
    ) -> Result<Self, VerifyFailure> {
        let malformed = VerifyFailure::InvalidTimestamp;
        let timestamp = match scheme.timestamp.map(|field| field.source) {
            None => None,
            Some(TimestampSource::Pair) => Some(in_pair.ok_or(malformed)?.into()),
            Some(TimestampSource::Field(Source::Headers(names))) => {
                Some(one(head.headers, names, malformed)?.into())
            }
            Some(TimestampSource::Field(Source::JsonPointer(pointer))) => {
                Some(text_at(body, pointer).ok_or(malformed)?)
            }
        };
        let id = match scheme.id {
            IdSource::Header(names) => Some(one(head.headers, names, VerifyFailure::InvalidId)?),
            IdSource::EnvelopeId { header } => Some(one(head.headers, &[header], VerifyFailure::InvalidId)?),
            IdSource::JsonPointer(_) | IdSource::SignedContent => None,
        };
        let has_form = scheme.signed.contains(&Part::SortedForm);
        let form = match has_form.then(|| signed_form(head.query, body)) {
            None => None,
            Some(form) => Some(form.ok_or(VerifyFailure::Mismatch)?),
        };
        if scheme.signed.contains(&Part::Url) && url.is_none() {
            return Err(VerifyFailure::NoUrl);
        }
        Ok(Self {
            method: head.method,
            url: (url.unwrap_or_default(), head.query),
            id,
            timestamp,
            body,
            form,
        })
    }

    /// Signed text in pieces, so that the body is not copied; without the timestamp if
    /// `with_timestamp` is `false`.
    pub(crate) fn signed<'s>(&'s self, scheme: &Scheme, with_timestamp: bool) -> Pieces<'s> {
        let mut pieces = Pieces::default();
        for part in scheme.signed {
            match *part {
                Part::Text(text) => pieces.push(text.as_bytes()),
                Part::Timestamp if !with_timestamp => {}
                Part::Timestamp => pieces.push(self.timestamp.as_deref().unwrap_or_default().as_bytes()),
                Part::Id => pieces.push(self.id.unwrap_or_default().as_bytes()),
                Part::Body => pieces.push(self.body),
                Part::Method => pieces.push(self.method.as_str().as_bytes()),
                Part::SortedForm => pieces.push(self.form.as_deref().unwrap_or_default().as_bytes()),
                Part::Url => {
                    let (url, query) = self.url;
                    pieces.push(url.as_bytes());
                    if let Some(query) = query {
                        pieces.push(b"?");
                        pieces.push(query.as_bytes());
                    }
                }
            }
        }
        pieces
    }
}

/// Pieces of a text. Pieces after the 16th are ignored; no scheme of this crate has so many.
#[derive(Default)]
pub(crate) struct Pieces<'s> {
    pieces: [&'s [u8]; MAX_PIECES],
    count: usize,
}

impl<'s> Pieces<'s> {
    fn push(&mut self, piece: &'s [u8]) {
        if let Some(place) = self.pieces.get_mut(self.count) {
            *place = piece;
            self.count += 1;
        }
    }

    pub(crate) fn as_slice(&self) -> &[&'s [u8]] {
        self.pieces.get(..self.count).unwrap_or_default()
    }
}

/// Signatures of a message, bounded in number and size.
#[derive(Debug)]
pub(crate) struct Candidates<'m> {
    signatures: [&'m [u8]; MAX_SIGNATURES],
    count: usize,
    bytes: usize,
    /// Number of tokens, those of other tags included.
    tokens: usize,
    /// Timestamp in the signature field.
    timestamp: Option<&'m str>,
    /// Signature in the JSON body, if its text has escapes and cannot be borrowed.
    owned: Option<String>,
}

impl<'m> Candidates<'m> {
    /// The signatures, not decoded.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &[u8]> + Clone {
        let listed = self.signatures.iter().take(self.count).copied();
        listed.chain(self.owned.as_deref().map(str::as_bytes))
    }

    pub(crate) fn read(field: &Field, headers: &'m HeaderMap, body: &'m [u8]) -> Result<Self, VerifyFailure> {
        let mut candidates = Self {
            signatures: [&[]; MAX_SIGNATURES],
            count: 0,
            bytes: 0,
            tokens: 0,
            timestamp: None,
            owned: None,
        };
        match field.source {
            Source::Headers(names) => {
                let mut is_present = false;
                for line in names.iter().flat_map(|name| headers.get_all(*name)) {
                    is_present = true;
                    candidates.add(field.grammar, line.as_bytes())?;
                }
                if !is_present {
                    return Err(VerifyFailure::MissingHeader);
                }
            }
            Source::JsonPointer(pointer) => match text_at(body, pointer) {
                Some(Cow::Borrowed(text)) => candidates.add(field.grammar, text.as_bytes())?,
                Some(Cow::Owned(text)) => candidates.owned = Some(text),
                None => return Err(VerifyFailure::NoUsableSignature),
            },
        }
        Ok(candidates)
    }

    fn add(&mut self, grammar: Grammar, line: &'m [u8]) -> Result<(), VerifyFailure> {
        self.bytes = self.bytes.saturating_add(line.len());
        if self.bytes > MAX_BYTES {
            return Err(VerifyFailure::TooManySignatures);
        }
        match grammar {
            Grammar::Whole { prefix } => self.push(
                line.trim_ascii()
                    .strip_prefix(prefix.as_bytes())
                    .unwrap_or_default(),
            ),
            Grammar::Tokens { tag } => {
                for token in line.split(|byte| *byte == b' ').filter(|token| !token.is_empty()) {
                    self.tokens += 1;
                    if self.tokens > MAX_SIGNATURES {
                        return Err(VerifyFailure::TooManySignatures);
                    }
                    // a proxy that joins two header lines with `, ` leaves a comma at the end of a
                    // token
                    let token = token.strip_suffix(b",").unwrap_or(token);
                    let signature = token
                        .strip_prefix(tag.as_bytes())
                        .and_then(|rest| rest.strip_prefix(b","));
                    if let Some(signature) = signature.filter(|signature| !signature.contains(&b',')) {
                        self.push(signature)?;
                    }
                }
                Ok(())
            }
            Grammar::Pairs {
                signature,
                timestamp,
                separator,
            } => {
                for pair in line.split(|byte| char::from(*byte) == separator) {
                    let pair = pair.trim_ascii();
                    let Some(equals) = pair.iter().position(|byte| *byte == b'=') else {
                        continue;
                    };
                    let (name, value) = pair.split_at(equals);
                    let value = value.get(1..).unwrap_or_default();
                    if name == signature.as_bytes() {
                        self.push(value)?;
                    } else if Some(name) == timestamp.map(str::as_bytes) {
                        let value = str::from_utf8(value).map_err(|_| VerifyFailure::InvalidTimestamp)?;
                        if self.timestamp.replace(value).is_some() {
                            return Err(VerifyFailure::RepeatedHeader);
                        }
                    }
                }
                Ok(())
            }
        }
    }

    fn push(&mut self, signature: &'m [u8]) -> Result<(), VerifyFailure> {
        let place = self.signatures.get_mut(self.count);
        *place.ok_or(VerifyFailure::TooManySignatures)? = signature;
        self.count += 1;
        Ok(())
    }
}

/// Only line of the first of these headers that is present. The error is `malformed` if the line is
/// not text.
fn one<'h>(
    headers: &'h HeaderMap,
    names: &[&str],
    malformed: VerifyFailure,
) -> Result<&'h str, VerifyFailure> {
    for name in names {
        let mut lines = headers.get_all(*name).iter();
        if let Some(line) = lines.next() {
            return match lines.next() {
                None => line.to_str().map_err(|_| malformed),
                Some(_) => Err(VerifyFailure::RepeatedHeader),
            };
        }
    }
    Err(VerifyFailure::MissingHeader)
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn tokens(lines: &[&str]) -> Option<Vec<String>> {
        let lines: Vec<HeaderValue> = lines.iter().map(|line| line.parse().unwrap()).collect();
        let mut headers = HeaderMap::new();
        for line in lines {
            headers.append("webhook-signature", line);
        }
        let field = Scheme::STANDARD_WEBHOOKS.signature;
        let candidates = Candidates::read(&field, &headers, b"").ok()?;
        let tokens = candidates
            .iter()
            .map(|token| String::from_utf8_lossy(token).into_owned());
        Some(tokens.collect())
    }

    /// W2: the list is split on spaces, over all lines; other tags and malformed tokens are
    /// skipped.
    #[test]
    fn the_list_gives_the_tokens_of_one_tag() {
        for (lines, expected) in [
            (&["v1,a"] as &[&str], &["a"] as &[&str]),
            (&["v1,a v1,b"], &["a", "b"]),
            (&["  v1,a   v1,b "], &["a", "b"]),
            (&["v1,a", "v1,b"], &["a", "b"]),
            (&["v1,a, v1,b"], &["a", "b"]),
            (&["v1,a,"], &["a"]),
            (&["v1a,x v2,y v1,a V1,z"], &["a"]),
            (&["v1", "a", ",a", "v1=a", "v1;a"], &[]),
            (&["v1,a,b"], &[]),
            (&["v1,a,,"], &[]),
            (&["v1,a,v1,b"], &[]),
            (&["v1,a\tv1,b"], &[]),
            (&["v1,"], &[]),
            (&["v1,,"], &[""]),
            (&[""], &[]),
        ] {
            assert_eq!(
                tokens(lines).as_deref(),
                Some(
                    expected
                        .iter()
                        .map(ToString::to_string)
                        .collect::<Vec<_>>()
                        .as_slice()
                ),
                "{lines:?}"
            );
        }
    }

    /// W2: at most 16 tokens of any tag, and 4 KiB, over all lines.
    #[test]
    fn a_list_beyond_its_bounds_is_refused() {
        assert!(tokens(&["v2,a "; 16]).is_some());
        assert!(tokens(&["v2,a "; 17]).is_none());
        assert!(tokens(&[&"x ".repeat(17)]).is_none());
        let half = format!("v1,{}", "a".repeat(2045));
        assert!(tokens(&[&half, &half]).is_some());
        assert!(tokens(&[&half, &half, "v"]).is_none());
    }
}
