//! Private networks that a policy can allow.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

use ipnet::{IpNet, Ipv4Net, Ipv6Net};

/// Blocks of private addresses.
const PRIVATE: [IpNet; 5] = [
    IpNet::V4(Ipv4Net::new_assert(Ipv4Addr::new(10, 0, 0, 0), 8)),
    IpNet::V4(Ipv4Net::new_assert(Ipv4Addr::new(172, 16, 0, 0), 12)),
    IpNet::V4(Ipv4Net::new_assert(Ipv4Addr::new(192, 168, 0, 0), 16)),
    IpNet::V4(Ipv4Net::new_assert(Ipv4Addr::new(100, 64, 0, 0), 10)),
    IpNet::V6(Ipv6Net::new_assert(Ipv6Addr::new(0xfc00, 0, 0, 0, 0, 0, 0, 0), 7)),
];

/// A private network in CIDR notation, such as `10.20.0.0/16`, for
/// [`AddressPolicy::danger_allow_network`](super::AddressPolicy::danger_allow_network).
///
/// The network must lie within one of these blocks:
///
/// - `10.0.0.0/8`, `172.16.0.0/12` and `192.168.0.0/16`
///   ([RFC 1918](https://www.rfc-editor.org/rfc/rfc1918))
/// - `100.64.0.0/10` ([RFC 6598](https://www.rfc-editor.org/rfc/rfc6598))
/// - `fc00::/7` ([RFC 4193](https://www.rfc-editor.org/rfc/rfc4193))
///
/// # Examples
///
/// ```
/// use host_ports::address::{AddressPolicy, Network};
///
/// let network: Network = "10.20.0.0/16".parse()?;
/// let policy = AddressPolicy::new().danger_allow_network(network);
/// assert!(policy.vet("https://10.20.0.7/in").is_ok());
/// assert!(policy.vet("https://10.21.0.7/in").is_err());
/// assert!("169.254.0.0/16".parse::<Network>().is_err()); // metadata services
/// # Ok::<(), host_ports::address::InvalidNetwork>(())
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Network(IpNet);

impl Network {
    pub(super) fn contains(self, address: IpAddr) -> bool {
        self.0.contains(&address)
    }
}

impl FromStr for Network {
    type Err = InvalidNetwork;

    fn from_str(text: &str) -> Result<Self, InvalidNetwork> {
        let network: IpNet = text.parse().map_err(|_| InvalidNetwork::NotCidr)?;
        if network.trunc() != network {
            return Err(InvalidNetwork::HostBits);
        }
        if !PRIVATE.iter().any(|block| block.contains(&network)) {
            return Err(InvalidNetwork::NotPrivate);
        }
        Ok(Self(network))
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Error for a text that is not a private network.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidNetwork {
    /// The text is not an address, a slash and the length of a prefix.
    #[error("not a network in CIDR notation, for example 10.20.0.0/16")]
    NotCidr,
    /// The address has bits after the prefix, for example `10.20.0.7/16`.
    #[error("the address has bits after the prefix")]
    HostBits,
    /// The network is not within a block of private addresses.
    #[error("not within 10.0.0.0/8, 172.16.0.0/12, 192.168.0.0/16, 100.64.0.0/10 or fc00::/7")]
    NotPrivate,
}
