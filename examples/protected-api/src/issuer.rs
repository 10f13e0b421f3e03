//! What the issuer of the tokens is asked: its keys, and what an opaque token is worth.

use std::error::Error;
use std::sync::Arc;

use bytes::Bytes;
use http::Request;
use oauth_core::client::Provider;
use oauth_core::jose::KeySet;
use oauth_core::ports::Transport;
use oauth_core::resource::Introspection;
use transport_hyper::HyperTransport;
use webhook_core::address::AddressPolicy;

use crate::options::Options;

/// The issuer is named by whoever runs this, and not by a stranger: it may be on this machine.
fn transport() -> Arc<dyn Transport> {
    Arc::new(HyperTransport::new(AddressPolicy::new().danger_allow_loopback()))
}

/// The keys that the issuer signs with, as it publishes them now.
pub(crate) async fn keys(options: &Options) -> Result<KeySet, Box<dyn Error>> {
    let transport = transport();
    let provider = Provider::discover(&options.issuer, &*transport).await?;
    let at = provider.jwks_uri().ok_or("the issuer publishes no keys")?;
    let request = Request::get(at.to_string()).body(Bytes::new())?;
    Ok(KeySet::parse(transport.send(request).await?.body())?)
}

/// Asks what opaque tokens are worth, where the options say whom.
pub(crate) fn introspection(options: &Options) -> Result<Option<Introspection>, Box<dyn Error>> {
    let Some(asked) = &options.introspection else {
        return Ok(None);
    };
    let (endpoint, client) = (asked.endpoint.parse()?, asked.client.parse()?);
    let introspection = Introspection::new(endpoint, client, asked.secret.parse()?, transport());
    Ok(Some(introspection.with_cache(asked.remember, 10_000)))
}
