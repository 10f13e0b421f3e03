//! From a name to its addresses.

use std::io;
use std::net::IpAddr;

use async_trait::async_trait;

/// Resolves names. Any `Fn(&str) -> io::Result<Vec<IpAddr>>` is a resolver, for tests and for fixed tables.
#[async_trait]
pub trait Resolve: Send + Sync {
    /// **All** addresses of `name`: what is left out is not vetted.
    ///
    /// # Errors
    /// When the name has no address, or nobody could be asked.
    async fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>>;
}

#[async_trait]
impl<F> Resolve for F
where
    F: Fn(&str) -> io::Result<Vec<IpAddr>> + Send + Sync,
{
    async fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        self(name)
    }
}

/// The resolver of the operating system.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemResolver;

#[async_trait]
impl Resolve for SystemResolver {
    async fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        Ok(tokio::net::lookup_host((name, 0))
            .await?
            .map(|address| address.ip())
            .collect())
    }
}
