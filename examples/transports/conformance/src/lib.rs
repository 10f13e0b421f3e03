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
    /// Makes transports by a function.
    pub fn new<T: Transport + 'static>(make: impl Fn(Setup) -> T + Send + Sync + 'static) -> Self {
        Self(Box::new(move |setup| Arc::new(make(setup))))
    }

    /// A transport with this setup.
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
    /// Resolves names. `None` stands for the resolver of the operating system.
    pub names: Option<Names>,
    /// The only trusted roots. `None` stands for the transport's defaults.
    pub roots: Option<RootCertStore>,
}

impl Setup {
    /// A setup with the system's resolver and the default roots.
    #[must_use]
    pub fn new(policy: AddressPolicy) -> Self {
        Self {
            policy,
            names: None,
            roots: None,
        }
    }

    /// Resolves names by `names`.
    #[must_use]
    pub fn with_names(mut self, names: Names) -> Self {
        self.names = Some(names);
        self
    }

    /// Trusts `roots` alone.
    #[must_use]
    pub fn with_roots(mut self, roots: RootCertStore) -> Self {
        self.roots = Some(roots);
        self
    }
}

type Table = dyn Fn(&str) -> io::Result<Vec<IpAddr>> + Send + Sync;

/// A resolver of names for one case.
#[derive(Clone)]
pub struct Names(Option<Arc<Table>>);

impl Names {
    /// Resolves every name to `addresses`.
    #[must_use]
    pub fn fixed(addresses: &[&str]) -> Self {
        let addresses: Vec<IpAddr> = addresses.iter().map(|address| address.parse().unwrap()).collect();
        Self::from_fn(move |_| Ok(addresses.clone()))
    }

    /// Resolves names by a function.
    #[must_use]
    pub fn from_fn(table: impl Fn(&str) -> io::Result<Vec<IpAddr>> + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(table)))
    }

    /// A name server that never answers.
    #[must_use]
    pub const fn silent() -> Self {
        Self(None)
    }

    /// All addresses of `name`.
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
