//! Origin check and subprotocol negotiation.

use graph_core::subscription::transport_ws::{AllowedOrigins, ConnectionLimits, Handshake, Input};
use http::header::{ORIGIN, SEC_WEBSOCKET_PROTOCOL};
use http::{HeaderMap, HeaderValue};

use super::{INIT, Peer};

fn headers(pairs: &[(http::HeaderName, &'static str)]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for (name, value) in pairs {
        headers.append(name, HeaderValue::from_static(value));
    }
    headers
}

/// G10, G20: a page of another origin cannot open a connection with this site's cookies.
#[test]
fn a_page_of_another_origin_is_refused() {
    let allowed = AllowedOrigins::new(["https://Desk.example", "http://127.0.0.1:8080"]).unwrap();
    for origin in [
        "https://evil.example",
        "https://desk.example.evil.example",
        "https://desk.example:8443",
        "http://desk.example",
        "https://desk.example/",
        "https://sub.desk.example",
        "http://127.0.0.1",
        "null",
        "",
        "*",
    ] {
        let refused = Handshake::read(&headers(&[(ORIGIN, origin)]), &allowed)
            .unwrap_err()
            .into_response();
        assert_eq!(refused.status(), 403, "{origin}");
        let body = std::str::from_utf8(refused.body()).unwrap();
        assert!(body.contains("FORBIDDEN") && !body.contains("evil"), "{body}");
    }
    let twice = [(ORIGIN, "https://desk.example"), (ORIGIN, "https://evil.example")];
    assert!(Handshake::read(&headers(&twice), &allowed).is_err());
    assert!(
        Handshake::read(
            &headers(&[(ORIGIN, "https://desk.example")]),
            &AllowedOrigins::default()
        )
        .is_err()
    );
    for origin in [
        "https://desk.example",
        "HTTPS://desk.EXAMPLE",
        "http://127.0.0.1:8080",
    ] {
        assert!(
            Handshake::read(&headers(&[(ORIGIN, origin)]), &allowed).is_ok(),
            "{origin}"
        );
    }
    // not a browser
    assert!(Handshake::read(&HeaderMap::new(), &allowed).is_ok());
}

/// G10: the subprotocol is selected if the client offers it, and no other is.
#[test]
fn the_subprotocol_is_agreed_on_or_4406() {
    for (offered, agreed) in [
        (vec!["graphql-transport-ws"], true),
        (vec!["graphql-ws, graphql-transport-ws"], true),
        (vec!["graphql-ws", "graphql-transport-ws"], true),
        (vec!["graphql-ws"], false),
        (vec!["GraphQL-Transport-WS"], false),
        (vec!["graphql-transport-ws2"], false),
        (vec![], false),
    ] {
        let offered: Vec<_> = offered
            .into_iter()
            .map(|name| (SEC_WEBSOCKET_PROTOCOL, name))
            .collect();
        let headers = headers(&offered);
        let handshake = Handshake::read(&headers, &AllowedOrigins::default()).unwrap();
        assert_eq!(handshake.subprotocol().is_some(), agreed, "{offered:?}");
        let mut peer = Peer::of(&headers, ConnectionLimits::default());
        if agreed {
            assert_eq!(peer.told(Input::Text(INIT)), "authenticate");
        } else {
            assert_eq!(peer.connection.next_timeout(), Some(peer.now));
            assert_eq!(peer.told(Input::Timeout), "4406");
        }
    }
}

/// G10: an origin that browsers never send is a configuration error.
#[test]
fn an_origin_that_no_page_has_is_refused() {
    for origin in [
        "https://app.example/",
        "https://app.example:443",
        "http://app.example:80",
        "https://app.example:",
        "https://app.example:08443",
        "https://app.example:99999",
        "https://[0:0:0:0:0:0:0:1]:8080",
        "https://user@app.example",
        "https://*.app.example",
        "https://app.example/path",
        "https://app.example?query",
        "https://",
        "app.example",
        "app.example:8443",
        "//app.example",
        "*",
        "",
        " https://app.example",
    ] {
        let refused = AllowedOrigins::new(["https://desk.example", origin]).unwrap_err();
        assert_eq!(
            refused.to_string(),
            format!(
                "invalid origin `{origin}`: expected scheme://host[:port] without a default port, or null"
            )
        );
    }
    for origin in [
        "https://app.example",
        "HTTP://[::1]:8080",
        "https://app.example:80",
        "app://shell",
        "null",
    ] {
        let allowed = AllowedOrigins::new([origin]).unwrap();
        let value: HeaderValue = origin.parse().unwrap();
        let headers = HeaderMap::from_iter([(ORIGIN, value)]);
        assert!(Handshake::read(&headers, &allowed).is_ok(), "{origin}");
    }
}
