//! Address policy against server-side request forgery (SSRF): decides to which URLs and addresses a
//! host may send requests.
//!
//! A party that registers a webhook receiver, or writes a URL into an event, chooses the target of
//! a request. The policy refuses targets in the host's own network: private, link-local and all
//! other special-purpose ranges of the IANA registries, cloud metadata services, and their names.
//! The policy does no I/O. The [`Transport`](crate::Transport) resolves names and connects:
//!
//! 1. Check the URL with [`AddressPolicy::vet`], for each attempt and for each redirect.
//! 2. Resolve the [host](Target::host) to **all** of its addresses.
//! 3. Check the addresses with [`AddressPolicy::vet_resolved`], and connect to one of exactly
//!    these. Do not resolve the name again.
//!
//! ```
//! use host_ports::address::{AddressPolicy, RefusedAddress};
//!
//! let policy = AddressPolicy::new();
//! assert!(policy.vet("https://hooks.example.com/in").is_ok());
//! assert!(matches!(
//!     policy.vet("https://2130706433/"),
//!     Err(RefusedAddress::Network { .. })
//! )); // 127.0.0.1
//! assert!(matches!(
//!     policy.vet("https://metadata.google.internal/"),
//!     Err(RefusedAddress::Name(_))
//! ));
//! assert!(
//!     policy
//!         .vet_resolved(&["203.0.114.7".parse()?, "10.0.0.7".parse()?])
//!         .is_err()
//! ); // one of them is private
//! # Ok::<(), std::net::AddrParseError>(())
//! ```

mod hops;
mod names;
mod network;
mod policy;
mod special;
mod target;

pub use hops::{Hops, RefusedHop};
pub use network::{InvalidNetwork, Network};
pub use policy::AddressPolicy;
pub use target::{Host, Target};

use std::net::IpAddr;

/// Reason to refuse a URL or an address.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RefusedAddress {
    /// The text is not an absolute URL with a host, or is longer than 2,048 bytes.
    #[error("not an absolute URL with a host")]
    InvalidUrl,
    /// The scheme is neither `https` nor allowed by the policy.
    #[error("the scheme of the URL is refused")]
    Scheme,
    /// The URL contains a user name or a password.
    #[error("the URL carries credentials")]
    Credentials,
    /// The port is neither that of the scheme nor allowed by the policy.
    #[error("port {0} is refused")]
    Port(u16),
    /// The name refers to this host or to its network. The value is the kind of name.
    #[error("the host is refused: {0}")]
    Name(&'static str),
    /// The address is in a special-purpose block.
    #[error("the address {address} is refused: {block}")]
    Network {
        /// The address. For an IPv4-mapped address, or one under the NAT64 prefix of the policy,
        /// the IPv4 address inside it.
        address: IpAddr,
        /// Purpose of the block.
        block: &'static str,
    },
    /// The name resolved to no address.
    #[error("the host has no address")]
    Unresolved,
}
