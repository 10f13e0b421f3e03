//! The rules, and the few ways to open them.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use url::Url;

use super::{Host, RefusedAddress, Target, names, special};

const MAX_URL_LENGTH: usize = 2048;
const HTTPS_PORT: u16 = 443;
const HTTP_PORT: u16 = 80;

/// Decides on URLs and addresses; strict unless opened.
///
/// Strict is: `https` on port 443, no credentials in the URL, a public name or address. An address of the other family inside
/// an IPv6 address is judged as that address.
#[derive(Clone, Debug, Default)]
pub struct AddressPolicy {
    ports: Vec<u16>,
    nat64: Option<Ipv6Addr>,
    http: bool,
    loopback: bool,
}

impl AddressPolicy {
    /// The strict policy.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Lets URLs name this port too.
    #[must_use]
    pub fn with_port(mut self, port: u16) -> Self {
        self.ports.push(port);
        self
    }

    /// Declares that this network reaches IPv4 through a translator with this /96 prefix, as `64:ff9b::`.
    ///
    /// Addresses under it are then judged by the IPv4 address they end in; without it they are refused.
    #[must_use]
    pub fn with_nat64_prefix(mut self, prefix: Ipv6Addr) -> Self {
        self.nat64 = Some(prefix);
        self
    }

    /// Lets URLs be plain `http`, on port 80.
    ///
    /// # Security
    ///
    /// Events can then be read and changed on their way; the signature stops the change but not the reading.
    #[must_use]
    pub fn danger_allow_http(mut self) -> Self {
        self.http = true;
        self
    }

    /// Opens this machine's own addresses, `127.0.0.0/8`, `::1` and `localhost`, by plain `http` and on any port: for demos and
    /// tests.
    ///
    /// # Security
    ///
    /// Whoever registers a receiver can then reach every service of this machine that trusts local callers.
    #[must_use]
    pub fn danger_allow_loopback(mut self) -> Self {
        self.loopback = true;
        self
    }

    /// Judges a URL, and normalises it: `https://0x7f.1/` is `127.0.0.1`, and so refused.
    ///
    /// # Errors
    ///
    /// The first rule that the URL breaks.
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

    /// Judges one address.
    ///
    /// # Errors
    ///
    /// When it belongs to a special-purpose block, or an IPv4 address inside it does.
    pub fn vet_ip(&self, address: IpAddr) -> Result<(), RefusedAddress> {
        let address = self.decoded(address);
        if self.loopback && address.is_loopback() {
            return Ok(());
        }
        let embedded = match address {
            IpAddr::V6(address) => special::isatap(address).map(IpAddr::V4),
            IpAddr::V4(_) => None,
        };
        match special::purpose(address).or_else(|| embedded.and_then(special::purpose)) {
            Some(block) => Err(RefusedAddress::Network { address, block }),
            None => Ok(()),
        }
    }

    /// Judges all addresses that a name resolved to.
    ///
    /// One refused address refuses the name: a mixed answer is what the attempt to slip past these rules looks like.
    ///
    /// # Errors
    ///
    /// When there is no address, or for the first that is refused.
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
            Host::Name(name) => names::kind(name).map_or(Ok(()), |kind| Err(RefusedAddress::Name(kind))),
        }
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

    /// The IPv4 address inside a mapped address, or inside one of the declared translator.
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
