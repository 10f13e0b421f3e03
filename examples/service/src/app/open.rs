//! Construction of the service: all crates share one database and one clock.

use std::collections::HashSet;
use std::fmt;
use std::mem;
use std::sync::Arc;
use std::time::Duration;

use graph_core::persisted::Manifest;
use graph_core::subscription::transport_ws::AllowedOrigins;
use host_ports::timer_fn;
use host_transport_hyper::HyperTransport;
use http_conventions::content::Compression;
use http_conventions::cors::CorsRules;
use http_conventions::errors::{Challenge, ProblemBase};
use http_conventions::forwarding::TrustedProxies;
use http_conventions::idempotency::Idempotency;
use http_conventions::limits::RateLimiter;
use http_conventions::paging::{CursorKey, CursorKeyring};
use http_conventions::pipeline::Conventions;
use http_conventions::ports::OsEntropy;
use http_conventions::tracing::{CallerTrust, Sampling};
use http_conventions::versions::Lifecycle;
use http_conventions::versions::VersionScheme;
use oauth_core::attempts::AttemptPolicy;
use oauth_core::store::ClientStore;
use oauth_core::vocabulary::ClientId;
use oauth_core::{RegisteredClient, SessionCookie, Sessions};
use thiserror::Error;
use tokio::sync::watch;
use tracing::error;
use webhook_core::address::AddressPolicy;
use webhook_core::sender::Dispatcher;

use super::authority::{AccessTokens, Introspector, Parts, RotatingAuthority};
use super::clients::Clients;
use super::console::ConsoleState;
use super::events::{DeliveryObserver, log_auth_event};
use super::graph::Graph;
use super::limits::{Limiting, Limits};
use super::lists::rules_of_desk;
use super::metrics::Metrics;
use super::openapi::Document;
use super::operator::Operator;
use super::shared::Shared;
use super::traced::Traced;
use super::{App, problem};
use crate::clock::DemoClock;
use crate::desk::Desk;
use crate::mail::Mail;
use crate::seed;
use crate::stores::Stores;

/// All scopes.
pub(crate) const SCOPES: &str = "openid email profile read:charges write:charges write:refunds";

/// First characters of the ids of the service's own clients.
pub(crate) const RESERVED_CLIENTS: [&str; 2] = ["demo-", "desk-"];

/// Default time for which a signing key signs.
pub(crate) const KEY_ROTATION: Duration = Duration::from_secs(90 * 86_400);

/// Configuration of a service.
#[non_exhaustive]
pub struct Config {
    /// Base URL by which clients reach the service, without a trailing slash. It is the issuer and
    /// the audience of the tokens.
    pub base_url: String,
    /// Database of the desk and of the crates' stores.
    pub database: Stores,
    /// Clock of all crates.
    pub clock: DemoClock,
    /// Demo only: email address of the user that every browser is signed in as, without login and
    /// consent pages. `None` by default.
    pub sign_in_as: Option<String>,
    /// Demo only: allows webhooks to loopback addresses. On a server, clients could then reach its
    /// internal services.
    pub danger_deliver_to_loopback: bool,
    /// Receives the mails to users. By default they are discarded.
    pub mail: Mail,
    /// Rate limits.
    pub limits: Limits,
    /// Trusted documents: the only GraphQL operations to run. `None` allows any operation.
    pub trusted_documents: Option<Manifest>,
    /// Origins whose pages can call the service (CORS); none by default.
    pub cross_origins: Vec<String>,
    /// Redis server that the processes on one database share for rate limits, persisted queries and
    /// announcements of changed charges; `None` by default.
    pub redis: Option<host_store_redis::redis::Client>,
    /// Clients beside those of the demo and of the database; none by default.
    pub clients: Vec<RegisteredClient>,
    /// Registers the demo's user and clients, whose secrets are public; `true` by default. With
    /// `false`, only [`clients`](Self::clients) are known. The first service on a database decides
    /// for those that follow: another one is refused at the start.
    pub demo: bool,
    /// Format and audiences of access tokens.
    pub access_tokens: AccessTokens,
    /// Time for which a signing key signs: 2 to 365 days, by default 90. The next one is published
    /// a day before it signs, and a key for nine hours after it has signed.
    pub key_rotation: Duration,
    /// Proxies whose `X-Forwarded-For` is believed; none by default.
    pub proxies: TrustedProxies,
    /// Serves `/healthz`, `/readyz` and `/metrics` beside the app's own routes; `false` by default.
    /// [`App::handle_operator`] always serves them.
    pub operator_routes: bool,
    /// Demo only: lets a signed-in person cause faults on a page of the console; `false` by
    /// default. Only the feature `break-it` has this field.
    #[cfg(feature = "break-it")]
    pub allow_faults: bool,
}

impl Config {
    /// Creates a configuration with the machine's clock; mails are discarded.
    #[must_use]
    pub fn new(base_url: impl Into<String>, database: impl Into<Stores>) -> Self {
        Self {
            base_url: base_url.into(),
            database: database.into(),
            clock: DemoClock::new(),
            sign_in_as: None,
            danger_deliver_to_loopback: false,
            mail: Arc::new(|_| {}),
            limits: Limits::default(),
            trusted_documents: None,
            cross_origins: Vec::new(),
            redis: None,
            clients: Vec::new(),
            demo: true,
            access_tokens: AccessTokens::default(),
            key_rotation: KEY_ROTATION,
            proxies: TrustedProxies::new(),
            operator_routes: false,
            #[cfg(feature = "break-it")]
            allow_faults: false,
        }
    }
}

impl fmt::Debug for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Config")
            .field("base_url", &self.base_url)
            .finish_non_exhaustive()
    }
}

/// A step of the service's construction failed.
#[derive(Debug, Error)]
#[error("cannot start the service: {step}")]
pub struct OpenError {
    step: &'static str,
    source: Box<dyn std::error::Error + Send + Sync>,
}

/// The email address of `--sign-in-as` belongs to no user.
#[derive(Debug, Error)]
#[error("no user has this email address")]
struct UnknownUser;

/// The database belongs to a service with the demo, or to one without it, and not to this one.
#[derive(Debug, Error)]
enum OtherDemo {
    #[error(
        "its users and clients include those of the demo, whose secrets are public; name another database"
    )]
    Present,
    #[error("it belongs to a service without the demo; set no-demo, or name another database")]
    Absent,
}

/// Wraps an error with the name of the failed step.
pub(crate) fn at<E: Into<Box<dyn std::error::Error + Send + Sync>>>(
    step: &'static str,
) -> impl FnOnce(E) -> OpenError {
    move |source| OpenError {
        step,
        source: source.into(),
    }
}

impl App {
    /// Builds the service, and with the demo registers its user and clients in the database. The
    /// database is claimed for this kind of service after all other steps, so that a start that
    /// fails does not decide.
    ///
    /// # Errors
    ///
    /// [`OpenError`] names the failed step, for example the creation of a table.
    pub async fn open(mut config: Config) -> Result<Self, OpenError> {
        let mut opened = open_desk(&mut config).await?;
        let demo = opened.demo.take();
        let app = Self::assemble(config, opened).await?;
        claim_database(&app.desk, demo).await?;
        Ok(app)
    }

    /// Builds the service over an open desk.
    async fn assemble(config: Config, opened: OpenDesk) -> Result<Self, OpenError> {
        let console_state = ConsoleState::new(&config);
        let operator = Operator::new(&config.base_url, &config.clock, config.operator_routes)?;
        let addresses = address_policy(config.danger_deliver_to_loopback);
        let OpenDesk {
            desk,
            introspector,
            only_clients,
            ..
        } = opened;
        let Config {
            base_url,
            database: stores,
            clock,
            cross_origins,
            ..
        } = config;
        let shared = Shared::open(config.redis, &desk, &clock, Arc::clone(&stores.queries)).await?;
        let sessions = sessions(&base_url, &stores, &clock)?;
        let parts = Parts {
            base_url: base_url.clone(),
            tokens: config.access_tokens,
            desk: desk.clone(),
            clock: clock.clone(),
            stores: stores.clone(),
            sessions: sessions.clone(),
            addresses: addresses.clone(),
            introspector,
        };
        let conventions = conventions(&base_url, &clock, shared.limiter, &stores, &cross_origins)?;
        Ok(Self {
            sessions,
            console_state,
            authority: RotatingAuthority::open(parts, config.key_rotation).await?,
            only_clients,
            document: Document::new(&base_url, &conventions),
            conventions,
            limiting: Limiting::new(config.limits)?,
            proxies: config.proxies,
            cursors: cursor_keyring(&desk).await?,
            dispatcher: dispatcher(&desk, &stores, &clock, &addresses, &operator.metrics),
            operator,
            graph: Graph::open(&desk, &clock, shared.queries, config.trusted_documents).await?,
            socket_origins: socket_origins(&base_url, &cross_origins)?,
            redis: shared.redis,
            addresses,
            base_url,
            sign_in_as: config.sign_in_as,
            clock,
            mail: config.mail,
            desk,
            stores,
            closing: watch::Sender::new(false),
            draining: watch::Sender::new(false),
            worked: watch::Sender::new(()),
        })
    }
}

/// Origins whose pages can open a WebSocket: the service's own, and those of CORS.
fn socket_origins(base_url: &str, cross_origins: &[String]) -> Result<AllowedOrigins, OpenError> {
    let own = [base_url.to_owned()];
    AllowedOrigins::new(cross_origins.iter().cloned().chain(own)).map_err(at("the origins of WebSockets"))
}

/// The opened desk.
struct OpenDesk {
    desk: Desk,
    introspector: Introspector,
    /// Ids of the configured clients, if there are no others.
    only_clients: Option<HashSet<ClientId>>,
    /// Clients of the demo, which are registered last; `None` without the demo.
    demo: Option<DemoClients>,
}

/// Clients of the demo, and the store that registers them.
struct DemoClients {
    store: Arc<dyn ClientStore>,
    clients: Vec<RegisteredClient>,
}

/// Opens the desk of a database that does not belong to the other kind of service, and lays the
/// configured clients over those of the database.
async fn open_desk(config: &mut Config) -> Result<OpenDesk, OpenError> {
    let (stores, base_url) = (&mut config.database, &config.base_url);
    let desk = Desk::open(stores.clone(), config.clock.clone()).await;
    let desk = desk.map_err(at("the desk's tables"))?;
    let owner = desk.has_demo().await.map_err(at("the database"))?;
    check_owner(owner.unwrap_or(config.demo), config.demo)?;
    check_user(&desk, config.sign_in_as.as_deref(), config.demo).await?;
    let introspector = Introspector::generate(base_url)?;
    let configured = mem::take(&mut config.clients);
    let only_clients = (!config.demo).then(|| ids(&configured));
    let configured = configured.into_iter().chain([introspector.registration()]);
    let store = config.demo.then(|| Arc::clone(&stores.clients));
    let demo = store.clone().map(|store| -> Result<_, OpenError> {
        let clients = seed::clients(base_url, &config.access_tokens.other_apis)?;
        Ok(DemoClients { store, clients })
    });
    let demo = demo.transpose()?;
    stores.clients = Arc::new(Clients::new(configured, store));
    Ok(OpenDesk {
        desk,
        introspector,
        only_clients,
        demo,
    })
}

fn ids(clients: &[RegisteredClient]) -> HashSet<ClientId> {
    clients.iter().map(|client| client.id.clone()).collect()
}

/// Claims the database for services with the demo, or for those without it, and registers the
/// demo's user and clients. A process with the demo would register them beside a running one
/// without it, and open sessions for both.
async fn claim_database(desk: &Desk, demo: Option<DemoClients>) -> Result<(), OpenError> {
    let owner = desk.claim(demo.is_some()).await.map_err(at("the database"))?;
    check_owner(owner, demo.is_some())?;
    match demo {
        Some(DemoClients { store, clients }) => seed::seed(desk, &*store, clients).await,
        None => Ok(()),
    }
}

/// Checks that a database of services with the demo, or without it, is for this service.
fn check_owner(owner_has_demo: bool, has_demo: bool) -> Result<(), OpenError> {
    match (owner_has_demo, has_demo) {
        (true, false) => Err(at("the database")(OtherDemo::Present)),
        (false, true) => Err(at("the database")(OtherDemo::Absent)),
        _ => Ok(()),
    }
}

/// Checks that the user of `--sign-in-as` exists; the demo registers its own later.
async fn check_user(desk: &Desk, email: Option<&str>, demo: bool) -> Result<(), OpenError> {
    let Some(email) = email.filter(|email| !demo || *email != seed::EMAIL) else {
        return Ok(());
    };
    let user = desk.user_by_email(email).await.map_err(at("--sign-in-as"))?;
    user.map(drop).ok_or(UnknownUser).map_err(at("--sign-in-as"))
}

/// Lease of an idempotency key: after a process died, the key of its request is free for a retry.
/// Longer than a verb of the database; a slower request cannot complete a key that was taken over.
const KEY_LEASE: Duration = Duration::from_secs(20);

/// Builds the layer for idempotency keys.
fn idempotency(base_url: &str, stores: &Stores, clock: &DemoClock) -> Result<Idempotency, OpenError> {
    let base = ProblemBase::new(&problems(base_url)).map_err(at("the problem types"))?;
    let store = Arc::clone(&stores.idempotency);
    let idempotency = Idempotency::new(store, Arc::new(clock.clone()), &OsEntropy, base);
    let idempotency = idempotency.with_lease(KEY_LEASE);
    Ok(idempotency.with_failure_log(|error| {
        error!(
            error = program::in_one_line(error),
            "the store of idempotency keys failed"
        );
    }))
}

/// Base of the problem types.
fn problems(base_url: &str) -> String {
    format!("{base_url}/problems/")
}

/// Builds the conventions that every response follows.
fn conventions(
    base_url: &str,
    clock: &DemoClock,
    limiter: RateLimiter,
    stores: &Stores,
    cross_origins: &[String],
) -> Result<Conventions, OpenError> {
    let problems = problems(base_url);
    let version = "1".parse().map_err(at("the versions"))?;
    let mut conventions = Conventions::builder(&problems, Arc::new(clock.clone()), Arc::new(OsEntropy))
        .with_versions(VersionScheme::Path, [(version, Lifecycle::default())])
        .with_challenge(Challenge::bearer())
        .with_rate_limiter(limiter)
        .with_idempotency(idempotency(base_url, stores, clock)?)
        .with_compression(Compression::gzip())
        .with_page_rules(rules_of_desk())
        .with_problem_types(problem::OWN)
        // a client may not choose the trace: its own is linked
        .with_trace_context(CallerTrust::Untrusted, Sampling::NEVER);
    if !cross_origins.is_empty() {
        conventions = conventions.with_cors(CorsRules::origins(cross_origins.to_vec()));
    }
    conventions.build().map_err(at("the conventions"))
}

/// A secret of this service: 32 random bytes, created on first use and then stored.
pub(crate) async fn secret_bytes(desk: &Desk, name: &'static str) -> Result<[u8; 32], OpenError> {
    let kept = desk
        .host_secret(name, crate::random::<32>().to_vec())
        .await
        .map_err(at("a secret"))?;
    kept.as_slice().try_into().map_err(at("a secret"))
}

async fn cursor_keyring(desk: &Desk) -> Result<CursorKeyring, OpenError> {
    Ok(CursorKeyring::new(CursorKey::new(
        1,
        secret_bytes(desk, "cursor-key").await?,
    )))
}

/// Browser sessions. On plain HTTP, for the demo, the cookie lacks `Secure` and the `__Host-`
/// prefix.
fn sessions(base_url: &str, stores: &Stores, clock: &DemoClock) -> Result<Sessions, OpenError> {
    let cookie = SessionCookie::new("session").map_err(at("the cookie of sessions"))?;
    let cookie = if base_url.starts_with("https:") {
        cookie
    } else {
        cookie.danger_over_plain_http()
    };
    let store = Arc::clone(&stores.sessions);
    let sessions = Sessions::new(store, cookie, clock.clone(), OsEntropy);
    Ok(sessions
        .with_reset_limit(Arc::clone(&stores.attempts.letters), AttemptPolicy::RESETS)
        .with_events(|event| log_auth_event(&event)))
}

/// Allows webhooks to public https addresses only, and in demos also to loopback.
fn address_policy(danger_deliver_to_loopback: bool) -> AddressPolicy {
    if danger_deliver_to_loopback {
        AddressPolicy::new().danger_allow_loopback()
    } else {
        AddressPolicy::new()
    }
}

fn dispatcher(
    desk: &Desk,
    stores: &Stores,
    clock: &DemoClock,
    addresses: &AddressPolicy,
    metrics: &Arc<Metrics>,
) -> Dispatcher {
    let transport = Traced(HyperTransport::new(addresses.clone()));
    Dispatcher::new(
        Arc::clone(&stores.outbox),
        Arc::clone(&stores.endpoints),
        transport,
        clock.clone(),
        timer_fn(tokio::time::sleep),
        OsEntropy,
    )
    .with_address_policy(addresses.clone())
    .with_skew_hold()
    .with_operational_events()
    .with_metrics(DeliveryObserver {
        metrics: Arc::clone(metrics),
        desk: desk.clone(),
    })
}
