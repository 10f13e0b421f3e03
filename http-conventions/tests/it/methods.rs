//! Methods, redirects, the content of requests.

use http::{HeaderMap, HeaderName, HeaderValue, Method, header};
use http_conventions::{
    content::{self, ContentCoding, MediaType, Offers},
    errors::ProblemBase,
    routing::{ACCEPT_QUERY, Lasting, Location, METHODS, Semantics, accept_query, redirect, see_other},
};

/// H2: the method table; QUERY is safe, and an unknown method has no properties.
#[test]
fn each_method_has_the_semantics_of_the_table() {
    // (method, safe, idempotent, cacheable)
    let table = [
        ("GET", true, true, true),
        ("HEAD", true, true, true),
        ("QUERY", true, true, true),
        ("OPTIONS", true, true, false),
        ("TRACE", true, true, false),
        ("PUT", false, true, false),
        ("DELETE", false, true, false),
        ("POST", false, false, false),
        ("PATCH", false, false, false),
        ("CONNECT", false, false, false),
        ("BREW", false, false, false),
        ("get", false, false, false),
    ];
    for (name, safe, idempotent, cacheable) in table {
        let method = Method::from_bytes(name.as_bytes()).unwrap();
        let semantics = Semantics::of(&method);
        let found = (
            semantics.is_safe(),
            semantics.is_idempotent(),
            semantics.is_cacheable(),
        );
        assert_eq!(found, (safe, idempotent, cacheable), "{name}");
        assert_eq!(semantics.is_retried(), idempotent, "{name}");
    }
    for (method, semantics) in &METHODS {
        assert_eq!(
            (semantics.is_safe(), semantics.is_idempotent()),
            (method.is_safe(), method.is_idempotent())
        );
    }
}

/// H2: a resource that supports QUERY lists its media types, as in the example of RFC 10008.
#[test]
fn a_resource_lists_its_query_types() {
    let offers = Offers::parse("application/jsonpath", &["application/sql;charset=\"UTF-8\""]).unwrap();
    let expected = r#""application/jsonpath", "application/sql";charset="UTF-8""#;
    assert_eq!(
        (ACCEPT_QUERY.as_str(), accept_query(&offers)),
        ("accept-query", HeaderValue::from_static(expected))
    );
    let odd = Offers::parse(r#"a/b;X=1;y="\"\\";+z=1;*w=" ""#, &[]).unwrap();
    assert_eq!(accept_query(&odd), r#""a/b";x="1";y="\"\\";*w=" ""#);
}

/// H17: a redirect keeps the method: 308 and 307 for all methods but GET and HEAD.
#[test]
fn a_redirect_keeps_the_method() {
    let there = Location::of_path(["v2", "charges"]).unwrap();
    for method in [
        Method::GET,
        Method::HEAD,
        Method::POST,
        Method::PUT,
        Method::PATCH,
        Method::DELETE,
        Method::QUERY,
    ] {
        let reads = matches!(method, Method::GET | Method::HEAD);
        let permanent = redirect(&method, Lasting::Permanent, &there);
        let temporary = redirect(&method, Lasting::Temporary, &there);
        assert_eq!(permanent.status(), if reads { 301 } else { 308 }, "{method}");
        assert_eq!(temporary.status(), if reads { 302 } else { 307 }, "{method}");
        assert_eq!(
            (&permanent.headers()["location"], permanent.body().len()),
            (&there.header_value(), 0)
        );
        assert_eq!(temporary.headers()["location"], "/v2/charges");
    }
    let other = see_other(&there);
    assert_eq!(
        (other.status().as_u16(), &other.headers()["location"]),
        (303, &there.header_value())
    );
}

fn sent(name: &HeaderName, lines: &[&'static str]) -> HeaderMap {
    let lines = lines.iter().map(|line| HeaderValue::from_static(line));
    let mut headers = HeaderMap::new();
    for line in lines {
        headers.append(name.clone(), line);
    }
    headers
}

/// H5: content is read by its Content-Type; a 415 lists the supported types.
#[test]
fn content_of_another_type_is_a_415_that_lists_what_is_read() {
    let base = ProblemBase::new("https://api.example.com/problems/").unwrap();
    let read = Offers::<MediaType>::parse("application/json", &["text/csv; charset=utf-8"]).unwrap();
    let found = |lines: &[&'static str]| {
        let headers = sent(&header::CONTENT_TYPE, lines);
        content::media_type(&headers, &read).map(MediaType::essence)
    };
    assert_eq!(found(&["Application/JSON"]).unwrap(), "application/json");
    assert_eq!(
        found(&["application/json; charset=utf-8"]).unwrap(),
        "application/json"
    );
    assert_eq!(found(&["text/csv"]).unwrap(), "text/csv");
    assert_eq!(found(&["text/csv;charset=\"UTF-8\""]).unwrap(), "text/csv");
    for refused in [
        &[][..],
        &[""],
        &["text/csv;charset=latin1"],
        &["application/vnd.x+json"],
        &["json"],
        &["application/*"],
        &["application/json", "application/json"],
    ] {
        let refused = found(refused).unwrap_err().problem(&base).into_response();
        assert_eq!(refused.status(), 415);
        assert_eq!(
            refused.headers()["accept"],
            "application/json, text/csv; charset=utf-8"
        );
        assert!(!refused.headers().contains_key("accept-encoding"));
    }
}

/// H19: an unsupported coding, or several codings, get 415.
#[test]
fn unsupported_coding_gets_415_with_accept_encoding() {
    let base = ProblemBase::new("https://api.example.com/problems/").unwrap();
    let read = [ContentCoding::GZIP];
    let found = |lines: &[&'static str]| {
        let headers = sent(&header::CONTENT_ENCODING, lines);
        content::coding(&headers, &read).map(ContentCoding::as_str)
    };
    for (lines, expected) in [
        (&[][..], "identity"),
        (&[""], "identity"),
        (&["Identity"], "identity"),
        (&["x-gzip"], "gzip"),
        (&["GZIP"], "gzip"),
    ] {
        assert_eq!(found(lines).unwrap(), expected);
    }
    for refused in [
        &["br"][..],
        &["gzip, gzip"],
        &["gzip", "gzip"],
        &["gzip, identity"],
        &["*"],
    ] {
        let refused = found(refused).unwrap_err().problem(&base).into_response();
        assert_eq!(
            (refused.status().as_u16(), &refused.headers()["accept-encoding"]),
            (415, &HeaderValue::from_static("gzip, identity"))
        );
        assert!(!refused.headers().contains_key("accept"));
    }
}
