//! Which addresses a webhook may go to, and which URL of a payload may be fetched.
//!
//! Whoever registers a receiver, or writes a URL into an event, chooses where this host sends a request. These rules keep it
//! out of the host's own network: private, link-local and every other special-purpose range of the IANA registries, the
//! metadata services of clouds, and names that stand for them. They are pure: resolving names and connecting is the
//! [`Transport`](crate::Transport)'s work, in this order:
//!
//! 1. [`AddressPolicy::vet`] the URL, for each attempt and for each hop of a redirect;
//! 2. resolve the [host](Target::host) to **all** of its addresses;
//! 3. [`AddressPolicy::vet_resolved`] them, and connect to one of exactly these, whatever the name resolves to later.
//!
//! ```
//! use host_ports::address::{AddressPolicy, RefusedAddress};
//!
//! let policy = AddressPolicy::new();
//! assert!(policy.vet("https://hooks.example.com/in").is_ok());
//! assert!(matches!(policy.vet("https://2130706433/"), Err(RefusedAddress::Network { .. }))); // 127.0.0.1
//! assert!(matches!(policy.vet("https://metadata.google.internal/"), Err(RefusedAddress::Name(_))));
//! assert!(policy.vet_resolved(&["203.0.114.7".parse()?, "10.0.0.7".parse()?]).is_err()); // one of them is private
//! # Ok::<(), std::net::AddrParseError>(())
//! ```

mod hops;
mod names;
mod policy;
mod special;
mod target;

pub use hops::{Hops, RefusedHop};
pub use policy::AddressPolicy;
pub use target::{Host, Target};

use std::net::IpAddr;

/// Why a URL or an address is refused.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RefusedAddress {
    /// Not an absolute URL with a host, or too long.
    #[error("not an absolute URL with a host")]
    InvalidUrl,
    /// Neither `https` nor a scheme that the policy opens.
    #[error("the scheme of the URL is refused")]
    Scheme,
    /// The URL carries a user name or a password.
    #[error("the URL carries credentials")]
    Credentials,
    /// Not the port of the scheme nor one that the policy opens.
    #[error("port {0} is refused")]
    Port(u16),
    /// A name of this host or of its network, by the kind given.
    #[error("the host is refused: {0}")]
    Name(&'static str),
    /// An address in a special-purpose block.
    #[error("the address {address} is refused: {block}")]
    Network {
        /// The address, after decoding an IPv4 address inside.
        address: IpAddr,
        /// What the block is for.
        block: &'static str,
    },
    /// The name has no address.
    #[error("the host has no address")]
    Unresolved,
}
