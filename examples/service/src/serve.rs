//! Runs the service: parses the command line, opens the database, serves and runs the background
//! work.
//!
//! The binary chooses the server, as a function of a [`Serving`].

use std::fmt::{self, Display};
use std::future::Future;
use std::io::{self, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};
use std::path::Path;
use std::pin::pin;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use graph_core::persisted::Manifest;
use host_ports::Clock;
use host_server::Limits;
use host_store_sqlite::Database;
use http_conventions::forwarding::TrustedProxies;
use http_conventions::routing::{AllowedHosts, InvalidHost};
use oauth_core::grant::AccessTokenFormat;
use oauth_core::store::{RevocationReason, SessionStore, SubjectLocks};
use tokio::sync::{oneshot, watch};
use tour::RunningDesk;

use crate::app::{App, Config};
use crate::cli::{Command, DatabaseChoice, Options, USAGE};
use crate::clock::DemoClock;
use crate::desk::Desk;
use crate::mail::Mailbox;
use crate::seed;

/// Input of a server function.
#[non_exhaustive]
pub struct Serving {
    /// Listener for requests.
    pub listener: TcpListener,
    /// Handler of the requests.
    pub app: Arc<App>,
    /// Limits of the server.
    pub limits: Limits,
    /// Completes when the service is to stop.
    pub shutdown: BoxFuture<'static, ()>,
}

impl fmt::Debug for Serving {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Serving")
            .field("listener", &self.listener)
            .finish_non_exhaustive()
    }
}

/// Runs the command line's command and serves with `server`.
pub async fn main(server: impl AsyncFn(Serving) -> io::Result<()>) -> ExitCode {
    let done = match Command::parse(std::env::args().skip(1)) {
        Ok(Command::Help) => {
            say(USAGE);
            Ok(true)
        }
        Ok(Command::Serve(options)) => serve(&options, &server).await.map(|()| true),
        Ok(Command::Tour { record }) => run_tour(&server, record.as_deref()).await,
        Ok(Command::SetLock {
            email,
            is_locked,
            database,
        }) => set_lock(&email, is_locked, &database).await.map(|()| true),
        Ok(Command::Schema) => App::graph_schema().map_err(Failure::from).map(|schema| {
            say(schema.trim_end());
            true
        }),
        Err(error) => {
            complain(format_args!("{error}\n\n{USAGE}"));
            return ExitCode::from(2);
        }
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            complain(program::in_one_line(error.as_ref()));
            ExitCode::FAILURE
        }
    }
}

type Failure = Box<dyn std::error::Error>;

async fn serve(options: &Options, server: &impl AsyncFn(Serving) -> io::Result<()>) -> Result<(), Failure> {
    let listener = TcpListener::bind(options.listen)
        .map_err(|error| format!("--listen: cannot listen on {}: {error}", options.listen))?;
    let address = listener.local_addr()?;
    let base_url = options.base_url.clone().unwrap_or_else(|| base_url(address));
    let is_local = is_local(address.ip(), &base_url, &options.trusted_proxies);
    if options.sign_in_as.is_some() && !is_local {
        return Err(
            "--sign-in-as signs every browser in and requires a loopback address: change --listen, \
                    --base-url or --trusted-proxy"
                .into(),
        );
    }
    let database = open_database(&options.database)?;
    let mut config = Config::new(&base_url, database);
    config.sign_in_as = options.sign_in_as.clone();
    if let Some(path) = &options.trusted_documents {
        let unread =
            |error: io::Error| format!("--trusted-documents: cannot read `{}`: {error}", path.display());
        config.trusted_documents = Some(Manifest::from_json(&std::fs::read(path).map_err(unread)?)?);
    }
    config.cross_origins = options.cross_origins.clone();
    config.proxies = options.trusted_proxies.clone();
    if let Some(url) = &options.redis {
        config.redis = Some(host_store_redis::Database::connect(url.as_str(), "payments-desk").await?);
    }
    config.access_tokens.other_apis.clone_from(&options.other_apis);
    if options.opaque_tokens {
        config.access_tokens.format = AccessTokenFormat::Opaque;
    }
    config.danger_deliver_to_loopback = is_local;
    config.mail = Arc::new(|letter| {
        say(&format!(
            "mail to {}: {}\n{}",
            letter.to, letter.subject, letter.text
        ));
    });
    let app = Arc::new(App::open(config).await?);
    let limits = Limits {
        drain_timeout: Duration::from_secs(5),
        proxies: options.trusted_proxies.clone(),
        hosts: allowed_hosts(address, options)?,
        ..Limits::default()
    };
    say(&banner(&base_url, options));
    run(server, listener, app, limits, program::stop_requested()).await?;
    Ok(())
}

/// The hosts that the service answers for: those of its URL, its listen address and
/// `--allowed-host`. Any host if it listens on all addresses and no flag names a host.
fn allowed_hosts(listen: SocketAddr, options: &Options) -> Result<AllowedHosts, InvalidHost> {
    let mut hosts = options.allowed_hosts.clone();
    let base_url = options.base_url.as_ref().and_then(|url| url.split_once("://"));
    hosts.extend(base_url.map(|(_, authority)| authority.to_owned()));
    if !listen.ip().is_unspecified() {
        hosts.push(listen.to_string());
    }
    if listen.ip().is_loopback() {
        hosts.push(format!("localhost:{}", listen.port()));
    }
    AllowedHosts::parse(hosts)
}

/// Returns `true` if only this machine reaches the service: it listens on a loopback address, under
/// a URL of such an address, without a proxy in front.
fn is_local(listen: IpAddr, base_url: &str, proxies: &TrustedProxies) -> bool {
    let host = base_url.parse::<http::Uri>().ok();
    let host = host.and_then(|url| url.host()?.trim_matches(['[', ']']).parse::<IpAddr>().ok());
    listen.is_loopback() && host.is_some_and(|host| host.is_loopback()) && *proxies == TrustedProxies::new()
}

fn open_database(choice: &DatabaseChoice) -> Result<Database, Failure> {
    Ok(match choice {
        DatabaseChoice::Memory => Database::open_in_memory()?,
        DatabaseChoice::File(path) => Database::open(path)?,
    })
}

/// Locks the account and ends its sessions and tokens, or unlocks it.
async fn set_lock(email: &str, is_locked: bool, database: &DatabaseChoice) -> Result<(), Failure> {
    let database = open_database(database)?;
    let desk = Desk::open(database.clone(), DemoClock::new()).await?;
    let user = desk.user_by_email(email).await?;
    let user = user.ok_or_else(|| format!("no user has the email address `{email}`"))?;
    let subject = user.subject.parse()?;
    if !is_locked {
        database.unlock_subject(&subject).await?;
        say(&format!("unlocked {email}"));
        return Ok(());
    }
    database.lock_subject(&subject).await?;
    let (reason, now) = (RevocationReason::SuspiciousActivity, SystemTime::now());
    let revoked = database.revoke_subject(&subject, None, reason, now).await?;
    let (sessions, families) = (revoked.sessions, revoked.families);
    say(&format!(
        "locked {email}: {sessions} sessions and {families} token families ended"
    ));
    Ok(())
}

async fn run_tour(
    server: &impl AsyncFn(Serving) -> io::Result<()>,
    record: Option<&Path>,
) -> Result<bool, Failure> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let address = listener.local_addr()?;
    let base_url = base_url(address);
    let limits = Limits {
        drain_timeout: Duration::from_secs(1),
        hosts: allowed_hosts(address, &Options::default())?,
        ..Limits::default()
    };
    let folder = tempfile::tempdir()?;
    let clock = DemoClock::new();
    let mut config = Config::new(&base_url, Database::open(folder.path().join("tour.sqlite"))?);
    config.clock = clock.clone();
    config.danger_deliver_to_loopback = true;
    let letters = Mailbox::default();
    config.mail = letters.as_mail();
    let app = Arc::new(App::open(config).await?);
    let (stop, stopped) = oneshot::channel::<()>();
    let progress = app.progress();
    let walk = async {
        let desk = Arc::new(Toured {
            clock,
            letters,
            progress,
        });
        let passed = tour::walk(&base_url, desk, record).await;
        let _served = stop.send(());
        passed
    };
    let shutdown = stopped.map(|_| ());
    let (passed, served) = tokio::join!(walk, run(server, listener, app, limits, shutdown));
    served?;
    Ok(passed?)
}

/// Access of the tour to this process.
struct Toured {
    clock: DemoClock,
    letters: Mailbox,
    progress: watch::Receiver<()>,
}

impl Clock for Toured {
    fn now(&self) -> SystemTime {
        self.clock.now()
    }

    fn monotonic(&self) -> Duration {
        self.clock.monotonic()
    }
}

impl RunningDesk for Toured {
    fn advance(&self, by: Duration) {
        self.clock.advance(by);
    }

    fn progress(&self) -> watch::Receiver<()> {
        let mut progress = self.progress.clone();
        progress.mark_unchanged();
        progress
    }

    fn take_mail(&self) -> Option<String> {
        self.letters.take().map(|letter| letter.text)
    }
}

/// Serves and runs the background work until `shutdown`.
async fn run(
    server: &impl AsyncFn(Serving) -> io::Result<()>,
    listener: TcpListener,
    app: Arc<App>,
    limits: Limits,
    shutdown: impl Future<Output = ()>,
) -> io::Result<()> {
    let (stop, stopped) = oneshot::channel::<()>();
    let shutdown = async {
        shutdown.await;
        app.close();
        let _serving = stop.send(());
        std::future::pending::<()>().await;
    };
    let drain_timeout = limits.drain_timeout;
    let serving = Serving {
        listener,
        app: Arc::clone(&app),
        limits,
        shutdown: stopped.map(|_| ()).boxed(),
    };
    let mut work = pin!(app.work());
    let served = tokio::select! {
        served = server(serving) => served,
        () = &mut work => return Ok(()),
        () = shutdown => Ok(()),
    };
    app.drain();
    // later deliveries stay in the database, and their leases are freed by the next process
    let _drained = tokio::time::timeout(drain_timeout, work).await;
    served
}

/// URL of a service that listens on `address`, as its clients reach it.
fn base_url(address: SocketAddr) -> String {
    let ip = if address.ip().is_unspecified() {
        IpAddr::V4(Ipv4Addr::LOCALHOST)
    } else {
        address.ip()
    };
    format!("http://{}", SocketAddr::new(ip, address.port()))
}

fn banner(base_url: &str, options: &Options) -> String {
    let places = [
        ("console", ""),
        ("graph, with an explorer", "/graphql"),
        ("authorize", "/authorize"),
        ("token", "/token"),
        ("introspect, revoke", "/oauth/introspect  /oauth/revoke"),
        ("discovery", "/.well-known/openid-configuration"),
        ("OpenAPI document", "/openapi.json"),
        ("charges", "/v1/charges"),
        ("webhook endpoints", "/v1/webhook-endpoints"),
    ];
    let mut text = "the payments desk is running\n\n".to_owned();
    for (name, path) in places {
        text.push_str(&format!("  {name:<24} {base_url}{path}\n"));
    }
    let sign_in = match &options.sign_in_as {
        Some(email) => format!("as {email}, without login and consent pages"),
        None => format!("{} / {}", seed::EMAIL, seed::PASSWORD),
    };
    text.push_str(&format!("\n  {:<24} {sign_in}\n  stop with Ctrl-C\n", "sign in"));
    text
}

/// Prints to stdout. If the reader closed the pipe, the text is dropped.
fn say(text: &str) {
    let _closed = writeln!(io::stdout(), "{text}");
}

fn complain(text: impl Display) {
    let _closed = writeln!(io::stderr(), "{text}");
}

#[cfg(test)]
mod tests {
    use http::Request;

    use super::*;

    /// H26: pages of other names that resolve to this machine get no answer.
    #[test]
    fn service_answers_for_its_own_hosts() {
        let check = |listen: &str, base_url: Option<&str>, host: &str, is_allowed| {
            let options = Options {
                base_url: base_url.map(str::to_owned),
                allowed_hosts: vec!["desk.internal".to_owned()],
                ..Options::default()
            };
            let hosts = allowed_hosts(listen.parse().unwrap(), &options).unwrap();
            let request = Request::get("/").header("host", host).body(()).unwrap();
            assert_eq!(hosts.check(&request).is_ok(), is_allowed, "{listen} {host}");
        };
        let local = "127.0.0.1:8080";
        for host in [local, "localhost:8080", "desk.internal"] {
            check(local, None, host, true);
        }
        check(local, None, "rebound.example:8080", false);
        check(local, None, "127.0.0.1:81", false);
        let public = Some("https://desk.example.com");
        check("0.0.0.0:80", public, "desk.example.com", true);
        check("0.0.0.0:80", public, "192.0.2.1", false);
        let any = allowed_hosts("0.0.0.0:80".parse().unwrap(), &Options::default()).unwrap();
        let request = Request::get("/").header("host", "192.0.2.1").body(()).unwrap();
        assert_eq!(any.check(&request), Ok(()));
    }
}
