//! Content: negotiation, checks of the media type and the coding of a request, size limits.
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

pub(crate) mod checks;
pub(crate) mod negotiation;
pub(crate) mod size_limits;

pub use self::{
    checks::{UnsupportedContent, coding, media_type},
    negotiation::{
        Accept, AcceptEncoding, AcceptLanguage, ContentCoding, InvalidContentCoding, InvalidLanguageTag,
        InvalidMediaType, LanguageTag, MediaRange, MediaType, Negotiation, NotAcceptable, Offers, Weight,
    },
    size_limits::{ContentMeter, SizeLimits, TooLarge},
};
