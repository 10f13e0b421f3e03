//! Compression of complete responses.

use std::{fmt, sync::Arc};

use bytes::Bytes;
use host_ports::ContentType;
use http::{
    HeaderMap, Method, Request, Response, StatusCode,
    header::{
        ACCEPT_ENCODING, ACCEPT_RANGES, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_RANGE,
        CONTENT_TYPE, ETAG, IF_NONE_MATCH, SET_COOKIE, VARY,
    },
};

use super::{AcceptEncoding, CONTENT_DIGEST, ContentCoding, Digests, REPR_DIGEST};
use crate::{
    caching::{EntityTag, Vary},
    field,
};

/// Default of [`Compression::with_threshold`]: a smaller response fits into one packet anyway.
const THRESHOLD: usize = 1 << 10;

/// Media types that compress well, besides `text/*`, JSON, and types in JSON or XML syntax.
const COMPRESSIBLE: [&str; 7] = [
    "application/javascript",
    "application/jsonl",
    "application/wasm",
    "application/x-ndjson",
    "application/x-www-form-urlencoded",
    "application/xml",
    "application/yaml",
];

type Encode = dyn Fn(&ContentCoding, &[u8]) -> Option<Vec<u8>> + Send + Sync;

/// Compresses complete responses. Cheap to clone.
///
/// See the [module](super#compression) for the rules.
///
/// # Performance
///
/// A response is compressed at once, on the thread of its request. gzip takes a few milliseconds
/// per MiB.
#[derive(Clone)]
pub struct Compression {
    codings: &'static [ContentCoding],
    encode: Arc<Encode>,
    threshold: usize,
}

impl Compression {
    /// Offers these codings. Of codings to which the client gives the same weight, the first is
    /// chosen. `encode` encodes the content in the chosen coding. If it returns `None`, or content
    /// that is not smaller, the response is sent without compression.
    ///
    /// Do not offer `deflate`, because clients decode it in two different ways.
    pub fn new(
        codings: &'static [ContentCoding],
        encode: impl Fn(&ContentCoding, &[u8]) -> Option<Vec<u8>> + Send + Sync + 'static,
    ) -> Self {
        Self {
            codings,
            encode: Arc::new(encode),
            threshold: THRESHOLD,
        }
    }

    /// Offers `gzip`, with the fastest compression level.
    #[cfg(feature = "gzip")]
    #[must_use]
    pub fn gzip() -> Self {
        static CODINGS: [ContentCoding; 1] = [ContentCoding::GZIP];
        Self::new(&CODINGS, |_, content| {
            use std::io::Write as _;

            let packed = Vec::with_capacity(content.len() / 4);
            let mut encoder = flate2::write::GzEncoder::new(packed, flate2::Compression::fast());
            encoder.write_all(content).ok()?;
            encoder.finish().ok()
        })
    }

    /// Sets the smallest content that is compressed, in bytes, default 1 KiB.
    #[must_use]
    pub fn with_threshold(mut self, bytes: usize) -> Self {
        self.threshold = bytes;
        self
    }

    /// Codings that are offered.
    pub(crate) const fn codings(&self) -> &'static [ContentCoding] {
        self.codings
    }

    /// Negotiates the coding of the response to this request.
    pub fn negotiate<B>(&self, request: &Request<B>) -> ResponseCompression {
        let headers = request.headers();
        let tags = headers.get_all(IF_NONE_MATCH).iter().cloned();
        ResponseCompression {
            coding: AcceptEncoding::of(headers)
                .choose(self.codings)
                .filter(|coding| !coding.is_identity()),
            is_head: *request.method() == Method::HEAD,
            if_none_match: tags.map(|tag| (IF_NONE_MATCH, tag)).collect(),
            includes_secrets: false,
            compression: self.clone(),
        }
    }
}

impl fmt::Debug for Compression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Compression")
            .field("codings", &self.codings)
            .field("threshold", &self.threshold)
            .finish_non_exhaustive()
    }
}

/// Compression of the response to one request.
#[derive(Clone, Debug)]
#[must_use = "apply it to the response"]
pub struct ResponseCompression {
    compression: Compression,
    /// Coding to use; `None` for identity.
    coding: Option<&'static ContentCoding>,
    is_head: bool,
    if_none_match: HeaderMap,
    includes_secrets: bool,
}

impl ResponseCompression {
    /// Also compresses a response that sets a cookie, or whose `Cache-Control` is `no-store` or
    /// `private`.
    ///
    /// # Security
    ///
    /// The length of a compressed response reveals how much its parts resemble each other. If it
    /// contains a secret, such as a CSRF token, and text that an attacker chooses, such as a search
    /// term, the attacker can find out the secret by repeated requests
    /// ([BREACH](https://www.breachattack.com)). Use it only for a response that does not contain
    /// both.
    pub fn danger_with_secrets(mut self) -> Self {
        self.includes_secrets = true;
        self
    }

    /// Compresses the response, or returns it as it is.
    ///
    /// Has no effect on a response that it has compressed already.
    #[must_use]
    pub fn apply(&self, mut response: Response<Bytes>) -> Response<Bytes> {
        let status = response.status();
        if status == StatusCode::NOT_MODIFIED {
            self.set_cached_tag(response.headers_mut());
        }
        if !self.is_eligible(&response) {
            return response;
        }
        vary(response.headers_mut());
        let coding = match status {
            // ranges are those of the plain content
            StatusCode::NOT_MODIFIED | StatusCode::PARTIAL_CONTENT => None,
            _ => self.coding,
        };
        let Some(coding) = coding else {
            return response;
        };
        if response.body().is_empty() {
            // the response to HEAD has the fields of the response to GET
            if response.headers().contains_key(CONTENT_LENGTH) {
                describe(response.headers_mut(), coding, None);
            }
            return response;
        }
        match (self.compression.encode)(coding, response.body()) {
            Some(encoded) if encoded.len() < response.body().len() => {
                describe(response.headers_mut(), coding, Some(&encoded));
                response.map(|_| encoded.into())
            }
            _ => response,
        }
    }

    /// Returns `true` if the response, or the 200 in place of this 206 or 304, is compressed for a
    /// client that accepts it.
    fn is_eligible(&self, response: &Response<Bytes>) -> bool {
        let headers = response.headers();
        let is_allowed = !has_directive(headers, b"no-transform")
            && !headers.contains_key(CONTENT_ENCODING)
            && (self.includes_secrets || !may_have_secrets(headers));
        let content_type = headers
            .get(CONTENT_TYPE)
            .map(|value| ContentType::new(value.as_bytes()));
        let has_suitable_content = match response.status() {
            // the length and the type of the 200 are not known
            StatusCode::NOT_MODIFIED => true,
            StatusCode::PARTIAL_CONTENT => {
                content_type.is_some_and(|kind| kind.is("multipart/byteranges") || is_compressible(kind))
            }
            _ => {
                !headers.contains_key(CONTENT_RANGE)
                    && self.reaches_threshold(response)
                    && content_type.is_some_and(is_compressible)
            }
        };
        is_allowed && has_suitable_content
    }

    fn reaches_threshold(&self, response: &Response<Bytes>) -> bool {
        let length = match response.body().len() {
            0 if self.is_head => match response.headers().get(CONTENT_LENGTH) {
                Some(length) => length.to_str().ok().and_then(|length| length.parse().ok()),
                // unknown, possibly large
                None => Some(usize::MAX),
            },
            length => Some(length),
        };
        length.is_some_and(|length| length > 0 && length >= self.compression.threshold)
    }

    /// Sets the entity tag of a 304 to the tag that the client has cached, which names its coding.
    fn set_cached_tag(&self, headers: &mut HeaderMap) {
        let Some(tag) = strong_tag(headers) else {
            return;
        };
        let listed = || field::members(&self.if_none_match, &IF_NONE_MATCH).map(EntityTag::parse);
        let mut tags = self
            .compression
            .codings
            .iter()
            .map(|coding| tag.in_coding(coding));
        let cached = tags.find(|tag| listed().flatten().any(|listed| listed.weak_eq(tag)));
        if let Some(cached) = cached {
            headers.insert(ETAG, cached.header_value());
        }
    }
}

/// Sets the fields of content in this coding. `encoded` is `None` if the content is not known.
fn describe(headers: &mut HeaderMap, coding: &ContentCoding, encoded: Option<&[u8]>) {
    if let Some(value) = coding.header_value() {
        headers.insert(CONTENT_ENCODING, value);
    }
    if let Some(tag) = strong_tag(headers) {
        headers.insert(ETAG, tag.in_coding(coding).header_value());
    }
    // ranges are those of the plain content only
    headers.remove(ACCEPT_RANGES);
    if headers.remove(CONTENT_LENGTH).is_some()
        && let Some(encoded) = encoded
    {
        headers.insert(CONTENT_LENGTH, encoded.len().into());
    }
    // the response is the complete representation, so both fields are digests of its content
    for name in [CONTENT_DIGEST, REPR_DIGEST] {
        let plain = Digests::parse(headers, &name).ok().flatten();
        headers.remove(&name);
        if let (Some(plain), Some(encoded)) = (plain, encoded) {
            headers.insert(name, plain.recompute(encoded).header_value());
        }
    }
}

/// Returns the entity tag if it is strong. A weak tag is the same in each coding.
fn strong_tag(headers: &HeaderMap) -> Option<EntityTag> {
    let tag = EntityTag::parse(headers.get(ETAG)?.as_bytes()).ok()?;
    (!tag.is_weak()).then_some(tag)
}

fn vary(headers: &mut HeaderMap) {
    let name = ACCEPT_ENCODING.as_str().as_bytes();
    if !field::members(headers, &VARY).any(|there| there.eq_ignore_ascii_case(name)) {
        let mut vary = Vary::default();
        vary.add(ACCEPT_ENCODING);
        vary.apply(headers);
    }
}

fn is_compressible(content_type: ContentType<'_>) -> bool {
    let essence = content_type.essence();
    let is_text = essence
        .get(..5)
        .is_some_and(|start| start.eq_ignore_ascii_case(b"text/"));
    let suffix = essence.get(essence.len().saturating_sub(4)..).unwrap_or_default();
    is_text
        || content_type.is_json()
        || suffix.eq_ignore_ascii_case(b"+xml")
        || COMPRESSIBLE.iter().any(|kind| content_type.is(kind))
}

fn may_have_secrets(headers: &HeaderMap) -> bool {
    headers.contains_key(SET_COOKIE)
        || has_directive(headers, b"no-store")
        || has_directive(headers, b"private")
}

/// Returns `true` if `Cache-Control` has the directive, with or without a value.
fn has_directive(headers: &HeaderMap, directive: &[u8]) -> bool {
    field::members(headers, &CACHE_CONTROL).any(|member| {
        let (name, _) = field::split_once(member, b'=');
        field::trim(name).eq_ignore_ascii_case(directive)
    })
}
