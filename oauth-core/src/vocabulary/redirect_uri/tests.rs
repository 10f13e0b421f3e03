use proptest::prelude::*;

use super::*;

fn matches(registered: &RegisteredRedirectUri, presented: &str) -> bool {
    presented.parse().is_ok_and(|uri| registered.matches(&uri))
}

/// O4, 16: an exact URI matches only the same bytes, so similar URIs are refused.
#[test]
fn an_exact_uri_matches_itself_only() {
    let registered = RegisteredRedirectUri::exact("https://app.example/cb?tenant=1").unwrap();
    assert!(matches(&registered, "https://app.example/cb?tenant=1"));
    let near_misses = [
        "https://app.example/cb?tenant=1&x=y",
        "https://app.example/cb?tenant=12",
        "https://app.example/cb",
        "https://app.example/cb?tenant=1#f",
        "https://app.example/cb/../cb?tenant=1",
        "https://app.example:443/cb?tenant=1",
        "https://APP.example/cb?tenant=1",
        "HTTPS://app.example/cb?tenant=1",
        "https://app.example/%63b?tenant=1",
        "https://app.example./cb?tenant=1",
        "https://app.example/cb?tenant=%31",
        "https://app.example/cb%3Ftenant=1",
        "https://app.example%2Fcb?tenant=1",
        "https://app.example\\cb?tenant=1",
        "https://app.example.evil.com/cb?tenant=1",
        "https://user@app.example/cb?tenant=1",
        "https://evil.com/https://app.example/cb?tenant=1",
        "http://app.example/cb?tenant=1",
    ];
    for presented in near_misses {
        assert!(!matches(&registered, presented), "{presented}");
    }
}

/// O4, 16: there are no wildcards. An asterisk matches only an asterisk.
#[test]
fn an_asterisk_means_itself() {
    let registered = RegisteredRedirectUri::exact("https://app.example/*").unwrap();
    assert!(!matches(&registered, "https://app.example/cb"));
    assert!(matches(&registered, "https://app.example/*"));
}

/// O4: a loopback URI ignores the port and nothing else.
#[test]
fn loopback_forgives_the_port_and_nothing_else() {
    let v4 = RegisteredRedirectUri::loopback_any_port("http://127.0.0.1/callback?x=1").unwrap();
    for presented in [
        "http://127.0.0.1/callback?x=1",
        "http://127.0.0.1:1/callback?x=1",
        "http://127.0.0.1:65535/callback?x=1",
    ] {
        assert!(matches(&v4, presented), "{presented}");
    }
    let refused = [
        "http://127.0.0.1:65536/callback?x=1",
        "http://127.0.0.1:0/callback?x=1",
        "http://127.0.0.1:80\\@evil.com/callback?x=1",
        "http://127.0.0.1:/callback?x=1",
        "http://127.0.0.1:+80/callback?x=1",
        "http://127.0.0.1.evil.com/callback?x=1",
        "http://127.0.0.1:80.evil.com/callback?x=1",
        "http://127.0.0.1:80@evil.com/callback?x=1",
        "http://127.0.0.1@evil.com/callback?x=1",
        "http://user@127.0.0.1:80/callback?x=1",
        "http://127.0.0.1:80/callback?x=2",
        "http://127.0.0.1:80/callback",
        "http://127.0.0.1:80/callback?x=1#f",
        "http://127.0.0.1:80/other/callback?x=1",
        "http://127.0.0.2:80/callback?x=1",
        "http://127.1/callback?x=1",
        "http://2130706433/callback?x=1",
        "http://localhost:80/callback?x=1",
        "http://[::1]:80/callback?x=1",
        "https://127.0.0.1:80/callback?x=1",
    ];
    for presented in refused {
        assert!(!matches(&v4, presented), "{presented}");
    }
    let v6 = RegisteredRedirectUri::loopback_any_port("http://[::1]/").unwrap();
    assert!(matches(&v6, "http://[::1]:9/"));
    for presented in [
        "http://[0:0:0:0:0:0:0:1]:9/",
        "http://[::1%25lo]:9/",
        "http://[::ffff:127.0.0.1]:9/",
        "http://[::1].evil.com:9/",
    ] {
        assert!(!matches(&v6, presented), "{presented}");
    }
}

/// O4: a URI of `localhost` ignores the port and nothing else, and is registered without one.
#[test]
fn localhost_ignores_port_and_nothing_else() {
    let registered = RegisteredRedirectUri::localhost_any_port("http://localhost/cb?x=1").unwrap();
    for presented in [
        "http://localhost/cb?x=1",
        "http://localhost:1/cb?x=1",
        "http://localhost:65535/cb?x=1",
    ] {
        assert!(matches(&registered, presented), "{presented}");
    }
    for presented in [
        "http://localhost:0/cb?x=1",
        "http://localhost:65536/cb?x=1",
        "http://localhost:/cb?x=1",
        "http://localhost:80/cb?x=2",
        "http://localhost:80/cb",
        "http://localhost:80/CB?x=1",
        "http://LOCALHOST:80/cb?x=1",
        "http://localhost.:80/cb?x=1",
        "http://localhost.evil.com/cb?x=1",
        "http://localhost:80.evil.com/cb?x=1",
        "http://localhost:80@evil.com/cb?x=1",
        "http://localhost@evil.com/cb?x=1",
        "http://user@localhost:80/cb?x=1",
        "http://127.0.0.1:80/cb?x=1",
        "http://[::1]:80/cb?x=1",
        "https://localhost:80/cb?x=1",
    ] {
        assert!(!matches(&registered, presented), "{presented}");
    }
    for text in [
        "http://localhost:3000/cb",
        "https://localhost/cb",
        "http://127.0.0.1/cb",
        "http://localhost.evil.com/cb",
        "http://localhost/cb#f",
        "",
    ] {
        let registered = RegisteredRedirectUri::localhost_any_port(text);
        assert_eq!(registered, Err(InvalidRedirectUri), "{text}");
    }
}

/// O4: only the two loopback addresses may be registered with any port.
#[test]
fn only_loopback_addresses_are_registered_with_any_port() {
    let refused = [
        "http://localhost/callback",
        "http://127.0.0.1:80/callback",
        "http://127.0.0.1.evil.com/callback",
        "https://127.0.0.1/callback",
        "http://127.0.0.2/callback",
        "https://app.example/callback",
        "",
    ];
    for text in refused {
        assert_eq!(
            RegisteredRedirectUri::loopback_any_port(text),
            Err(InvalidRedirectUri),
            "{text}"
        );
    }
}

/// O4, 16: the allowed forms of a redirect URI.
#[test]
fn a_redirect_uri_is_https_or_loopback_or_private_use() {
    for text in [
        "https://a.example",
        "http://localhost:3000/cb",
        "http://[::1]:80/",
        "com.example.app:/cb",
    ] {
        assert!(text.parse::<RedirectUri>().is_ok(), "{text}");
    }
    let refused = [
        "/relative",
        "//a.example/cb",
        "http://a.example/cb",
        "http://127.0.0.1.evil.com/cb",
        "javascript:alert(1)",
        "data:text/html,x",
        "https:a.example/cb",
        "https:/a.example/cb",
        "https:///a.example/cb",
        "https://a.example/cb#",
        "https://a.example\\@evil.com/cb",
        "https://a.example/c b",
        "https://a.example/\u{e9}",
        "https://a.example/\r\nSet-Cookie:x",
        "https://us\u{65}r:pw@a.example/cb",
        "com.example.app:",
    ];
    for text in refused {
        assert_eq!(text.parse::<RedirectUri>(), Err(InvalidRedirectUri), "{text}");
    }
}

/// O3, 18: an existing query is kept.
#[test]
fn parameters_are_appended_to_existing_query() {
    let check = |uri: &str, expected: &str| {
        assert_eq!(
            uri.parse::<RedirectUri>()
                .unwrap()
                .with_query([("code", "a b"), ("iss", "https://as.example")]),
            expected
        );
    };
    check(
        "https://a.example/cb",
        "https://a.example/cb?code=a+b&iss=https%3A%2F%2Fas.example",
    );
    check(
        "https://a.example/cb?x=%20",
        "https://a.example/cb?x=%20&code=a+b&iss=https%3A%2F%2Fas.example",
    );
    check(
        "https://a.example/cb?x=1&",
        "https://a.example/cb?x=1&code=a+b&iss=https%3A%2F%2Fas.example",
    );
    check(
        "https://a.example/cb?",
        "https://a.example/cb?code=a+b&iss=https%3A%2F%2Fas.example",
    );
}

proptest! {
    #[test]
    fn any_text_parses_or_fails_without_panic(text in "(https?://)?(127\\.0\\.0\\.1|\\[::1\\]|.*)(:[0-9]*)?.*") {
        let registered = RegisteredRedirectUri::loopback_any_port("http://127.0.0.1/cb").unwrap();
        if matches(&registered, &text) {
            prop_assert!(text.starts_with("http://127.0.0.1") && text.ends_with("/cb"));
        }
    }

    /// O4, 16, 18: two different texts never match exactly.
    #[test]
    fn an_exact_match_means_equal_bytes(a in "https://[a-c]{1,2}/[a-c%./?]{0,4}", b in "https://[a-c]{1,2}/[a-c%./?]{0,4}") {
        if let (Ok(registered), Ok(presented)) = (RegisteredRedirectUri::exact(&a), b.parse::<RedirectUri>()) {
            prop_assert_eq!(registered.matches(&presented), a == b);
        }
    }
}
