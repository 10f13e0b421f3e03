#![doc = include_str!("../README.md")]
#![expect(
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a case fails by panicking, as a test does"
)]

pub mod addresses;
pub mod body_timeout;
pub mod connections;
pub mod deadline;
pub mod exchange;
pub mod receiver;
pub mod tls;

use std::fmt;
use std::future::pending;
use std::io;
use std::net::IpAddr;
use std::sync::Arc;

use host_ports::Transport;
use host_ports::address::AddressPolicy;
use rustls::RootCertStore;

pub use host_ports_conformance::__store;

/// Makes the transports that the cases use.
pub struct Maker(Box<dyn Fn(Setup) -> Arc<dyn Transport> + Send + Sync>);

impl Maker {
    /// Creates a maker that calls `make` for each transport.
    pub fn new<T: Transport + 'static>(make: impl Fn(Setup) -> T + Send + Sync + 'static) -> Self {
        Self(Box::new(move |setup| Arc::new(make(setup))))
    }

    /// Creates a transport with this setup.
    #[must_use]
    pub fn make(&self, setup: Setup) -> Arc<dyn Transport> {
        (self.0)(setup)
    }
}

impl fmt::Debug for Maker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Maker")
    }
}

/// Settings of one transport.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Setup {
    /// The addresses that the transport may connect to.
    pub policy: AddressPolicy,
    /// Resolver of names. `None` stands for the resolver of the operating system.
    pub names: Option<Names>,
    /// The only trusted roots. `None` stands for the transport's default roots.
    pub roots: Option<RootCertStore>,
}

impl Setup {
    /// Creates a setup with the system's resolver and the default roots.
    #[must_use]
    pub fn new(policy: AddressPolicy) -> Self {
        Self {
            policy,
            names: None,
            roots: None,
        }
    }

    /// Resolves names with `names`.
    #[must_use]
    pub fn with_names(mut self, names: Names) -> Self {
        self.names = Some(names);
        self
    }

    /// Trusts only `roots`.
    #[must_use]
    pub fn with_roots(mut self, roots: RootCertStore) -> Self {
        self.roots = Some(roots);
        self
    }
}

type Table = dyn Fn(&str) -> io::Result<Vec<IpAddr>> + Send + Sync;

/// Resolver of names for one case.
#[derive(Clone)]
pub struct Names(Option<Arc<Table>>);

impl Names {
    /// Creates a resolver that resolves every name to `addresses`.
    ///
    /// # Panics
    ///
    /// If an element of `addresses` is not an IP address.
    #[must_use]
    pub fn fixed(addresses: &[&str]) -> Self {
        let addresses: Vec<IpAddr> = addresses.iter().map(|address| address.parse().unwrap()).collect();
        Self::from_fn(move |_| Ok(addresses.clone()))
    }

    /// Creates a resolver that calls `table` with each name.
    #[must_use]
    pub fn from_fn(table: impl Fn(&str) -> io::Result<Vec<IpAddr>> + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(table)))
    }

    /// Creates a resolver that never answers.
    #[must_use]
    pub const fn silent() -> Self {
        Self(None)
    }

    /// Resolves `name` to all its addresses.
    ///
    /// # Errors
    ///
    /// The name does not resolve.
    pub async fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        match &self.0 {
            Some(table) => table(name),
            None => pending().await,
        }
    }
}

impl fmt::Debug for Names {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Names")
    }
}
