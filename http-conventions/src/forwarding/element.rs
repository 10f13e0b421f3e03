//! Elements of the forwarding headers.

use std::borrow::Cow;
use std::net::{IpAddr, SocketAddr};

use http::HeaderValue;

use super::ForwardingHeader;

/// Splits a header line into its elements. Empty elements are omitted ([RFC 9110
/// §5.6.1](https://www.rfc-editor.org/rfc/rfc9110#section-5.6.1)), and an `X-Forwarded-For` element
/// that is not UTF-8 is replaced by `unknown`. `None` for a `Forwarded` line that is not visible
/// ASCII, or whose quoted strings do not end.
pub(super) fn split(header: ForwardingHeader, line: &HeaderValue) -> Option<Vec<&str>> {
    let elements = match header {
        // a proxy appends its element to any text of the client
        ForwardingHeader::XForwardedFor => {
            let elements = line.as_bytes().split(|byte| *byte == b',');
            elements
                .map(|element| str::from_utf8(element).unwrap_or("unknown"))
                .collect()
        }
        ForwardingHeader::Forwarded => split_unquoted(line.to_str().ok()?, ',')?,
    };
    let elements = elements.into_iter().map(str::trim);
    Some(elements.filter(|element| !element.is_empty()).collect())
}

/// Returns the address of an element. `None` if it names none.
pub(super) fn address(header: ForwardingHeader, element: &str) -> Option<IpAddr> {
    match header {
        ForwardingHeader::XForwardedFor => element.parse().ok().or_else(|| with_port(element)),
        // unlike `X-Forwarded-For`, an IPv6 address is always in brackets
        ForwardingHeader::Forwarded => {
            let node = forwarded_for(element)?;
            let v4 = node.parse().ok().filter(IpAddr::is_ipv4);
            v4.or_else(|| with_port(&node))
        }
    }
}

/// Parses an address with a port, or an IPv6 address in brackets.
fn with_port(text: &str) -> Option<IpAddr> {
    let bracketed = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    match bracketed {
        Some(address) => address.parse().ok().filter(IpAddr::is_ipv6),
        None => text.parse().map(|socket: SocketAddr| socket.ip()).ok(),
    }
}

/// Returns the value of the parameter `for`, unquoted. `None` unless the parameter is present
/// exactly once.
fn forwarded_for(element: &str) -> Option<Cow<'_, str>> {
    let mut found = None;
    for pair in split_unquoted(element, ';')? {
        let (name, value) = pair.trim().split_once('=')?;
        if name.eq_ignore_ascii_case("for") && found.replace(unquote(value)?).is_some() {
            return None;
        }
    }
    found
}

/// Removes the quotes and the backslashes of a quoted string. A token is returned unchanged.
fn unquote(value: &str) -> Option<Cow<'_, str>> {
    let Some(rest) = value.strip_prefix('"') else {
        return (!value.contains('"')).then_some(Cow::Borrowed(value));
    };
    let mut text = String::with_capacity(rest.len());
    let mut characters = rest.chars();
    loop {
        match characters.next()? {
            '"' => return characters.next().is_none().then_some(Cow::Owned(text)),
            '\\' => text.push(characters.next()?),
            character => text.push(character),
        }
    }
}

/// Splits at a separator that is not in a quoted string. `None` if a quoted string does not end.
fn split_unquoted(text: &str, separator: char) -> Option<Vec<&str>> {
    let (mut parts, mut start) = (Vec::new(), 0);
    let (mut is_quoted, mut is_escaped) = (false, false);
    for (index, character) in text.char_indices() {
        match character {
            _ if is_escaped => is_escaped = false,
            '\\' if is_quoted => is_escaped = true,
            '"' => is_quoted = !is_quoted,
            _ if character == separator && !is_quoted => {
                parts.push(text.get(start..index)?);
                start = index + character.len_utf8();
            }
            _ => {}
        }
    }
    parts.push(text.get(start..)?);
    (!is_quoted).then_some(parts)
}
