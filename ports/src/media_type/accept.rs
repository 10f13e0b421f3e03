//! `Accept`, [RFC 9110 §12.5.1](https://www.rfc-editor.org/rfc/rfc9110#section-12.5.1).

use http::{HeaderMap, header::ACCEPT};

use super::{MediaType, Weight, halves};
use crate::field;

/// Number of offers that one pass over the field compares. Their weights are in an array on the
/// stack.
const AT_ONCE: usize = 8;

/// The `Accept` field of a request. Borrows the headers and parses them on each call.
///
/// - The most specific range that matches a type decides its weight, in this order:
///   `type/subtype;parameters`, `type/subtype`, `type/*`, `*/*`. Among equally specific ranges, the
///   greatest weight counts.
/// - The case of type and parameter names is ignored.
/// - The `charset` of a range is compared only if the offer has a `charset`, because clients also
///   add the parameter to types that do not define it, such as JSON.
/// - A malformed member, or one with a malformed weight, is ignored. If no member is left, the
///   field counts as absent: every type is acceptable.
///
/// # Performance
///
/// Parsing is linear in the length of the field.
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
/// use host_ports::{Accept, MediaType};
///
/// let mut headers = HeaderMap::new();
/// headers.insert(header::ACCEPT, "text/*;q=0.5, application/json;q=0.1".parse()?);
///
/// let offers: [MediaType; 2] = ["application/json".parse()?, "text/csv".parse()?];
/// assert_eq!(Accept::of(&headers).choose(&offers).map(MediaType::as_str), Some("text/csv"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Accept<'a> {
    headers: &'a HeaderMap,
}

impl<'a> Accept<'a> {
    /// The field of these headers.
    #[must_use]
    pub const fn of(headers: &'a HeaderMap) -> Self {
        Self { headers }
    }

    /// The weight of a type.
    #[must_use]
    pub fn weight(self, offer: &MediaType) -> Weight {
        let [weight, ..] = self.weigh(std::slice::from_ref(offer));
        weight
    }

    /// Chooses the offer with the greatest weight; the first offer wins a tie. `None` if no offer
    /// is acceptable.
    ///
    /// A request without the field gets the first offer.
    #[must_use]
    pub fn choose<O>(self, offers: &O) -> Option<&MediaType>
    where
        O: AsRef<[MediaType]> + ?Sized,
    {
        let offers = offers.as_ref();
        if let Some(offer) = self.only_one(offers) {
            return Some(offer);
        }
        let mut best: Option<(Weight, &MediaType)> = None;
        for some in offers.chunks(AT_ONCE) {
            for (offer, weight) in some.iter().zip(self.weigh(some)) {
                if weight.is_acceptable() && best.is_none_or(|(most, _)| weight > most) {
                    best = Some((weight, offer));
                }
            }
        }
        best.map(|(_, offer)| offer)
    }

    /// Chooses without parsing in the common case: one line with one type or `*/*`.
    fn only_one(self, offers: &[MediaType]) -> Option<&MediaType> {
        let mut lines = self.headers.get_all(&ACCEPT).iter();
        let range = lines.next().filter(|_| lines.next().is_none())?.as_bytes();
        if range == b"*/*" {
            return offers.first();
        }
        offers.iter().find(|offer| offer.essence().as_bytes() == range)
    }

    fn weigh(self, offers: &[MediaType]) -> [Weight; AT_ONCE] {
        let mut says_nothing = true;
        let mut decisive = [(0, Weight::ZERO); AT_ONCE];
        for line in self.headers.get_all(&ACCEPT) {
            for (essence, parameters) in field::values(line.as_bytes()) {
                let mut essences = offers.iter().map(|offer| offer.essence().as_bytes());
                let range = if essences.any(|offered| breadth(essence, offered).is_some()) {
                    // a range that matches a well-formed type is well-formed
                    MediaRange::weighted(essence, parameters)
                } else if says_nothing {
                    // a range that matches no offer only shows that the field has a valid range
                    MediaRange::checked(essence, parameters)
                } else {
                    continue;
                };
                let Some(range) = range else { continue };
                says_nothing = false;
                for (offer, slot) in offers.iter().zip(&mut decisive) {
                    if let Some(specificity) = range.specificity(offer) {
                        *slot = (*slot).max((specificity, range.weight));
                    }
                }
            }
        }
        match says_nothing {
            true => [Weight::FULL; AT_ONCE],
            false => decisive.map(|(_, weight)| weight),
        }
    }
}

/// A media range: one member of `Accept`.
///
/// ```
/// use host_ports::MediaRange;
///
/// let range = MediaRange::parse(b"text/*;q=0.5").ok_or("malformed")?;
/// assert_eq!(range.weight().thousandths(), 500);
/// assert_eq!(range.precision("text/csv"), Some(1));
/// assert_eq!(range.precision("image/png"), None);
/// # Ok::<(), &str>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct MediaRange<'a> {
    essence: &'a [u8],
    parameters: &'a [u8],
    weight: Weight,
}

impl<'a> MediaRange<'a> {
    /// Ranges of `Accept` over all its lines, in order, parsed tolerantly.
    ///
    /// - Malformed parameters are ignored.
    /// - If a range has two weights, the first counts.
    /// - An unclosed quote does not hide later members.
    /// - A member without a type, or with a malformed weight, is omitted.
    ///
    /// Use this function if the host compares only types: a malformed parameter then does not
    /// exclude the type.
    pub fn all(headers: &'a HeaderMap) -> impl Iterator<Item = Self> {
        let lines = headers.get_all(&ACCEPT).iter();
        let members = lines.flat_map(|line| {
            let line = line.as_bytes();
            let (closed, open) = line.split_at(field::open_quote(line).unwrap_or(line.len()));
            let next = open.iter().position(|byte| *byte == b',');
            let hidden = next.and_then(|next| open.get(next..)).unwrap_or_default();
            field::values(closed).chain(field::values(hidden))
        });
        members.filter_map(|(essence, parameters)| Self::tolerant(essence, parameters))
    }

    /// Parses a member of `Accept`; `None` if the member or its weight is malformed.
    #[must_use]
    pub fn parse(member: &'a [u8]) -> Option<Self> {
        let (essence, parameters) = field::split_once(member, b';');
        Self::checked(field::trim(essence), parameters.unwrap_or_default())
    }

    fn checked(essence: &'a [u8], parameters: &'a [u8]) -> Option<Self> {
        is_range(essence).then(|| Self::weighted(essence, parameters))?
    }

    /// Parses the parameters of a range whose type is well-formed.
    fn weighted(essence: &'a [u8], parameters: &'a [u8]) -> Option<Self> {
        let range = |parameters, weight| Self {
            essence,
            parameters,
            weight,
        };
        if parameters.is_empty() {
            return Some(range(b"", Weight::FULL));
        }
        // the common form: the weight is the only parameter
        if let Some(only) = parameters.strip_prefix(b"q=").and_then(Weight::parse) {
            return Some(range(b"", only));
        }
        let mut weight = None;
        for part in field::split(parameters, b';') {
            let (name, raw) = field::parameter(part)?;
            if is_weight(name) && weight.replace(Weight::parse(raw)?).is_some() {
                return None;
            }
        }
        Some(range(parameters, weight.unwrap_or(Weight::FULL)))
    }

    fn tolerant(essence: &'a [u8], parameters: &'a [u8]) -> Option<Self> {
        let mut weights = field::split(parameters, b';').filter_map(|part| {
            let (name, raw) = field::split_once(part, b'=');
            raw.filter(|_| is_weight(field::trim(name)))
        });
        let weight = match weights.next() {
            Some(raw) => Weight::parse(field::trim(raw))?,
            None => Weight::FULL,
        };
        is_range(essence).then_some(Self {
            essence,
            parameters,
            weight,
        })
    }

    /// The weight.
    #[must_use]
    pub const fn weight(&self) -> Weight {
        self.weight
    }

    /// Precision of the range for a type without parameters; `None` if the range does not match. 0
    /// for `*/*`, 1 for `type/*`, 2 for `type/subtype`. Parameters of the range are ignored.
    #[must_use]
    pub fn precision(&self, essence: &str) -> Option<u8> {
        breadth(self.essence, essence.as_bytes())
    }

    /// Returns `true` if the range has the parameter `name` with the value `value`, quoted or not.
    ///
    /// The case of the name is ignored. White space around `=` is allowed. If the range repeats the
    /// parameter, the first counts.
    ///
    /// ```
    /// use host_ports::MediaRange;
    ///
    /// let range = MediaRange::parse(b"multipart/mixed;spec=\"1.0\"").ok_or("malformed")?;
    /// assert!(range.has_parameter("Spec", "1.0"));
    /// assert!(!range.has_parameter("spec", "2.0"));
    /// # Ok::<(), &str>(())
    /// ```
    #[must_use]
    pub fn has_parameter(&self, name: &str, value: &str) -> bool {
        let named = field::split(self.parameters, b';').find_map(|part| {
            let (found, raw) = field::split_once(part, b'=');
            raw.filter(|_| field::trim(found).eq_ignore_ascii_case(name.as_bytes()))
        });
        named.is_some_and(|raw| field::unquoted(field::trim(raw)).eq(value.bytes()))
    }

    /// Specificity of the range for this type, above zero; `None` if the range does not match.
    fn specificity(&self, offer: &MediaType) -> Option<u64> {
        let breadth = u64::from(breadth(self.essence, offer.essence().as_bytes())?) + 1;
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
        // `matched` fits in the low 32 bits: a field has fewer than four billion parameters
        Some((breadth << 32) + matched)
    }
}

/// Returns `true` for `*/*`, `type/*` and `type/subtype`.
fn is_range(essence: &[u8]) -> bool {
    halves(essence).is_some_and(|(main, sub)| main != b"*" || sub == b"*")
}

/// 0 for `*/*`, 1 for `type/*`, 2 for the type itself; `None` if the range does not match the type.
#[inline]
fn breadth(essence: &[u8], offered: &[u8]) -> Option<u8> {
    match essence {
        b"*/*" => Some(0),
        [main @ .., b'*'] if main.ends_with(b"/") => {
            let head = offered.get(..main.len())?;
            head.eq_ignore_ascii_case(main).then_some(1)
        }
        essence => essence.eq_ignore_ascii_case(offered).then_some(2),
    }
}

fn is_weight(name: &[u8]) -> bool {
    matches!(name, b"q" | b"Q")
}
