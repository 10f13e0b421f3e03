//! Serialized origins, as browsers send them: [RFC 6454
//! §6.2](https://www.rfc-editor.org/rfc/rfc6454#section-6.2).

/// Returns `true` if this is `scheme://host[:port]` as a browser serializes it: lower case, no
/// default port, no path.
///
/// Only such a text can equal an `Origin` field.
pub(super) fn is_serialized(origin: &str) -> bool {
    let Some((scheme, authority)) = origin.split_once("://") else {
        return false;
    };
    let (host, port) = match authority.rsplit_once(':') {
        // the last colon may belong to an IPv6 address in brackets
        Some((host, port)) if !port.ends_with(']') => (host, Some(port)),
        _ => (authority, None),
    };
    is_scheme(scheme) && is_host(host) && port.is_none_or(|port| is_port(scheme, port))
}

fn is_scheme(scheme: &str) -> bool {
    let is_scheme_byte =
        |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"+-.".contains(&byte);
    scheme.starts_with(|first: char| first.is_ascii_lowercase()) && scheme.bytes().all(is_scheme_byte)
}

fn is_host(host: &str) -> bool {
    match host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        Some(address) => {
            // an IPv6 address has several spellings, and browsers send the canonical one
            let parsed = address.parse::<std::net::Ipv6Addr>();
            parsed.is_ok_and(|parsed| parsed.to_string() == address)
        }
        None => {
            let is_host_byte =
                |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-._".contains(&byte);
            !host.is_empty() && host.bytes().all(is_host_byte)
        }
    }
}

fn is_port(scheme: &str, port: &str) -> bool {
    let unsaid = match scheme {
        "https" => "443",
        "http" => "80",
        _ => "",
    };
    let canonical = port.parse::<u16>().is_ok_and(|number| number.to_string() == port);
    canonical && port != unsaid
}
