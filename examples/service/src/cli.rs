//! The command line: commands and flags.

use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;

use http_conventions::{forwarding::TrustedProxies, routing::AllowedHosts};
use thiserror::Error;

/// Text that `--help` prints.
pub const USAGE: &str = "\
The payments desk: graph-core, oauth-core, webhook-core and http-conventions in one service.

usage: service tour [--record FILE]
       service schema
       service lock EMAIL [--database sqlite:FILE]
       service unlock EMAIL [--database sqlite:FILE]
       service [--listen ADDRESS] [--database sqlite:FILE|sqlite::memory:] [--sign-in-as EMAIL]
               [--trusted-documents FILE] [--allow-origin ORIGIN]... [--redis URL]
               [--api URL]... [--opaque-tokens] [--base-url URL] [--trusted-proxy NETWORK]...
               [--allowed-host HOST]...

  tour                      start on a free port with a new database, check every feature over HTTP; exit with 0 or 1
  --record FILE             write the responses of the tour to FILE as JSON, without secrets
  schema                    print the GraphQL schema
  lock EMAIL                lock an account: its sessions end, and its tokens are refused until `unlock`
  unlock EMAIL              unlock an account
  --listen ADDRESS          listen address (default: 127.0.0.1:8080)
  --database DATABASE       database of the service (default: sqlite:payments-desk.sqlite)
  --sign-in-as EMAIL        demo only: every browser is signed in as this user, without login and consent pages
  --trusted-documents FILE  run only the GraphQL operations of this manifest (Apollo format, or {\"id\": \"text\"})
  --allow-origin ORIGIN     allow pages of this origin to call the service (CORS), for example https://app.example.com
  --redis URL               Redis server over which processes on one database announce changed charges
  --api URL                 also issue tokens for this API; it calls introspection as demo-api / demo-api-secret
  --opaque-tokens           issue opaque access tokens instead of JWTs
  --base-url URL            URL by which clients reach the service, and issuer of its tokens (default: from --listen)
  --trusted-proxy NETWORK   believe X-Forwarded-For of this proxy, for example 10.0.0.1 or 10.0.0.0/8
  --allowed-host HOST       also answer for this Host, beside those of --base-url and --listen
";

/// Database of the service.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DatabaseChoice {
    /// `sqlite::memory:`: the data is lost when the process ends.
    Memory,
    /// `sqlite:FILE`.
    File(PathBuf),
}

/// URL of a Redis server. It may contain a password, so `Debug` does not show it.
#[derive(Clone, PartialEq, Eq)]
pub struct RedisUrl(String);

impl RedisUrl {
    /// The URL, with the password.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for RedisUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisUrl").finish_non_exhaustive()
    }
}

/// Flags of a service.
#[derive(Clone, Debug, PartialEq, Eq)]
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
    /// Redis server over which processes on one database announce changed charges.
    pub redis: Option<RedisUrl>,
    /// Resource URLs of other APIs for which the service also issues tokens.
    pub other_apis: Vec<String>,
    /// Issues opaque access tokens instead of JWTs.
    pub opaque_tokens: bool,
    /// URL by which clients reach the service; from the listen address by default.
    pub base_url: Option<String>,
    /// Proxies whose `X-Forwarded-For` is believed.
    pub trusted_proxies: TrustedProxies,
    /// Hosts that the service answers for beside those of its URL and its listen address.
    pub allowed_hosts: Vec<String>,
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
            opaque_tokens: false,
            base_url: None,
            trusted_proxies: TrustedProxies::new(),
            allowed_hosts: Vec::new(),
        }
    }
}

/// A parsed command line.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Command {
    /// Print [`USAGE`].
    Help,
    /// Serve until Ctrl-C or SIGTERM.
    Serve(Box<Options>),
    /// Run the tour and exit.
    Tour {
        /// File for the recorded responses.
        record: Option<PathBuf>,
    },
    /// Print the GraphQL schema.
    Schema,
    /// Lock or unlock the account of a user, and exit.
    SetLock {
        /// Email address of the user.
        email: String,
        /// `true` to lock.
        is_locked: bool,
        /// Database of the service.
        database: DatabaseChoice,
    },
}

/// An invalid command line.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum UsageError {
    /// A flag has no value.
    #[error("{0}: the value is missing")]
    MissingValue(String),
    /// A flag has an invalid value.
    #[error("{flag}: `{value}` is not {expected}")]
    InvalidValue {
        /// The flag.
        flag: &'static str,
        /// The value.
        value: String,
        /// Description of a valid value.
        expected: &'static str,
    },
    /// `tour` with a flag other than `--record`: the tour has fixed settings.
    #[error("`tour` accepts no flag except `--record`")]
    FlagOfTour,
    /// `--record` without `tour`.
    #[error("`--record` works only with `tour`")]
    NothingToRecord,
    /// `schema` with another argument.
    #[error("`schema` accepts no other argument")]
    SchemaAlone,
    /// `lock` or `unlock` with a flag other than `--database`.
    #[error("`lock` and `unlock` accept no flag except `--database`")]
    FlagOfLock,
    /// An argument that is neither a command nor a flag.
    #[error("`{0}` is neither a command nor a flag; see --help")]
    Unknown(String),
}

impl Command {
    /// Parses the arguments after the program's name.
    ///
    /// # Errors
    ///
    /// Returns a [`UsageError`] that names the invalid argument.
    pub fn parse(words: impl IntoIterator<Item = String>) -> Result<Self, UsageError> {
        let mut words = words.into_iter();
        let mut options = Options::default();
        let (mut tour, mut schema, mut record, mut lock) = (false, false, None, None);
        while let Some(word) = words.next() {
            let mut value = |flag: &str| {
                words
                    .next()
                    .ok_or_else(|| UsageError::MissingValue(flag.to_owned()))
            };
            match word.as_str() {
                "-h" | "--help" => return Ok(Self::Help),
                "tour" => tour = true,
                "--record" => record = Some(PathBuf::from(value("--record")?)),
                "schema" => schema = true,
                "lock" => lock = Some((value("lock")?, true)),
                "unlock" => lock = Some((value("unlock")?, false)),
                "--listen" => options.listen = parse_listen(value("--listen")?)?,
                "--database" => options.database = parse_database(value("--database")?)?,
                "--allow-origin" => options.cross_origins.push(value("--allow-origin")?),
                "--api" => options.other_apis.push(value("--api")?),
                "--opaque-tokens" => options.opaque_tokens = true,
                "--base-url" => options.base_url = Some(parse_base_url(value("--base-url")?)?),
                "--trusted-proxy" => {
                    let proxies = options.trusted_proxies;
                    options.trusted_proxies = parse_proxy(proxies, value("--trusted-proxy")?)?;
                }
                "--allowed-host" => options.allowed_hosts.push(parse_host(value("--allowed-host")?)?),
                "--redis" => options.redis = Some(RedisUrl(value("--redis")?)),
                "--sign-in-as" => options.sign_in_as = Some(value("--sign-in-as")?),
                "--trusted-documents" => {
                    options.trusted_documents = Some(value("--trusted-documents")?.into());
                }
                _ => return Err(UsageError::Unknown(word)),
            }
        }
        if let Some((email, is_locked)) = lock {
            let database = std::mem::replace(&mut options.database, Options::default().database);
            let is_alone = !tour && !schema && record.is_none() && options == Options::default();
            let command = Self::SetLock {
                email,
                is_locked,
                database,
            };
            return is_alone.then_some(command).ok_or(UsageError::FlagOfLock);
        }
        let plain = options == Options::default();
        match (tour, schema) {
            (false, true) if plain && record.is_none() => Ok(Self::Schema),
            (_, true) => Err(UsageError::SchemaAlone),
            (false, false) if record.is_some() => Err(UsageError::NothingToRecord),
            (false, false) => Ok(Self::Serve(Box::new(options))),
            (true, false) if plain => Ok(Self::Tour { record }),
            (true, false) => Err(UsageError::FlagOfTour),
        }
    }
}

fn parse_listen(value: String) -> Result<SocketAddr, UsageError> {
    value.parse().map_err(|_| UsageError::InvalidValue {
        flag: "--listen",
        value,
        expected: "an address with a port, for example 127.0.0.1:8080",
    })
}

/// Parses an origin that is a valid issuer: `https`, or `http` on a loopback address.
fn parse_base_url(value: String) -> Result<String, UsageError> {
    let has_path = value.split_once("://").is_none_or(|(_, rest)| rest.contains('/'));
    if has_path || value.parse::<oauth_core::Issuer>().is_err() {
        return Err(UsageError::InvalidValue {
            flag: "--base-url",
            value,
            expected: "an https URL without a path, for example https://desk.example.com",
        });
    }
    Ok(value)
}

fn parse_host(value: String) -> Result<String, UsageError> {
    match AllowedHosts::parse([&value]) {
        Ok(_) => Ok(value),
        Err(_) => Err(UsageError::InvalidValue {
            flag: "--allowed-host",
            value,
            expected: "a host with an optional port, for example desk.internal:8080",
        }),
    }
}

fn parse_proxy(proxies: TrustedProxies, value: String) -> Result<TrustedProxies, UsageError> {
    proxies
        .with_network(&value)
        .map_err(|_| UsageError::InvalidValue {
            flag: "--trusted-proxy",
            value,
            expected: "an address or a network, for example 10.0.0.0/8",
        })
}

fn parse_database(value: String) -> Result<DatabaseChoice, UsageError> {
    match value.strip_prefix("sqlite:") {
        Some(":memory:") => Ok(DatabaseChoice::Memory),
        Some(file) if !file.is_empty() => Ok(DatabaseChoice::File(PathBuf::from(file))),
        _ => Err(UsageError::InvalidValue {
            flag: "--database",
            value,
            expected: "sqlite:FILE or sqlite::memory:",
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Command, UsageError> {
        Command::parse(line.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn no_arguments_serve_with_defaults() {
        assert_eq!(parse(""), Ok(Command::Serve(Box::default())));
    }

    #[test]
    fn tour_accepts_record() {
        let record = Some(PathBuf::from("tour.json"));
        assert_eq!(parse("tour"), Ok(Command::Tour { record: None }));
        assert_eq!(parse("tour --record tour.json"), Ok(Command::Tour { record }));
    }

    #[test]
    fn lock_names_account_and_database() {
        let (email, database) = ("ada@example.com".to_owned(), Options::default().database);
        let lock = |is_locked, database| Command::SetLock {
            email: email.clone(),
            is_locked,
            database,
        };
        assert_eq!(parse("lock ada@example.com"), Ok(lock(true, database)));
        let file = DatabaseChoice::File(PathBuf::from("x"));
        assert_eq!(
            parse("--database sqlite:x unlock ada@example.com"),
            Ok(lock(false, file))
        );
    }

    #[test]
    fn each_flag_sets_its_option() {
        let options = Options {
            listen: SocketAddr::from(([0, 0, 0, 0], 1)),
            database: DatabaseChoice::Memory,
            sign_in_as: Some("ada@example.com".to_owned()),
            trusted_documents: Some(PathBuf::from("list.json")),
            cross_origins: ["https://a.example", "https://b.example"]
                .map(str::to_owned)
                .to_vec(),
            redis: Some(RedisUrl("redis://:s3cret@127.0.0.1".to_owned())),
            other_apis: vec!["https://a.example".to_owned()],
            opaque_tokens: true,
            base_url: Some("https://desk.example.com".to_owned()),
            trusted_proxies: TrustedProxies::new().with_network("10.0.0.0/8").unwrap(),
            allowed_hosts: vec!["desk.internal".to_owned()],
        };
        assert!(!format!("{options:?}").contains("s3cret"));
        let line = "--listen 0.0.0.0:1 --database sqlite::memory: --sign-in-as ada@example.com \
                    --trusted-documents list.json --allow-origin https://a.example \
                    --allow-origin https://b.example --redis redis://:s3cret@127.0.0.1 \
                    --api https://a.example --opaque-tokens --base-url https://desk.example.com \
                    --trusted-proxy 10.0.0.0/8 --allowed-host desk.internal";
        assert_eq!(parse(line), Ok(Command::Serve(Box::new(options))));
    }

    #[test]
    fn invalid_command_line_names_the_argument() {
        for (line, expected) in [
            ("--listen", "--listen: the value is missing"),
            (
                "--listen here",
                "--listen: `here` is not an address with a port, for example 127.0.0.1:8080",
            ),
            (
                "--database mysql:x",
                "--database: `mysql:x` is not sqlite:FILE or sqlite::memory:",
            ),
            (
                "--database sqlite:",
                "--database: `sqlite:` is not sqlite:FILE or sqlite::memory:",
            ),
            (
                "--allowed-host desk/1",
                "--allowed-host: `desk/1` is not a host with an optional port, for example desk.internal:8080",
            ),
            (
                "--base-url desk.example.com",
                "--base-url: `desk.example.com` is not an https URL without a path, for example https://desk.example.com",
            ),
            (
                "--base-url http://desk.example.com",
                "--base-url: `http://desk.example.com` is not an https URL without a path, for example https://desk.example.com",
            ),
            (
                "--base-url https://desk.example.com/",
                "--base-url: `https://desk.example.com/` is not an https URL without a path, for example https://desk.example.com",
            ),
            (
                "--trusted-proxy all",
                "--trusted-proxy: `all` is not an address or a network, for example 10.0.0.0/8",
            ),
            ("serve", "`serve` is neither a command nor a flag; see --help"),
            (
                "tour --listen 127.0.0.1:1",
                "`tour` accepts no flag except `--record`",
            ),
            ("--record tour.json", "`--record` works only with `tour`"),
            ("--sign-in-as a schema", "`schema` accepts no other argument"),
            ("tour schema", "`schema` accepts no other argument"),
            ("lock", "lock: the value is missing"),
            (
                "lock a tour",
                "`lock` and `unlock` accept no flag except `--database`",
            ),
            (
                "unlock a --opaque-tokens",
                "`lock` and `unlock` accept no flag except `--database`",
            ),
        ] {
            assert_eq!(parse(line).unwrap_err().to_string(), expected);
        }
    }
}
