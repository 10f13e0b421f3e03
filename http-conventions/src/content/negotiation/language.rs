//! `Accept-Language`, [RFC 9110 §12.5.4](https://www.rfc-editor.org/rfc/rfc9110#section-12.5.4),
//! matched by [RFC 4647](https://www.rfc-editor.org/rfc/rfc4647).

use std::{cmp::Reverse, fmt, str::FromStr};

use http::{HeaderMap, HeaderValue, header::ACCEPT_LANGUAGE};

use super::{Offers, Weight, weighted::weighted};
use crate::field;

/// Number of offers that are matched in one pass over the field. Their matches are on the stack.
const AT_ONCE: usize = 8;

/// Language tag of a representation, such as `de` or `zh-Hant-TW`.
///
/// The syntax is that of [RFC 4647 §2.1](https://www.rfc-editor.org/rfc/rfc4647#section-2.1)
/// without `*`. The last subtag has at least two characters, because a subtag of one character only
/// introduces the next subtag.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct LanguageTag(HeaderValue);

impl LanguageTag {
    /// The tag as given.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.0.to_str().unwrap_or_default()
    }

    /// Value of `Content-Language`.
    #[must_use]
    pub fn header_value(&self) -> HeaderValue {
        self.0.clone()
    }

    fn as_bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

impl FromStr for LanguageTag {
    type Err = InvalidLanguageTag;

    fn from_str(text: &str) -> Result<Self, InvalidLanguageTag> {
        let last = text.rsplit('-').next().unwrap_or_default();
        if !is_language_range(text.as_bytes()) || last.len() < 2 {
            return Err(InvalidLanguageTag);
        }
        HeaderValue::from_str(text)
            .map(Self)
            .map_err(|_| InvalidLanguageTag)
    }
}

impl fmt::Display for LanguageTag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// `Accept-Language` of a request. Borrows its headers.
///
/// Tags are compared without case. A malformed member, or one with a malformed weight, is ignored.
///
/// # Performance
///
/// Parsing is linear in the length of the field.
///
/// ```
/// use http::{HeaderMap, header};
/// use http_conventions::content::{AcceptLanguage, LanguageTag, Offers};
///
/// let mut headers = HeaderMap::new();
/// headers.insert(header::ACCEPT_LANGUAGE, "fr-CH, de-AT;q=0.8, en;q=0.5".parse()?);
///
/// let offers = Offers::<LanguageTag>::parse("en", &["de", "de-CH"])?;
/// assert_eq!(AcceptLanguage::of(&headers).lookup(&offers).map(LanguageTag::as_str), Some("de"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct AcceptLanguage<'a> {
    headers: &'a HeaderMap,
}

impl<'a> AcceptLanguage<'a> {
    /// `Accept-Language` of these headers.
    #[must_use]
    pub const fn of(headers: &'a HeaderMap) -> Self {
        Self { headers }
    }

    /// Finds the best language by lookup, [RFC 4647
    /// §3.4](https://www.rfc-editor.org/rfc/rfc4647#section-3.4).
    ///
    /// Ranges are tried from the highest weight to the lowest. Each range is shortened from its end
    /// until it equals an offer. `*` matches no offer. An offer that the request refuses by name
    /// (`de;q=0`) is excluded. Returns `None` if no range matches an offer; use
    /// [`choose`](Self::choose) for a fallback.
    #[must_use]
    pub fn lookup(self, offers: &Offers<LanguageTag>) -> Option<&LanguageTag> {
        let mut best: Option<(_, &LanguageTag)> = None;
        self.each(offers, |tag, found| {
            let Some(range) = found.best.filter(|_| !found.is_refused) else {
                return;
            };
            // the best range decides; among its languages the longest wins
            let rank = (range, tag.as_bytes().len());
            if best.is_none_or(|(most, _)| rank >= most) {
                best = Some((rank, tag));
            }
        });
        best.map(|(_, tag)| tag)
    }

    /// Chooses the language of the response.
    ///
    /// Returns the first of these that exists:
    ///
    /// 1. The result of [`lookup`](Self::lookup).
    /// 2. The best language by [`filter`](Self::filter): a client that asks for `fr` gets `fr-FR`
    ///    rather than another language.
    /// 3. The first offer that the request does not refuse by name.
    /// 4. The default offer.
    #[must_use]
    pub fn choose(self, offers: &Offers<LanguageTag>) -> &LanguageTag {
        self.lookup(offers)
            .or_else(|| self.best_filtered(offers))
            .or_else(|| self.first_not_refused(offers))
            .unwrap_or(offers.default())
    }

    /// First result of [`filter`](Self::filter), without a list.
    fn best_filtered(self, offers: &Offers<LanguageTag>) -> Option<&LanguageTag> {
        let mut best: Option<(Weight, &LanguageTag)> = None;
        self.each(offers, |tag, found| {
            let weight = found.filtered.1;
            if weight.is_acceptable() && best.is_none_or(|(most, _)| weight > most) {
                best = Some((weight, tag));
            }
        });
        best.map(|(_, tag)| tag)
    }

    fn first_not_refused(self, offers: &Offers<LanguageTag>) -> Option<&LanguageTag> {
        let mut first = None;
        self.each(offers, |tag, found| {
            if !found.is_refused {
                first = first.or(Some(tag));
            }
        });
        first
    }

    /// Selects all acceptable offers by basic filtering, [RFC 4647
    /// §3.3.1](https://www.rfc-editor.org/rfc/rfc4647#section-3.3.1), highest weight first.
    ///
    /// A range matches a language that starts with its subtags; `*` matches every language. The
    /// longest matching range decides the weight. The result is empty if the field is absent.
    #[must_use]
    pub fn filter(self, offers: &Offers<LanguageTag>) -> Vec<&LanguageTag> {
        let mut wanted = Vec::new();
        self.each(offers, |tag, found| {
            if found.filtered.1.is_acceptable() {
                wanted.push((found.filtered.1, tag));
            }
        });
        wanted.sort_by_key(|(weight, _)| Reverse(*weight));
        wanted.into_iter().map(|(_, tag)| tag).collect()
    }

    /// Calls `take` for each language with its match. A callback avoids moving the matches.
    fn each<'o>(self, offers: &'o Offers<LanguageTag>, mut take: impl FnMut(&'o LanguageTag, &Matched)) {
        for some in offers.all().chunks(AT_ONCE) {
            let mut found = [Matched::default(); AT_ONCE];
            let mut position = 0;
            for line in self.headers.get_all(&ACCEPT_LANGUAGE) {
                for (range, weight) in field::values(line.as_bytes()).filter_map(weighted) {
                    for (offer, found) in some.iter().zip(&mut found) {
                        found.take(offer.as_bytes(), range, weight, position);
                    }
                    position += 1;
                }
            }
            some.iter().zip(&found).for_each(|(tag, found)| take(tag, found));
        }
    }
}

/// Match of the ranges parsed so far with one language.
#[derive(Clone, Copy, Debug, Default)]
struct Matched {
    /// A range with weight zero equals this language.
    is_refused: bool,
    /// Weight of the best range that can be shortened to this language, and the position of the
    /// first such range.
    best: Option<(Weight, Reverse<usize>)>,
    /// Length and weight of the longest range that is a prefix of this language.
    filtered: (usize, Weight),
}

impl Matched {
    fn take(&mut self, offer: &[u8], range: &[u8], weight: Weight, position: usize) {
        if range == b"*" {
            self.filtered = self.filtered.max((1, weight));
            return;
        }
        // most languages differ in the first letter, so this check is fast
        if range.first().map(u8::to_ascii_lowercase) != offer.first().map(u8::to_ascii_lowercase) {
            return;
        }
        let is_it = range.eq_ignore_ascii_case(offer);
        // a range that equals an offer or its beginning is well-formed, because the offer is
        let leads_here = is_it || (begins_with(range, offer) && is_language_range(range));
        if leads_here && weight.is_acceptable() {
            self.best = self.best.max(Some((weight, Reverse(position))));
        }
        self.is_refused |= is_it && !weight.is_acceptable();
        if is_it || begins_with(offer, range) {
            // a range of one character counts as longer than `*`
            self.filtered = self.filtered.max((range.len() + 1, weight));
        }
    }
}

/// Returns `true` if the tag is a prefix of the longer tag, by whole subtags.
fn begins_with(longer: &[u8], tag: &[u8]) -> bool {
    match longer.split_at_checked(tag.len()) {
        Some((head, rest)) => head.eq_ignore_ascii_case(tag) && rest.first().is_none_or(|byte| *byte == b'-'),
        None => false,
    }
}

/// `1*8ALPHA *("-" 1*8alphanum)`
fn is_language_range(range: &[u8]) -> bool {
    let mut length = 0;
    let mut is_first = true;
    for byte in range {
        match byte {
            b'-' if length > 0 => (length, is_first) = (0, false),
            byte if byte.is_ascii_alphabetic() || (byte.is_ascii_digit() && !is_first) => length += 1,
            _ => return false,
        }
        if length > 8 {
            return false;
        }
    }
    length > 0
}

/// Error for a malformed language tag.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("invalid language tag")]
pub struct InvalidLanguageTag;
