//! The transport on the conformance kit, and its features beyond the port.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod client_certificates;
mod egress_proxy;
mod families;
mod fetch;
mod goaway;
mod heads;
mod http2;
mod pool;
mod proxy;
mod servers;

use std::io;
use std::net::IpAddr;

use async_trait::async_trait;
use host_transport_conformance::{Maker, Names, Setup};
use host_transport_hyper::{HyperTransport, Resolve};

/// The resolver of a case.
struct Resolver(Names);

#[async_trait]
impl Resolve for Resolver {
    async fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        self.0.resolve(name).await
    }
}

fn make() -> Maker {
    Maker::new(|setup: Setup| {
        let mut transport = HyperTransport::new(setup.policy);
        if let Some(names) = setup.names {
            transport = transport.with_resolver(Resolver(names));
        }
        if let Some(roots) = setup.roots {
            transport = transport.with_roots(roots);
        }
        transport
    })
}

mod addresses {
    host_transport_conformance::addresses!(
        #[tokio::test]
        super::make()
    );
}

mod body_timeout {
    host_transport_conformance::body_timeout!(
        #[tokio::test]
        super::make()
    );
}

mod connections {
    host_transport_conformance::connections!(
        #[tokio::test]
        super::make()
    );
}

mod deadline {
    host_transport_conformance::deadline!(
        #[tokio::test]
        super::make()
    );
}

mod exchange {
    host_transport_conformance::exchange!(
        #[tokio::test]
        super::make()
    );
}

mod tls {
    host_transport_conformance::tls!(
        #[tokio::test]
        super::make()
    );
}
