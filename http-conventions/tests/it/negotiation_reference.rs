//! Negotiation against a reference that parses the whole field.

use http::{HeaderMap, HeaderValue, header};
use http_conventions::content::{Accept, AcceptLanguage, LanguageTag, MediaType, Offers};
use proptest::{prelude::*, sample::select};

const MEMBERS: [&str; 24] = [
    "text/html",
    "TEXT/Html;q=0.4",
    "text/html;level=1",
    "text/html;level=1;q=0.3",
    "text/html;level=2",
    "text/html;q=0",
    "text/html ; q=0.7",
    "text/*",
    "text/*;q=0.2",
    "*/*",
    "*/*;q=0.1",
    "application/json",
    "application/*;q=0.6",
    "image/avif",
    // none of these is a valid range
    "*/html",
    "text/",
    "/html",
    "text",
    "te xt/html",
    "text/html;q=1.1",
    "text/html;q=0.5;q=0.5",
    "text/html;level",
    "image/avif;q=x",
    "",
];

/// Weight in thousandths by the grammar.
fn thousandths(value: &str) -> Option<u32> {
    let (whole, fraction) = value.split_once('.').unwrap_or((value, ""));
    let is_weight = matches!(whole, "0" | "1") && fraction.len() <= 3;
    let number: u32 = format!("{whole}{fraction:0<3}").parse().ok()?;
    (is_weight && number <= 1000).then_some(number)
}

/// Specificity of a member for `text/html;level=1`, and its weight; `None` if it is not a range.
fn read(member: &str) -> Option<(Option<usize>, u32)> {
    let token = |text: &str| !text.is_empty() && !text.contains([' ', '/', ';', '=']);
    let mut parts = member.split(';').map(str::trim);
    let (main, sub) = parts.next()?.split_once('/')?;
    if !token(main) || !token(sub) || (main == "*" && sub != "*") {
        return None;
    }
    let (mut weight, mut parameters) = (None, Vec::new());
    for part in parts {
        let (name, value) = part.split_once('=')?;
        match name {
            "q" if weight.is_some() => return None,
            "q" => weight = Some(thousandths(value)?),
            _ => parameters.push((name, value)),
        }
    }
    let breadth = match (main.to_lowercase().as_str(), sub.to_lowercase().as_str()) {
        ("*", _) => Some(1),
        ("text", "*") => Some(2),
        ("text", "html") => Some(3),
        _ => None,
    };
    let fits = parameters.iter().all(|parameter| *parameter == ("level", "1"));
    let closeness = breadth
        .filter(|_| fits)
        .map(|breadth| breadth * 10 + parameters.len());
    Some((closeness, weight.unwrap_or(1000)))
}

proptest! {
    /// H4: shortcuts of the parser do not change the result.
    #[test]
    fn a_type_has_the_weight_that_a_whole_reading_gives_it(members in prop::collection::vec(select(&MEMBERS[..]), 0..8)) {
        let line = members.join(",");
        let read: Vec<_> = members.iter().filter_map(|member| read(member)).collect();
        let closest = read.iter().filter_map(|(closeness, weight)| Some((closeness.as_ref()?, weight))).max();
        let expected = match (read.is_empty(), closest) {
            (true, _) => 1000,
            (false, Some((_, weight))) => *weight,
            (false, None) => 0,
        };
        let mut headers = HeaderMap::new();
        headers.insert(header::ACCEPT, HeaderValue::from_str(&line).unwrap());
        let html: MediaType = "text/html;level=1".parse().unwrap();
        let weight = Accept::of(&headers).weight(&html).thousandths();
        prop_assert_eq!(u32::from(weight), expected, "{}", line);
        // and with further offers
        let offers = Offers::<MediaType>::parse("image/png", &["text/html;level=1"]).unwrap();
        let chosen = Accept::of(&headers).choose(&offers).map(MediaType::as_str);
        let image = Accept::of(&headers).weight(&"image/png".parse().unwrap());
        let wanted = match (u32::from(image.thousandths()), expected) {
            (0, 0) => None,
            (image, html) if image >= html => Some("image/png"),
            _ => Some("text/html;level=1"),
        };
        prop_assert_eq!(chosen, wanted, "{}", line);
    }
}

/// H4: a malformed range that starts like a language is ignored.
#[test]
fn a_malformed_range_that_begins_with_a_language_is_passed_over() {
    let offers = Offers::<LanguageTag>::parse("fr", &["de", "en"]).unwrap();
    for malformed in ["de-@@", "de-", "de-123456789", "de--CH", "de-CH ", "de CH"] {
        let mut headers = HeaderMap::new();
        let line = format!("{malformed}, en;q=0.5");
        headers.insert(header::ACCEPT_LANGUAGE, HeaderValue::from_str(&line).unwrap());
        let expected = if malformed == "de-CH " { "de" } else { "en" };
        assert_eq!(
            AcceptLanguage::of(&headers).choose(&offers).as_str(),
            expected,
            "{line}"
        );
    }
}
