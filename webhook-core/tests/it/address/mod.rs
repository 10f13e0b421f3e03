//! Address rules for webhook destinations.

mod networks;
mod special_blocks;

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use proptest::prelude::*;
use webhook_core::address::{AddressPolicy, Host, RefusedAddress};

fn strict() -> AddressPolicy {
    AddressPolicy::new()
}

fn ip(text: &str) -> IpAddr {
    text.parse().unwrap()
}

fn block_of(address: IpAddr) -> Option<&'static str> {
    match strict().vet_ip(address) {
        Err(RefusedAddress::Network { block, .. }) => Some(block),
        _ => None,
    }
}

/// W10: each special-purpose block is refused from its first to its last address, by its own name.
#[test]
fn every_special_block_is_refused_from_end_to_end() {
    for (first, last, purpose) in special_blocks::ALL {
        for address in [first, last] {
            assert_eq!(block_of(ip(address)), Some(*purpose), "{address}");
        }
    }
}

/// W10: the neighbours of a block are ordinary addresses, or belong to another block.
#[test]
fn no_special_block_reaches_further_than_its_ends() {
    let neighbour = |address: &str, step: i8| match ip(address) {
        IpAddr::V4(v4) => v4
            .to_bits()
            .checked_add_signed(step.into())
            .map(|bits| Ipv4Addr::from_bits(bits).into()),
        IpAddr::V6(v6) => v6
            .to_bits()
            .checked_add_signed(step.into())
            .map(|bits| Ipv6Addr::from_bits(bits).into()),
    };
    for (first, last, purpose) in special_blocks::ALL {
        for neighbour in [neighbour(first, -1), neighbour(last, 1)].into_iter().flatten() {
            assert_ne!(block_of(neighbour), Some(*purpose), "{neighbour}");
        }
    }
    let all = "1.0.0.0 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.0 \
        169.253.255.255 169.255.0.0 172.15.255.255 172.32.0.0 192.0.1.0 192.0.3.0 192.167.255.255 \
        192.169.0.0 198.17.255.255 198.20.0.0 203.0.112.255 203.0.114.0 223.255.255.255 \
        168.63.129.15 168.63.129.17 8.8.8.8 2000:: 2001:200:: 2001:db7:ffff:: 2001:db9:: 2003:: \
        2620:4f:7fff:: 2620:4f:8001:: 3ffe:: 3fff:1000:: 2606:4700::1111 ::ffff:8.8.8.8";
    for address in all.split(' ') {
        assert_eq!(strict().vet_ip(ip(address)), Ok(()), "{address}");
    }
}

/// W10: an IPv4 address inside an IPv6 address is checked itself and named in the refusal.
#[test]
fn embedded_ipv4_addresses_are_decoded() {
    let refused = |address: &str| match strict().vet_ip(ip(address)) {
        Err(RefusedAddress::Network { address, block }) => Some((address.to_string(), block)),
        _ => None,
    };
    assert_eq!(
        refused("::ffff:10.0.0.1"),
        Some(("10.0.0.1".to_owned(), "private use"))
    );
    assert_eq!(
        refused("::ffff:7f00:1"),
        Some(("127.0.0.1".to_owned(), "loopback"))
    );
    assert_eq!(
        refused("2002:7f00:1::"),
        Some(("2002:7f00:1::".to_owned(), "6to4"))
    );
    assert_eq!(
        refused("2600::5efe:10.0.0.1"),
        Some(("2600::5efe:a00:1".to_owned(), "private use"))
    );
    assert_eq!(
        refused("2600::200:5efe:169.254.169.254").map(|(_, block)| block),
        Some("metadata or platform service of a cloud")
    );
    assert_eq!(refused("2600::200:5efe:8.8.8.8"), None);
    // not an interface identifier of ISATAP
    assert_eq!(refused("2600::100:5efe:10.0.0.1"), None);
}

/// W10: addresses of a declared NAT64 prefix are checked as the address they translate to; other
/// prefixes stay refused.
#[test]
fn a_declared_nat64_prefix_is_decoded() {
    let policy = strict().with_nat64_prefix("64:ff9b::".parse().unwrap());
    assert_eq!(policy.vet_ip(ip("64:ff9b::8.8.8.8")), Ok(()));
    assert_eq!(policy.vet_ip(ip("64:ff9b::203.0.114.7")), Ok(()));
    assert!(policy.vet_ip(ip("64:ff9b::10.0.0.1")).is_err());
    assert!(policy.vet_ip(ip("64:ff9b::169.254.169.254")).is_err());
    // outside the prefix, also by its last bit only
    for address in [
        "64:ff9b:1::8.8.8.8",
        "64:ff9b::1:8.8.8.8",
        "64:ff9a:ffff:ffff:ffff:ffff:808:808",
    ] {
        assert!(policy.vet_ip(ip(address)).is_err(), "{address}");
    }
    assert!(strict().vet_ip(ip("64:ff9b::8.8.8.8")).is_err());
    // the bits after the prefix are ignored
    let policy = strict().with_nat64_prefix("2001:db8:1:2:3:4:5:6".parse().unwrap());
    assert_eq!(policy.vet_ip(ip("2001:db8:1:2:3:4:808:808")), Ok(()));
    assert!(policy.vet_ip(ip("2001:db8:1:2:3:4:a00:1")).is_err());
    assert!(policy.vet_ip(ip("2001:db8:1:2:3:5:808:808")).is_err());
    assert!(policy.vet_ip(ip("2001:db8:1:2:2:4:808:808")).is_err());
}

/// W10: the metadata services of clouds are refused by their own name.
#[test]
fn metadata_services_are_refused_by_name() {
    let all = "169.254.169.254 169.254.170.2 169.254.170.23 169.254.169.253 169.254.169.123 169.254.0.23 \
        100.100.100.200 192.0.0.192 168.63.129.16 fd00:ec2::254 fd20:ce::254 fd00:c1::a9fe:a9fe \
        ::ffff:169.254.169.254";
    for address in all.split(' ') {
        let expected = "metadata or platform service of a cloud";
        assert!(
            matches!(strict().vet_ip(ip(address)), Err(RefusedAddress::Network { block, .. }) if block == expected),
            "{address}"
        );
    }
    for host in [
        "metadata.google.internal",
        "METADATA.goog",
        "metadata.google.internal.",
        "x.metadata.goog",
        "instance-data.ec2.internal",
        "metadata.tencentyun.com",
    ] {
        assert_eq!(
            strict().vet(&format!("https://{host}/")),
            Err(RefusedAddress::Name("a metadata service")),
            "{host}"
        );
    }
}

/// W10: every notation of an address in a URL is parsed as the address.
#[test]
fn literal_forms_of_an_address_are_normalised() {
    for host in [
        "127.0.0.1",
        "127.1",
        "127.0.1",
        "0x7f.1",
        "0x7f000001",
        "0177.0.0.1",
        "017700000001",
        "2130706433",
        "127.0.0.1.",
        "0x7f.0x0.0x0.0x1",
        "１２７.0.0.1",
        "127%2e0.0.1",
        "①②⑦.0.0.1",
        "127。0。0。1",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[0:0:0:0:0:0:0:1]",
        "[::127.0.0.1]",
        "0",
        "0.0.0.0",
        "[::]",
        "10.0.0.1",
        "0xa9fea9fe",
        "2852039166",
        "169.254.169.254",
        "[fe80::1]",
        "[fd00:ec2::254]",
        "[64:ff9b::7f00:1]",
    ] {
        let refused = strict().vet(&format!("https://{host}/"));
        assert!(
            matches!(refused, Err(RefusedAddress::Network { .. })),
            "{host}: {refused:?}"
        );
    }
    for host in [
        "256.0.0.1",
        "1.2.3.4.5",
        "0x100000000",
        "[::1%25eth0]",
        "[::1",
        "127.0.0.1:99999",
        "",
        "exa mple.com",
        "a..b",
    ] {
        assert!(strict().vet(&format!("https://{host}/")).is_err(), "{host}");
    }
}

/// W10: names of the local machine or its network are refused.
#[test]
fn names_of_the_own_network_are_refused() {
    let all = "localhost LOCALHOST localhost. a.localhost intranet printer.local x.internal \
        router.home.arpa db.default.svc db.default.svc.cluster.local kubernetes x.localdomain \
        ｌocalhost";
    for host in all.split(' ') {
        assert!(
            matches!(
                strict().vet(&format!("https://{host}/")),
                Err(RefusedAddress::Name(_))
            ),
            "{host}"
        );
    }
    let all = "example.com notlocalhost.com not.thelocalhost notmetadata.goog local.example.com internal.example xn--bcher-kva.example \
        localhost.example.com";
    for host in all.split(' ') {
        assert!(strict().vet(&format!("https://{host}/")).is_ok(), "{host}");
    }
}

/// W10: only https on its default port, without credentials; options allow more, one by one.
#[test]
fn scheme_port_and_credentials_are_strict() {
    let vet = |policy: &AddressPolicy, url: &str| policy.vet(url).map(|_| ());
    for (url, expected) in [
        ("https://example.com/in?a=1#fragment", Ok(())),
        ("https://example.com:443/", Ok(())),
        ("HTTPS://EXAMPLE.com", Ok(())),
        ("http://example.com/", Err(RefusedAddress::Scheme)),
        ("https://example.com:8443/", Err(RefusedAddress::Port(8443))),
        ("https://example.com:22/", Err(RefusedAddress::Port(22))),
        ("https://user@example.com/", Err(RefusedAddress::Credentials)),
        ("https://:pass@example.com/", Err(RefusedAddress::Credentials)),
        ("https://example.com@10.0.0.1/", Err(RefusedAddress::Credentials)),
        ("ftp://example.com/", Err(RefusedAddress::Scheme)),
        ("file:///etc/passwd", Err(RefusedAddress::Scheme)),
        ("gopher://example.com:70/", Err(RefusedAddress::Scheme)),
        ("data:text/plain,x", Err(RefusedAddress::Scheme)),
        ("javascript:alert(1)", Err(RefusedAddress::Scheme)),
        ("//example.com/", Err(RefusedAddress::InvalidUrl)),
        ("/in", Err(RefusedAddress::InvalidUrl)),
        ("example.com", Err(RefusedAddress::InvalidUrl)),
        ("", Err(RefusedAddress::InvalidUrl)),
        ("https://", Err(RefusedAddress::InvalidUrl)),
    ] {
        assert_eq!(vet(&strict(), url), expected, "{url}");
    }
    assert_eq!(
        vet(&strict().with_port(8443), "https://example.com:8443/"),
        Ok(())
    );
    assert_eq!(vet(&strict().danger_allow_http(), "http://example.com/"), Ok(()));
    assert_eq!(
        vet(&strict().danger_allow_http(), "http://example.com:8080/"),
        Err(RefusedAddress::Port(8080))
    );
    assert_eq!(
        vet(&strict().danger_allow_http(), "https://example.com:80/"),
        Err(RefusedAddress::Port(80))
    );
    assert!(vet(&strict().danger_allow_http(), "http://10.0.0.1/").is_err());
    assert_eq!(
        vet(&strict().danger_allow_http(), "ftp://example.com:80/"),
        Err(RefusedAddress::Scheme)
    );
    let ports = strict().with_port(8443).with_port(9443);
    assert_eq!(vet(&ports, "https://example.com:8443/"), Ok(()));
    assert_eq!(vet(&ports, "https://example.com:9443/"), Ok(()));
    assert_eq!(
        vet(&ports, "https://example.com:7443/"),
        Err(RefusedAddress::Port(7443))
    );
    let of_length = |length: usize| format!("{:a<length$}", "https://example.com/");
    assert_eq!(vet(&strict(), &of_length(2048)), Ok(()));
    assert_eq!(vet(&strict(), &of_length(2049)), Err(RefusedAddress::InvalidUrl));
}

/// W10: the option for demos allows loopback and no other address.
#[test]
fn loopback_option_allows_only_loopback() {
    let demo = strict().danger_allow_loopback();
    for url in [
        "http://127.0.0.1:8081/hook",
        "http://localhost:8081/hook",
        "http://localhost.:8081/hook",
        "http://desk.localhost:8081/hook",
        "https://[::1]:9/",
        "http://[::ffff:127.0.0.1]:9/",
        "http://127.1:1/",
    ] {
        assert!(demo.vet(url).is_ok(), "{url}");
    }
    assert_eq!(demo.vet_resolved(&[ip("127.0.0.1"), ip("::1")]), Ok(()));
    for address in [
        "10.0.0.1",
        "169.254.169.254",
        "0.0.0.0",
        "::",
        "fe80::1",
        "2600::5efe:127.0.0.1",
    ] {
        assert!(demo.vet_ip(ip(address)).is_err(), "{address}");
        assert!(
            demo.vet_resolved(&[ip("127.0.0.1"), ip(address)]).is_err(),
            "{address}"
        );
    }
    for url in [
        "http://10.0.0.1:8081/",
        "http://169.254.169.254/",
        "http://example.com/",
        "https://example.com:8081/",
        "http://0.0.0.0:8081/",
        "http://[fe80::1]/",
        "https://intranet/",
        "http://notlocalhost:8081/",
        "ftp://localhost/",
        "http://user@localhost:8081/",
    ] {
        assert!(demo.vet(url).is_err(), "{url}");
    }
}

/// W10: one refused address among those of a name refuses the name, and so does an empty list.
#[test]
fn one_refused_address_refuses_the_name() {
    assert_eq!(strict().vet_resolved(&[]), Err(RefusedAddress::Unresolved));
    assert_eq!(
        strict().vet_resolved(&[ip("8.8.8.8"), ip("2606:4700::1111")]),
        Ok(())
    );
    for refused in ["10.0.0.1", "::1", "::ffff:127.0.0.1", "169.254.169.254"] {
        for place in 0..4 {
            let mut addresses = [ip("8.8.8.8"); 4];
            addresses[place] = ip(refused);
            assert!(strict().vet_resolved(&addresses).is_err(), "{refused} {place}");
        }
    }
}

/// W10: an accepted URL is normalized, without fragment, and names its host and port.
#[test]
fn target_names_host_and_port() {
    let target = strict().vet("HTTPS://Hooks.Example.COM/a/../in?x=1#y").unwrap();
    assert_eq!(target.as_str(), "https://hooks.example.com/in?x=1");
    assert_eq!(target.uri().to_string(), target.as_str());
    assert_eq!(target.to_string(), target.as_str());
    assert_eq!(
        (target.host(), target.port()),
        (&Host::Name("hooks.example.com".to_owned()), 443)
    );
    let literal = strict().vet("https://0x8080808/").unwrap();
    assert_eq!(literal.host(), &Host::Ip(ip("8.8.8.8")));
    assert_eq!(
        strict().vet("https://[2606:4700::1111]/").unwrap().host(),
        &Host::Ip(ip("2606:4700::1111"))
    );
}

proptest! {
    /// W10: an IPv4 address has the same result in plain and in IPv4-mapped form.
    #[test]
    fn a_mapped_address_is_judged_as_what_it_maps(bits: u32) {
        let address = Ipv4Addr::from_bits(bits);
        let plain = strict().vet_ip(address.into());
        prop_assert_eq!(&strict().vet_ip(address.to_ipv6_mapped().into()), &plain);
        let host = strict().vet(&format!("https://{bits}/"));
        prop_assert_eq!(host.map(|_| ()), plain);
    }

    /// W10: no address outside global unicast is accepted.
    #[test]
    fn nothing_outside_global_unicast_passes(bits: u128) {
        let address = Ipv6Addr::from_bits(bits);
        if bits >> 125 != 1 && address.to_ipv4_mapped().is_none() {
            prop_assert!(strict().vet_ip(address.into()).is_err());
        }
    }

    /// W10: no text causes a panic, and an accepted text is an https URL that is accepted again.
    #[test]
    fn no_text_makes_the_rules_panic(text in prop_oneof![any::<String>(), "(https?://)?[a-z0-9.:@\\[\\]/%#?_-]{0,40}"]) {
        if let Ok(target) = strict().vet(&text) {
            prop_assert_eq!(target.uri().scheme_str(), Some("https"));
            prop_assert_eq!(strict().vet(target.as_str()).unwrap(), target);
        }
    }
}
