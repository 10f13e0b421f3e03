//! Network of a client address.

use std::net::{IpAddr, Ipv6Addr};

/// Truncates an address to the network of one client: an IPv4 address, or the /64 of an IPv6
/// address.
///
/// An internet subscriber has at least a whole /64, so a limit per single IPv6 address has no
/// effect. An IPv4-mapped IPv6 address is converted to IPv4.
///
/// # Security
///
/// Pass the address of the connection, or one that a trusted proxy reports. A client can send any
/// `X-Forwarded-For`.
///
/// ```
/// use http_conventions::limits::client_network;
///
/// assert_eq!(client_network("203.0.113.7".parse()?).to_string(), "203.0.113.7");
/// assert_eq!(client_network("2001:db8:1:2:3:4:5:6".parse()?).to_string(), "2001:db8:1:2::");
/// assert_eq!(client_network("::ffff:203.0.113.7".parse()?).to_string(), "203.0.113.7");
/// # Ok::<(), std::net::AddrParseError>(())
/// ```
#[must_use]
pub fn client_network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            IpAddr::V6(Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0))
        }
        v4 @ IpAddr::V4(_) => v4,
    }
}
