//! Negotiation of media types, languages and codings, and its Vary.

use std::time::{Duration, Instant};

use http::{HeaderMap, HeaderName, HeaderValue, header};
use http_conventions::{
    content::{
        Accept, AcceptEncoding, AcceptLanguage, ContentCoding, LanguageTag, MediaType, Negotiation, Offers,
        Weight,
    },
    errors::{Member, ProblemBase, ReceivedProblem},
};
use proptest::prelude::*;

fn headers(name: &HeaderName, lines: &[&str]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for line in lines {
        headers.append(name.clone(), HeaderValue::from_str(line).unwrap());
    }
    headers
}

fn weight(accept: &str, media_type: &str) -> u16 {
    let headers = headers(&header::ACCEPT, &[accept]);
    Accept::of(&headers)
        .weight(&media_type.parse().unwrap())
        .thousandths()
}

fn chosen(accept: &[&str], offers: &[&str]) -> Option<String> {
    let (first, others) = offers.split_first().unwrap();
    let offers = Offers::<MediaType>::parse(first, others).unwrap();
    let headers = headers(&header::ACCEPT, accept);
    Accept::of(&headers).choose(&offers).map(ToString::to_string)
}

/// H4: the table of RFC 9110 §12.5.1, verbatim.
#[test]
fn media_types_have_the_weights_of_the_table_in_the_rfc() {
    let accept =
        "text/*;q=0.3, text/plain;q=0.7, text/plain;format=flowed, text/plain;format=fixed;q=0.4, */*;q=0.5";
    for (media_type, expected) in [
        ("text/plain;format=flowed", 1000),
        ("text/plain", 700),
        ("text/html", 300),
        ("image/jpeg", 500),
        ("text/plain;format=fixed", 400),
        ("text/html;level=3", 300),
    ] {
        assert_eq!(weight(accept, media_type), expected, "{media_type}");
    }
}

/// H4: the most specific range decides, then the weight.
#[test]
fn the_most_specific_range_decides() {
    for (accept, media_type, expected) in [
        ("*/*, application/json;q=0.1", "application/json", 100),
        ("application/json;q=0, application/*", "application/json", 0),
        (
            "application/*;q=0, application/json;q=0.2",
            "application/json",
            200,
        ),
        ("a/b;x=1;y=2;q=0.2, a/b;x=1;q=0.9", "a/b;x=1;y=2", 200),
        ("a/b;q=0.2, a/b;q=0.6", "a/b", 600),
        ("APPLICATION/Json;q=0.2", "application/json", 200),
        ("a/b;Q=0.2;x=1", "a/b;x=1", 200),
        (r#"a/b;x="1;,\"";q=0.2"#, r#"a/b;x="1;,\"""#, 200),
        ("a/b;x=A", "a/b;x=a", 0),
        ("text/html;charset=UTF-8", "text/html; charset=utf-8", 1000),
        ("text/html;charset=latin1", "text/html; charset=utf-8", 0),
        // many clients add a charset to types that have none
        ("application/json;charset=utf-8", "application/json", 1000),
        ("application/json;version=1", "application/json", 0),
        // a suffix is not the type
        ("application/json", "application/vnd.x+json", 0),
    ] {
        assert_eq!(weight(accept, media_type), expected, "{accept} for {media_type}");
    }
}

/// H4: a malformed member is ignored; a field of malformed members is like an absent field.
#[test]
fn a_malformed_range_is_passed_over() {
    for bad in [
        "a/b;q=abc",
        "a/b;q=1.5",
        "a/b;q=0.0001",
        "a/b;q=.5",
        "a/b;q=-1",
        "a/b;q",
        "a/b;q=",
        "a/b;q=1;q=1",
        "a",
        "a/",
        "/b",
        "*/b",
        "*",
        "a b/c",
        "a/b;x",
        "a/b;=x",
        "\u{fc}/b",
    ] {
        assert_eq!(weight(&format!("{bad}, */*;q=0.3"), "a/b"), 300, "{bad}");
        assert_eq!(weight(bad, "a/b"), 1000, "{bad}");
    }
    // an unclosed quote extends to the end of its line
    for nothing in ["", " ", ",,", "a/b;q=0;x=\", */*;q=0.3"] {
        assert_eq!(weight(nothing, "a/b"), 1000);
    }
    assert_eq!(
        Accept::of(&HeaderMap::new())
            .weight(&"a/b".parse().unwrap())
            .thousandths(),
        1000
    );
}

/// H4: the order of the host breaks ties, over all field lines; without an acceptable offer there
/// is no choice.
#[test]
fn the_type_that_is_wanted_most_is_chosen() {
    let offers = ["application/json", "text/csv", "text/html;level=1"];
    for (accept, expected) in [
        (&["application/json"][..], Some("application/json")),
        (&["*/*"], Some("application/json")),
        (&[], Some("application/json")),
        (&["text/csv, application/json"], Some("application/json")),
        (&["text/csv", "application/json;q=0.9"], Some("text/csv")),
        (&["text/html"], Some("text/html;level=1")),
        (&["text/html;level=2, */*;q=0"], None),
        (&["image/png"], None),
        (&["Text/CSV"], Some("text/csv")),
    ] {
        assert_eq!(chosen(accept, &offers).as_deref(), expected, "{accept:?}");
    }
    // more offers than one pass handles
    let many: Vec<String> = (0..40).map(|number| format!("a/b{number}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    assert_eq!(
        chosen(&["a/b17;q=0.2, a/b39, a/b9;q=0.1"], &many).as_deref(),
        Some("a/b39")
    );
}

/// H4: without an acceptable offer a 406 lists the offers, and has the Vary of the regular
/// response.
#[test]
fn a_406_lists_what_there_is() {
    let base = ProblemBase::new("https://api.example.com/problems/").unwrap();
    let mut request = headers(&header::ACCEPT, &["image/png"]);
    request.insert(header::ACCEPT_ENCODING, HeaderValue::from_static("identity;q=0"));
    let types = Offers::<MediaType>::parse("application/json", &["text/csv"]).unwrap();
    let mut negotiation = Negotiation::new(&request);
    assert!(negotiation.vary().is_empty());

    let refused = negotiation.media_type(&types).unwrap_err();
    let mut response = refused.problem(&base).into_response();
    negotiation.vary().apply(response.headers_mut());
    assert_eq!(
        (response.status().as_u16(), &response.headers()["vary"]),
        (406, &HeaderValue::from_static("accept"))
    );
    let problem = ReceivedProblem::parse(response.body()).unwrap();
    let available = vec![Member::from("application/json"), Member::from("text/csv")];
    assert_eq!(problem.extension("available"), Some(&Member::List(available)));

    assert!(negotiation.coding(&[ContentCoding::GZIP]).is_err());
    let languages = Offers::<LanguageTag>::parse("en", &[]).unwrap();
    assert_eq!(negotiation.language(&languages).as_str(), "en");
    assert_eq!(
        negotiation.vary().header_value().unwrap(),
        "accept, accept-encoding, accept-language"
    );
}

fn looked_up(accept: &str, offers: &[&str]) -> Option<String> {
    let (first, others) = offers.split_first().unwrap();
    let offers = Offers::<LanguageTag>::parse(first, others).unwrap();
    let headers = headers(&header::ACCEPT_LANGUAGE, &[accept]);
    AcceptLanguage::of(&headers)
        .lookup(&offers)
        .map(ToString::to_string)
}

/// H4, H34: lookup shortens each range, highest weight first, until it equals an offer (RFC 4647
/// §3.4).
#[test]
fn a_language_is_looked_up_by_shortening() {
    for (accept, offers, expected) in [
        ("en-GB", &["en", "de"][..], Some("en")),
        ("DE-at", &["en", "de"], Some("de")),
        (
            "zh-Hant-CN-x-private1-private2",
            &["en", "zh-Hant", "zh"],
            Some("zh-Hant"),
        ),
        ("de;q=0.5, fr", &["de", "fr"], Some("fr")),
        ("de, fr", &["fr", "de"], Some("de")),
        ("de-CH, fr;q=0.9, de;q=0.1", &["fr", "de"], Some("de")),
        ("de", &["de-CH"], None),
        ("den", &["de"], None),
        ("de;q=0", &["de"], None),
        ("de-CH, de;q=0", &["en", "de"], None),
        ("de-CH, de;q=0", &["de", "de-CH"], Some("de-CH")),
        ("*", &["en"], None),
        ("*, de;q=0.1", &["en", "de"], Some("de")),
        ("de-*", &["de"], None),
        ("de;q=2, fr;q=0.1", &["de", "fr"], Some("fr")),
        ("de;level=1, fr;q=0.1", &["de", "fr"], Some("fr")),
        ("", &["en"], None),
    ] {
        assert_eq!(looked_up(accept, offers).as_deref(), expected, "{accept}");
    }
    let many: Vec<String> = (0..20).map(|number| format!("en-x{number}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    assert_eq!(looked_up("en-x19", &many).as_deref(), Some("en-x19"));
}

/// H4, H34: without a match the default is sent; a language refused by name comes last.
#[test]
fn a_language_is_never_refused() {
    let offers = Offers::<LanguageTag>::parse("en", &["de"]).unwrap();
    for (accept, expected) in [
        ("fr", "en"),
        ("en;q=0", "de"),
        ("en;q=0, de;q=0", "en"),
        ("fr, *", "en"),
        ("\u{fc}", "en"),
    ] {
        let headers = headers(&header::ACCEPT_LANGUAGE, &[accept]);
        assert_eq!(
            AcceptLanguage::of(&headers).choose(&offers).as_str(),
            expected,
            "{accept}"
        );
    }
    for bad in [
        "",
        "e\u{e4}",
        "-de",
        "de-",
        "de--CH",
        "abcdefghi",
        "d1",
        "*",
        "de-x",
        "de_CH",
    ] {
        assert!(bad.parse::<LanguageTag>().is_err(), "{bad}");
    }
}

/// H34: without a match by lookup, the best match by filtering is chosen, then the default.
#[test]
fn general_range_chooses_a_regional_language() {
    let offers = Offers::<LanguageTag>::parse("en", &["de-CH", "fr-FR", "de-AT", "fr-CA"]).unwrap();
    for (accept, expected) in [
        ("fr", "fr-FR"),
        ("FR", "fr-FR"),
        ("de", "de-CH"),
        ("fr;q=0.5, de;q=0.9", "de-CH"),
        ("fr, fr-FR;q=0", "fr-CA"),
        ("fr, fr-FR;q=0.5", "fr-FR"),
        ("fr-BE", "en"),
        ("it, fr;q=0.1", "fr-FR"),
        ("it, *;q=0.1, en;q=0", "de-CH"),
        ("fr, en;q=0.1", "en"),
        ("f", "en"),
    ] {
        let headers = headers(&header::ACCEPT_LANGUAGE, &[accept]);
        let chosen = AcceptLanguage::of(&headers).choose(&offers);
        assert_eq!(chosen.as_str(), expected, "{accept}");
    }
    // the default comes first among equals
    let offers = Offers::<LanguageTag>::parse("de-AT", &["de-CH"]).unwrap();
    let headers = headers(&header::ACCEPT_LANGUAGE, &["de"]);
    assert_eq!(AcceptLanguage::of(&headers).choose(&offers).as_str(), "de-AT");
}

/// H4: basic filtering returns every language that a range is a prefix of (RFC 4647 §3.3.1).
#[test]
fn a_range_filters_the_languages_that_begin_with_it() {
    let offers = Offers::<LanguageTag>::parse("en", &["de", "de-CH", "deu", "fr"]).unwrap();
    for (accept, expected) in [
        ("de", &["de", "de-CH"][..]),
        ("de-CH", &["de-CH"]),
        ("de-ch, fr;q=0.9, *;q=0.1", &["de-CH", "fr", "en", "de", "deu"]),
        ("*, de;q=0", &["en", "deu", "fr"]),
        ("*;q=0, en", &["en"]),
        ("de-CH-1996", &[]),
        ("", &[]),
    ] {
        let headers = headers(&header::ACCEPT_LANGUAGE, &[accept]);
        let found = AcceptLanguage::of(&headers).filter(&offers);
        let found: Vec<&str> = found.into_iter().map(LanguageTag::as_str).collect();
        assert_eq!(found, expected, "{accept}");
    }
}

/// H4: identity is acceptable unless it is refused, by name or by `*`; named codings come first.
#[test]
fn a_coding_is_chosen_and_identity_is_the_last_resort() {
    let offers = [ContentCoding::BROTLI, ContentCoding::GZIP];
    for (accept, expected) in [
        (None, Some("identity")),
        (Some(""), Some("identity")),
        (Some("gzip"), Some("gzip")),
        (Some("X-GZip"), Some("gzip")),
        (Some("gzip, br"), Some("br")),
        (Some("br;q=0.5, gzip"), Some("gzip")),
        (Some("gzip;q=0.001"), Some("gzip")),
        (Some("*"), Some("br")),
        (Some("*, br;q=0"), Some("gzip")),
        (Some("gzip;q=0.5, identity;q=0.8"), Some("identity")),
        (Some("gzip;q=0.5, br;q=0, *"), Some("identity")),
        (Some("deflate"), Some("identity")),
        (Some("br;q=0, gzip;q=0"), Some("identity")),
        (Some("identity;q=0"), None),
        (Some("*;q=0"), None),
        (Some("*;q=0, identity;q=0.1"), Some("identity")),
        (Some("*;q=0, gzip"), Some("gzip")),
        (Some("identity;q=0, gzip"), Some("gzip")),
        (Some("gzip;q=2, identity;q=nonsense"), Some("identity")),
    ] {
        let headers = accept.map_or_else(HeaderMap::new, |line| headers(&header::ACCEPT_ENCODING, &[line]));
        let chosen = AcceptEncoding::of(&headers).choose(&offers);
        assert_eq!(chosen.map(ContentCoding::as_str), expected, "{accept:?}");
    }
    let none = AcceptEncoding::of(&HeaderMap::new())
        .choose(&[])
        .unwrap()
        .header_value();
    assert_eq!(
        (none, ContentCoding::ZSTD.header_value().unwrap().as_bytes()),
        (None, &b"zstd"[..])
    );
}

/// H4: parsing is linear in the length of the field, whatever its content.
#[test]
fn a_hostile_field_takes_linear_time() {
    let types = Offers::<MediaType>::parse("application/json", &["text/csv", "a/b;x=1"]).unwrap();
    let languages = Offers::<LanguageTag>::parse("en", &["de", "de-CH"]).unwrap();
    let patterns = [
        "a/b;x=1;q=0.5,",
        "*/*;q=0,",
        "a/b;;;;;;;,",
        "\"",
        "\\\"",
        "a/b;x=\"\\",
        ",",
        ";",
        "de-",
        "de;q=0.5,",
        "a-b-c-d-e-f-",
        "=",
        "q=0,",
    ];
    for pattern in patterns {
        let line = HeaderValue::from_str(&pattern.repeat(300_000 / pattern.len())).unwrap();
        let mut headers = HeaderMap::new();
        for name in [header::ACCEPT, header::ACCEPT_LANGUAGE, header::ACCEPT_ENCODING] {
            headers.insert(name, line.clone());
        }
        #[expect(
            clippy::disallowed_methods,
            reason = "the work is bounded, and this looks whether it is"
        )]
        let started = Instant::now();
        let mut negotiation = Negotiation::new(&headers);
        drop(negotiation.media_type(&types));
        let _ = negotiation.language(&languages);
        drop(negotiation.coding(&[ContentCoding::GZIP]));
        // quadratic time would take minutes
        assert!(started.elapsed() < Duration::from_secs(20), "{pattern}");
    }
}

proptest! {
    /// H4: for any field one of the offers is chosen or none, and naming the chosen offer selects
    /// it.
    #[test]
    fn any_field_can_be_negotiated(line in "[ -~]{0,60}") {
        let types = Offers::<MediaType>::parse("application/json", &["text/csv"]).unwrap();
        let mut headers = HeaderMap::new();
        for name in [header::ACCEPT, header::ACCEPT_LANGUAGE, header::ACCEPT_ENCODING] {
            headers.insert(name, HeaderValue::from_str(&line).unwrap());
        }
        if let Some(chosen) = Accept::of(&headers).choose(&types) {
            prop_assert!(Accept::of(&headers).weight(chosen).is_acceptable());
        }
        let languages = Offers::<LanguageTag>::parse("en", &["de"]).unwrap();
        let chosen = AcceptLanguage::of(&headers).choose(&languages);
        prop_assert!(languages.all().contains(chosen));
        let _ = AcceptEncoding::of(&headers).choose(&[ContentCoding::GZIP]);
    }
}

/// H4: a weight follows the grammar of RFC 9110, or is refused.
#[test]
fn only_the_grammar_of_the_rfc_is_a_weight() {
    for (value, expected) in [
        ("0", Some(0)),
        ("0.", Some(0)),
        ("0.5", Some(500)),
        ("0.05", Some(50)),
        ("0.005", Some(5)),
        ("1", Some(1000)),
        ("1.000", Some(1000)),
        ("1.001", None),
        ("1.5", None),
        ("0.0005", None),
        ("2", None),
        (".5", None),
        ("-0", None),
        ("0,5", None),
        ("0.a", None),
        ("abc", None),
        ("1e0", None),
        ("", None),
    ] {
        let weight = Weight::parse(value.as_bytes()).map(Weight::thousandths);
        assert_eq!(weight, expected, "{value}");
    }
}
