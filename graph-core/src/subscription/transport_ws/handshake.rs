//! WebSocket handshake: origin check and subprotocol negotiation.

use std::collections::BTreeSet;
use std::net::Ipv6Addr;
use std::time::SystemTime;

use bytes::Bytes;
use http::header::{ORIGIN, SEC_WEBSOCKET_PROTOCOL};
use http::{HeaderMap, Response, StatusCode, Uri};
use thiserror::Error;

use super::connection::Connection;
use super::limits::ConnectionLimits;
use crate::error::ErrorCode;
use crate::http::refused;

/// Name of the subprotocol in `Sec-WebSocket-Protocol`.
pub const SUBPROTOCOL: &str = "graphql-transport-ws";

/// Origins whose pages may open a connection.
///
/// A request without an `Origin` header does not come from a browser, and is always allowed. The
/// default is empty and refuses every request with an `Origin` header.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct AllowedOrigins(BTreeSet<String>);

impl AllowedOrigins {
    /// Creates the set from `origins`.
    ///
    /// Each origin is `null` or `scheme://host[:port]`. Omit the port if it is the default port of
    /// the scheme.
    ///
    /// # Errors
    ///
    /// [`InvalidOrigin`] if a browser never sends an origin in this form, for example `*`, an
    /// origin with a trailing slash, or an origin with an explicit default port.
    pub fn new<T: Into<String>>(origins: impl IntoIterator<Item = T>) -> Result<Self, InvalidOrigin> {
        let lower = |origin: T| {
            let origin = origin.into().to_ascii_lowercase();
            if origin == "null" || is_origin(&origin) {
                Ok(origin)
            } else {
                Err(InvalidOrigin(origin))
            }
        };
        origins.into_iter().map(lower).collect::<Result<_, _>>().map(Self)
    }

    fn allow(&self, headers: &HeaderMap) -> bool {
        let mut origins = headers.get_all(ORIGIN).iter();
        match (origins.next(), origins.next()) {
            (None, _) => true,
            (Some(origin), None) => origin
                .to_str()
                .is_ok_and(|origin| self.0.contains(&origin.to_ascii_lowercase())),
            (Some(_), Some(_)) => false,
        }
    }
}

/// Returns `true` for `scheme://host[:port]` without a default port.
fn is_origin(text: &str) -> bool {
    let Ok(uri) = text.parse::<Uri>() else {
        return false;
    };
    let (Some(scheme), Some(authority)) = (uri.scheme_str(), uri.authority()) else {
        return false;
    };
    let unsaid = match scheme {
        "https" => Some(443),
        "http" => Some(80),
        _ => None,
    };
    let host = authority.host();
    let port = match authority.port_u16() {
        Some(port) if Some(port) != unsaid => format!(":{port}"),
        _ => String::new(),
    };
    let address = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
    // an IPv6 address has several spellings; browsers send the canonical one
    let is_spelt = |address: &str| {
        let parsed = address.parse::<Ipv6Addr>();
        parsed.is_ok_and(|parsed| parsed.to_string() == address)
    };
    !host.is_empty()
        && !host.contains('*')
        && address.is_none_or(is_spelt)
        && text == format!("{scheme}://{host}{port}")
}

/// Error for a configured origin that is not in the form that browsers send.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
#[error("invalid origin `{0}`: expected scheme://host[:port] without a default port, or null")]
pub struct InvalidOrigin(String);

/// Error for a request whose `Origin` is not in [`AllowedOrigins`].
#[derive(Clone, Copy, Debug, Eq, Error, PartialEq)]
#[error("this origin may not open a connection")]
#[non_exhaustive]
pub struct ForeignOrigin;

impl ForeignOrigin {
    /// Converts the error to a 403 response.
    #[must_use]
    pub fn into_response(self) -> Response<Bytes> {
        refused(StatusCode::FORBIDDEN, ErrorCode::Forbidden, &self.to_string())
    }
}

/// WebSocket handshake of an allowed origin.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Handshake {
    agreed: bool,
}

impl Handshake {
    /// Checks the `Origin` and reads the offered subprotocols of a WebSocket request.
    ///
    /// The host's WebSocket library checks the other headers.
    ///
    /// # Errors
    ///
    /// [`ForeignOrigin`] if the origin is not allowed.
    ///
    /// # Security
    ///
    /// This check is the only protection against cross-site WebSocket hijacking: browsers apply
    /// neither the same-origin policy nor a preflight to WebSockets. The origin `null`, sent by
    /// sandboxed pages and local files, is refused unless it is listed.
    pub fn read(headers: &HeaderMap, origins: &AllowedOrigins) -> Result<Self, ForeignOrigin> {
        if !origins.allow(headers) {
            return Err(ForeignOrigin);
        }
        let offered = headers.get_all(SEC_WEBSOCKET_PROTOCOL).iter();
        let mut offered = offered
            .filter_map(|value| value.to_str().ok())
            .flat_map(|names| names.split(','));
        Ok(Self {
            agreed: offered.any(|name| name.trim() == SUBPROTOCOL),
        })
    }

    /// Returns the `Sec-WebSocket-Protocol` value of the response; `None` if the client did not
    /// offer [`SUBPROTOCOL`].
    #[must_use]
    pub fn subprotocol(self) -> Option<&'static str> {
        self.agreed.then_some(SUBPROTOCOL)
    }

    /// Creates the connection. Call it after the handshake response is sent.
    ///
    /// If the client did not offer the subprotocol, the connection closes with 4406 at its first
    /// input, and [`next_timeout`](Connection::next_timeout) is `now`. An HTTP error would not
    /// help, because browsers do not expose the HTTP status of a failed handshake.
    #[must_use]
    pub fn open(self, limits: ConnectionLimits, now: SystemTime) -> Connection {
        Connection::new(self.agreed, limits, now)
    }
}
