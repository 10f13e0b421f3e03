//! What of an address tells one client from another.

use std::net::{IpAddr, Ipv6Addr};

/// The network of a client: its IPv4 address, or the /64 of its IPv6 address.
///
/// A subscriber has a whole /64 at least: counting single IPv6 addresses counts nothing. An IPv4 address that is written as IPv6
/// is the IPv4 address.
///
/// # Security
///
/// Give it the address of the connection, or one that a proxy of your own vouches for; `X-Forwarded-For` as it came in is
/// whatever the client wrote.
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
