//! Redirects: allowed targets, and the headers that follow.

use std::collections::BTreeSet;

use bytes::Bytes;
use http::{Method, Request, Response};
use proptest::prelude::*;
use webhook_core::address::{AddressPolicy, Hops, RefusedAddress, RefusedHop};

const START: &str = "https://files.example.com/a/b?c=d";

fn request(method: Method, body: &'static str) -> Request<Bytes> {
    let request = Request::builder().method(method).uri(START);
    let request = request
        .header("authorization", "Bearer t")
        .header("cookie", "a=b")
        .header("x-api-key", "k")
        .header("webhook-signature", "v1,a")
        .header("content-encoding", "gzip")
        .header("content-language", "en")
        .header("content-length", "2")
        .header("content-location", "/here")
        .header("content-type", "text/plain")
        .header(
            "content-digest",
            "sha-256=:RBNvo1WzZ4oRRq0W9+hknpT7T8If536DEMBg9hyq/4o=:",
        )
        .header("transfer-encoding", "chunked")
        .header("trailer", "content-digest")
        .header("expect", "100-continue")
        .header("accept", "image/png")
        .header("accept-language", "en")
        .header("user-agent", "fetcher");
    request.body(Bytes::from(body)).unwrap()
}

fn answer(status: u16, location: &str) -> Response<Bytes> {
    let answer = Response::builder().status(status).header("location", location);
    answer.body(Bytes::new()).unwrap()
}

fn follow(location: &str) -> Result<Option<Request<Bytes>>, RefusedHop> {
    Hops::new(AddressPolicy::new()).follow(&request(Method::GET, ""), &answer(302, location))
}

/// W10: every redirect target is checked like the first URL.
#[test]
fn redirect_to_private_address_is_refused() {
    for location in [
        "https://127.0.0.1/",
        "https://2130706433/",
        "https://[::ffff:10.0.0.1]/",
        "//169.254.169.254/latest/meta-data",
        "https://metadata.google.internal/",
        "https://localhost/",
        "https://files.example.com:8080/",
        "https://user:password@files.example.com/",
        "file:///etc/passwd",
        "gopher://files.example.com/",
        "data:text/plain,a",
        "javascript:alert(1)",
    ] {
        let refused = follow(location);
        assert!(
            matches!(refused, Err(RefusedHop::Address(_))),
            "{location} {refused:?}"
        );
    }
}

/// W10: at most three redirects, a loop included.
#[test]
fn a_fourth_redirect_is_refused() {
    let mut hops = Hops::new(AddressPolicy::new());
    let mut next = request(Method::GET, "");
    for _ in 0..3 {
        next = hops.follow(&next, &answer(302, START)).unwrap().unwrap();
    }
    assert_eq!(
        hops.follow(&next, &answer(302, START)).unwrap_err(),
        RefusedHop::TooMany
    );
    assert!(hops.follow(&next, &answer(200, START)).unwrap().is_none());
}

/// W10: no redirect leads from https to http, even if the policy allows http.
#[test]
fn a_redirect_does_not_leave_tls() {
    let mut hops = Hops::new(AddressPolicy::new().danger_allow_http());
    let plain = answer(302, "http://files.example.com/");
    let refused = hops.follow(&request(Method::GET, ""), &plain).unwrap_err();
    assert_eq!(refused, RefusedHop::Downgrade);
    let mut start = request(Method::GET, "");
    *start.uri_mut() = "http://files.example.com/".parse().unwrap();
    assert!(hops.follow(&start, &plain).unwrap().is_some());
    let refused = Hops::new(AddressPolicy::new())
        .follow(&start, &plain)
        .unwrap_err();
    assert_eq!(refused, RefusedHop::Address(RefusedAddress::Scheme));
}

/// W10: credentials of any name stay with their origin; another name, port or scheme is another
/// origin.
#[test]
fn only_safe_headers_reach_another_origin() {
    let policy = AddressPolicy::new().with_port(8443);
    for location in [
        "https://example.com/",
        "https://cdn.files.example.com/",
        "https://files.example.com.evil.example/",
        "https://files.example.com:8443/",
        "//cdn.example.net",
    ] {
        let mut hops = Hops::new(policy.clone());
        let next = hops.follow(&request(Method::GET, ""), &answer(307, location));
        let next = next.unwrap().unwrap();
        let names: BTreeSet<_> = next.headers().keys().map(http::HeaderName::as_str).collect();
        assert_eq!(
            names,
            BTreeSet::from(["accept", "accept-language", "user-agent"]),
            "{location}"
        );
    }
    for location in ["/other", "?e", "https://FILES.example.com:443/", ""] {
        let next = follow(location).unwrap().unwrap();
        assert_eq!(next.headers()["authorization"], "Bearer t", "{location}");
    }
}

/// W10: the port is part of an origin, and so is the scheme, also if the policy allows `http` on
/// the port of `https`; an address is another origin than a name.
#[test]
fn another_scheme_or_address_is_another_origin() {
    let policy = AddressPolicy::new().danger_allow_http().with_port(443);
    for (start, location) in [
        ("http://files.example.com:443/", "https://files.example.com/"),
        ("https://8.8.8.8/", "https://8.8.4.4/"),
        ("https://8.8.8.8/", "https://[2606:4700::1111]/"),
    ] {
        let mut start_at = request(Method::GET, "");
        *start_at.uri_mut() = start.parse().unwrap();
        let next = Hops::new(policy.clone()).follow(&start_at, &answer(302, location));
        assert!(
            !next.unwrap().unwrap().headers().contains_key("authorization"),
            "{start} {location}"
        );
    }
}

/// W10: an unparsable location ends the fetch; it is not treated as a missing one.
#[test]
fn an_unreadable_location_is_refused() {
    for location in ["https://[::1", "https://exa mple.com/", "//"] {
        assert_eq!(
            follow(location).unwrap_err(),
            RefusedHop::InvalidLocation,
            "{location}"
        );
    }
    let mut binary = answer(302, "/next");
    let bytes = http::HeaderValue::from_bytes(b"/\xff").unwrap();
    binary.headers_mut().insert("location", bytes);
    let refused = Hops::new(AddressPolicy::new()).follow(&request(Method::GET, ""), &binary);
    assert_eq!(refused.unwrap_err(), RefusedHop::InvalidLocation);
}

/// W10: only a request that the rules allow can be redirected.
#[test]
fn refused_request_is_not_redirected() {
    let mut start = request(Method::GET, "");
    *start.uri_mut() = "https://10.0.0.1/".parse().unwrap();
    let refused = Hops::new(AddressPolicy::new()).follow(&start, &answer(302, START));
    assert!(matches!(refused, Err(RefusedHop::Address(_))), "{refused:?}");
}

/// W10: a body, or a method that changes state, is not sent to another origin.
#[test]
fn a_body_does_not_go_to_another_origin() {
    for (method, body) in [
        (Method::POST, "{}"),
        (Method::POST, ""),
        (Method::DELETE, ""),
        (Method::GET, "{}"),
    ] {
        let mut hops = Hops::new(AddressPolicy::new());
        let refused = hops.follow(&request(method, body), &answer(307, "https://cdn.example.net/"));
        assert_eq!(refused.unwrap_err(), RefusedHop::OtherOrigin);
    }
}

/// W10: method and body after a redirect follow RFC 9110.
#[test]
fn the_method_follows_the_status() {
    let (get, head, post, put) = (Method::GET, Method::HEAD, Method::POST, Method::PUT);
    for (status, method, expected) in [
        (301, &get, &get),
        (301, &post, &get),
        (301, &put, &put),
        (302, &post, &get),
        (302, &head, &head),
        (303, &post, &get),
        (303, &put, &get),
        (303, &head, &head),
        (307, &post, &post),
        (308, &post, &post),
        (308, &put, &put),
    ] {
        let mut hops = Hops::new(AddressPolicy::new());
        let next = hops.follow(&request(method.clone(), "{}"), &answer(status, "/next"));
        let next = next.unwrap().unwrap();
        assert_eq!(next.method(), expected, "{status} {method}");
        let kept = method == expected;
        assert_eq!(next.body().is_empty(), !kept, "{status} {method}");
        for name in [
            "content-encoding",
            "content-language",
            "content-length",
            "content-location",
            "content-type",
            "content-digest",
            "transfer-encoding",
            "trailer",
            "expect",
        ] {
            assert_eq!(
                next.headers().contains_key(name),
                kept,
                "{status} {method} {name}"
            );
        }
    }
}

/// W10: a response without a redirect target is the result; one with two targets is refused.
#[test]
fn only_a_redirect_to_one_place_is_followed() {
    let mut hops = Hops::new(AddressPolicy::new());
    let start = request(Method::GET, "");
    for status in [200, 201, 300, 304, 305, 306, 404, 500] {
        assert!(
            hops.follow(&start, &answer(status, "/next")).unwrap().is_none(),
            "{status}"
        );
    }
    let mut nowhere = answer(302, "/next");
    nowhere.headers_mut().clear();
    assert!(hops.follow(&start, &nowhere).unwrap().is_none());
    let mut two = answer(302, "/next");
    two.headers_mut().append("location", "/other".parse().unwrap());
    assert_eq!(
        hops.follow(&start, &two).unwrap_err(),
        RefusedHop::InvalidLocation
    );
}

/// W10: relative locations are resolved as in a browser, and fragments are dropped.
#[test]
fn a_location_is_resolved_against_where_it_was_found() {
    for (location, expected) in [
        ("e", "https://files.example.com/a/e"),
        ("../../../e", "https://files.example.com/e"),
        ("?e", "https://files.example.com/a/b?e"),
        ("#e", "https://files.example.com/a/b?c=d"),
        ("\\\\cdn.example.net\\e", "https://cdn.example.net/e"),
    ] {
        assert_eq!(follow(location).unwrap().unwrap().uri(), expected, "{location}");
    }
}

proptest! {
    /// W10: no location causes a panic or leads to a refused target.
    #[test]
    fn no_location_slips_past_the_rules(location in "[ -~é]{0,40}") {
        let next = Response::builder().status(302).header("location", location.as_bytes());
        let mut hops = Hops::new(AddressPolicy::new());
        if let Ok(Some(next)) = hops.follow(&request(Method::GET, ""), &next.body(Bytes::new()).unwrap()) {
            prop_assert!(AddressPolicy::new().vet(&next.uri().to_string()).is_ok());
        }
    }
}
