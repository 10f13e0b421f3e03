//! `Location`, and the responses that need it.

use std::error::Error as _;

use http::{Response, header};
use http_conventions::{
    errors::Problem,
    routing::{InvalidLocation, Location, respond_accepted, respond_created},
};
use proptest::prelude::*;

/// H3: a 201 names the created resource and a 202 the resource to poll, whatever status the
/// response had.
#[test]
fn a_201_and_a_202_carry_their_location() {
    let location = Location::of_path(["v1", "charges", "ch_1"]).unwrap();
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
    for (segments, path) in [
        (&["files", "a/b", "c?d#e"][..], "/files/a%2Fb/c%3Fd%23e"),
        (&["files", "v1.2", "...", ".a"], "/files/v1.2/.../.a"),
        // an encoded dot is text of the segment
        (&["%2e", "%2E%2e", ".%2e"], "/%252e/%252E%252e/.%252e"),
        (&["../..", "..\\.."], "/..%2F../..%5C.."),
        (&["evil.example"], "/evil.example"),
        (&[], "/"),
        (&["caf\u{e9}%\r\n"], "/caf%C3%A9%25%0D%0A"),
    ] {
        assert_eq!(Location::of_path(segments).unwrap().header_value(), path);
    }
}

/// H3: a segment that a client would remove is refused, because the path would name another
/// resource.
#[test]
fn dot_segments_and_empty_segments_are_refused() {
    for segments in [
        &["."][..],
        &[".."],
        &["files", ".."],
        &["files", ".", "a"],
        &["files", ""],
        &["", "", "evil.example"],
        &[""],
    ] {
        assert_eq!(Location::of_path(segments), Err(InvalidLocation), "{segments:?}");
    }
    let problem = Problem::from(InvalidLocation);
    assert_eq!(
        (problem.status().as_u16(), problem.source().is_some()),
        (500, true)
    );
}

proptest! {
    /// H3: a path has exactly its segments, also for a client that removes dot segments.
    #[test]
    fn every_path_of_segments_is_a_location(
        segments in proptest::collection::vec("[.%2eE]{0,3}|\\PC{0,4}", 0..4),
    ) {
        let Ok(location) = Location::of_path(&segments) else {
            let is_removed = |segment: &String| matches!(segment.as_str(), "" | "." | "..");
            prop_assert!(segments.iter().any(is_removed));
            return Ok(());
        };
        prop_assert_eq!(location.as_str().parse::<Location>(), Ok(location.clone()));
        let written: Vec<&str> = location.as_str().split('/').skip(1).collect();
        prop_assert_eq!(written.len(), segments.len().max(1));
        for segment in written {
            let decoded = segment.to_ascii_lowercase().replace("%2e", ".");
            prop_assert!(decoded != "." && decoded != "..", "{}", segment);
        }
    }
}
