//! Special-purpose blocks, written independently: first address, last address, name.
//!
//! For nested blocks, an end is the first address that belongs to no narrower block.

pub(super) const ALL: &[(&str, &str, &str)] = &[
    ("0.0.0.0", "0.255.255.255", "this network"),
    ("10.0.0.0", "10.255.255.255", "private use"),
    ("100.64.0.0", "100.127.255.255", "shared address space"),
    ("127.0.0.0", "127.255.255.255", "loopback"),
    ("169.254.0.0", "169.254.255.255", "link-local"),
    ("172.16.0.0", "172.31.255.255", "private use"),
    ("192.0.0.0", "192.0.0.255", "protocol assignments"),
    ("192.0.2.0", "192.0.2.255", "documentation"),
    ("192.31.196.0", "192.31.196.255", "AS112"),
    ("192.52.193.0", "192.52.193.255", "automatic multicast tunnelling"),
    ("192.88.99.0", "192.88.99.255", "6to4 relay anycast"),
    ("192.168.0.0", "192.168.255.255", "private use"),
    ("192.175.48.0", "192.175.48.255", "AS112"),
    ("198.18.0.0", "198.19.255.255", "benchmarking"),
    ("198.51.100.0", "198.51.100.255", "documentation"),
    ("203.0.113.0", "203.0.113.255", "documentation"),
    ("224.0.0.0", "239.255.255.255", "multicast"),
    ("240.0.0.0", "255.255.255.254", "reserved"),
    ("255.255.255.255", "255.255.255.255", "limited broadcast"),
    ("168.63.129.16", "168.63.129.16", METADATA),
    ("::", "::", "unspecified"),
    ("::1", "::1", "loopback"),
    ("::2", "::ffff:ffff", "IPv4-compatible"),
    ("64:ff9b::", "64:ff9b::ffff:ffff", "IPv4 translation"),
    (
        "64:ff9b:1::",
        "64:ff9b:1:ffff:ffff:ffff:ffff:ffff",
        "local IPv4 translation",
    ),
    ("100::", "100::ffff:ffff:ffff:ffff", "discard only"),
    ("100:0:0:1::", "100::1:ffff:ffff:ffff:ffff", "dummy prefix"),
    (
        "100:0:0:2::",
        "1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
        "not global unicast",
    ),
    ("2001::", "2001:0:ffff:ffff:ffff:ffff:ffff:ffff", "Teredo"),
    (
        "2001:1::",
        "2001:1:ffff:ffff:ffff:ffff:ffff:ffff",
        "protocol assignments",
    ),
    ("2001:2::", "2001:2:0:ffff:ffff:ffff:ffff:ffff", "benchmarking"),
    (
        "2001:3::",
        "2001:3:ffff:ffff:ffff:ffff:ffff:ffff",
        "automatic multicast tunnelling",
    ),
    ("2001:4:112::", "2001:4:112:ffff:ffff:ffff:ffff:ffff", "AS112"),
    ("2001:10::", "2001:1f:ffff:ffff:ffff:ffff:ffff:ffff", "ORCHID"),
    ("2001:20::", "2001:2f:ffff:ffff:ffff:ffff:ffff:ffff", "ORCHIDv2"),
    (
        "2001:30::",
        "2001:3f:ffff:ffff:ffff:ffff:ffff:ffff",
        "drone remote identification",
    ),
    (
        "2001:40::",
        "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff",
        "protocol assignments",
    ),
    (
        "2001:db8::",
        "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff",
        "documentation",
    ),
    ("2002::", "2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "6to4"),
    ("2620:4f:8000::", "2620:4f:8000:ffff:ffff:ffff:ffff:ffff", "AS112"),
    (
        "3fff::",
        "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff",
        "documentation",
    ),
    (
        "4000::",
        "5eff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
        "not global unicast",
    ),
    (
        "5f00::",
        "5f00:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
        "segment routing",
    ),
    (
        "5f01::",
        "fbff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
        "not global unicast",
    ),
    (
        "fc00::",
        "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
        "unique local",
    ),
    (
        "fe00::",
        "fe7f:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
        "not global unicast",
    ),
    ("fe80::", "febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "link-local"),
    ("fec0::", "feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "site-local"),
    ("ff00::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "multicast"),
];

const METADATA: &str = "metadata or platform service of a cloud";
