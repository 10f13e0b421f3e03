use std::net::{IpAddr, Ipv6Addr};

use sha2::{Digest, Sha256};

use crate::secret::TokenHash;
use crate::vocabulary::ClientId;

/// Source of a request, for rate limits: an IPv4 address, or the /64 network of an IPv6 address.
///
/// Internet providers usually give each customer a whole /64, which has 2⁶⁴ addresses. The host
/// puts the source into the extensions of the requests that it passes to the
/// [`AuthorizationServer`](crate::server::AuthorizationServer).
///
/// ```
/// use oauth_core::attempts::Source;
///
/// let mut request = http::Request::post("/token").body(())?;
/// request.extensions_mut().insert(Source::new("2001:db8::17".parse()?));
/// assert_eq!(Source::new("2001:db8::17".parse()?), Source::new("2001:db8::18".parse()?));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Source(IpAddr);

impl Source {
    /// Returns the source of a client's address. An IPv4-mapped IPv6 address counts as IPv4.
    #[must_use]
    pub fn new(address: IpAddr) -> Self {
        match address.to_canonical() {
            IpAddr::V6(address) => {
                let network = address.to_bits() >> 64 << 64;
                Self(Ipv6Addr::from_bits(network).into())
            }
            address @ IpAddr::V4(_) => Self(address),
        }
    }
}

/// Key by which attempts are counted: a purpose, a name, and optionally a source.
///
/// The key is a hash of 32 bytes, so that tables and logs contain no names. The hash does not hide
/// a name that can be guessed. Names are not normalised: if an account name has several spellings,
/// the host passes one canonical spelling.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct AttemptKey(TokenHash);

impl AttemptKey {
    /// Creates the key for authentications of a client, registered or not.
    #[must_use]
    pub fn client(id: &ClientId) -> Self {
        Self::named("client", id.as_str())
    }

    /// Creates the key for sign-ins under a name that a user entered, whether or not the account
    /// exists.
    #[must_use]
    pub fn subject(name: &str) -> Self {
        Self::named("subject", name)
    }

    /// Creates the key for reset messages to an address that a user entered, whether or not the
    /// account exists.
    #[must_use]
    pub fn reset(address: &str) -> Self {
        Self::named("reset", address)
    }

    /// Creates the key for a purpose of the host. Different pairs of purpose and name have
    /// different keys. The purposes `client`, `subject` and `reset` give the keys of the
    /// constructors with these names.
    #[must_use]
    pub fn named(purpose: &str, name: &str) -> Self {
        Self(hash(purpose.as_bytes(), name.as_bytes()))
    }

    /// Restricts the key to attempts from one source.
    #[must_use]
    pub fn from_source(self, source: Source) -> Self {
        let address = match source.0 {
            IpAddr::V4(address) => address.to_ipv6_mapped(),
            IpAddr::V6(address) => address,
        };
        Self(hash(self.0.as_bytes(), &address.octets()))
    }

    /// Returns the hash that identifies the key in stores.
    #[must_use]
    pub const fn as_hash(&self) -> &TokenHash {
        &self.0
    }
}

fn hash(first: &[u8], second: &[u8]) -> TokenHash {
    let length = u64::try_from(first.len()).unwrap_or(u64::MAX);
    let digest = Sha256::new()
        .chain_update(length.to_be_bytes())
        .chain_update(first)
        .chain_update(second);
    TokenHash::from_bytes(digest.finalize().into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(address: &str) -> Source {
        Source::new(address.parse().unwrap())
    }

    /// O27, 14: different names have different keys.
    #[test]
    fn no_two_names_have_one_key() {
        let id: ClientId = "a".parse().unwrap();
        let keys = [
            AttemptKey::client(&id),
            AttemptKey::subject("a"),
            AttemptKey::subject("a\0"),
            AttemptKey::subject("A"),
            AttemptKey::reset("a"),
            AttemptKey::named("subjec", "ta"),
            AttemptKey::named("", "subjecta"),
            AttemptKey::subject("a").from_source(source("192.0.2.1")),
            AttemptKey::subject("a").from_source(source("192.0.2.2")),
            AttemptKey::subject("b").from_source(source("192.0.2.1")),
            AttemptKey::subject("a").from_source(source("::c000:201")),
        ];
        for (index, key) in keys.iter().enumerate() {
            assert!(!keys[..index].contains(key), "{index}");
        }
        assert_eq!(AttemptKey::subject("a"), AttemptKey::named("subject", "a"));
    }

    /// O27: a source is a whole IPv6 network of 64 bits.
    #[test]
    fn a_source_is_an_ipv4_address_or_a_network_of_64_bits() {
        assert_eq!(source("::ffff:192.0.2.1"), source("192.0.2.1"));
        assert_ne!(source("192.0.2.1"), source("192.0.2.2"));
        assert_eq!(
            source("2001:db8:0:1::"),
            source("2001:db8:0:1:ffff:ffff:ffff:ffff")
        );
        assert_ne!(source("2001:db8:0:1::"), source("2001:db8:0:2::"));
    }
}
