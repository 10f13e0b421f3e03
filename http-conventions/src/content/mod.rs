//! Content: negotiation, checks of the media type and the coding of a request, JSON, ranges,
//! digests, size limits, compression.
//!
//! # Negotiation
//!
//! Content negotiation, [RFC 9110 §12](https://www.rfc-editor.org/rfc/rfc9110#section-12): the
//! media type, language and coding of a response.
//!
//! [`Accept`], [`AcceptLanguage`] and [`AcceptEncoding`] each parse one request field.
//! [`Negotiation`] combines them and records each evaluated field for `Vary`.
//!
//! ```
//! use http::{HeaderMap, header};
//! use http_conventions::content::{LanguageTag, MediaRange, MediaType, Negotiation, Offers};
//!
//! let mut request = HeaderMap::new();
//! request.insert(header::ACCEPT, "text/csv, application/json;q=0.9".parse()?);
//! request.insert(header::ACCEPT_LANGUAGE, "de-AT".parse()?);
//! let types = Offers::<MediaType>::parse("application/json", &["text/csv"])?;
//! let languages = Offers::<LanguageTag>::parse("en", &["de"])?;
//!
//! let mut negotiation = Negotiation::new(&request);
//! let media_type = negotiation.media_type(&types)?;
//! let language = negotiation.language(&languages);
//! assert_eq!((media_type.as_str(), language.as_str()), ("text/csv", "de"));
//!
//! let mut answer = HeaderMap::new();
//! answer.insert(header::CONTENT_TYPE, media_type.header_value());
//! answer.insert(header::CONTENT_LANGUAGE, language.header_value());
//! negotiation.vary().apply(&mut answer);
//! assert_eq!(answer["vary"], "accept, accept-language");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A problem, including the 406, is sent as `application/problem+json` regardless of `Accept` ([RFC
//! 9457 §3](https://www.rfc-editor.org/rfc/rfc9457#section-3)). It has the `Vary` of the regular
//! response.
//!
//! # Content of a request
//!
//! Checks the media type and the content coding of a request ([RFC 9110
//! §8](https://www.rfc-editor.org/rfc/rfc9110#section-8)); unsupported content gets 415.
//!
//! ```
//! use http::{HeaderMap, header};
//! use http_conventions::{
//!     content::{self, MediaType, Offers},
//!     errors::ProblemBase,
//! };
//!
//! let base = ProblemBase::new("https://api.example.com/problems/")?;
//! let read = Offers::<MediaType>::parse("application/json", &[])?;
//! let mut headers = HeaderMap::new();
//! headers.insert(header::CONTENT_TYPE, "text/xml".parse()?);
//!
//! let refused = content::media_type(&headers, &read)
//!     .expect_err("XML")
//!     .problem(&base)
//!     .into_response();
//! assert_eq!(refused.status(), 415);
//! assert_eq!(refused.headers()["accept"], "application/json");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # JSON
//!
//! [`JsonReader`] reads JSON content into a type of the host. All faults are in one 422, each with
//! a JSON pointer. The response has no text of the decoder.
//!
//! ```
//! use http_conventions::content::{Fault, InvalidContent, JsonReader};
//! use serde::Deserialize;
//!
//! #[derive(Deserialize)]
//! struct Line {
//!     item: String,
//!     count: u8,
//! }
//!
//! let content = br#"[{"item": "tea", "count": 300}, {"item": null, "count": 1}]"#;
//! let refused = JsonReader::new().read_bytes::<Vec<Line>>(content);
//! let Err(InvalidContent::Faulty(faults)) = refused else {
//!     panic!("two faults")
//! };
//! let pointers: Vec<_> = faults.all().iter().map(Fault::pointer).collect();
//! assert_eq!(pointers, ["/0/count", "/1/item"]);
//! assert_eq!(faults.all()[0].detail(), "must be an integer from 0 to 255");
//! ```
//!
//! # Ranges
//!
//! Ranges of a large content, [RFC 9110 §14](https://www.rfc-editor.org/rfc/rfc9110#section-14): a
//! client continues an interrupted download, or reads parts of a file.
//!
//! [`Preconditions::answer_ranges`] completes the response to a read of [`Bytes`](bytes::Bytes);
//! [`Preconditions::plan_ranges`] lists the pieces that a host streams from elsewhere. Both follow
//! the order of [RFC 9110 §13.2.2](https://www.rfc-editor.org/rfc/rfc9110#section-13.2.2): 412,
//! then 304, then `If-Range`, then 206 or 416. A HEAD gets the head of the 200.
//!
//! ```
//! use std::time::SystemTime;
//!
//! use http::{Request, Response};
//! use http_conventions::{
//!     caching::{EntityTag, Preconditions, Validators},
//!     content::ContentPiece,
//!     errors::ProblemBase,
//!     ports::OsEntropy,
//! };
//!
//! let base = ProblemBase::new("https://api.example.com/problems/")?;
//! let current = Validators::default().with_entity_tag(EntityTag::strong("v7")?);
//! let request = Request::get("/v1/exports/7")
//!     .header("Range", "bytes=1000000-")
//!     .header("If-Range", "\"v7\"")
//!     .body(())?;
//!
//! let head = Response::builder()
//!     .header("Content-Type", "text/csv")
//!     .body(5_000_000)?; // the length of the file
//! let planned = Preconditions::of(&request, SystemTime::UNIX_EPOCH)
//!     .plan_ranges(&current, head, &OsEntropy, &base)
//!     .map_err(|problem| problem.status().to_string())?;
//! assert_eq!(planned.status(), 206);
//! assert_eq!(planned.headers()["content-length"], "4000000");
//! for piece in planned.body() {
//!     match piece {
//!         // read these bytes of the file
//!         ContentPiece::Range(range) => {
//!             assert_eq!((range.first(), range.last()), (1_000_000, 4_999_999));
//!         }
//!         // heads of parts, if there are several ranges
//!         ContentPiece::Text(_) => unreachable!(),
//!     }
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`Preconditions::answer_ranges`]: crate::caching::Preconditions::answer_ranges
//! [`Preconditions::plan_ranges`]: crate::caching::Preconditions::plan_ranges
//!
//! # Digests
//!
//! `Content-Digest` and `Repr-Digest`, [RFC 9530](https://www.rfc-editor.org/rfc/rfc9530): a
//! receiver detects content that was damaged on its way. [`check_digests`] and
//! [`require_content_digest`] check a request; the [pipeline](crate::pipeline) calls one of them
//! before the handler. [`add_wanted_digests`] adds the digests that a client asks for to a
//! response.
//!
//! Only SHA-256 and SHA-512 count. Another algorithm never satisfies a check, and never fails one.
//!
//! # Size limits
//!
//! Limits the size of a request; a larger one gets 413, 414 or 431.
//!
//! ```
//! use http::{HeaderMap, Uri, header};
//! use http_conventions::{content::SizeLimits, errors::ProblemBase};
//!
//! let limits = SizeLimits::default();
//! let base = ProblemBase::new("https://api.example.com/problems/")?;
//! let mut headers = HeaderMap::new();
//! headers.insert(header::CONTENT_LENGTH, "1048577".parse()?);
//!
//! let refused = limits
//!     .check_head(&Uri::from_static("/v1/charges"), &headers)
//!     .expect_err("a byte too many");
//! assert_eq!(refused.problem(&base).status(), 413);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Compression
//!
//! [`Compression`] compresses complete responses in a coding that the client accepts. Streams are
//! left to the framework. A response is compressed if all of this holds:
//!
//! - Its content has at least 1 KiB and a media type that compresses well, such as JSON.
//! - It has neither `Content-Encoding` nor `Content-Range` nor `Cache-Control: no-transform`.
//! - It sets no cookie, and its `Cache-Control` is neither `no-store` nor `private`, because its
//!   length could reveal a secret, see [`ResponseCompression::danger_with_secrets`]. The pipeline
//!   sets one of the two on a response without a policy, so a handler whose response has no secret
//!   sets [`CacheControl::public`](crate::caching::CacheControl::public), for example.
//!
//! Such a response has `Vary: Accept-Encoding`, compressed or not. A strong entity tag gets the
//! name of the coding as its suffix ([RFC 9110
//! §8.8.3.3](https://www.rfc-editor.org/rfc/rfc9110#section-8.8.3.3)), and the 304 to it has the
//! tag that the client has cached. `Content-Length`, `Content-Digest` and `Repr-Digest` are those
//! of the compressed content.
//!
//! Ranges are those of the plain content: a 206 is not compressed, and a compressed response has no
//! `Accept-Ranges`. A client that continues a compressed response gets the whole content, because
//! its `If-Range` names the tag of the coding.
//!
//! The preconditions of the [pipeline](crate::pipeline) accept the tags of all codings. A host
//! without the pipeline sets
//! [`Validators::with_codings`](crate::caching::Validators::with_codings).
//!
//! ```
//! use bytes::Bytes;
//! use http::{Request, Response};
//! use http_conventions::content::{Compression, ContentCoding};
//!
//! static CODINGS: [ContentCoding; 1] = [ContentCoding::ZSTD];
//! let encode = |_: &ContentCoding, _: &[u8]| Some(b"encoded by the host".to_vec());
//! let compression = Compression::new(&CODINGS, encode);
//!
//! let request = Request::get("/v1/rates").header("Accept-Encoding", "zstd, br").body(())?;
//! let response = Response::builder()
//!     .header("Content-Type", "application/json")
//!     .header("Cache-Control", "public, max-age=60")
//!     .header("ETag", r#""v7""#)
//!     .body(Bytes::from(vec![b'0'; 2000]))?;
//! let sent = compression.negotiate(&request).apply(response);
//! assert_eq!(sent.headers()["content-encoding"], "zstd");
//! assert_eq!(sent.headers()["etag"], r#""v7-zstd""#);
//! assert_eq!(sent.headers()["vary"], "accept-encoding");
//! # Ok::<(), http::Error>(())
//! ```

pub(crate) mod checks;
mod compression;
pub(crate) mod digests;
pub(crate) mod json;
pub(crate) mod negotiation;
pub(crate) mod ranges;
pub(crate) mod size_limits;

pub use self::{
    checks::{UnsupportedContent, coding, media_type},
    compression::{Compression, ResponseCompression},
    digests::{
        CONTENT_DIGEST, DigestAlgorithm, DigestRefusal, Digests, InvalidDigests, REPR_DIGEST,
        WANT_CONTENT_DIGEST, WANT_REPR_DIGEST, add_wanted_digests, check_digests, require_content_digest,
    },
    json::{Fault, Faults, InvalidContent, JsonReader, MalformedJson},
    negotiation::{
        Accept, AcceptEncoding, AcceptLanguage, ContentCoding, InvalidContentCoding, InvalidLanguageTag,
        InvalidMediaType, LanguageTag, MediaRange, MediaType, Negotiation, NotAcceptable, Offers, Weight,
    },
    ranges::{ByteRange, ContentPiece, RangeDecision},
    size_limits::{ContentMeter, SizeLimits, TooLarge},
};
