//! Special-purpose address registries as data.
//!
//! - IPv4: the [IANA IPv4 registry](https://www.iana.org/assignments/iana-ipv4-special-registry),
//!   multicast and reserved space.
//! - IPv6: all addresses outside global unicast, `2000::/3`, and the blocks inside it that the
//!   [IANA IPv6 registry](https://www.iana.org/assignments/iana-ipv6-special-registry) reserves.
//!
//! Blocks that the registry lists as globally reachable, such as AS112 and anycast relays, are
//! refused too, because no receivers are in them.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::{IpNet, Ipv4Net, Ipv6Net};

/// Purpose of a special address; `None` for an ordinary address. Checks metadata services first,
/// because their purpose is more precise than that of the block around them.
pub(super) fn purpose(address: IpAddr) -> Option<&'static str> {
    if is_metadata(address) {
        return Some("metadata or platform service of a cloud");
    }
    let listed = SPECIAL
        .iter()
        .find(|(block, _)| block.contains(&address))
        .map(|(_, purpose)| *purpose);
    listed.or(match address {
        IpAddr::V6(address) if !GLOBAL_UNICAST.contains(&address) => Some("not global unicast"),
        _ => None,
    })
}

/// Returns `true` for an address of a cloud's metadata or platform service.
pub(super) fn is_metadata(address: IpAddr) -> bool {
    METADATA.contains(&address)
}

/// IPv4 address inside an ISATAP address, [RFC 5214
/// §6.1](https://www.rfc-editor.org/rfc/rfc5214#section-6.1).
pub(super) fn isatap(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let [.., 0x0000 | 0x0200, 0x5efe, high, low] = address.segments() else {
        return None;
    };
    Some(Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low)))
}

const fn v4(a: u8, b: u8, c: u8, d: u8, length: u8) -> IpNet {
    IpNet::V4(Ipv4Net::new_assert(Ipv4Addr::new(a, b, c, d), length))
}

const fn v6(segments: [u16; 8], length: u8) -> IpNet {
    IpNet::V6(Ipv6Net::new_assert(ip6(segments), length))
}

const fn ip4(a: u8, b: u8, c: u8, d: u8) -> IpAddr {
    IpAddr::V4(Ipv4Addr::new(a, b, c, d))
}

const fn ip6([a, b, c, d, e, f, g, h]: [u16; 8]) -> Ipv6Addr {
    Ipv6Addr::new(a, b, c, d, e, f, g, h)
}

const GLOBAL_UNICAST: Ipv6Net = Ipv6Net::new_assert(ip6([0x2000, 0, 0, 0, 0, 0, 0, 0]), 3);

const METADATA: &[IpAddr] = &[
    ip4(169, 254, 169, 254),                                       // most clouds
    ip4(169, 254, 170, 2),                                         // AWS, credentials of a task
    ip4(169, 254, 170, 23),                                        // AWS, identity of a pod
    ip4(169, 254, 169, 253),                                       // AWS, resolver
    ip4(169, 254, 169, 123),                                       // AWS, time
    ip4(169, 254, 0, 23),                                          // Tencent
    ip4(100, 100, 100, 200),                                       // Alibaba
    ip4(192, 0, 0, 192),                                           // Oracle
    ip4(168, 63, 129, 16),                                         // Azure, in public address space
    IpAddr::V6(ip6([0xfd00, 0x0ec2, 0, 0, 0, 0, 0, 0x0254])),      // AWS
    IpAddr::V6(ip6([0xfd20, 0x00ce, 0, 0, 0, 0, 0, 0x0254])),      // Google
    IpAddr::V6(ip6([0xfd00, 0x00c1, 0, 0, 0, 0, 0xa9fe, 0xa9fe])), // Oracle
];

/// Narrower blocks precede the wider blocks around them, so that the first match is the most
/// precise.
const SPECIAL: &[(IpNet, &str)] = &[
    (v4(0, 0, 0, 0, 8), "this network"),
    (v4(10, 0, 0, 0, 8), "private use"),
    (v4(100, 64, 0, 0, 10), "shared address space"),
    (v4(127, 0, 0, 0, 8), "loopback"),
    (v4(169, 254, 0, 0, 16), "link-local"),
    (v4(172, 16, 0, 0, 12), "private use"),
    (v4(192, 0, 0, 0, 24), "protocol assignments"),
    (v4(192, 0, 2, 0, 24), "documentation"),
    (v4(192, 31, 196, 0, 24), "AS112"),
    (v4(192, 52, 193, 0, 24), "automatic multicast tunnelling"),
    (v4(192, 88, 99, 0, 24), "6to4 relay anycast"),
    (v4(192, 168, 0, 0, 16), "private use"),
    (v4(192, 175, 48, 0, 24), "AS112"),
    (v4(198, 18, 0, 0, 15), "benchmarking"),
    (v4(198, 51, 100, 0, 24), "documentation"),
    (v4(203, 0, 113, 0, 24), "documentation"),
    (v4(224, 0, 0, 0, 4), "multicast"),
    (v4(255, 255, 255, 255, 32), "limited broadcast"),
    (v4(240, 0, 0, 0, 4), "reserved"),
    (v6([0, 0, 0, 0, 0, 0, 0, 0], 128), "unspecified"),
    (v6([0, 0, 0, 0, 0, 0, 0, 1], 128), "loopback"),
    (v6([0, 0, 0, 0, 0, 0, 0, 0], 96), "IPv4-compatible"),
    (v6([0x0064, 0xff9b, 0, 0, 0, 0, 0, 0], 96), "IPv4 translation"),
    (
        v6([0x0064, 0xff9b, 1, 0, 0, 0, 0, 0], 48),
        "local IPv4 translation",
    ),
    (v6([0x0100, 0, 0, 0, 0, 0, 0, 0], 64), "discard only"),
    (v6([0x0100, 0, 0, 1, 0, 0, 0, 0], 64), "dummy prefix"),
    (v6([0x2001, 0, 0, 0, 0, 0, 0, 0], 32), "Teredo"),
    (v6([0x2001, 2, 0, 0, 0, 0, 0, 0], 48), "benchmarking"),
    (
        v6([0x2001, 3, 0, 0, 0, 0, 0, 0], 32),
        "automatic multicast tunnelling",
    ),
    (v6([0x2001, 4, 0x0112, 0, 0, 0, 0, 0], 48), "AS112"),
    (v6([0x2001, 0x0010, 0, 0, 0, 0, 0, 0], 28), "ORCHID"),
    (v6([0x2001, 0x0020, 0, 0, 0, 0, 0, 0], 28), "ORCHIDv2"),
    (
        v6([0x2001, 0x0030, 0, 0, 0, 0, 0, 0], 28),
        "drone remote identification",
    ),
    (v6([0x2001, 0, 0, 0, 0, 0, 0, 0], 23), "protocol assignments"),
    (v6([0x2001, 0x0db8, 0, 0, 0, 0, 0, 0], 32), "documentation"),
    (v6([0x2002, 0, 0, 0, 0, 0, 0, 0], 16), "6to4"),
    (v6([0x2620, 0x004f, 0x8000, 0, 0, 0, 0, 0], 48), "AS112"),
    (v6([0x3fff, 0, 0, 0, 0, 0, 0, 0], 20), "documentation"),
    (v6([0x5f00, 0, 0, 0, 0, 0, 0, 0], 16), "segment routing"),
    (v6([0xfc00, 0, 0, 0, 0, 0, 0, 0], 7), "unique local"),
    (v6([0xfe80, 0, 0, 0, 0, 0, 0, 0], 10), "link-local"),
    (v6([0xfec0, 0, 0, 0, 0, 0, 0, 0], 10), "site-local"),
    (v6([0xff00, 0, 0, 0, 0, 0, 0, 0], 8), "multicast"),
];
