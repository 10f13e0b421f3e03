//! Outbound HTTP for webhook deliveries and for OAuth: hyper 1 and rustls, with the address rules applied when a connection is made.
//!
//! [`HyperTransport`] is the [`Transport`](host_ports::Transport) of a host that has no egress proxy of its
//! own. Each exchange vets its URL, resolves the name once, vets **all** addresses, and connects to one of exactly
//! these, so a name that changes its mind between check and connection gains nothing.
//!
//! ```
//! use bytes::Bytes;
//! use http::Request;
//! use host_transport_hyper::HyperTransport;
//! use host_ports::address::AddressPolicy;
//! use host_ports::{Transport, TransportErrorKind};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), http::Error> {
//! let transport = HyperTransport::new(AddressPolicy::new());
//! let request = Request::post("https://169.254.169.254/latest/meta-data").body(Bytes::new())?;
//! let refused = transport.send(request).await.map_err(|error| error.kind());
//! assert_eq!(refused.err(), Some(TransportErrorKind::RefusedAddress));
//! # Ok(())
//! # }
//! ```
//!
//! One connection serves one exchange: most receivers are called rarely, and a kept connection would have to be vetted
//! again all the same. HTTP/1.1 only; TLS 1.2 or later, always verified; no proxy from the environment, no content codings.
//! Deliveries follow no redirect; [`HyperTransport::fetch`], for URLs found in payloads, at most three, each vetted anew.
//!
//! It serves webhook-core and oauth-core alike. An issuer on another port than 443, or on a loopback address, is let through by the
//! [`AddressPolicy`](host_ports::address::AddressPolicy); one on a private network is not. A client that authenticates by a
//! certificate has a transport of its own ([`HyperTransport::with_client_certificate`]), under the same rules.

mod connect;
mod resolve;
mod tls;
mod transport;

pub use resolve::{Resolve, SystemResolver};
pub use transport::HyperTransport;
