//! Client by which the service introspects opaque tokens in its own process.

use std::net::{IpAddr, Ipv6Addr};
use std::time::Duration;

use bytes::Bytes;
use host_ports::transport_fn;
use http::Request;
use oauth_core::attempts::Source;
use oauth_core::ports::OsEntropy;
use oauth_core::secret::ClientSecret;
use oauth_core::store::ClientSecrets;
use oauth_core::vocabulary::{Audience, ClientId};
use oauth_core::{AuthorizationServer, Introspection, RegisteredClient};

use crate::app::open::{OpenError, at};

/// Client of the service itself. Its secret is new at each start.
pub(in crate::app) struct Introspector {
    id: ClientId,
    secret: ClientSecret,
    audience: Audience,
}

impl Introspector {
    pub(in crate::app) fn generate(base_url: &str) -> Result<Self, OpenError> {
        Ok(Self {
            id: "desk-introspection".parse().map_err(at("the introspection"))?,
            secret: ClientSecret::generate(&OsEntropy),
            audience: base_url.parse().map_err(at("the audience"))?,
        })
    }

    pub(in crate::app) fn registration(&self) -> RegisteredClient {
        RegisteredClient::confidential(self.id.clone(), ClientSecrets::new(&self.secret))
            .with_grant_types([])
            .with_audience(self.audience.clone())
    }

    /// Validates opaque tokens by introspection (RFC 7662), in process: the state is always
    /// current.
    pub(super) fn introspection(
        &self,
        base_url: &str,
        server: &AuthorizationServer,
    ) -> Result<Introspection, OpenError> {
        let endpoint = format!("{base_url}/oauth/introspect");
        let endpoint = endpoint.parse().map_err(at("the introspection"))?;
        let (client, secret) = (self.id.clone(), self.secret.clone());
        let server = server.clone();
        let ask = transport_fn(move |mut request: Request<Bytes>| {
            // requests in process have no address, so the limit on wrong secrets applies to this
            // client alone
            request
                .extensions_mut()
                .insert(Source::new(IpAddr::V6(Ipv6Addr::UNSPECIFIED)));
            let server = server.clone();
            async move { Ok(server.introspect(request).await.response) }
        });
        Ok(Introspection::new(endpoint, client, secret, ask).with_cache(Duration::ZERO, 0))
    }
}
