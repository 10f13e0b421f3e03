//! Allowed addresses of a server's endpoints.

use std::borrow::Cow;
use std::net::{Ipv4Addr, Ipv6Addr};

use url::{Host, Url};

use super::MetadataError;
use crate::vocabulary::{Endpoint, Issuer};

/// Allowed addresses of a server's endpoints: `https`, and no loopback or private address unless
/// the issuer has one itself.
pub(super) struct Place {
    may_be_plain: bool,
    may_be_near: bool,
}

impl Place {
    pub(super) fn of(issuer: &Issuer) -> Self {
        Self {
            may_be_plain: issuer.as_str().starts_with("http:"),
            may_be_near: is_near(issuer.as_str()),
        }
    }

    pub(super) fn endpoint(&self, member: &'static str, url: &str) -> Result<Endpoint, MetadataError> {
        let endpoint = url.parse().ok();
        endpoint
            .filter(|_| self.may_be_plain || url.starts_with("https:"))
            .filter(|_| self.may_be_near || !is_near(url))
            .ok_or(MetadataError::InvalidEndpoint(member))
    }

    pub(super) fn optional(
        &self,
        member: &'static str,
        url: Option<Cow<'_, str>>,
    ) -> Result<Option<Endpoint>, MetadataError> {
        url.map(|url| self.endpoint(member, &url)).transpose()
    }
}

/// Returns `true` if a URL has a loopback or private address or a local name. The transport refuses
/// names that resolve to such an address.
fn is_near(url: &str) -> bool {
    // the parser normalises all spellings of an address, as the resolver does
    let url = Url::parse(url).ok();
    match url.as_ref().and_then(Url::host) {
        Some(Host::Ipv4(address)) => is_near_v4(address),
        Some(Host::Ipv6(address)) => is_near_v6(address),
        Some(Host::Domain(name)) => {
            let name = name.trim_end_matches('.');
            name == "localhost" || name.ends_with(".localhost")
        }
        None => false,
    }
}

/// [RFC 6890](https://www.rfc-editor.org/rfc/rfc6890): blocks without public hosts, for private
/// use, protocols, benchmarks and documentation, which a network may route to its own machines.
fn is_near_v4(address: Ipv4Addr) -> bool {
    let is_special = matches!(
        address.octets(),
        [0 | 224..=255, ..]
            | [100, 64..=127, ..]
            | [192, 0, 0 | 2, _]
            | [198, 18 | 19, ..]
            | [198, 51, 100, _]
            | [203, 0, 113, _]
    );
    is_special || address.is_loopback() || address.is_private() || address.is_link_local()
}

fn is_near_v6(address: Ipv6Addr) -> bool {
    let segments = address.segments();
    let embedded = match segments {
        // IPv4 mapped or compatible, or translated by NAT64 or 6to4
        [0, 0, 0, 0, 0, 0 | 0xffff, high, low]
        | [0x64, 0xff9b, 0, 0, 0, 0, high, low]
        | [0x2002, high, low, ..] => Some((high, low)),
        _ => None,
    };
    if let Some((high, low)) = embedded {
        return is_near_v4(Ipv4Addr::from((u32::from(high) << 16) | u32::from(low)));
    }
    // only global unicast, without the blocks for protocols (Teredo) and documentation
    !matches!(segments, [0x2000..=0x3fff, ..])
        || matches!(
            segments,
            [0x2001, 0..=0x01ff | 0x0db8, ..] | [0x3fff, 0..=0x0fff, ..]
        )
}
