//! Name resolution under the address policy.

use std::error::Error;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::sync::Arc;

use host_ports::address::AddressPolicy;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;

/// Passes on the addresses of another resolver if the policy allows all of them.
pub(crate) struct Vetting {
    pub(crate) policy: Arc<AddressPolicy>,
    pub(crate) resolver: Arc<dyn Resolve>,
}

impl Resolve for Vetting {
    fn resolve(&self, name: Name) -> Resolving {
        let (policy, resolved) = (Arc::clone(&self.policy), self.resolver.resolve(name));
        Box::pin(async move {
            let addresses: Vec<SocketAddr> = resolved.await?.collect();
            let ips: Vec<IpAddr> = addresses.iter().map(SocketAddr::ip).collect();
            policy.vet_resolved(&ips)?;
            // the port is the URL's, which has been vetted
            let vetted = addresses
                .into_iter()
                .map(|address| SocketAddr::new(address.ip(), 0));
            Ok(Box::new(vetted) as Addrs)
        })
    }
}

/// Upper bound of the lookups of the process: a quarter of the threads of tokio's blocking pool by
/// default.
static LOOKUPS: Semaphore = Semaphore::const_new(128);

/// The resolver of the operating system.
///
/// A lookup blocks a thread of tokio's blocking pool, beyond the deadline of its exchange if the
/// name server is silent. At most 128 lookups run in the process; further lookups wait, within the
/// deadlines of their exchanges.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemResolver;

impl Resolve for SystemResolver {
    fn resolve(&self, name: Name) -> Resolving {
        Box::pin(async move {
            let place = LOOKUPS.acquire().await?;
            let looked_up = spawn_blocking(move || {
                // free again when the lookup has returned, not when its caller has given up
                let _place = place;
                (name.as_str(), 0).to_socket_addrs()
            });
            let addresses = looked_up.await?.map_err(Box::<dyn Error + Send + Sync>::from)?;
            Ok(Box::new(addresses) as Addrs)
        })
    }
}
