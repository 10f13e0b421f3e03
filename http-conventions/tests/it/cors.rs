//! Cross-origin requests.

use std::time::Duration;

use http::{HeaderMap, HeaderName, HeaderValue, Method, header};
use http_conventions::cors::{Cors, CorsMistake, CorsRules};

const APP: &str = "https://app.example.com";

fn listed() -> CorsRules {
    CorsRules::origins([APP, "http://localhost:3000"])
}

fn request(origin: &[&'static str], fields: &[(&'static str, &'static str)]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for origin in origin {
        headers.append(header::ORIGIN, HeaderValue::from_static(origin));
    }
    for (name, value) in fields {
        headers.append(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    headers
}

fn field<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name).map(|value| value.to_str().unwrap())
}

fn preflight(cors: &Cors, origin: &'static str) -> HeaderMap {
    let asked = request(&[origin], &[("access-control-request-method", "PUT")]);
    let response = cors.preflight(&Method::OPTIONS, &asked).unwrap();
    assert_eq!((response.status().as_u16(), response.body().len()), (204, 0));
    response.into_parts().0.headers
}

fn applied(cors: &Cors, request: &HeaderMap) -> HeaderMap {
    let mut answer = HeaderMap::new();
    cors.apply(request, &mut answer);
    answer
}

/// H18: a preflight is an OPTIONS with Origin and Access-Control-Request-Method; any other OPTIONS
/// goes to the resource.
#[test]
fn only_three_signs_together_make_a_preflight() {
    let cors = listed().build().unwrap();
    let asks = ("access-control-request-method", "PUT");
    assert!(
        cors.preflight(&Method::OPTIONS, &request(&[APP], &[asks]))
            .is_some()
    );
    for (method, headers) in [
        (Method::OPTIONS, request(&[APP], &[])),
        (Method::OPTIONS, request(&[], &[asks])),
        (Method::PUT, request(&[APP], &[asks])),
        (Method::OPTIONS, HeaderMap::new()),
    ] {
        assert!(
            cors.preflight(&method, &headers).is_none(),
            "{method} {headers:?}"
        );
    }
}

/// H18: a preflight response contains the lists of the policy and nothing of the request.
#[test]
fn a_preflight_is_answered_by_the_policy() {
    let rules = listed()
        .with_methods([Method::GET, Method::DELETE])
        .with_request_header(HeaderName::from_static("x-tenant"));
    let cors = rules.with_max_age(Duration::from_millis(60_900)).build().unwrap();
    let asked = request(
        &[APP],
        &[
            ("access-control-request-method", "BREW"),
            ("access-control-request-headers", "x-secret"),
            ("access-control-request-private-network", "true"),
        ],
    );
    let answer = cors
        .preflight(&Method::OPTIONS, &asked)
        .unwrap()
        .into_parts()
        .0
        .headers;
    assert_eq!(field(&answer, "access-control-allow-origin"), Some(APP));
    assert_eq!(
        field(&answer, "access-control-allow-methods"),
        Some("GET, DELETE")
    );
    let headers = field(&answer, "access-control-allow-headers").unwrap();
    assert!(
        headers.contains("authorization, content-type, dpop, idempotency-key")
            && headers.ends_with(", x-tenant")
    );
    assert!(!headers.contains("x-secret"));
    assert_eq!(field(&answer, "access-control-max-age"), Some("60"));
    assert_eq!(field(&answer, "vary"), Some("origin"));
    assert_eq!(field(&answer, "access-control-allow-credentials"), None);
    assert_eq!(field(&answer, "access-control-allow-private-network"), None);
}

/// H18: an origin that is not in the policy, byte for byte, is never echoed.
#[test]
fn an_origin_that_is_not_listed_is_not_reflected() {
    let cors = listed().with_credentials().build().unwrap();
    for origin in [
        "https://evil.example",
        "https://app.example.com.evil.example",
        "https://app.example.com:443",
        "https://app.example.com/",
        "https://APP.example.com",
        "http://app.example.com",
        "https://xapp.example.com",
        "null",
        "*",
        "",
    ] {
        for answer in [preflight(&cors, origin), applied(&cors, &request(&[origin], &[]))] {
            assert_eq!(field(&answer, "vary"), Some("origin"), "{origin}");
            assert_eq!(answer.len(), 1, "{origin}");
        }
    }
    let twice = applied(&cors, &request(&[APP, APP], &[]));
    assert_eq!(field(&twice, "access-control-allow-origin"), None);
}

/// H18: every response has Vary: Origin, also without Origin in the request, and errors keep their
/// CORS headers.
#[test]
fn every_answer_varies_by_origin() {
    let cors = listed().with_credentials().build().unwrap();
    assert_eq!(field(&applied(&cors, &HeaderMap::new()), "vary"), Some("origin"));

    let mut answer = HeaderMap::new();
    answer.insert(header::VARY, HeaderValue::from_static("accept"));
    // CORS headers of the handler are replaced
    answer.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    answer.insert(
        header::ACCESS_CONTROL_ALLOW_CREDENTIALS,
        HeaderValue::from_static("true"),
    );
    let mut other = answer.clone();
    cors.apply(&request(&[APP], &[]), &mut answer);
    assert_eq!(field(&answer, "vary"), Some("accept, origin"));
    assert_eq!(field(&answer, "access-control-allow-origin"), Some(APP));
    assert_eq!(field(&answer, "access-control-allow-credentials"), Some("true"));
    let exposed = field(&answer, "access-control-expose-headers").unwrap();
    for name in [
        "etag",
        "location",
        "link",
        "retry-after",
        "x-request-id",
        "ratelimit-reset",
        "deprecation",
        "sunset",
        "www-authenticate",
        "dpop-nonce",
    ] {
        assert!(exposed.split(", ").any(|exposed| exposed == name), "{name}");
    }
    cors.apply(&request(&["https://evil.example"], &[]), &mut other);
    assert_eq!(
        (
            field(&other, "access-control-allow-origin"),
            field(&other, "access-control-allow-credentials")
        ),
        (None, None)
    );
}

/// H18: public data is readable for all origins without credentials, and the response is the same
/// for all.
#[test]
fn any_origin_is_one_answer_for_everybody() {
    let cors = CorsRules::any_origin()
        .with_exposed_header(HeaderName::from_static("x-total"))
        .build()
        .unwrap();
    for origin in [&[][..], &[APP], &["null"]] {
        let answer = applied(&cors, &request(origin, &[]));
        assert_eq!(field(&answer, "access-control-allow-origin"), Some("*"));
        assert!(
            field(&answer, "access-control-expose-headers")
                .unwrap()
                .ends_with(", x-total")
        );
        assert_eq!(answer.len(), 2);
    }
    assert_eq!(
        field(&preflight(&cors, "null"), "access-control-allow-origin"),
        Some("*")
    );
}

/// H18: the origin `null` and the private network need an explicit rule.
#[test]
fn null_and_the_private_network_are_opened_by_name() {
    let cors = listed()
        .with_null_origin()
        .with_private_network()
        .build()
        .unwrap();
    assert_eq!(
        field(&preflight(&cors, "null"), "access-control-allow-origin"),
        Some("null")
    );
    assert_eq!(
        field(&preflight(&cors, APP), "access-control-allow-private-network"),
        None
    );
    for (origin, value, expected) in [
        (APP, "true", Some("true")),
        (APP, "1", None),
        ("https://evil.example", "true", None),
    ] {
        let asked = request(
            &[origin],
            &[
                ("access-control-request-method", "GET"),
                ("access-control-request-private-network", value),
            ],
        );
        let answer = cors.preflight(&Method::OPTIONS, &asked).unwrap();
        assert_eq!(
            field(answer.headers(), "access-control-allow-private-network"),
            expected
        );
    }
}

/// H18: contradictory rules are refused with all mistakes.
#[test]
fn every_mistake_of_the_rules_is_reported_at_once() {
    let star = || HeaderName::from_bytes(b"*").unwrap();
    let any = CorsRules::any_origin()
        .with_credentials()
        .with_private_network()
        .with_null_origin();
    let refused = any
        .with_methods([])
        .with_request_header(star())
        .build()
        .unwrap_err();
    assert_eq!(
        refused.mistakes(),
        [
            CorsMistake::CredentialsForAnyOrigin,
            CorsMistake::PrivateNetworkForAnyOrigin,
            CorsMistake::CredentialsForNullOrigin,
            CorsMistake::NoMethod,
            CorsMistake::WildcardHeader,
        ]
    );
    let shown = refused.to_string();
    assert!(
        shown.starts_with("invalid cross-origin rules: credentials are for listed origins only; "),
        "{shown}"
    );

    let none = CorsRules::origins::<&str>([])
        .with_methods([Method::TRACE, Method::GET])
        .with_exposed_header(star());
    assert_eq!(
        none.build().unwrap_err().mistakes(),
        [
            CorsMistake::NoOrigin,
            CorsMistake::ForbiddenMethod(Method::TRACE),
            CorsMistake::WildcardHeader
        ]
    );
}

/// H18: an origin must be listed as a browser serializes it, because it would never match
/// otherwise.
#[test]
fn an_origin_is_written_as_browsers_write_it() {
    let fine = [
        "https://a.example",
        "http://127.0.0.1:8080",
        "http://[::1]:3000",
        "chrome-extension://abc",
        "https://a.example:80",
    ];
    assert!(CorsRules::origins(fine).build().is_ok());
    for malformed in [
        "*",
        "null",
        "",
        "a.example",
        "https://",
        "https://a.example/",
        "https://A.example",
        "HTTPS://a.example",
        "https://a.example:443",
        "http://a.example:80",
        "https://a.example:080",
        "https://a.example:",
        "https://a.example:65536",
        "https://*.a.example",
        "https://u@a.example",
        "https://caf\u{e9}.example",
        "https://[0::1]",
        "https://[::1",
        "https://a b",
        "1https://a",
    ] {
        let refused = CorsRules::origins([APP, malformed]).build().unwrap_err();
        assert_eq!(
            refused.mistakes(),
            [CorsMistake::InvalidOrigin(malformed.to_owned())]
        );
    }
}
