//! The session cookie: how it is written and parsed.

use std::time::Duration;

use http::header::COOKIE;
use http::{HeaderMap, HeaderValue};
use oauth_core::session::{SessionCookie, SessionSecret};
use proptest::prelude::*;

const SECRET: &str = "ss_fwCYTMG0gqJ8C0VZP9Pd5rYDqj2e7iA1hQmQmG3w0wE";
const ANOTHER: &str = "ss_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

fn secret() -> SessionSecret {
    SECRET.parse().unwrap()
}

fn cookie() -> SessionCookie {
    SessionCookie::new("session").unwrap()
}

fn sent(lines: &[&str]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for line in lines {
        headers.append(COOKIE, HeaderValue::from_bytes(line.as_bytes()).unwrap());
    }
    headers
}

fn read(cookie: &SessionCookie, lines: &[&str]) -> Option<String> {
    cookie.read(&sent(lines)).map(|secret| secret.expose().to_owned())
}

/// S1, 104: the cookie has `HttpOnly`, `Secure`, `SameSite=Lax`, `Path`, `Max-Age`, and the prefix
/// `__Host-`, which keeps other hosts from setting it.
#[test]
fn cookie_has_host_prefix_and_secure_attributes() {
    let written = cookie().set(&secret(), Duration::from_millis(28_800_999));
    let expected = format!("__Host-session={SECRET}; Path=/; Max-Age=28800; Secure; HttpOnly; SameSite=Lax");
    assert_eq!(written, expected.as_str());
    assert!(written.is_sensitive());
    let cleared = "__Host-session=; Path=/; Max-Age=0; Secure; HttpOnly; SameSite=Lax";
    assert_eq!(cookie().clear(), cleared);
}

/// S1, 104: with a `Domain` or another `Path` the prefix is left out, because browsers would refuse
/// the cookie.
#[test]
fn domain_or_path_removes_host_prefix() {
    let shared = cookie().with_domain("example.com").unwrap();
    let cleared = "__Secure-session=; Path=/; Max-Age=0; Domain=example.com; Secure; HttpOnly; SameSite=Lax";
    assert_eq!(shared.clear(), cleared);
    assert_eq!(cookie().with_path("/account").unwrap().name(), "__Secure-session");
    let plain = cookie().danger_over_plain_http();
    assert_eq!(
        plain.clear(),
        "session=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax"
    );
}

/// S1: characters that could end an attribute are refused.
#[test]
fn cookie_attributes_cannot_be_injected() {
    for name in [
        "",
        "a b",
        "a=b",
        "a;b",
        "a,b",
        "\u{e9}",
        "a\r\nb",
        &"a".repeat(65),
    ] {
        assert!(SessionCookie::new(name).is_err(), "{name:?}");
    }
    for domain in [
        "",
        "a;b",
        "a b",
        "a\nb",
        "a/b",
        "\u{e9}.example",
        &"a".repeat(254),
    ] {
        assert!(cookie().with_domain(domain).is_err(), "{domain:?}");
    }
    for path in [
        "",
        "a",
        "/a;b",
        "/a b",
        "/a\nb",
        "/\u{e9}",
        &format!("/{}", "a".repeat(1024)),
    ] {
        assert!(cookie().with_path(path).is_err(), "{path:?}");
    }
    let cut = format!("ss_;Domain=evil.example;{}", "A".repeat(22));
    for text in [
        &cut,
        "",
        "ss_",
        ANOTHER.trim_end_matches('A'),
        &format!("{SECRET}A"),
    ] {
        assert!(text.parse::<SessionSecret>().is_err(), "{text:?}");
    }
}

/// S1: the cookie is found by its whole name among others and over several header lines.
#[test]
fn a_cookie_is_found_by_its_whole_name() {
    let ours = format!("__Host-session={SECRET}");
    for lines in [
        &[ours.as_str()][..],
        &[&format!("a=b; {ours}; c=d")],
        &["a=b", &ours],
        &[&format!(" {ours};;")],
        &[&ours, &ours],
    ] {
        assert_eq!(read(&cookie(), lines).as_deref(), Some(SECRET), "{lines:?}");
    }
    for name in [
        "session",
        "__Secure-session",
        "__host-session",
        "__Host-session2",
        "x__Host-session",
    ] {
        assert_eq!(read(&cookie(), &[&format!("{name}={SECRET}")]), None, "{name}");
    }
    for value in ["", "\"quoted\"", "ss_short"] {
        assert_eq!(
            read(&cookie(), &[&format!("__Host-session={value}")]),
            None,
            "{value}"
        );
    }
}

/// S1, 104: two different cookies with the name are both refused, because one was set by another
/// host.
#[test]
fn two_different_session_cookies_are_refused() {
    let (first, second) = (
        format!("__Host-session={SECRET}"),
        format!("__Host-session={ANOTHER}"),
    );
    assert_eq!(read(&cookie(), &[&first, &second]), None);
    assert_eq!(read(&cookie(), &[&format!("{first}; {second}")]), None);
    assert_eq!(read(&cookie(), &[&format!("__Host-session=; {first}")]), None);
}

proptest! {
    /// S1: no cookie header makes the parser panic, and the result is a well-formed secret.
    #[test]
    fn cookie_parser_never_panics(lines in prop::collection::vec("[ -~\u{80}-\u{ff}]{0,80}", 0..4)) {
        let lines: Vec<_> = lines.iter().map(String::as_str).collect();
        prop_assert_eq!(read(&cookie(), &lines), None);
    }
}
