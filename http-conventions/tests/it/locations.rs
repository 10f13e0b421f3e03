//! `Location`, and the responses that need it.

use http::{Response, header};
use http_conventions::routing::{InvalidLocation, Location, respond_accepted, respond_created};
use proptest::prelude::*;

/// H3: a 201 names the created resource and a 202 the resource to poll, whatever status the
/// response had.
#[test]
fn a_201_and_a_202_carry_their_location() {
    let location = Location::of_path(["v1", "charges", "ch_1"]);
    for (answer, status) in [
        (respond_created(&location, Response::new("x")), 201),
        (respond_accepted(&location, Response::new("x")), 202),
    ] {
        assert_eq!((answer.status().as_u16(), *answer.body()), (status, "x"));
        assert_eq!(answer.headers()[header::LOCATION], "/v1/charges/ch_1");
    }
}

/// H3: a location is a path of this host or an absolute URI; any other is refused, not dropped.
#[test]
fn a_location_that_cannot_be_sent_is_refused() {
    for text in [
        "/",
        "/v1/charges/ch_1",
        "/v1/charges?after=x#top",
        "https://api.example.com/v1/jobs/7",
        "http://127.0.0.1:8080",
    ] {
        assert_eq!(text.parse::<Location>().unwrap().header_value(), text);
    }
    for text in [
        "",
        "v1/charges",
        "//evil.example/v1",
        "https://",
        "https:///v1",
        "https://?a",
        "javascript:alert(1)",
        "/caf\u{e9}",
        "/a b",
        "/a\r\nSet-Cookie: x",
        "/a\\b",
    ] {
        assert_eq!(text.parse::<Location>(), Err(InvalidLocation), "{text}");
    }
}

/// H3: an id in a path cannot leave its segment.
#[test]
fn a_segment_stays_one_segment() {
    let of = |segments: &[&str]| Location::of_path(segments).header_value();
    assert_eq!(of(&["files", "a/b", "c?d#e"]), "/files/a%2Fb/c%3Fd%23e");
    assert_eq!(of(&["files", "..", "v1.2"]), "/files/%2E%2E/v1.2");
    assert_eq!(of(&["", "", "evil.example"]), "/evil.example");
    assert_eq!(of(&[]), "/");
    assert_eq!(of(&["caf\u{e9}%\r\n"]), "/caf%C3%A9%25%0D%0A");
}

proptest! {
    #[test]
    fn every_path_of_segments_is_a_location(segments: Vec<String>) {
        let value = Location::of_path(&segments).header_value();
        prop_assert!(value.to_str().unwrap().parse::<Location>().is_ok());
    }
}
