use http::HeaderValue;
use proptest::prelude::*;

use super::*;

fn proxies() -> TrustedProxies {
    let proxies = TrustedProxies::new().with_network("10.0.0.0/8").unwrap();
    proxies.with_network("fd00::/8").unwrap()
}

fn client(proxies: &TrustedProxies, peer: &str, lines: &[&str]) -> String {
    let mut headers = HeaderMap::new();
    for line in lines {
        headers.append(proxies.header.name(), HeaderValue::from_str(line).unwrap());
    }
    proxies
        .client_address(peer.parse().unwrap(), &headers)
        .to_string()
}

/// H25: a header is believed from a listed proxy only, from the last element on.
#[test]
fn only_listed_proxies_are_believed() {
    let proxies = proxies();
    for (peer, lines, expected) in [
        // no header, and a peer that is not listed
        ("203.0.113.7", &[][..], "203.0.113.7"),
        ("203.0.113.7", &["192.0.2.1"], "203.0.113.7"),
        ("10.0.0.1", &[], "10.0.0.1"),
        // the client's own entries stand before that of the proxy
        ("10.0.0.1", &["203.0.113.7"], "203.0.113.7"),
        ("10.0.0.1", &["192.0.2.1, 203.0.113.7"], "203.0.113.7"),
        ("10.0.0.1", &["192.0.2.1", "203.0.113.7"], "203.0.113.7"),
        ("10.0.0.1", &["10.0.0.9, 203.0.113.7"], "203.0.113.7"),
        // a chain of listed proxies
        (
            "10.0.0.1",
            &["192.0.2.1, 203.0.113.7, 10.0.0.2", "fd00::2"],
            "203.0.113.7",
        ),
        ("fd00::1", &["203.0.113.7,10.0.0.2"], "203.0.113.7"),
        ("10.0.0.1", &["10.0.0.3, 10.0.0.2"], "10.0.0.3"),
        // ports, brackets, mapped addresses, empty elements
        ("10.0.0.1", &["203.0.113.7:4711"], "203.0.113.7"),
        ("10.0.0.1", &["[2001:db8::7]:4711"], "2001:db8::7"),
        ("10.0.0.1", &["[2001:db8::7]"], "2001:db8::7"),
        ("10.0.0.1", &["2001:db8::7"], "2001:db8::7"),
        ("::ffff:10.0.0.1", &["::ffff:203.0.113.7"], "203.0.113.7"),
        ("10.0.0.1", &["203.0.113.7, ,"], "203.0.113.7"),
    ] {
        assert_eq!(client(&proxies, peer, lines), expected, "{peer} {lines:?}");
    }
}

/// H25: an element that names no address ends the search at the hop that reported it.
#[test]
fn malformed_element_ends_the_search() {
    let proxies = proxies();
    for malformed in [
        "unknown",
        "_hidden",
        "1.2.3",
        "1.2.3.4:99999",
        "1.2.3.4 5.6.7.8",
        "[1.2.3.4]",
        "[2001:db8::1",
        "2001:db8::1]",
        "\"1.2.3.4\"",
        "for=1.2.3.4",
        "01.02.03.04",
        "fe80::1%eth0",
    ] {
        let line = format!("192.0.2.1, {malformed}, 10.0.0.2");
        assert_eq!(client(&proxies, "10.0.0.1", &[&line]), "10.0.0.2", "{malformed}");
        assert_eq!(
            client(&proxies, "10.0.0.1", &[malformed]),
            "10.0.0.1",
            "{malformed}"
        );
    }
    let mut headers = HeaderMap::new();
    headers.append(
        "x-forwarded-for",
        HeaderValue::from_bytes(b"203.0.113.7, \xff").unwrap(),
    );
    let peer = "10.0.0.1".parse().unwrap();
    assert_eq!(proxies.client_address(peer, &headers), peer);
    // bytes of the client do not hide the element that the proxy appended
    let appended = HeaderValue::from_bytes(b"\xff, 203.0.113.7").unwrap();
    headers.insert("x-forwarded-for", appended);
    assert_eq!(proxies.client_address(peer, &headers).to_string(), "203.0.113.7");
}

/// H25: `Forwarded` is read as RFC 7239 writes it.
#[test]
fn forwarded_is_read_by_its_grammar() {
    let proxies = proxies().with_header(ForwardingHeader::Forwarded);
    for (line, expected) in [
        ("for=203.0.113.7", "203.0.113.7"),
        ("For=\"203.0.113.7:4711\"", "203.0.113.7"),
        ("proto=https;FOR=203.0.113.7;by=10.0.0.1", "203.0.113.7"),
        ("for=\"[2001:db8:cafe::17]:4711\"", "2001:db8:cafe::17"),
        ("for=\"[2001:db8:cafe::17]\"; proto=http", "2001:db8:cafe::17"),
        ("for=192.0.2.1, for=203.0.113.7;host=\"a,b;c\"", "203.0.113.7"),
        ("for=203.0.113.7, for=10.0.0.2", "203.0.113.7"),
        ("for=\"203.0.\\113.7\"", "203.0.113.7"),
        // no address
        ("for=unknown", "10.0.0.1"),
        ("for=_hidden", "10.0.0.1"),
        ("for=192.0.2.1, for=\"_SEVKISEK\", for=10.0.0.2", "10.0.0.2"),
        ("for=2001:db8::1", "10.0.0.1"),
        ("for=192.0.2.1;for=203.0.113.7", "10.0.0.1"),
        ("proto=https", "10.0.0.1"),
        ("203.0.113.7", "10.0.0.1"),
        // an open quote swallows what a proxy appended, so the whole line is refused
        ("for=\"192.0.2.1, for=203.0.113.7", "10.0.0.1"),
        ("for=\"192.0.2.1\\\", for=203.0.113.7", "10.0.0.1"),
    ] {
        assert_eq!(client(&proxies, "10.0.0.1", &[line]), expected, "{line}");
    }
}

/// H25: attack: the header that the proxies do not write is ignored.
#[test]
fn the_other_header_is_ignored() {
    let mut headers = HeaderMap::new();
    headers.insert("forwarded", HeaderValue::from_static("for=192.0.2.1"));
    let peer = "10.0.0.1".parse().unwrap();
    assert_eq!(proxies().client_address(peer, &headers), peer);
    headers.insert("x-forwarded-for", HeaderValue::from_static("203.0.113.7"));
    assert_eq!(
        proxies().client_address(peer, &headers).to_string(),
        "203.0.113.7"
    );
}

/// H25: attack: a client that sends many listed addresses is followed for 32 hops only.
#[test]
fn long_chains_are_not_followed() {
    let line = format!("192.0.2.1{}", ", 10.0.0.2".repeat(10_000));
    assert_eq!(client(&proxies(), "10.0.0.1", &[&line]), "10.0.0.2");
    let line = format!("192.0.2.1{}", ", 10.0.0.2".repeat(31));
    assert_eq!(client(&proxies(), "10.0.0.1", &[&line]), "192.0.2.1");
}

/// H25: networks in CIDR notation.
#[test]
fn networks_are_cidr() {
    for (network, inside, outside) in [
        ("10.1.2.3", "10.1.2.3", "10.1.2.4"),
        ("10.1.2.3/31", "10.1.2.2", "10.1.2.4"),
        ("0.0.0.0/0", "255.1.2.3", "::1"),
        ("::/0", "2001:db8::1", "10.0.0.1"),
        ("2001:db8::/33", "2001:db8:7fff::1", "2001:db8:8000::1"),
        ("::ffff:10.0.0.0/104", "10.255.0.1", "11.0.0.1"),
    ] {
        let proxies = TrustedProxies::new().with_network(network).unwrap();
        assert!(proxies.contains(inside.parse().unwrap()), "{network}");
        assert!(!proxies.contains(outside.parse().unwrap()), "{network}");
    }
    for text in [
        "",
        "10.0.0.0/",
        "10.0.0.0/33",
        "::/129",
        "10.0.0.0/+8",
        "10.0.0.0/8/8",
        "localhost",
        "10.0/8",
        "::ffff:10.0.0.0/95",
    ] {
        assert_eq!(
            TrustedProxies::new().with_network(text),
            Err(InvalidNetwork),
            "{text}"
        );
    }
}

proptest! {
    /// H25: no bytes make the parser panic, and a peer that is not listed is the client.
    #[test]
    fn any_bytes_are_read_without_panic(bytes in prop::collection::vec(any::<u8>(), 0..64), forwarded: bool) {
        let header = if forwarded { ForwardingHeader::Forwarded } else { ForwardingHeader::XForwardedFor };
        let proxies = proxies().with_header(header);
        let mut headers = HeaderMap::new();
        // a value has no control characters
        let visible: Vec<u8> = bytes.into_iter().filter(|byte| *byte >= b' ' && *byte != 0x7f).collect();
        headers.insert(header.name(), HeaderValue::from_bytes(&visible).unwrap());
        let _ = proxies.client_address("10.0.0.1".parse().unwrap(), &headers);
        let peer = "203.0.113.7".parse().unwrap();
        prop_assert_eq!(proxies.client_address(peer, &headers), peer);
    }
}
