//! The transport on the conformance kit, and with proxies in the environment.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod limits;
mod proxy;

use std::net::SocketAddr;

use host_transport_conformance::{Maker, Names, Setup};
use host_transport_reqwest::ReqwestTransport;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};

struct Resolver(Names);

impl Resolve for Resolver {
    fn resolve(&self, name: Name) -> Resolving {
        let names = self.0.clone();
        Box::pin(async move {
            let addresses = names.resolve(name.as_str()).await?;
            let addresses = addresses.into_iter().map(|address| SocketAddr::new(address, 0));
            Ok(Box::new(addresses) as Addrs)
        })
    }
}

fn make() -> Maker {
    Maker::new(|setup: Setup| {
        let mut builder = ReqwestTransport::builder(setup.policy);
        if let Some(names) = setup.names {
            builder = builder.with_resolver(Resolver(names));
        }
        if let Some(roots) = setup.roots {
            builder = builder.with_roots(roots);
        }
        builder.build().unwrap()
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
