//! Negotiation of the response's media type: [RFC 9110
//! §12.5.1](https://www.rfc-editor.org/rfc/rfc9110#section-12.5.1).
//!
//! Among types of equal weight, the more specific range wins, then the client's order. (In
//! `http-conventions` the server's order decides.) Reason: GraphQL clients list both GraphQL media
//! types without weights and put the preferred type first. A client that lists a type and `*/*`
//! prefers the listed type.

use host_ports::MediaRange;
use http::HeaderMap;
use http::header::ACCEPT;

use super::incremental::DeferFormat;

/// Format of a response.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Rendering {
    Json,
    GraphqlResponse,
    EventStream,
    Explorer,
}

impl Rendering {
    /// Offered media types, the default for `*/*` first.
    const OFFERS: [Self; 4] = [
        Self::Json,
        Self::GraphqlResponse,
        Self::EventStream,
        Self::Explorer,
    ];

    const fn media_type(self) -> &'static str {
        match self {
            Self::Json => "application/json",
            Self::GraphqlResponse => "application/graphql-response+json",
            Self::EventStream => "text/event-stream",
            Self::Explorer => "text/html",
        }
    }
}

/// Formats that the client accepts.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Accepted {
    /// Preferred format of the offers; `None` if the client accepts none of them.
    pub(super) rendering: Option<Rendering>,
    pub(super) multipart: Multipart,
}

/// Results that the client prefers as `multipart/mixed`.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Multipart {
    pub(crate) subscription: bool,
    /// Format of an operation with deferred fragments.
    pub(crate) deferred: Option<DeferFormat>,
}

impl Multipart {
    /// Returns `true` if a result may be `multipart/mixed`.
    pub(crate) fn is_accepted(self) -> bool {
        self.subscription || self.deferred.is_some()
    }
}

/// Selects the preferred formats: by weight, then by specificity, then by the client's order.
pub(super) fn negotiate(headers: &HeaderMap, explorer: bool) -> Accepted {
    if !headers.contains_key(ACCEPT) {
        return Accepted {
            rendering: Some(Rendering::Json),
            multipart: Multipart::default(),
        };
    }
    let ranges: Vec<_> = MediaRange::all(headers).collect();
    // JSON has one result only, so only the other stream format competes
    let events = preference(&ranges, Rendering::EventStream);
    let preferred = |(name, value)| multipart(&ranges, name, value).filter(|found| Some(*found) > events);
    let deferred = [DeferFormat::Apollo, DeferFormat::GraphqlJs];
    let deferred = deferred.into_iter().filter_map(|format| {
        let preference = preferred(format.parameter())?;
        Some((preference, format))
    });
    Accepted {
        rendering: rendering(&ranges, explorer),
        multipart: Multipart {
            subscription: preferred(("subscriptionSpec", "1.0")).is_some(),
            deferred: deferred
                .max_by_key(|(preference, _)| *preference)
                .map(|(_, format)| format),
        },
    }
}

fn rendering(ranges: &[MediaRange<'_>], explorer: bool) -> Option<Rendering> {
    let offers = Rendering::OFFERS
        .into_iter()
        .filter(|offer| explorer || *offer != Rendering::Explorer);
    let mut best = None;
    for offer in offers {
        let Some(preference) = preference(ranges, offer) else {
            continue;
        };
        // strictly greater: the earlier offer wins a tie
        if best.is_none_or(|(_, found)| preference > found) {
            best = Some((offer, preference));
        }
    }
    best.map(|(offer, _)| offer)
}

/// Weight, specificity and position of a range; greater is better.
type Preference = (u16, u8, std::cmp::Reverse<usize>);

fn preference(ranges: &[MediaRange<'_>], offer: Rendering) -> Option<Preference> {
    let matching = ranges.iter().enumerate().filter_map(|(at, range)| {
        let precision = range.precision(offer.media_type())?;
        Some((precision, std::cmp::Reverse(at), range.weight().thousandths()))
    });
    // the most specific range decides, even if its weight is 0
    let (precision, at, weight) = matching.max()?;
    (weight > 0).then_some((weight, precision, at))
}

/// Preference for `multipart/mixed` with a parameter, which determines the format.
fn multipart(ranges: &[MediaRange<'_>], parameter: &str, value: &str) -> Option<Preference> {
    let (at, range) = ranges.iter().enumerate().find(|(_, range)| {
        range.precision("multipart/mixed") == Some(EXACT) && range.has_parameter(parameter, value)
    })?;
    let weight = range.weight().thousandths();
    (weight > 0).then_some((weight, EXACT, std::cmp::Reverse(at)))
}

/// Precision of a range that names type and subtype.
const EXACT: u8 = 2;

#[cfg(test)]
mod tests {
    use super::*;

    fn check(accept: &'static str, explorer: bool, expected: Option<Rendering>) {
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, http::HeaderValue::from_static(accept));
        assert_eq!(negotiate(&headers, explorer).rendering, expected, "{accept}");
    }

    #[test]
    fn the_heaviest_then_the_most_exact_then_the_first_range_wins() {
        let browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
        check(browser, true, Some(Rendering::Explorer));
        check(browser, false, Some(Rendering::Json));
        check("*/*", true, Some(Rendering::Json));
        check("application/*", true, Some(Rendering::Json));
        check("application/json; charset=utf-8", true, Some(Rendering::Json));
        check(
            "application/graphql-response+json, application/json;q=0.9",
            true,
            Some(Rendering::GraphqlResponse),
        );
        check(
            "application/graphql-response+json, application/json",
            true,
            Some(Rendering::GraphqlResponse),
        );
        check(
            "application/json, application/graphql-response+json",
            true,
            Some(Rendering::Json),
        );
        check(
            "APPLICATION/GraphQL-Response+JSON;Q=1.000",
            true,
            Some(Rendering::GraphqlResponse),
        );
        check(
            "text/event-stream, application/json",
            false,
            Some(Rendering::EventStream),
        );
        check(
            "application/json;q=0.1, text/event-stream;q=0.2",
            false,
            Some(Rendering::EventStream),
        );
        check(
            "*/*, application/json;q=0",
            true,
            Some(Rendering::GraphqlResponse),
        );
    }

    /// A malformed parameter is ignored, and its range still matches.
    #[test]
    fn malformed_parameter_does_not_refuse_a_range() {
        for parameter in [
            "charset",
            "charset=",
            "charset = utf-8",
            "charset=utf 8",
            "charset=\"utf-8",
            "=utf-8",
            "q",
            "q = 0.5",
            "q=0.5; q=0.5",
            "\u{fc}",
        ] {
            let accept = format!("application/graphql-response+json; {parameter}");
            let mut headers = HeaderMap::new();
            headers.insert(ACCEPT, http::HeaderValue::from_str(&accept).unwrap());
            let expected = Some(Rendering::GraphqlResponse);
            assert_eq!(negotiate(&headers, true).rendering, expected, "{accept}");
        }
        // an unclosed quote does not hide the ranges after it
        check(
            r#"image/png; a=", application/json;q=0.5, text/event-stream"#,
            true,
            Some(Rendering::EventStream),
        );
    }

    #[test]
    fn what_we_cannot_send_and_what_is_no_range_are_passed_over() {
        check("image/png", true, None);
        check("text/html", false, None);
        check("application/json;q=0", true, None);
        check("application/json;q=2", true, None);
        check("application/json;q=0.12345", true, None);
        check("json", true, None);
        check("", true, None);
    }
}
