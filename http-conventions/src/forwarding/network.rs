//! Networks of addresses, in CIDR notation.

use std::net::IpAddr;
use std::str::FromStr;

/// Error for a text that is neither an address nor a network.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("invalid network: expected an IP address or CIDR notation, for example 10.0.0.0/8 or fd00::/8")]
pub struct InvalidNetwork;

/// The addresses whose first bits equal those of `address`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Network {
    address: IpAddr,
    prefix: u8,
}

impl Network {
    pub(super) fn contains(&self, address: IpAddr) -> bool {
        // with prefix 0, `checked_shr` returns `None`, and each address matches
        match (self.address, address) {
            (IpAddr::V4(own), IpAddr::V4(other)) => {
                let difference = own.to_bits() ^ other.to_bits();
                difference
                    .checked_shr(u32::from(32 - self.prefix.min(32)))
                    .unwrap_or(0)
                    == 0
            }
            (IpAddr::V6(own), IpAddr::V6(other)) => {
                let difference = own.to_bits() ^ other.to_bits();
                difference
                    .checked_shr(u32::from(128 - self.prefix.min(128)))
                    .unwrap_or(0)
                    == 0
            }
            _ => false,
        }
    }
}

impl FromStr for Network {
    type Err = InvalidNetwork;

    fn from_str(text: &str) -> Result<Self, InvalidNetwork> {
        let (address, prefix) = match text.split_once('/') {
            Some((address, prefix)) => (address, Some(prefix)),
            None => (text, None),
        };
        let address: IpAddr = address.parse().map_err(|_| InvalidNetwork)?;
        let bits: u8 = if address.is_ipv4() { 32 } else { 128 };
        let prefix = match prefix {
            None => bits,
            Some(digits) if digits.bytes().all(|byte| byte.is_ascii_digit()) => {
                digits.parse().map_err(|_| InvalidNetwork)?
            }
            Some(_) => return Err(InvalidNetwork),
        };
        if prefix > bits {
            return Err(InvalidNetwork);
        }
        // ::ffff:a.b.c.d/n is the IPv4 network a.b.c.d/(n - 96)
        match (address.to_canonical(), address) {
            (IpAddr::V4(mapped), IpAddr::V6(_)) => Ok(Self {
                address: IpAddr::V4(mapped),
                prefix: prefix.checked_sub(96).ok_or(InvalidNetwork)?,
            }),
            _ => Ok(Self { address, prefix }),
        }
    }
}
