//! Construction of the service: all crates share one database and one clock.

use std::fmt;
use std::sync::Arc;

use graph_core::persisted::Manifest;
use graph_core::subscription::transport_ws::AllowedOrigins;
use host_ports::timer_fn;
use host_store_sqlite::Database;
use host_transport_hyper::HyperTransport;
use http_conventions::cors::CorsRules;
use http_conventions::errors::{Challenge, ProblemBase};
use http_conventions::forwarding::TrustedProxies;
use http_conventions::idempotency::Idempotency;
use http_conventions::paging::{CursorKey, CursorKeyring};
use http_conventions::pipeline::Conventions;
use http_conventions::ports::OsEntropy;
use http_conventions::tracing::{CallerTrust, Sampling};
use http_conventions::versions::Lifecycle;
use http_conventions::versions::VersionScheme;
use oauth_core::attempts::AttemptPolicy;
use oauth_core::{SessionCookie, Sessions};
use thiserror::Error;
use tokio::sync::watch;
use tracing::error;
use webhook_core::address::AddressPolicy;
use webhook_core::sender::Dispatcher;

use super::authority::{AccessTokens, Authority, Parts};
use super::events::{DeliveryObserver, log_auth_event};
use super::graph::Graph;
use super::guesses::Attempts;
use super::limits::{Limiting, Limits, limiter};
use super::lists::rules_of_desk;
use super::metrics::Metrics;
use super::openapi::Document;
use super::operator::Operator;
use super::traced::Traced;
use super::{App, problem};
use crate::clock::DemoClock;
use crate::desk::Desk;
use crate::mail::Mail;
use crate::seed;

/// All scopes.
pub(crate) const SCOPES: &str = "openid email profile read:charges write:charges write:refunds";

/// Configuration of a service.
#[non_exhaustive]
pub struct Config {
    /// Base URL by which clients reach the service, without a trailing slash. It is the issuer and
    /// the audience of the tokens.
    pub base_url: String,
    /// Database of the desk and of the crates' stores.
    pub database: Database,
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
    /// Redis database over which several processes on one SQLite database announce changed charges;
    /// `None` by default.
    pub redis: Option<host_store_redis::Database>,
    /// Format and audiences of access tokens.
    pub access_tokens: AccessTokens,
    /// Proxies whose `X-Forwarded-For` is believed; none by default.
    pub proxies: TrustedProxies,
    /// Serves `/healthz`, `/readyz` and `/metrics` beside the app's own routes; `false` by default.
    /// [`App::handle_operator`] always serves them.
    pub operator_routes: bool,
}

impl Config {
    /// Creates a configuration with the machine's clock; mails are discarded.
    #[must_use]
    pub fn new(base_url: impl Into<String>, database: Database) -> Self {
        Self {
            base_url: base_url.into(),
            database,
            clock: DemoClock::new(),
            sign_in_as: None,
            danger_deliver_to_loopback: false,
            mail: Arc::new(|_| {}),
            limits: Limits::default(),
            trusted_documents: None,
            cross_origins: Vec::new(),
            redis: None,
            access_tokens: AccessTokens::default(),
            proxies: TrustedProxies::new(),
            operator_routes: false,
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
    /// Builds the service and registers the demo's user and clients in its database.
    ///
    /// # Errors
    ///
    /// [`OpenError`] names the failed step, for example the creation of a table.
    pub async fn open(config: Config) -> Result<Self, OpenError> {
        let Config {
            base_url,
            database,
            clock,
            sign_in_as,
            danger_deliver_to_loopback,
            mail,
            limits,
            trusted_documents,
            cross_origins,
            redis,
            access_tokens,
            proxies,
            operator_routes,
        } = config;
        let desk = open_desk(&database, &clock).await?;
        seed::seed(&desk, &database, &base_url, &access_tokens.other_apis).await?;
        check_user(&desk, sign_in_as.as_deref()).await?;
        let attempts = Attempts::in_database(&database);
        let sessions = sessions(&base_url, &database, &clock, &attempts)?;
        let addresses = address_policy(danger_deliver_to_loopback);
        let parts = Parts {
            desk: &desk,
            clock: &clock,
            attempts: &attempts,
            sessions: &sessions,
            addresses: &addresses,
        };
        let authority = Authority::open(&base_url, access_tokens, &parts).await?;
        let socket_origins = socket_origins(&base_url, &cross_origins)?;
        let conventions = conventions(&base_url, &database, &clock, cross_origins)?;
        let operator = Operator::new(&base_url, &clock, operator_routes)?;
        Ok(Self {
            sessions,
            resources: authority.resources,
            server: authority.server,
            attempts,
            document: Document::new(&base_url, &conventions),
            conventions,
            limiting: Limiting::new(limits)?,
            proxies,
            cursors: cursor_keyring(&desk).await?,
            dispatcher: dispatcher(&database, &clock, &addresses, &operator.metrics),
            operator,
            graph: Graph::open(&desk, &clock, trusted_documents).await?,
            socket_origins,
            redis,
            addresses,
            base_url,
            sign_in_as,
            clock,
            mail,
            desk,
            database,
            closing: watch::Sender::new(false),
            draining: watch::Sender::new(false),
            worked: watch::Sender::new(()),
        })
    }
}

async fn open_desk(database: &Database, clock: &DemoClock) -> Result<Desk, OpenError> {
    let desk = Desk::open(database.clone(), clock.clone()).await;
    desk.map_err(at("the desk's tables"))
}

/// Origins whose pages can open a WebSocket: the service's own, and those of CORS.
fn socket_origins(base_url: &str, cross_origins: &[String]) -> Result<AllowedOrigins, OpenError> {
    let own = [base_url.to_owned()];
    AllowedOrigins::new(cross_origins.iter().cloned().chain(own)).map_err(at("the origins of WebSockets"))
}

/// Checks that the user of `--sign-in-as` exists.
async fn check_user(desk: &Desk, email: Option<&str>) -> Result<(), OpenError> {
    if let Some(email) = email {
        let user = desk.user_by_email(email).await.map_err(at("--sign-in-as"))?;
        user.ok_or(UnknownUser).map_err(at("--sign-in-as"))?;
    }
    Ok(())
}

/// Builds the conventions that every response follows.
fn conventions(
    base_url: &str,
    database: &Database,
    clock: &DemoClock,
    cross_origins: Vec<String>,
) -> Result<Conventions, OpenError> {
    let problems = format!("{base_url}/problems/");
    let base = ProblemBase::new(&problems).map_err(at("the problem types"))?;
    let idempotency = Idempotency::new(
        Arc::new(database.clone()),
        Arc::new(clock.clone()),
        &OsEntropy,
        base,
    )
    .with_failure_log(|error| {
        error!(
            error = program::in_one_line(error),
            "the store of idempotency keys failed"
        );
    });
    let version = "1".parse().map_err(at("the versions"))?;
    let mut conventions = Conventions::builder(&problems, Arc::new(clock.clone()), Arc::new(OsEntropy))
        .with_versions(VersionScheme::Path, [(version, Lifecycle::default())])
        .with_challenge(Challenge::bearer())
        .with_rate_limiter(limiter(clock))
        .with_idempotency(idempotency)
        .with_page_rules(rules_of_desk())
        .with_problem_types(problem::OWN)
        // a client may not choose the trace: its own is linked
        .with_trace_context(CallerTrust::Untrusted, Sampling::NEVER);
    if !cross_origins.is_empty() {
        conventions = conventions.with_cors(CorsRules::origins(cross_origins));
    }
    conventions.build().map_err(at("the conventions"))
}

/// A secret of this service: 32 random bytes, created on first use and then stored.
pub(crate) async fn secret_bytes(desk: &Desk, name: &'static str) -> Result<[u8; 32], OpenError> {
    let kept = desk
        .host_secret(name, || crate::random::<32>().to_vec())
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
fn sessions(
    base_url: &str,
    database: &Database,
    clock: &DemoClock,
    attempts: &Attempts,
) -> Result<Sessions, OpenError> {
    let cookie = SessionCookie::new("session").map_err(at("the cookie of sessions"))?;
    let cookie = if base_url.starts_with("https:") {
        cookie
    } else {
        cookie.danger_over_plain_http()
    };
    let store = Arc::new(database.clone());
    let sessions = Sessions::new(store, cookie, clock.clone(), OsEntropy);
    Ok(sessions
        .with_reset_limit(Arc::clone(&attempts.letters), AttemptPolicy::RESETS)
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
    database: &Database,
    clock: &DemoClock,
    addresses: &AddressPolicy,
    metrics: &Arc<Metrics>,
) -> Dispatcher {
    let transport = Traced(HyperTransport::new(addresses.clone()));
    Dispatcher::new(
        database.clone(),
        database.clone(),
        transport,
        clock.clone(),
        timer_fn(tokio::time::sleep),
        OsEntropy,
    )
    .with_address_policy(addresses.clone())
    .with_skew_hold()
    .with_operational_events()
    .with_metrics(DeliveryObserver(Arc::clone(metrics)))
}
