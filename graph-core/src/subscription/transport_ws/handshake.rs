//! Who may open a connection, and for which subprotocol.

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

/// The name of the subprotocol in `Sec-WebSocket-Protocol`.
pub const SUBPROTOCOL: &str = "graphql-transport-ws";

/// The origins whose pages may open a connection.
///
/// Programs that are no browsers send no `Origin` and are not bound by this.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct AllowedOrigins(BTreeSet<String>);

impl AllowedOrigins {
    /// These `origins`, each as a browser writes it: scheme, host, and the port unless it is the scheme's own; or `null`.
    ///
    /// # Errors
    ///
    /// One is not written so (`*`, a slash at the end, a port that goes without saying) and no page could ever be of it.
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

/// Whether this is `scheme://host[:port]` without the port that goes without saying.
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
    // it has several spellings, and a browser sends one of them
    let is_spelt = |address: &str| {
        let parsed = address.parse::<Ipv6Addr>();
        parsed.is_ok_and(|parsed| parsed.to_string() == address)
    };
    !host.is_empty()
        && !host.contains('*')
        && address.is_none_or(is_spelt)
        && text == format!("{scheme}://{host}{port}")
}

/// This is no origin as a browser writes it.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
#[error("`{0}` is no origin as a browser writes it")]
pub struct InvalidOrigin(String);

/// A page of this origin may not open a connection.
#[derive(Clone, Copy, Debug, Eq, Error, PartialEq)]
#[error("this origin may not open a connection")]
#[non_exhaustive]
pub struct ForeignOrigin;

impl ForeignOrigin {
    /// What the page is told: 403.
    #[must_use]
    pub fn into_response(self) -> Response<Bytes> {
        refused(StatusCode::FORBIDDEN, ErrorCode::Forbidden, &self.to_string())
    }
}

/// A handshake that may go on.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Handshake {
    agreed: bool,
}

impl Handshake {
    /// Reads the headers of a request that asks for a WebSocket; what WebSocket itself asks of them is for the host's library.
    ///
    /// # Errors
    ///
    /// For a page whose origin is not allowed.
    ///
    /// # Security
    ///
    /// This is the only check there is on where a connection comes from: a WebSocket is not bound by the same-origin policy, and
    /// there is no preflight. `null`, the origin of sandboxed pages and files, is allowed only if it is listed.
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

    /// What to answer as `Sec-WebSocket-Protocol`, if anything.
    #[must_use]
    pub fn subprotocol(self) -> Option<&'static str> {
        self.agreed.then_some(SUBPROTOCOL)
    }

    /// The connection, once the handshake is answered. Without the subprotocol it does nothing but close with 4406: a status of
    /// HTTP is not shown to the application behind a WebSocket.
    #[must_use]
    pub fn open(self, limits: ConnectionLimits, now: SystemTime) -> Connection {
        Connection::new(self.agreed, limits, now)
    }
}
