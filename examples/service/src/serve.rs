//! Runs the service: parses the command line, opens the database, serves and runs the background
//! work.
//!
//! The binary chooses the server, as a function of a [`Serving`].

use std::fmt::{self, Display};
use std::future::Future;
use std::io::{self, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};
use std::pin::pin;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use host_ports::Clock;
use host_server::Limits;
use host_tls::Tls;
use http_body_util::Full;
use http_conventions::routing::AllowedHosts;
use oauth_core::grant::AccessTokenFormat;
use oauth_core::store::RevocationReason;
use tokio::sync::{oneshot, watch};
use tour::{Outputs, RunningDesk};
use tracing::{error, info, warn};
use zeroize::Zeroizing;

use crate::app::{App, Config};
use crate::cli::{Command, DatabaseChoice, Options, TlsFiles};
use crate::clock::DemoClock;
use crate::desk::{Desk, User};
use crate::mail::{Email, Mailbox};
use crate::start::{Files, allowed_hosts, bind, connect, is_local, open_database};
use crate::{logging, seed, tls};

/// Input of a server function.
#[non_exhaustive]
pub struct Serving {
    /// Listener for requests.
    pub listener: TcpListener,
    /// Handler of the requests.
    pub app: Arc<App>,
    /// Certificate of the server; `None` for plain HTTP.
    pub tls: Option<Tls>,
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
    let environment = |name: &str| std::env::var(name).ok();
    let words = std::env::args().skip(1);
    let done = match Command::parse(words, environment, |path| std::fs::read_to_string(path)) {
        Ok(Command::Print(text)) => {
            say(text.trim_end());
            Ok(true)
        }
        Ok(Command::Serve(options)) => serve(&options, &server).await.map(|()| true),
        Ok(Command::Check(options)) => check(&options).map(|()| true),
        Ok(Command::Tour { outputs, database }) => run_tour(&server, &outputs, database.as_ref()).await,
        Ok(Command::AddUser {
            email,
            name,
            database,
        }) => add_user(&email, &name, &database).await.map(|()| true),
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
            complain(error.to_string().trim_end());
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

fn check(options: &Options) -> Result<(), Failure> {
    Files::read(options)?;
    allowed_hosts(options.listen, options)?;
    say("the settings are valid");
    Ok(())
}

async fn serve(options: &Options, server: &impl AsyncFn(Serving) -> io::Result<()>) -> Result<(), Failure> {
    let subscriber = logging::subscriber(options.log_format, options.log.clone(), io::stderr);
    tracing::subscriber::set_global_default(subscriber)?;
    let Files { tls, documents } = Files::read(options)?;
    let listener = bind("--listen", options.listen)?;
    let address = listener.local_addr()?;
    let operator = options
        .operator_listen
        .map(|address| bind("--operator-listen", address));
    let operator = operator.transpose()?;
    let base_url = options
        .base_url
        .clone()
        .unwrap_or_else(|| base_url(address, tls.is_some()));
    let is_local = is_local(options, address);
    let mut config = configure(options, &base_url, is_local).await?;
    config.trusted_documents = documents;
    config.operator_routes = is_local && operator.is_none();
    #[cfg(feature = "break-it")]
    {
        // a fault of the clock would delete rows that other processes still need
        config.allow_faults = is_local && !matches!(options.database, DatabaseChoice::Postgres(_));
    }
    let app = Arc::new(App::open(config).await?);
    let limits = Limits {
        drain_timeout: options.drain_timeout,
        open: app.open_connections(),
        proxies: options.trusted_proxies.clone(),
        hosts: allowed_hosts(address, options)?,
        ..Limits::default()
    };
    let requested = program::stop_requested();
    say(&banner(&base_url, options));
    let reloaded = reload_on_signal(options.tls.as_ref().zip(tls.as_ref()));
    let listeners = Listeners {
        listener,
        tls: tls.clone(),
        operator,
    };
    let stop = async {
        requested.await;
        app.stop();
        tokio::time::sleep(options.drain_delay).await;
    };
    tokio::select! {
        served = run(server, listeners, Arc::clone(&app), limits, stop) => served?,
        () = reloaded => {}
    }
    Ok(())
}

/// Configuration of the app by the settings. `is_local` means that only this machine reaches it.
async fn configure(options: &Options, base_url: &str, is_local: bool) -> Result<Config, Failure> {
    let mut config = Config::new(base_url, open_database(&options.database).await?);
    config.sign_in_as = options.sign_in_as.clone();
    config.cross_origins = options.cross_origins.clone();
    config.proxies = options.trusted_proxies.clone();
    if let Some(url) = &options.redis {
        config.redis = Some(connect(url).await?);
    }
    config.clients.clone_from(&options.clients);
    config.demo = !options.no_demo;
    if config.demo && !is_local {
        warn!(
            user = seed::EMAIL,
            "the demo's user and clients are registered, and their secrets are public: set no-demo"
        );
    }
    config.access_tokens.other_apis.clone_from(&options.other_apis);
    config.access_tokens.other_scopes = options.other_scopes.clone();
    config.key_rotation = options.key_rotation;
    if options.opaque_tokens {
        config.access_tokens.format = AccessTokenFormat::Opaque;
    }
    config.danger_deliver_to_loopback = is_local;
    config.mail = Arc::new(print_mail);
    Ok(config)
}

/// Reads the certificate again on each SIGHUP. Never completes.
#[cfg(unix)]
async fn reload_on_signal(tls: Option<(&TlsFiles, &Tls)>) {
    use tokio::signal::unix::{SignalKind, signal};
    let hangups = tls.and_then(|tls| Some((tls, signal(SignalKind::hangup()).ok()?)));
    let Some(((files, tls), mut hangups)) = hangups else {
        return std::future::pending().await;
    };
    while hangups.recv().await.is_some() {
        match tls::reload(files, tls) {
            Ok(()) => info!("the certificate was read again"),
            Err(fault) => error!(fault, "the former certificate stays in use"),
        }
    }
    std::future::pending::<()>().await;
}

#[cfg(not(unix))]
async fn reload_on_signal(_tls: Option<(&TlsFiles, &Tls)>) {
    std::future::pending().await
}

/// Registers a user, whose password is the first line of standard input.
async fn add_user(email: &str, name: &str, database: &DatabaseChoice) -> Result<(), Failure> {
    let mut password = Zeroizing::new(String::new());
    io::stdin().read_line(&mut password)?;
    let password = password.trim_end_matches(['\r', '\n']).parse()?;
    let stores = open_database(database).await?;
    let desk = Desk::open(stores, DemoClock::new()).await?;
    let id = u128::from_be_bytes(crate::random());
    let user = User::new(format!("usr_{id:032x}"), email, name);
    if !desk.register_user(user, password).await? {
        return Err(format!("the email address `{email}` belongs to a user already").into());
    }
    say(&format!("registered {email}"));
    Ok(())
}

/// Locks the account and ends its sessions and tokens, or unlocks it.
async fn set_lock(email: &str, is_locked: bool, database: &DatabaseChoice) -> Result<(), Failure> {
    let stores = open_database(database).await?;
    let desk = Desk::open(stores.clone(), DemoClock::new()).await?;
    let user = desk.user_by_email(email).await?;
    let user = user.ok_or_else(|| format!("no user has the email address `{email}`"))?;
    let subject = user.subject.parse()?;
    if !is_locked {
        stores.locks.unlock_subject(&subject).await?;
        say(&format!("unlocked {email}"));
        return Ok(());
    }
    stores.locks.lock_subject(&subject).await?;
    let (reason, now) = (RevocationReason::SuspiciousActivity, SystemTime::now());
    let revoked = stores
        .sessions
        .revoke_subject(&subject, None, reason, now)
        .await?;
    let (sessions, families) = (revoked.sessions, revoked.families);
    say(&format!(
        "locked {email}: {sessions} sessions and {families} token families ended"
    ));
    Ok(())
}

async fn run_tour(
    server: &impl AsyncFn(Serving) -> io::Result<()>,
    outputs: &Outputs,
    database: Option<&DatabaseChoice>,
) -> Result<bool, Failure> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let address = listener.local_addr()?;
    let base_url = base_url(address, false);
    let limits = Limits {
        drain_timeout: Duration::from_secs(1),
        hosts: allowed_hosts(address, &Options::default())?,
        ..Limits::default()
    };
    let folder = tempfile::tempdir()?;
    let clock = DemoClock::new();
    let file = DatabaseChoice::File(folder.path().join("tour.sqlite"));
    let mut config = Config::new(&base_url, open_database(database.unwrap_or(&file)).await?);
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
        let passed = tour::walk(&base_url, desk, outputs).await;
        let _served = stop.send(());
        passed
    };
    let shutdown = stopped.map(|_| ());
    let listeners = Listeners {
        listener,
        tls: None,
        operator: None,
    };
    let (passed, served) = tokio::join!(walk, run(server, listeners, app, limits, shutdown));
    served?;
    Ok(passed?)
}

/// Access of the tour to instances of the desk in this process.
#[derive(Debug)]
#[expect(
    clippy::exhaustive_structs,
    reason = "built by the code that opens the instances"
)]
pub struct Toured {
    /// Clock of the instances.
    pub clock: DemoClock,
    /// Mail of the instances.
    pub letters: Mailbox,
    /// Changes when an instance has booked refunds or settled deliveries ([`App::progress`]).
    pub progress: watch::Receiver<()>,
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

/// Listener for requests with its certificate, and the one of the operator's network.
struct Listeners {
    listener: TcpListener,
    tls: Option<Tls>,
    operator: Option<TcpListener>,
}

/// Serves and runs the background work until `shutdown`. The operator's routes are served until the
/// open requests are finished.
async fn run(
    server: &impl AsyncFn(Serving) -> io::Result<()>,
    listeners: Listeners,
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
        listener: listeners.listener,
        tls: listeners.tls,
        app: Arc::clone(&app),
        limits,
        shutdown: stopped.map(|_| ()).boxed(),
    };
    let operator = serve_operator(listeners.operator, &app);
    let mut work = pin!(app.work());
    let served = tokio::select! {
        served = server(serving) => served,
        served = operator => served,
        () = &mut work => return Ok(()),
        () = shutdown => Ok(()),
    };
    app.drain();
    // later deliveries stay in the database, and their leases are freed by the next process
    let _drained = tokio::time::timeout(drain_timeout, work).await;
    served
}

/// Serves the operator's routes on their own listener. On all addresses but loopback they answer
/// for any host: a probe names the address of a container.
async fn serve_operator(listener: Option<TcpListener>, app: &Arc<App>) -> io::Result<()> {
    let Some(listener) = listener else {
        return std::future::pending().await;
    };
    let address = listener.local_addr()?;
    let hosts = match address.ip().is_loopback() {
        true => allowed_hosts(address, &Options::default()).map_err(io::Error::other)?,
        false => AllowedHosts::any(),
    };
    let limits = Limits {
        hosts,
        ..Limits::default()
    };
    let (desk, refusing) = (Arc::clone(app), Arc::clone(app));
    let handler = move |request| {
        let desk = Arc::clone(&desk);
        async move { desk.handle_operator(request).await.map(Full::new) }
    };
    let refuse = move |head: &http::Request<()>, status| refusing.refuse_operator(head, status);
    host_adapter_hyper::serve(listener, handler, refuse, limits, std::future::pending()).await
}

/// URL of a service that listens on `address`, as its clients reach it.
pub(crate) fn base_url(address: SocketAddr, is_tls: bool) -> String {
    let ip = if address.ip().is_unspecified() {
        IpAddr::V4(Ipv4Addr::LOCALHOST)
    } else {
        address.ip()
    };
    let scheme = if is_tls { "https" } else { "http" };
    format!("{scheme}://{}", SocketAddr::new(ip, address.port()))
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
    if let Some(address) = options.operator_listen {
        text.push_str(&format!("  {:<24} http://{address}/metrics\n", "operator"));
    }
    let sign_in = match &options.sign_in_as {
        Some(email) => format!("as {email}, without login and consent pages"),
        None if options.no_demo => "with an account of `service add-user`".to_owned(),
        None => format!("{} / {}", seed::EMAIL, seed::PASSWORD),
    };
    text.push_str(&format!("\n  {:<24} {sign_in}\n  stop with Ctrl-C\n", "sign in"));
    text
}

/// Prints a mail in the place of sending it.
fn print_mail(letter: Email) {
    let Email {
        to, subject, text, ..
    } = letter;
    say(&format!("mail to {to}: {subject}\n{text}"));
}

/// Prints to stdout. If the reader closed the pipe, the text is dropped.
fn say(text: &str) {
    let _closed = writeln!(io::stdout(), "{text}");
}

fn complain(text: impl Display) {
    let _closed = writeln!(io::stderr(), "{text}");
}
