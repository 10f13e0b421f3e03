//! Links in bodies and in the Link field.

use http::{HeaderMap, Method, header};
use http_conventions::{
    paging::{InvalidRelation, Link, Links, Relation},
    routing::Location,
};
use proptest::prelude::*;

fn link(path: &str) -> Link {
    Link::new(path.parse().unwrap())
}

fn written(link: &Link) -> String {
    let value = link.header_value(&Relation::NEXT);
    value.to_str().unwrap().to_owned()
}

/// H11: links are an object of named links, each with `href` and, for an action, `method`.
#[test]
fn links_are_an_object_of_their_names() {
    let links = Links::default()
        .with(Relation::SELF, link("/v1/charges/ch_1"))
        .with(
            "refund".parse().unwrap(),
            link("/v1/charges/ch_1/refunds").with_method(Method::POST),
        )
        .with(
            Relation::SELF,
            link("/v1/charges/ch_2")
                .with_title("a \"charge\"")
                .with_media_type("text/csv".parse().unwrap()),
        );
    assert_eq!(
        serde_json::to_string(&links).unwrap(),
        r#"{"self":{"href":"/v1/charges/ch_2","title":"a \"charge\"","type":"text/csv"},"refund":{"href":"/v1/charges/ch_1/refunds","method":"POST"}}"#
    );
    assert_eq!(serde_json::to_string(&Links::default()).unwrap(), "{}");
    assert_eq!(
        links.find(&"refund".parse().unwrap()).unwrap().href().as_str(),
        "/v1/charges/ch_1/refunds"
    );
    assert_eq!(links.find(&Relation::NEXT), None);
}

/// H11: the Link field has a line for each GET link; actions with other methods are in the body
/// alone.
#[test]
fn the_head_lists_what_may_be_followed() {
    let mut headers = HeaderMap::new();
    Links::default()
        .with(
            Relation::PREV,
            link("/v1/charges?before=a").with_method(Method::GET),
        )
        .with(
            "cancel".parse().unwrap(),
            link("/v1/cancellations").with_method(Method::POST),
        )
        .with(
            "https://example.com/rel/x".parse().unwrap(),
            link("https://example.com/x"),
        )
        .apply(&mut headers);
    let lines: Vec<_> = headers.get_all(header::LINK).iter().collect();
    assert_eq!(
        lines,
        [
            r#"</v1/charges?before=a>; rel="prev""#,
            r#"<https://example.com/x>; rel="https://example.com/rel/x""#
        ]
    );
}

/// H11: no part of a link can break out of its place in the field.
#[test]
fn a_link_is_written_escaped() {
    for (title, expected) in [
        ("page 2", r#"; title="page 2""#),
        (r#"a "b\c", <d>; rel=x"#, r#"; title="a \"b\\c\", <d>; rel=x""#),
        ("\u{fc}ber 100%", "; title*=UTF-8''%C3%BCber%20100%25"),
        ("a\r\nSet-Cookie: x", "; title*=UTF-8''a%0D%0ASet-Cookie%3A%20x"),
        ("it's *\u{1f600}", "; title*=UTF-8''it%27s%20%2A%F0%9F%98%80"),
        ("", r#"; title="""#),
    ] {
        let titled = link("/a").with_title(title);
        assert_eq!(written(&titled), format!(r#"</a>; rel="next"{expected}"#));
    }
    let typed = link("/a").with_media_type(r#"text/plain; x="a;\"""#.parse().unwrap());
    assert_eq!(
        written(&typed),
        r#"</a>; rel="next"; type="text/plain; x=\"a;\\\"\"""#
    );
    let hostile = Link::new(Location::of_path(["a>; rel=\"x", "\r\n"]).unwrap());
    assert_eq!(written(&hostile), r#"</a%3E%3B%20rel%3D%22x/%0D%0A>; rel="next""#);
}

/// H11: a relation is a registered name, a name of the API, or an absolute URI.
#[test]
fn a_relation_is_a_name_or_an_absolute_uri() {
    for text in [
        "next",
        "create-form",
        "a.b2",
        "https://example.com/rel/refund",
        "urn:example:refund",
    ] {
        assert_eq!(text.parse::<Relation>().unwrap().as_str(), text);
    }
    for text in [
        "",
        "Next",
        "2a",
        "a b",
        "a\"b",
        "-a",
        "a_b",
        "/rel/refund",
        "https:",
        ":x",
        "1a:b",
        "https://e x",
        "urn:\u{fc}",
    ] {
        assert_eq!(text.parse::<Relation>(), Err(InvalidRelation), "{text}");
    }
}

proptest! {
    #[test]
    fn every_title_stays_in_its_quotes(title: String) {
        let line = written(&link("/a").with_title(&title));
        let rest = line.strip_prefix(r#"</a>; rel="next"; title"#).unwrap();
        match rest.strip_prefix("=\"") {
            Some(quoted) => {
                let inner = quoted.strip_suffix('"').unwrap();
                let without_pairs = inner.replace(r"\\", "").replace("\\\"", "");
                prop_assert!(!without_pairs.contains(['"', '\\']));
            }
            None => prop_assert!(!rest.contains(['"', ';', ',', '<', ' '])),
        }
    }
}
