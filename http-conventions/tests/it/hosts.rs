//! Hosts that a server answers for (H26).

use http::{Method, Request, Version, header};
use http_conventions::{
    Conventions,
    cors::CorsRules,
    ports::{OsEntropy, SystemClock},
    routing::{AllowedHosts, HostRefusal, InvalidHost},
};
use proptest::prelude::*;

use HostRefusal::{Malformed, Misdirected};

fn check(hosts: &AllowedHosts, version: Version, target: &str, fields: &[&[u8]]) -> Result<(), HostRefusal> {
    let mut request = Request::get(target).version(version);
    for field in fields {
        request = request.header(header::HOST, *field);
    }
    hosts.check(&request.body(()).unwrap())
}

const VALID: &[&str] = &[
    "a",
    "api.example.com",
    "API.example.com:8080",
    "a:",
    "127.0.0.1:65535",
    "[::1]",
    "[2001:db8::7]:443",
    "xn--bcher-kva.example",
    "a_b.example",
    "a%20b",
    "a,b",
    "[::1]:",
];

const INVALID: &[&str] = &[
    "",
    " ",
    ":80",
    "a@b:c/d?e",
    "a, b",
    "a b",
    "user@a",
    "a/b",
    "a?b",
    "a#b",
    "a:b",
    "a:80:80",
    "a:-1",
    "a:+1",
    "a:65536",
    "a:99999999999999999999",
    "a\\b",
    "a%2",
    "a%zz",
    "[::1",
    "::1",
    "[::1]a",
    "[]",
    "[fe80::1%25eth0]",
    "[v1.a]",
    "http://a",
    "a\"",
    "<a>",
    "\u{fc}.example",
    ".",
];

/// H26: `Host` has the grammar of RFC 9112 §3.2, once; the list of allowed hosts is empty.
#[test]
fn host_has_the_grammar_of_the_rfc() {
    let any = AllowedHosts::any();
    for host in VALID {
        assert_eq!(
            check(&any, Version::HTTP_11, "/", &[host.as_bytes()]),
            Ok(()),
            "{host}"
        );
    }
    for host in INVALID {
        assert_eq!(
            check(&any, Version::HTTP_11, "/", &[host.as_bytes()]),
            Err(Malformed),
            "{host}"
        );
    }
    assert_eq!(check(&any, Version::HTTP_11, "/", &[b"\xff"]), Err(Malformed));
    assert_eq!(
        check(&any, Version::HTTP_11, "/", &[b"a", b"a"]),
        Err(Malformed),
        "twice"
    );
    assert_eq!(check(&any, Version::HTTP_11, "/", &[]), Err(Malformed), "missing");
    assert_eq!(check(&any, Version::HTTP_10, "/", &[]), Ok(()), "of HTTP/1.0");
}

/// H26: a server answers for its own hosts only; a name that was rebound to its address is refused.
#[test]
fn other_hosts_are_misdirected() {
    let hosts =
        AllowedHosts::parse(["api.example.com", "127.0.0.1:8080", "[::1]:8080", "b.example:443"]).unwrap();
    for (host, expected) in [
        ("api.example.com", Ok(())),
        ("Api.Example.COM.", Ok(())),
        ("api.example.com:1", Ok(())),
        ("127.0.0.1:8080", Ok(())),
        ("127.0.0.1", Err(Misdirected)),
        ("127.0.0.1:80", Err(Misdirected)),
        ("127.1:8080", Err(Misdirected)),
        ("[0:0::1]:8080", Ok(())),
        ("[::1]", Err(Misdirected)),
        ("b.example", Ok(())),
        ("b.example:443", Ok(())),
        ("b.example:80", Err(Misdirected)),
        ("api.example.com.evil.example", Err(Misdirected)),
        ("evil.example", Err(Misdirected)),
        ("api%2eexample.com", Err(Misdirected)),
        ("api.example.com..", Err(Misdirected)),
        ("localhost:8080", Err(Misdirected)),
    ] {
        assert_eq!(
            check(&hosts, Version::HTTP_11, "/", &[host.as_bytes()]),
            expected,
            "{host}"
        );
    }
    assert_eq!(check(&hosts, Version::HTTP_10, "/", &[]), Err(Misdirected));
}

/// H26: the authority of the target decides, and `Host` beside it must still be valid. In HTTP/2
/// both must be equal.
#[test]
fn authority_of_the_target_decides() {
    let hosts = AllowedHosts::parse(["a.example"]).unwrap();
    let (own, other) = ("http://a.example/x", "http://b.example/x");
    for (version, target, fields, expected) in [
        (Version::HTTP_11, own, &["a.example"][..], Ok(())),
        (Version::HTTP_11, own, &["b.example"], Ok(())),
        (Version::HTTP_11, own, &[], Err(Malformed)),
        (Version::HTTP_11, own, &["b example"], Err(Malformed)),
        (Version::HTTP_11, other, &["a.example"], Err(Misdirected)),
        (
            Version::HTTP_11,
            "http://user@a.example/",
            &["a.example"],
            Err(Malformed),
        ),
        (Version::HTTP_2, own, &[], Ok(())),
        (Version::HTTP_2, own, &["A.example"], Ok(())),
        (Version::HTTP_2, own, &["b.example"], Err(Malformed)),
        (Version::HTTP_2, other, &[], Err(Misdirected)),
        (Version::HTTP_2, "/", &["a.example"], Ok(())),
        (Version::HTTP_2, "/", &[], Err(Malformed)),
        (Version::HTTP_3, own, &["b.example"], Err(Malformed)),
    ] {
        let fields: Vec<_> = fields.iter().map(|field| field.as_bytes()).collect();
        assert_eq!(
            check(&hosts, version, target, &fields),
            expected,
            "{version:?} {target} {fields:?}"
        );
    }
}

/// H26: a list with an invalid host is refused.
#[test]
fn invalid_entries_are_refused() {
    for entry in [
        "",
        "https://a.example",
        "a.example/",
        "*.example",
        "a b",
        "a:http",
    ] {
        let parsed = AllowedHosts::parse(["ok.example", entry]);
        let is_refused = matches!(parsed, Err(InvalidHost { .. }));
        // an asterisk is valid in a host and has no special meaning
        assert_eq!(is_refused, entry != "*.example", "{entry}");
    }
}

/// H26: the pipeline refuses a foreign host before a preflight, with a finished problem, and the
/// OpenAPI document lists it.
#[test]
fn pipeline_refuses_foreign_hosts() {
    let hosts = AllowedHosts::parse(["api.example.com"]).unwrap();
    let builder = || Conventions::builder("https://api.example.com/problems/", SystemClock, OsEntropy);
    let checked = builder()
        .with_cors(CorsRules::origins(["https://app.example"]))
        .with_allowed_hosts(hosts)
        .build()
        .unwrap();
    let admit = |method: Method, host: &str| {
        let request = Request::builder()
            .method(method)
            .uri("/v1/x")
            .header("host", host);
        let request = request
            .header("origin", "https://app.example")
            .header("access-control-request-method", "PUT");
        let request = request.body(()).unwrap();
        checked
            .begin(&request)
            .admit(&request)
            .err()
            .map(|early| early.into_response())
    };
    assert!(admit(Method::GET, "api.example.com").is_none());
    assert_eq!(admit(Method::OPTIONS, "api.example.com").unwrap().status(), 204);
    for (method, host, status) in [
        (Method::GET, "evil.example", 421),
        (Method::OPTIONS, "evil.example", 421),
        (Method::GET, "a b", 400),
    ] {
        let response = admit(method, host).unwrap();
        assert_eq!(response.status(), status, "{host}");
        let headers = response.headers();
        assert_eq!(headers["content-type"], "application/problem+json");
        assert!(headers.contains_key("x-request-id"));
        let body = String::from_utf8_lossy(response.body());
        assert!(body.contains("host") && !body.contains("evil"), "{body}");
    }
    let listed = |conventions: &Conventions| {
        let operation = conventions.openapi_operation(&[]).to_string();
        let components = conventions.openapi_components().to_string();
        (
            operation.contains("MisdirectedRequest"),
            components.contains("MisdirectedRequest"),
        )
    };
    assert_eq!(listed(&checked), (true, true));
    assert_eq!(listed(&builder().build().unwrap()), (false, false));
}

proptest! {
    /// H26: no value of the field panics, and an accepted value is accepted again as an entry.
    #[test]
    fn any_host_is_checked(host in "[ -~]{0,24}") {
        let accepted = check(&AllowedHosts::any(), Version::HTTP_11, "/", &[host.as_bytes()]).is_ok();
        let listed = AllowedHosts::parse([&host]);
        prop_assert_eq!(accepted, listed.is_ok());
        if let Ok(listed) = listed {
            prop_assert_eq!(check(&listed, Version::HTTP_11, "/", &[host.as_bytes()]), Ok(()));
        }
    }
}
