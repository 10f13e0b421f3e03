//! Clients, codes and tokens.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use oauth_core::grant::AccessTokenLifetime;
use oauth_core::jose::{SigningKey, SigningKeys};
use oauth_core::memory::{MemoryClients, MemoryInteractions, MemoryTokens};
use oauth_core::ports::{Clock, OsEntropy};
use oauth_core::server::EndpointPaths;
use oauth_core::store::{ClientSecrets, RegisteredClient};
use oauth_core::vocabulary::RegisteredRedirectUri;
use oauth_core::{AuthorizationServer, ResourceServer};

use crate::clock::FastClock;

/// The scope of the API.
pub(crate) const NOTES: &str = "notes:read";

/// Creates a server whose access tokens live `lifetime` seconds, and the guard of its API.
pub(crate) fn new(
    issuer: &str,
    lifetime: u64,
    clock: FastClock,
) -> Result<(AuthorizationServer, ResourceServer), Box<dyn Error>> {
    let web = RegisteredClient::confidential(
        "notes-web".parse()?,
        ClientSecrets::new(&"notes-web-secret".parse()?),
    )
    .with_redirect_uri(RegisteredRedirectUri::exact("https://notes.example/callback")?)
    .with_scopes(NOTES.parse()?);
    let app = RegisteredClient::public("notes-app".parse()?)
        .with_redirect_uri(RegisteredRedirectUri::exact("com.example.notes:/callback")?)
        .with_scopes(NOTES.parse()?);
    let tokens = Arc::new(MemoryTokens::new());
    let keys = SigningKeys::new(SigningKey::generate_es256(&OsEntropy)?);
    // the API asks the token store, so that a revoked token is refused at once
    let api = ResourceServer::new(issuer.parse()?, issuer.parse()?, keys.published_keys(clock.now()))
        .with_token_store(Arc::clone(&tokens));
    let server = AuthorizationServer::builder(issuer)
        .with_paths(
            EndpointPaths::default()
                .with_authorize("/authorize")
                .with_token("/token"),
        )
        .with_clients(MemoryClients::from_iter([web, app]))
        .with_interactions(MemoryInteractions::new())
        .with_tokens(tokens)
        .with_clock(clock)
        .with_entropy(OsEntropy)
        .with_signing_keys(keys)
        .with_audience(issuer)
        .with_access_token_lifetime(AccessTokenLifetime::new(Duration::from_secs(lifetime))?)
        .build()?;
    Ok((server, api))
}
