//! Content negotiation.

use http::{
    HeaderMap,
    header::{ACCEPT, ACCEPT_ENCODING, ACCEPT_LANGUAGE},
};

use crate::caching::Vary;

mod coding;
mod language;
mod not_acceptable;
mod offers;
mod weighted;

pub use host_ports::{Accept, InvalidMediaType, MediaRange, MediaType, Weight};

pub use self::{
    coding::{AcceptEncoding, ContentCoding, InvalidContentCoding},
    language::{AcceptLanguage, InvalidLanguageTag, LanguageTag},
    not_acceptable::NotAcceptable,
    offers::Offers,
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
