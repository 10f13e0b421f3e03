//! `Accept`, [RFC 9110 §12.5.1](https://www.rfc-editor.org/rfc/rfc9110#section-12.5.1).

use http::{HeaderMap, header::ACCEPT};

use super::{MediaType, Offers, Weight, media_type::halves};
use crate::{field, single_value};

/// How many offers are weighed by one reading of the field, in space on the stack.
const AT_ONCE: usize = 8;

/// The media types a request wants; a cheap view of its head.
///
/// The most specific range that a type matches decides its weight: `type/subtype;parameters` before `type/subtype` before
/// `type/*` before `*/*`; of two alike, the greater weight. Names are compared whatever their case. A `charset` that a range
/// asks for counts only where the offer names one too, as clients add it to types that have none, JSON above all.
///
/// A member that is malformed, its weight included, is passed over; a field without any other says nothing, like one that is
/// absent or empty. Reading takes time in proportion to the length of the field, whatever is in it.
///
/// # ABNF
///
/// ```text
/// Accept      = #( media-range [ weight ] )
/// media-range = ( "*/*" / ( type "/" "*" ) / ( type "/" subtype ) ) parameters
/// ```
///
/// ```
/// use http::{HeaderMap, header};
/// use http_conventions::content::{Accept, MediaType, Offers};
///
/// let mut headers = HeaderMap::new();
/// headers.insert(header::ACCEPT, "text/*;q=0.5, application/json;q=0.1".parse()?);
///
/// let offers = Offers::<MediaType>::parse("application/json", &["text/csv"])?;
/// assert_eq!(Accept::of(&headers).choose(&offers).map(MediaType::as_str), Some("text/csv"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Accept<'a> {
    headers: &'a HeaderMap,
}

impl<'a> Accept<'a> {
    /// What these headers say.
    #[must_use]
    pub const fn of(headers: &'a HeaderMap) -> Self {
        Self { headers }
    }

    /// How much this type is wanted.
    #[must_use]
    pub fn weight(self, offer: &MediaType) -> Weight {
        let [weight, ..] = self.weigh(std::slice::from_ref(offer));
        weight
    }

    /// The type that is wanted most, and the host prefers among those wanted alike; absent where none is wanted.
    #[must_use]
    pub fn choose(self, offers: &Offers<MediaType>) -> Option<&MediaType> {
        if let Some(offer) = self.only_one(offers) {
            return Some(offer);
        }
        let mut best: Option<(Weight, &MediaType)> = None;
        for some in offers.all().chunks(AT_ONCE) {
            for (offer, weight) in some.iter().zip(self.weigh(some)) {
                if weight.is_acceptable() && best.is_none_or(|(most, _)| weight > most) {
                    best = Some((weight, offer));
                }
            }
        }
        best.map(|(_, offer)| offer)
    }

    /// Nearly every program names one type, or any: that needs no reading.
    fn only_one(self, offers: &Offers<MediaType>) -> Option<&MediaType> {
        let range = single_value(self.headers, &ACCEPT)?.as_bytes();
        if range == b"*/*" {
            return Some(offers.default());
        }
        offers
            .all()
            .iter()
            .find(|offer| offer.essence().as_bytes() == range)
    }

    fn weigh(self, offers: &[MediaType]) -> [Weight; AT_ONCE] {
        let mut says_nothing = true;
        let mut decisive = [(0, Weight::ZERO); AT_ONCE];
        for member in field::members(self.headers, &ACCEPT) {
            // of a range that describes none of them, no more is asked than whether the field says something
            if !says_nothing
                && !offers
                    .iter()
                    .any(|offer| breadth(essence(member), offer).is_some())
            {
                continue;
            }
            let Some(range) = Range::parse(member) else {
                continue;
            };
            says_nothing = false;
            for (offer, slot) in offers.iter().zip(&mut decisive) {
                if let Some(specificity) = range.specificity(offer) {
                    *slot = (*slot).max((specificity, range.weight));
                }
            }
        }
        match says_nothing {
            true => [Weight::FULL; AT_ONCE],
            false => decisive.map(|(_, weight)| weight),
        }
    }
}

/// One media range.
#[derive(Debug)]
struct Range<'a> {
    essence: &'a [u8],
    parameters: &'a [u8],
    weight: Weight,
}

impl<'a> Range<'a> {
    fn parse(member: &'a [u8]) -> Option<Self> {
        let essence = essence(member);
        let (main, sub) = halves(essence)?;
        if main == b"*" && sub != b"*" {
            return None;
        }
        let mut parameters = field::split_once(member, b';').1.unwrap_or_default();
        let mut weight = None;
        // as nearly everybody writes it; there is nothing else to compare then
        if let Some(only) = parameters.strip_prefix(b"q=").and_then(Weight::parse) {
            (weight, parameters) = (Some(only), b"");
        }
        for part in field::split(parameters, b';') {
            let (name, raw) = field::parameter(part)?;
            if is_weight(name) && weight.replace(Weight::parse(raw)?).is_some() {
                return None;
            }
        }
        Some(Self {
            essence,
            parameters,
            weight: weight.unwrap_or(Weight::FULL),
        })
    }

    /// How closely the range describes this type, and more than zero; absent where it does not.
    fn specificity(&self, offer: &MediaType) -> Option<u64> {
        let breadth = breadth(self.essence, offer)?;
        let mut matched = 0_u64;
        for part in field::split(self.parameters, b';') {
            let (name, raw) = field::parameter(part)
                .filter(|(name, _)| !is_weight(name))
                .unzip();
            let (Some(name), Some(raw)) = (name, raw) else {
                continue;
            };
            match offer.has_parameter(name, raw) {
                Some(true) => matched += 1,
                None if name.eq_ignore_ascii_case(b"charset") => {}
                Some(false) | None => return None,
            }
        }
        // a field would need four billion parameters for one of them to count as breadth
        Some((breadth << 32) + matched)
    }
}

/// The type of a range, without its parameters; quotes come only in those.
fn essence(member: &[u8]) -> &[u8] {
    let end = member.iter().position(|byte| *byte == b';');
    field::trim(member.get(..end.unwrap_or(member.len())).unwrap_or(member))
}

/// How much of a type its range names: all, the half before the slash, or nothing; absent where it is no range of this type.
fn breadth(essence: &[u8], offer: &MediaType) -> Option<u64> {
    let offered = offer.essence().as_bytes();
    match essence {
        b"*/*" => Some(1),
        [main @ .., b'*'] if main.ends_with(b"/") => {
            let head = offered.get(..main.len())?;
            head.eq_ignore_ascii_case(main).then_some(2)
        }
        essence => essence.eq_ignore_ascii_case(offered).then_some(3),
    }
}

fn is_weight(name: &[u8]) -> bool {
    matches!(name, b"q" | b"Q")
}
