//! Limits of one server.

use std::time::Duration;

use http_conventions::{forwarding::TrustedProxies, routing::AllowedHosts};
use rustix::process::{Resource, getrlimit};

use crate::OpenConnections;

/// Limits of one server.
///
/// ```
/// use host_server::Limits;
/// use http_conventions::routing::AllowedHosts;
///
/// let limits = Limits {
///     hosts: AllowedHosts::parse(["api.example.com"])?,
///     ..Limits::default()
/// };
/// assert_eq!(limits.body, 1024 * 1024);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Limits {
    /// Size limit of a request body in bytes; 1 MiB by default.
    pub body: usize,
    /// Time limit for each of three steps: the TLS handshake, the wait for the complete head of a
    /// request, and the read of its body; 10 s by default.
    pub read_timeout: Duration,
    /// Time limit for a write while the client accepts no byte; 10 s by default. After it the
    /// connection is closed.
    pub write_timeout: Duration,
    /// Time limit for the progress of a response to a client that has closed its sending half; 10 s
    /// by default. If nothing is written, the connection is closed after one to two times this
    /// limit.
    ///
    /// Such a client either waits for its response or has disconnected. TCP shows the difference
    /// only when a response is written.
    pub half_closed_timeout: Duration,
    /// Time limit for open requests after the shutdown began; 30 s by default.
    pub drain_timeout: Duration,
    /// Limit of open connections. By default 10,000, or three quarters of the file descriptors of
    /// the process if that is less. Further connections wait to be accepted.
    pub connections: usize,
    /// Limit of open connections from one address, or from one /64 network of IPv6; 256 by default.
    /// Further connections are closed at once.
    pub connections_by_address: usize,
    /// Proxies whose connections [`connections_by_address`](Self::connections_by_address) does not
    /// limit. Empty by default.
    pub proxies: TrustedProxies,
    /// Count of the open connections, of which the host keeps a clone for its metrics.
    pub open: OpenConnections,
    /// Hosts that the server answers for; any valid host by default. A request with an invalid host
    /// gets 400, one with another host 421.
    pub hosts: AllowedHosts,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body: 1 << 20,
            read_timeout: Duration::from_secs(10),
            write_timeout: Duration::from_secs(10),
            half_closed_timeout: Duration::from_secs(10),
            drain_timeout: Duration::from_secs(30),
            connections: 10_000.min(three_quarters_of_descriptors()),
            connections_by_address: 256,
            proxies: TrustedProxies::new(),
            open: OpenConnections::default(),
            hosts: AllowedHosts::any(),
        }
    }
}

fn three_quarters_of_descriptors() -> usize {
    let descriptors = getrlimit(Resource::Nofile).current;
    let descriptors = descriptors.and_then(|descriptors| usize::try_from(descriptors).ok());
    descriptors.map_or(usize::MAX, |descriptors| descriptors / 4 * 3)
}
