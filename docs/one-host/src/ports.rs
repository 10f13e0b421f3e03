//! One clock, timer, entropy and transport for the four crates.

use std::sync::Arc;

use graph_core::persisted::AutomaticPersistedQueries;
use host_ports::{Clock, Entropy, Timer, Transport};
use http_conventions::limits::{OnStoreFailure, RateLimiter};
use oauth_core::basic::BasicCredentials;
use oauth_core::memory::{MemoryClients, MemoryInteractions, MemoryTokens};
use oauth_core::server::ConfigError;
use oauth_core::vocabulary::Endpoint;
use oauth_core::{AuthorizationServer, Introspection, SigningKeys};
use webhook_core::memory::{MemoryEndpoints, MemoryOutbox};
use webhook_core::sender::Dispatcher;

use crate::Store;

/// The ports of the whole host.
#[derive(Clone)]
#[expect(missing_debug_implementations, reason = "ports have no `Debug`")]
pub struct Ports {
    /// `SystemClock` in production, `ManualClock` in tests.
    pub clock: Arc<dyn Clock>,
    /// `timer_fn(tokio::time::sleep)` in production, `ManualClock` in tests.
    pub timer: Arc<dyn Timer>,
    /// `OsEntropy` in production, `SeededEntropy` in tests.
    pub entropy: Arc<dyn Entropy>,
    /// The host's HTTP client; `ScriptedTransport` in tests.
    pub transport: Arc<dyn Transport>,
}

/// The four crates on one set of ports.
#[expect(missing_debug_implementations, reason = "its parts have no `Debug`")]
pub struct Host {
    /// The token endpoint and its siblings. The host's table makes client assertions single-use.
    pub authorization: AuthorizationServer,
    /// The guard of the API, which introspects the opaque tokens of another issuer.
    pub introspection: Introspection,
    /// The sender of webhooks.
    pub dispatcher: Dispatcher,
    /// The rate limits of every route.
    pub limiter: RateLimiter,
    /// The persisted queries of the GraphQL endpoint.
    pub queries: AutomaticPersistedQueries,
}

impl Host {
    /// Builds every part on `ports` and `store`. State without a table in this example is in
    /// memory.
    ///
    /// # Errors
    ///
    /// All mistakes of the configuration together.
    pub fn new(
        ports: &Ports,
        store: &Store,
        keys: SigningKeys,
        issuer: Endpoint,
        credentials: BasicCredentials,
    ) -> Result<Self, ConfigError> {
        let Ports {
            clock,
            timer,
            entropy,
            transport,
        } = ports.clone();
        let authorization = AuthorizationServer::builder("https://auth.example")
            .with_clients(MemoryClients::new())
            .with_interactions(MemoryInteractions::new())
            .with_tokens(MemoryTokens::new())
            .with_replays(store.clone())
            .with_signing_keys(keys)
            .with_audience("https://api.example")
            .with_clock(Arc::clone(&clock))
            .with_entropy(Arc::clone(&entropy))
            .build()?;
        let BasicCredentials { client_id, secret } = credentials;
        let introspection = Introspection::new(issuer, client_id, secret, Arc::clone(&transport));
        let (outbox, endpoints) = (Arc::<MemoryOutbox>::default(), Arc::<MemoryEndpoints>::default());
        Ok(Self {
            authorization,
            introspection,
            dispatcher: Dispatcher::new(outbox, endpoints, transport, Arc::clone(&clock), timer, entropy),
            limiter: RateLimiter::new(store.clone(), Arc::clone(&clock), OnStoreFailure::FailOpen),
            queries: AutomaticPersistedQueries::new(store.clone(), clock),
        })
    }
}
