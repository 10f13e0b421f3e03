//! Address of a client behind proxies: `X-Forwarded-For` and `Forwarded` ([RFC
//! 7239](https://www.rfc-editor.org/rfc/rfc7239)).
//!
//! Any client can send these headers. The header is read only if the peer is a listed proxy, from
//! the last element back to the first address that is not listed.
//!
//! ```
//! use http::HeaderMap;
//! use http_conventions::forwarding::TrustedProxies;
//!
//! let proxies = TrustedProxies::new().with_network("10.0.0.0/8")?;
//! let mut headers = HeaderMap::new();
//! // the client claims to be 192.0.2.1; the proxy appended its real address
//! headers.insert("x-forwarded-for", "192.0.2.1, 203.0.113.7".parse()?);
//!
//! let client = proxies.client_address("10.1.2.3".parse()?, &headers);
//! assert_eq!(client.to_string(), "203.0.113.7");
//! // the header of an unlisted peer is ignored
//! let client = proxies.client_address("198.51.100.9".parse()?, &headers);
//! assert_eq!(client.to_string(), "198.51.100.9");
//! # Ok::<_, Box<dyn std::error::Error>>(())
//! ```

mod element;
mod network;

use std::net::IpAddr;

use http::HeaderMap;

pub use network::InvalidNetwork;
use network::Network;

/// Largest number of elements that are read.
const MAX_HOPS: usize = 32;

/// Header in which the proxies report addresses.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum ForwardingHeader {
    /// `X-Forwarded-For`: addresses separated by commas, each with or without a port.
    #[default]
    XForwardedFor,
    /// `Forwarded`, [RFC 7239 §4](https://www.rfc-editor.org/rfc/rfc7239#section-4): the parameter
    /// `for` of each element.
    Forwarded,
}

impl ForwardingHeader {
    const fn name(self) -> &'static str {
        match self {
            Self::XForwardedFor => "x-forwarded-for",
            Self::Forwarded => "forwarded",
        }
    }
}

/// Proxies in front of the server, whose forwarding header is believed. By default there is none,
/// and the client is the peer of the connection.
///
/// # Security
///
/// - Every proxy of the list must set the header, or append the address of its peer to it. A proxy
///   that passes the header unchanged lets each client choose its address.
/// - Only one header is read, because a proxy that writes one of the two passes the other one
///   unchanged.
/// - List the addresses of the proxies, not the networks of clients: an address of the list is
///   skipped wherever it stands.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
#[must_use]
pub struct TrustedProxies {
    networks: Vec<Network>,
    header: ForwardingHeader,
}

impl TrustedProxies {
    /// Creates an empty list.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an address, such as `10.0.0.1`, or a network, such as `10.0.0.0/8` or `fd00::/8`. Bits
    /// after the prefix are ignored. IPv4-mapped IPv6 addresses stand for IPv4 addresses.
    ///
    /// # Errors
    ///
    /// [`InvalidNetwork`] when the text is neither.
    pub fn with_network(mut self, network: &str) -> Result<Self, InvalidNetwork> {
        self.networks.push(network.parse()?);
        Ok(self)
    }

    /// Sets the header that the proxies write. Default: `X-Forwarded-For`.
    pub const fn with_header(mut self, header: ForwardingHeader) -> Self {
        self.header = header;
        self
    }

    /// Returns the address of the client of a request that `peer` sent.
    ///
    /// - If `peer` is not listed, the client is `peer`.
    /// - Otherwise the elements of the header are read from the last to the first, over all lines.
    ///   The client is the first address that is not listed, or the leftmost address if all are.
    /// - An element that names no address (malformed, `unknown`, an obfuscated identifier) ends the
    ///   search: the client is the hop that reported it.
    /// - At most 32 elements are read. If all 32 are listed, the client is the 32nd from the end.
    ///
    /// A quoted string without an end hides the elements of its `Forwarded` line, also those that
    /// proxies appended, so that a client can hide behind the proxy. `X-Forwarded-For` has no
    /// quoted strings.
    ///
    /// IPv4-mapped IPv6 addresses are returned as IPv4 addresses.
    #[must_use]
    pub fn client_address(&self, peer: IpAddr, headers: &HeaderMap) -> IpAddr {
        let mut client = peer.to_canonical();
        if !self.contains(client) {
            return client;
        }
        let mut hops = 0;
        for line in headers.get_all(self.header.name()).iter().rev() {
            let Some(elements) = element::split(self.header, line) else {
                return client;
            };
            for text in elements.into_iter().rev() {
                hops += 1;
                let address = element::address(self.header, text).map(|address| address.to_canonical());
                let Some(address) = address.filter(|_| hops <= MAX_HOPS) else {
                    return client;
                };
                client = address;
                if !self.contains(client) {
                    return client;
                }
            }
        }
        client
    }

    /// Returns `true` if the address is listed.
    #[must_use]
    pub fn contains(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        self.networks.iter().any(|network| network.contains(address))
    }
}

#[cfg(test)]
mod tests;
