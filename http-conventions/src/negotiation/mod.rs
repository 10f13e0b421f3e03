//! Content negotiation, [RFC 9110 §12](https://www.rfc-editor.org/rfc/rfc9110#section-12): the media type, language and coding
//! of an answer.
//!
//! [`Accept`], [`AcceptLanguage`] and [`AcceptEncoding`] each read one field. [`Negotiation`] asks them and notes which were
//! asked, so that `Vary` says no less and no more than what had a say.
//!
//! ```
//! use http::{HeaderMap, header};
//! use http_conventions::negotiation::{LanguageTag, MediaType, Negotiation, Offers};
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
//! A problem is sent as `application/problem+json` whatever the request accepts, the 406 itself too
//! ([RFC 9457 §3](https://www.rfc-editor.org/rfc/rfc9457#section-3)); it varies as the answer would have.

use http::{
    HeaderMap,
    header::{ACCEPT, ACCEPT_ENCODING, ACCEPT_LANGUAGE},
};

use crate::vary::Vary;

mod accept;
mod coding;
mod language;
mod media_type;
mod not_acceptable;
mod offers;
mod weight;

pub use self::{
    accept::Accept,
    coding::{AcceptEncoding, ContentCoding, InvalidContentCoding},
    language::{AcceptLanguage, InvalidLanguageTag, LanguageTag},
    media_type::{InvalidMediaType, MediaType},
    not_acceptable::NotAcceptable,
    offers::Offers,
    weight::Weight,
};

/// The negotiation of one answer, and what of the request it asked for.
#[derive(Clone, Debug)]
pub struct Negotiation<'a> {
    headers: &'a HeaderMap,
    vary: Vary,
}

impl<'a> Negotiation<'a> {
    /// With what these headers say; nothing is asked yet.
    #[must_use]
    pub fn new(headers: &'a HeaderMap) -> Self {
        Self {
            headers,
            vary: Vary::default(),
        }
    }

    /// The media type to answer with.
    ///
    /// # Errors
    ///
    /// When the request accepts none of them. A host that would rather disregard the field, as
    /// [RFC 9110 §12.4.1](https://www.rfc-editor.org/rfc/rfc9110#section-12.4.1) allows, takes the default of its offers instead.
    pub fn media_type<'o>(&mut self, offers: &'o Offers<MediaType>) -> Result<&'o MediaType, NotAcceptable> {
        self.vary.add(ACCEPT);
        let chosen = Accept::of(self.headers).choose(offers);
        chosen.ok_or_else(|| NotAcceptable::new(offers.all()))
    }

    /// The language to answer in, see [`AcceptLanguage::choose`]. Never a refusal: one may not be able to read an answer, and
    /// an error even less.
    pub fn language<'o>(&mut self, offers: &'o Offers<LanguageTag>) -> &'o LanguageTag {
        self.vary.add(ACCEPT_LANGUAGE);
        AcceptLanguage::of(self.headers).choose(offers)
    }

    /// The content coding to answer with; identity is always among the offers.
    ///
    /// # Errors
    ///
    /// When the request refuses all of them and identity too. A host that would rather disregard the field sends identity.
    pub fn coding<'o>(&mut self, offers: &'o [ContentCoding]) -> Result<&'o ContentCoding, NotAcceptable> {
        self.vary.add(ACCEPT_ENCODING);
        let chosen = AcceptEncoding::of(self.headers).choose(offers);
        chosen.ok_or_else(|| NotAcceptable::new(offers.iter().chain([&ContentCoding::IDENTITY])))
    }

    /// What was asked for so far.
    #[must_use]
    pub const fn vary(&self) -> &Vary {
        &self.vary
    }
}
