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

/// Negotiation of one response. Records the request fields that it evaluates.
#[derive(Clone, Debug)]
pub struct Negotiation<'a> {
    headers: &'a HeaderMap,
    vary: Vary,
}

impl<'a> Negotiation<'a> {
    /// Creates a negotiation from the headers of a request.
    #[must_use]
    pub fn new(headers: &'a HeaderMap) -> Self {
        Self {
            headers,
            vary: Vary::default(),
        }
    }

    /// Chooses the media type of the response.
    ///
    /// # Errors
    ///
    /// [`NotAcceptable`] if the request accepts no offer. The host may then send its default
    /// instead of the 406 ([RFC 9110
    /// §12.4.1](https://www.rfc-editor.org/rfc/rfc9110#section-12.4.1)).
    pub fn media_type<'o>(&mut self, offers: &'o Offers<MediaType>) -> Result<&'o MediaType, NotAcceptable> {
        self.vary.add(ACCEPT);
        let chosen = Accept::of(self.headers).choose(offers);
        chosen.ok_or_else(|| NotAcceptable::new(offers.all()))
    }

    /// Chooses the language of the response, see [`AcceptLanguage::choose`].
    ///
    /// Never fails: a response in another language is more useful than an error.
    pub fn language<'o>(&mut self, offers: &'o Offers<LanguageTag>) -> &'o LanguageTag {
        self.vary.add(ACCEPT_LANGUAGE);
        AcceptLanguage::of(self.headers).choose(offers)
    }

    /// Chooses the content coding of the response; identity is always an offer.
    ///
    /// # Errors
    ///
    /// [`NotAcceptable`] if the request refuses all offers and identity. The host may then send
    /// identity instead of the 406.
    pub fn coding<'o>(&mut self, offers: &'o [ContentCoding]) -> Result<&'o ContentCoding, NotAcceptable> {
        self.vary.add(ACCEPT_ENCODING);
        let chosen = AcceptEncoding::of(self.headers).choose(offers);
        chosen.ok_or_else(|| NotAcceptable::new(offers.iter().chain([&ContentCoding::IDENTITY])))
    }

    /// Request fields that were evaluated so far, for the `Vary` of the response.
    #[must_use]
    pub const fn vary(&self) -> &Vary {
        &self.vary
    }
}
