//! The settings of a service, parsed and checked.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use http_conventions::forwarding::TrustedProxies;
use http_conventions::routing::AllowedHosts;
use oauth_core::{RegisteredClient, Scopes};

use super::clients;
use super::settings::Settings;
use crate::app::open::KEY_ROTATION;
use crate::logging::{LogFilter, LogFormat};
use crate::serve::base_url;

/// Longest delay or timeout of a stop, in seconds: an hour.
const LONGEST_DRAIN: u64 = 3600;
/// Form of a database.
pub(super) const DATABASE: &str = "sqlite:FILE, sqlite::memory: or postgres://USER@HOST/NAME";
const ADDRESS: &str = "an address with a port, for example 127.0.0.1:8080";

/// Database of the service.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DatabaseChoice {
    /// `sqlite::memory:`: the data is lost when the process ends.
    Memory,
    /// `sqlite:FILE`.
    File(PathBuf),
    /// `postgres://…`.
    Postgres(ServerUrl),
}

impl fmt::Display for DatabaseChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Memory => f.write_str("a database in memory"),
            Self::File(path) => write!(f, "`{}`", path.display()),
            Self::Postgres(url) => write!(f, "{url}"),
        }
    }
}

/// URL of a database server. It may contain a password, so `Debug` does not show it.
#[derive(Clone, PartialEq, Eq)]
pub struct ServerUrl(pub(super) String);

impl ServerUrl {
    /// The URL, with the password.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for ServerUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerUrl").finish_non_exhaustive()
    }
}

/// Host and port of the server, without the password.
impl fmt::Display for ServerUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let url = self.0.parse::<url::Url>().ok();
        match url
            .as_ref()
            .and_then(|url| Some((url.host_str()?, url.port().unwrap_or(default_port(url.scheme())))))
        {
            Some((host, port)) => write!(f, "`{host}:{port}`"),
            None => f.write_str("the URL"),
        }
    }
}

/// Settings of a service.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Options {
    /// Listen address; 127.0.0.1:8080 by default.
    pub listen: SocketAddr,
    /// Database; `sqlite:payments-desk.sqlite` by default.
    pub database: DatabaseChoice,
    /// Demo only: email address of the user that every browser is signed in as, without login and
    /// consent pages.
    pub sign_in_as: Option<String>,
    /// Manifest of trusted documents: the only GraphQL operations to run. `None` allows any
    /// operation.
    pub trusted_documents: Option<PathBuf>,
    /// Origins whose pages can call the service (CORS).
    pub cross_origins: Vec<String>,
    /// Redis server that the processes on one database share.
    pub redis: Option<ServerUrl>,
    /// Resource URLs of other APIs for which the service also issues tokens.
    pub other_apis: Vec<String>,
    /// Scopes that the service issues for other APIs.
    pub other_scopes: Scopes,
    /// Clients of the configuration file.
    pub clients: Vec<RegisteredClient>,
    /// Leaves out the user and the clients of the demo.
    pub no_demo: bool,
    /// Time for which a signing key signs; 90 days by default.
    pub key_rotation: Duration,
    /// Issues opaque access tokens instead of JWTs.
    pub opaque_tokens: bool,
    /// URL by which clients reach the service; from the listen address by default.
    pub base_url: Option<String>,
    /// Proxies whose `X-Forwarded-For` is believed.
    pub trusted_proxies: TrustedProxies,
    /// Hosts that the service answers for beside those of its URL and its listen address.
    pub allowed_hosts: Vec<String>,
    /// Files of the certificate chain and of its private key. `None` serves plain HTTP.
    pub tls: Option<TlsFiles>,
    /// Listen address of `/healthz`, `/readyz` and `/metrics`. `None` serves them beside the
    /// service if only this machine reaches it, and otherwise not at all.
    pub operator_listen: Option<SocketAddr>,
    /// Least severe level of the log.
    pub log: LogFilter,
    /// Format of the log.
    pub log_format: LogFormat,
    /// Time between the end of the readiness and the end of the listener; zero by default.
    pub drain_delay: Duration,
    /// Limit for open requests and deliveries after the end of the listener; 5 s by default.
    pub drain_timeout: Duration,
}

/// Files of a certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "TLS needs these two files")]
pub struct TlsFiles {
    /// Certificate chain in PEM, the server's own certificate first.
    pub certificate: PathBuf,
    /// Private key in PEM.
    pub key: PathBuf,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from(([127, 0, 0, 1], 8080)),
            database: DatabaseChoice::File(PathBuf::from("payments-desk.sqlite")),
            sign_in_as: None,
            trusted_documents: None,
            cross_origins: Vec::new(),
            redis: None,
            other_apis: Vec::new(),
            other_scopes: Scopes::default(),
            clients: Vec::new(),
            no_demo: false,
            key_rotation: KEY_ROTATION,
            opaque_tokens: false,
            base_url: None,
            trusted_proxies: TrustedProxies::new(),
            allowed_hosts: Vec::new(),
            tls: None,
            operator_listen: None,
            log: LogFilter::default(),
            log_format: LogFormat::default(),
            drain_delay: Duration::ZERO,
            drain_timeout: Duration::from_secs(5),
        }
    }
}

impl Options {
    /// Parses the settings. Each value that cannot be used is one of their mistakes.
    pub(super) fn parse(
        settings: &mut Settings,
        environment: &impl Fn(&str) -> Option<String>,
        read: &impl Fn(&Path) -> io::Result<String>,
    ) -> Self {
        let mut options = Self::default();
        let address = |text: &str| text.parse().ok();
        set(&mut options.listen, settings.parsed("listen", ADDRESS, address));
        options.operator_listen = settings.parsed("operator-listen", ADDRESS, address).pop();
        let database = settings.parsed("database", DATABASE, parse_database);
        set(&mut options.database, database);
        let url = "an https URL without a path, for example https://desk.example.com";
        options.base_url = settings.parsed("base-url", url, parse_base_url).pop();
        let host = "a host with an optional port, for example desk.internal:8080";
        let is_host = |text: &str| AllowedHosts::parse([text]).is_ok().then(|| text.to_owned());
        options.allowed_hosts = settings.parsed("allowed-host", host, is_host);
        let network = "an address or a network, for example 10.0.0.0/8";
        let is_network = |text: &str| {
            let is_valid = TrustedProxies::new().with_network(text).is_ok();
            is_valid.then(|| text.to_owned())
        };
        for text in settings.parsed("trusted-proxy", network, is_network) {
            let proxies = std::mem::take(&mut options.trusted_proxies);
            options.trusted_proxies = proxies.with_network(&text).unwrap_or_default();
        }
        let level = "a level such as info, or levels by target such as warn,service::request=info";
        set(
            &mut options.log,
            settings.parsed("log", level, |text| text.parse().ok()),
        );
        set(
            &mut options.log_format,
            settings.parsed("log-format", "pretty or json", |text| text.parse().ok()),
        );
        let seconds = "a number of seconds up to 3600";
        set(
            &mut options.drain_delay,
            settings.parsed("drain-delay", seconds, parse_seconds),
        );
        set(
            &mut options.drain_timeout,
            settings.parsed("drain-timeout", seconds, parse_seconds),
        );
        set(&mut options.opaque_tokens, settings.switch("opaque-tokens"));
        set(&mut options.no_demo, settings.switch("no-demo"));
        let scope = "a scope, for example read:orders";
        let other_scopes = settings.parsed("scope", scope, |text| text.parse().ok());
        options.other_scopes = other_scopes.into_iter().collect();
        options.other_apis = settings.all("api");
        options.tls = parse_tls(settings);
        let apis = options.apis();
        let issued = (&options.other_scopes, apis.as_slice());
        options.clients = clients::parse(settings, issued, environment, read);
        let days = "a number of days from 2 to 365";
        set(
            &mut options.key_rotation,
            settings.parsed("key-rotation", days, parse_days),
        );
        options.cross_origins = settings.all("allow-origin");
        options.sign_in_as = settings.text("sign-in-as");
        options.trusted_documents = settings.text("trusted-documents").map(PathBuf::from);
        options.redis = parse_redis(settings, read);
        options
    }

    /// APIs that the service issues tokens for: itself, and those of `--api`.
    fn apis(&self) -> Vec<String> {
        let own = self.base_url.clone();
        let own = own.unwrap_or_else(|| base_url(self.listen, self.tls.is_some()));
        std::iter::once(own)
            .chain(self.other_apis.iter().cloned())
            .collect()
    }
}

/// Replaces a default by the value, if there is one.
fn set<T>(option: &mut T, mut values: Vec<T>) {
    if let Some(value) = values.pop() {
        *option = value;
    }
}

fn parse_seconds(text: &str) -> Option<Duration> {
    let seconds = text.parse().ok().filter(|seconds| *seconds <= LONGEST_DRAIN);
    seconds.map(Duration::from_secs)
}

/// Parses the days of a rotation. A key is published for a day before it signs.
fn parse_days(text: &str) -> Option<Duration> {
    let days = text.parse::<u64>().ok().filter(|days| (2..=365).contains(days));
    days.map(|days| Duration::from_secs(days * 86_400))
}

/// Parses an origin that is a valid issuer: `https`, or `http` on a loopback address. Browsers
/// leave out the default port, so an origin with it would be none of theirs.
fn parse_base_url(text: &str) -> Option<String> {
    let (scheme, authority) = text.split_once("://")?;
    let default = if scheme == "https" { ":443" } else { ":80" };
    let is_origin = !authority.contains('/') && !authority.ends_with(default);
    let is_valid = is_origin && text.parse::<oauth_core::Issuer>().is_ok();
    is_valid.then(|| text.to_owned())
}

pub(super) fn parse_database(text: &str) -> Option<DatabaseChoice> {
    match text.strip_prefix("sqlite:") {
        Some(":memory:") => Some(DatabaseChoice::Memory),
        Some("") => None,
        Some(file) => Some(DatabaseChoice::File(PathBuf::from(file))),
        None if text.starts_with("postgres://") || text.starts_with("postgresql://") => {
            Some(DatabaseChoice::Postgres(ServerUrl(text.to_owned())))
        }
        None => None,
    }
}

fn default_port(scheme: &str) -> u16 {
    match scheme {
        "postgres" | "postgresql" => 5432,
        _ => 6379,
    }
}

fn parse_tls(settings: &mut Settings) -> Option<TlsFiles> {
    match (settings.text("tls-cert"), settings.text("tls-key")) {
        (Some(certificate), Some(key)) => Some(TlsFiles {
            certificate: certificate.into(),
            key: key.into(),
        }),
        (None, None) => None,
        (Some(_), None) => {
            settings.refuse("tls-cert", "the private key is missing; add --tls-key FILE");
            None
        }
        (None, Some(_)) => {
            settings.refuse("tls-key", "the certificate is missing; add --tls-cert FILE");
            None
        }
    }
}

fn parse_redis(settings: &mut Settings, read: &impl Fn(&Path) -> io::Result<String>) -> Option<ServerUrl> {
    let url = settings.text("redis").map(ServerUrl);
    let Some(path) = settings.text("redis-file") else {
        return url;
    };
    if url.is_some() {
        settings.refuse("redis-file", "the URL is given twice; remove --redis");
    }
    match read(Path::new(&path)) {
        Ok(text) => Some(ServerUrl(text.trim().to_owned())),
        Err(error) => {
            settings.refuse("redis-file", format!("cannot read `{path}`: {error}"));
            None
        }
    }
}
