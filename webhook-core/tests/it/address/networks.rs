//! W10: private networks that a host allows by name.

use webhook_core::address::{AddressPolicy, InvalidNetwork, Network, RefusedAddress};

use super::ip;

fn allowing(networks: &[&str]) -> AddressPolicy {
    networks.iter().fold(AddressPolicy::new(), |policy, network| {
        policy.danger_allow_network(network.parse().unwrap())
    })
}

/// W10: an allowed network opens its own addresses, in every notation, and no neighbour.
#[test]
fn allowed_network_opens_its_own_addresses() {
    let policy = allowing(&["10.20.0.0/16", "fd12:3456::/32"]);
    for address in ["10.20.0.0", "10.20.255.255", "::ffff:10.20.0.7", "fd12:3456::1"] {
        assert_eq!(policy.vet_ip(ip(address)), Ok(()), "{address}");
    }
    for address in [
        "10.19.255.255",
        "10.21.0.0",
        "192.168.0.1",
        "127.0.0.1",
        "169.254.1.1",
        "fd12:3457::1",
        "fe80::1",
        "::1",
        // tunnels that contain the address
        "2002:0a14:0007::1",
        "64:ff9b::0a14:7",
    ] {
        assert!(policy.vet_ip(ip(address)).is_err(), "{address}");
    }
    for url in [
        "https://10.20.0.7/",
        "https://0xa140007/",
        "https://hooks.corp.internal/",
    ] {
        assert!(policy.vet(url).is_ok(), "{url}");
        assert!(AddressPolicy::new().vet(url).is_err(), "{url}");
    }
    let mixed = [ip("10.20.0.7"), ip("203.0.114.7")];
    assert_eq!(policy.vet_resolved(&mixed), Ok(()));
    assert!(policy.vet_resolved(&[ip("10.20.0.7"), ip("10.21.0.7")]).is_err());
}

/// W10: scheme and port are still checked, and a declared NAT64 prefix is decoded first.
#[test]
fn allowed_network_opens_no_scheme_and_no_port() {
    let policy = allowing(&["10.20.0.0/16"]);
    assert_eq!(policy.vet("http://10.20.0.7/"), Err(RefusedAddress::Scheme));
    assert_eq!(
        policy.vet("https://10.20.0.7:8443/"),
        Err(RefusedAddress::Port(8443))
    );
    let translated = policy.with_nat64_prefix("64:ff9b::".parse().unwrap());
    assert_eq!(translated.vet_ip(ip("64:ff9b::0a14:7")), Ok(()));
    assert!(translated.vet_ip(ip("64:ff9b::0a15:7")).is_err());
}

/// W10: no allowed network opens a metadata service, this machine, or their names.
#[test]
fn allowed_networks_never_open_metadata_or_loopback() {
    let policy = allowing(&[
        "10.0.0.0/8",
        "172.16.0.0/12",
        "192.168.0.0/16",
        "100.64.0.0/10",
        "fc00::/7",
    ]);
    for address in [
        "169.254.169.254",
        "100.100.100.200",
        "168.63.129.16",
        "192.0.0.192",
        "fd00:ec2::254",
        "fd20:ce::254",
        "fd00:c1::a9fe:a9fe",
        "127.0.0.1",
        "::1",
        "0.0.0.0",
        "255.255.255.255",
        // an ISATAP address in an allowed network still names its IPv4 address
        "fd00::5efe:127.0.0.1",
    ] {
        assert!(policy.vet_ip(ip(address)).is_err(), "{address}");
    }
    for name in [
        "localhost",
        "a.localhost",
        "metadata.google.internal",
        "instance-data.ec2.internal",
        "a..internal",
    ] {
        let refused = policy.vet(&format!("https://{name}/"));
        assert!(
            matches!(refused, Err(RefusedAddress::Name(_))),
            "{name}: {refused:?}"
        );
    }
}

/// W10: only networks inside the private blocks can be allowed.
#[test]
fn networks_outside_the_private_blocks_are_refused() {
    for (text, reason) in [
        ("", InvalidNetwork::NotCidr),
        ("10.20.0.0", InvalidNetwork::NotCidr),
        ("10.20.0.0/33", InvalidNetwork::NotCidr),
        ("10.20.0.7/16", InvalidNetwork::HostBits),
        ("0.0.0.0/0", InvalidNetwork::NotPrivate),
        ("8.0.0.0/6", InvalidNetwork::NotPrivate),
        ("10.0.0.0/7", InvalidNetwork::NotPrivate),
        ("127.0.0.0/8", InvalidNetwork::NotPrivate),
        ("169.254.169.254/32", InvalidNetwork::NotPrivate),
        ("203.0.114.0/24", InvalidNetwork::NotPrivate),
        ("::/0", InvalidNetwork::NotPrivate),
        ("fe80::/10", InvalidNetwork::NotPrivate),
        ("::ffff:10.0.0.0/104", InvalidNetwork::NotPrivate),
    ] {
        assert_eq!(text.parse::<Network>(), Err(reason), "{text}");
    }
    for text in [
        "10.0.0.0/8",
        "192.168.7.0/24",
        "172.31.0.1/32",
        "100.64.0.0/10",
        "fd00::/8",
    ] {
        assert_eq!(
            text.parse::<Network>().map(|network| network.to_string()),
            Ok(text.to_owned())
        );
    }
}
