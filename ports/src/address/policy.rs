//! The address policy and its exceptions.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use url::Url;

use super::{Host, Network, RefusedAddress, Target, names, special};

const MAX_URL_LENGTH: usize = 2048;
const HTTPS_PORT: u16 = 443;
const HTTP_PORT: u16 = 80;

/// Decides which URLs and addresses a host may send requests to. The default is strict.
///
/// The strict policy allows `https` on port 443 to public names and addresses, without credentials
/// in the URL. An IPv4 address inside an IPv6 address is checked as an IPv4 address.
#[derive(Clone, Debug, Default)]
pub struct AddressPolicy {
    ports: Vec<u16>,
    networks: Vec<Network>,
    nat64: Option<Ipv6Addr>,
    http: bool,
    loopback: bool,
}

impl AddressPolicy {
    /// Creates the strict policy.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Allows an additional port.
    #[must_use]
    pub fn with_port(mut self, port: u16) -> Self {
        self.ports.push(port);
        self
    }

    /// Declares a NAT64 translator of this network with a /96 prefix, such as `64:ff9b::`.
    ///
    /// Addresses under the prefix are checked as the IPv4 address in their last 32 bits. By default
    /// the policy refuses them.
    #[must_use]
    pub fn with_nat64_prefix(mut self, prefix: Ipv6Addr) -> Self {
        self.nat64 = Some(prefix);
        self
    }

    /// Allows plain `http` on port 80.
    ///
    /// # Security
    ///
    /// Third parties on the network can read and change requests and responses. The signature of a
    /// webhook detects changes, but does not hide the content.
    #[must_use]
    pub fn danger_allow_http(mut self) -> Self {
        self.http = true;
        self
    }

    /// Allows the loopback addresses of this machine, `127.0.0.0/8`, `::1` and `localhost`, by
    /// plain `http` and on any port. For demos and tests.
    ///
    /// # Security
    ///
    /// A party that chooses a URL can then reach every service of this machine that trusts local
    /// callers.
    #[must_use]
    pub fn danger_allow_loopback(mut self) -> Self {
        self.loopback = true;
        self
    }

    /// Allows the addresses of a private network, and the names of local networks, such as
    /// `hooks.corp.internal`. [`vet_resolved`](Self::vet_resolved) checks the addresses of a name.
    ///
    /// Metadata services of clouds stay refused, even if the network contains their addresses. The
    /// rules for the scheme and the port still apply.
    ///
    /// # Security
    ///
    /// A party that chooses a URL can then reach every service of that network on the allowed
    /// ports.
    #[must_use]
    pub fn danger_allow_network(mut self, network: Network) -> Self {
        self.networks.push(network);
        self
    }

    /// Checks and normalizes a URL: `https://0x7f.1/` is `127.0.0.1` and therefore refused.
    ///
    /// # Errors
    ///
    /// [`RefusedAddress`] for the first rule that the URL breaks.
    pub fn vet(&self, url: &str) -> Result<Target, RefusedAddress> {
        if url.len() > MAX_URL_LENGTH {
            return Err(RefusedAddress::InvalidUrl);
        }
        let mut url = Url::parse(url).map_err(|_| RefusedAddress::InvalidUrl)?;
        url.set_fragment(None);
        if !matches!(url.scheme(), "http" | "https") {
            return Err(RefusedAddress::Scheme);
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(RefusedAddress::Credentials);
        }
        let host = host(&url).ok_or(RefusedAddress::InvalidUrl)?;
        let port = url.port_or_known_default().ok_or(RefusedAddress::InvalidUrl)?;
        self.vet_host(&host)?;
        if !self.is_opened_loopback(&host) {
            self.vet_scheme_and_port(&url, port)?;
        }
        let uri = url.as_str().parse().map_err(|_| RefusedAddress::InvalidUrl)?;
        Ok(Target::new(uri, url.into(), host, port))
    }

    /// Checks one address.
    ///
    /// # Errors
    ///
    /// [`RefusedAddress::Network`] if the address, or an IPv4 address inside it, belongs to a
    /// special-purpose block.
    pub fn vet_ip(&self, address: IpAddr) -> Result<(), RefusedAddress> {
        let address = self.decoded(address);
        if self.loopback && address.is_loopback() {
            return Ok(());
        }
        let embedded = match address {
            IpAddr::V6(address) => special::isatap(address).map(IpAddr::V4),
            IpAddr::V4(_) => None,
        };
        let own = special::purpose(address).filter(|_| !self.allows(address));
        match own.or_else(|| embedded.and_then(special::purpose)) {
            Some(block) => Err(RefusedAddress::Network { address, block }),
            None => Ok(()),
        }
    }

    /// Checks all addresses that a name resolved to.
    ///
    /// One refused address refuses the name: a mix of public and private addresses indicates DNS
    /// rebinding.
    ///
    /// # Errors
    ///
    /// - [`RefusedAddress::Unresolved`] if there is no address.
    /// - The error of the first refused address.
    pub fn vet_resolved(&self, addresses: &[IpAddr]) -> Result<(), RefusedAddress> {
        if addresses.is_empty() {
            return Err(RefusedAddress::Unresolved);
        }
        addresses.iter().try_for_each(|address| self.vet_ip(*address))
    }

    fn vet_host(&self, host: &Host) -> Result<(), RefusedAddress> {
        match host {
            Host::Ip(address) => self.vet_ip(*address),
            Host::Name(_) if self.is_opened_loopback(host) => Ok(()),
            Host::Name(name) => match names::kind(name) {
                Some(names::INTERNAL) if !self.networks.is_empty() => Ok(()),
                Some(kind) => Err(RefusedAddress::Name(kind)),
                None => Ok(()),
            },
        }
    }

    /// Returns `true` if an allowed network contains the address.
    fn allows(&self, address: IpAddr) -> bool {
        let is_listed = self.networks.iter().any(|network| network.contains(address));
        is_listed && !special::is_metadata(address)
    }

    fn vet_scheme_and_port(&self, url: &Url, port: u16) -> Result<(), RefusedAddress> {
        let own_port = match url.scheme() {
            "https" => HTTPS_PORT,
            _ if self.http => HTTP_PORT,
            _ => return Err(RefusedAddress::Scheme),
        };
        if port == own_port || self.ports.contains(&port) {
            Ok(())
        } else {
            Err(RefusedAddress::Port(port))
        }
    }

    fn is_opened_loopback(&self, host: &Host) -> bool {
        self.loopback
            && match host {
                Host::Ip(address) => self.decoded(*address).is_loopback(),
                Host::Name(name) => names::is_loopback(name),
            }
    }

    /// The IPv4 address inside an IPv4-mapped address or under the NAT64 prefix.
    fn decoded(&self, address: IpAddr) -> IpAddr {
        let IpAddr::V6(v6) = address else { return address };
        let translated = self
            .nat64
            .filter(|prefix| prefix.to_bits() >> 32 == v6.to_bits() >> 32)
            .map(|_| last_four(v6));
        v6.to_ipv4_mapped().or(translated).map_or(address, IpAddr::V4)
    }
}

fn host(url: &Url) -> Option<Host> {
    Some(match url.host()? {
        url::Host::Domain(name) => Host::Name(name.to_owned()),
        url::Host::Ipv4(address) => Host::Ip(address.into()),
        url::Host::Ipv6(address) => Host::Ip(address.into()),
    })
}

fn last_four(address: Ipv6Addr) -> Ipv4Addr {
    let [.., a, b, c, d] = address.octets();
    Ipv4Addr::new(a, b, c, d)
}
