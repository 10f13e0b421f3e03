//! The issuer of the tokens, found by discovery: its JWKS and its introspection endpoint.

use std::error::Error;
use std::sync::Arc;

use host_transport_hyper::HyperTransport;
use oauth_core::{Introspection, Provider, ResourceServer};
use webhook_core::address::AddressPolicy;

use crate::options::Options;

/// Creates the resource server. Its JWKS client fetches keys when needed, and again after a
/// rotation.
pub(crate) async fn guard(options: &Options) -> Result<ResourceServer, Box<dyn Error>> {
    // the operator names the issuer, so it may be on this machine
    let transport = HyperTransport::new(AddressPolicy::new().danger_allow_loopback());
    let transport = Arc::new(transport);
    let provider = Provider::discover(&options.issuer, &*transport).await?;
    let keys = provider.keys(transport.clone());
    let keys = keys.ok_or("the issuer publishes no keys")?;
    let guard = ResourceServer::new(options.issuer.clone(), options.url.parse()?, keys)
        .with_issuer_profile(options.profile.clone());
    let Some(asking) = &options.asking else {
        return Ok(guard);
    };
    let endpoint = provider.introspection_endpoint().cloned();
    let endpoint = endpoint.ok_or("the issuer has no introspection endpoint")?;
    let (client, secret) = (asking.client.parse()?, asking.secret.parse()?);
    let introspection = Introspection::new(endpoint, client, secret, transport);
    Ok(guard.with_introspection(introspection.with_cache(asking.remember, 10_000)))
}
