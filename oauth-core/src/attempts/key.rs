use std::net::{IpAddr, Ipv6Addr};

use sha2::{Digest, Sha256};

use crate::secret::TokenHash;
use crate::vocabulary::ClientId;

/// Where requests come from, as far as one owner of addresses can be told from another: an IPv4 address, or the /64 of an IPv6
/// one, of which everybody has 2⁶⁴.
///
/// A host puts it into the extensions of the requests that it hands to the
/// [`AuthorizationServer`](crate::server::AuthorizationServer).
///
/// ```
/// use oauth_core::attempts::Source;
///
/// let mut request = http::Request::post("/token").body(())?;
/// request.extensions_mut().insert(Source::of("2001:db8::17".parse()?));
/// assert_eq!(Source::of("2001:db8::17".parse()?), Source::of("2001:db8::18".parse()?));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Source(IpAddr);

impl Source {
    /// The source that an address belongs to.
    #[must_use]
    pub fn of(address: IpAddr) -> Self {
        match address.to_canonical() {
            IpAddr::V6(address) => {
                let network = address.to_bits() >> 64 << 64;
                Self(Ipv6Addr::from_bits(network).into())
            }
            address @ IpAddr::V4(_) => Self(address),
        }
    }
}

/// What attempts are counted by: a purpose, a name, and a source where that is known.
///
/// A hash, so that a name costs 32 bytes however long it is, and none stands in a table or a log. It hides no name from whoever can
/// think of it: hashing an address tells whether it is there. Nothing is folded: a host whose accounts have several spellings gives
/// one of them.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct AttemptKey(TokenHash);

impl AttemptKey {
    /// Attempts to authenticate as a client, registered or not.
    #[must_use]
    pub fn client(id: &ClientId) -> Self {
        Self::named("client", id.as_str())
    }

    /// Attempts to sign in under a name as it is typed: whether anybody has it plays no part.
    #[must_use]
    pub fn subject(name: &str) -> Self {
        Self::named("subject", name)
    }

    /// Letters with a reset token to an address as it is typed: whether anybody has it plays no part.
    #[must_use]
    pub fn reset(address: &str) -> Self {
        Self::named("reset", address)
    }

    /// Attempts of the host's own kind. No two pairs of a purpose and a name make one key.
    #[must_use]
    pub fn named(purpose: &str, name: &str) -> Self {
        Self(hash(purpose.as_bytes(), name.as_bytes()))
    }

    /// The same attempts, of one source alone.
    #[must_use]
    pub fn from_source(self, source: Source) -> Self {
        let address = match source.0 {
            IpAddr::V4(address) => address.to_ipv6_mapped(),
            IpAddr::V6(address) => address,
        };
        Self(hash(self.0.as_bytes(), &address.octets()))
    }

    /// What a store knows the key by.
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
        Source::of(address.parse().unwrap())
    }

    /// O27, 14: what one name does counts for no other.
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

    /// O27: nobody has 2⁶⁴ sources.
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
