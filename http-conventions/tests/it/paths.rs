//! The linter over route templates.

use http_conventions::routing::{PathFinding, PathRules};
use proptest::prelude::*;

fn check(template: &str) -> Vec<PathFinding> {
    PathRules::default().check(template)
}

/// H1: lower case, hyphens, plural, at most two levels; a version is not a level.
#[test]
fn a_path_that_keeps_the_rules_has_no_finding() {
    for template in [
        "/",
        "/charges",
        "/v1/charges",
        "/v12/charges/{id}/refunds/{refund_id}",
        "/v1/webhook-endpoints/{id}/people",
        "/v1/sales-data",
    ] {
        assert_eq!(check(template), [], "{template}");
    }
}

/// H1: each broken rule is reported with its segment.
#[test]
fn each_broken_rule_of_a_path_is_named() {
    use PathFinding::{
        EmptySegment, NoCollection, NotAWord, NotAbsolute, NotHyphenated, NotLowercase, NotPlural, TooDeep,
    };
    let text = str::to_owned;
    for (template, expected) in [
        ("", vec![NotAbsolute]),
        ("charges", vec![NotAbsolute]),
        ("/charges/", vec![EmptySegment]),
        ("//charges", vec![EmptySegment]),
        ("/v1/Charges", vec![NotLowercase(text("Charges"))]),
        (
            "/v1/webhook_endpoints",
            vec![NotHyphenated(text("webhook_endpoints"))],
        ),
        ("/v1/-charges", vec![NotHyphenated(text("-charges"))]),
        ("/v1/web--charges", vec![NotHyphenated(text("web--charges"))]),
        ("/v1/charge/{id}", vec![NotPlural(text("charge"))]),
        ("/v1/addresses/{id}/status", vec![NotPlural(text("status"))]),
        ("/v1/address", vec![NotPlural(text("address"))]),
        ("/v1/charges/{id}/refund", vec![NotPlural(text("refund"))]),
        ("/v1/charges.json", vec![NotAWord(text("charges.json"))]),
        ("/v1/charges/ch_{id}", vec![NotAWord(text("ch_{id}"))]),
        ("/v1/charges/{}", vec![NotAWord(text("{}"))]),
        ("/v1/caf\u{e9}s", vec![NotAWord(text("caf\u{e9}s"))]),
        ("/{id}", vec![NoCollection(text("{id}"))]),
        ("/v1/charges/{id}/{part}", vec![NoCollection(text("{part}"))]),
        ("/v1/customers/{id}/charges/{id}/refunds", vec![TooDeep(3)]),
        ("/charges/v1", vec![NotPlural(text("v1"))]),
        ("/vx/charges/{id}", vec![NotPlural(text("vx"))]),
        (
            "/V1/Charge",
            vec![NotLowercase(text("V1")), NotLowercase(text("Charge"))],
        ),
    ] {
        assert_eq!(check(template), expected, "{template}");
    }
}

/// H1: an exception applies to its segment alone.
#[test]
fn an_exception_is_for_its_segment_alone() {
    let rules = PathRules::default()
        .with_exception("openapi.json")
        .with_exception("me");
    assert_eq!(rules.check("/openapi.json"), []);
    assert_eq!(rules.check("/v1/me/sessions"), []);
    assert_eq!(
        rules.check("/v1/me/session"),
        [PathFinding::NotPlural("session".to_owned())]
    );
    assert_eq!(rules.check("/v1/a/b/me").last(), Some(&PathFinding::TooDeep(3)));
    let shown: Vec<String> = rules
        .check("/X//y/{id}/{z}")
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(
        shown,
        [
            "\"X\" is not lowercase",
            "a segment is empty",
            "\"y\" is not a plural",
            "the parameter \"{z}\" does not follow a collection",
            "3 levels, but at most two are allowed"
        ]
    );
}

proptest! {
    /// H1: a template without findings is a lower-case path without empty segments.
    #[test]
    fn only_conforming_templates_pass(template in "[/a-zA-Z{}_.0-9-]{0,20}|\\PC{0,9}") {
        if check(&template).is_empty() {
            let is_path = |byte: u8| byte.is_ascii_alphanumeric() || b"/-_{}".contains(&byte);
            prop_assert!(template.starts_with('/') && !template.contains("//") && template.bytes().all(is_path));
            let words = template.split('/').filter(|segment| !segment.starts_with('{'));
            prop_assert!(words.count() <= 4);
        }
    }
}
