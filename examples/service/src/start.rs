//! Start of the service: reads the files that the settings name, binds listeners and opens the
//! stores. An error names the setting, the cause and the way out.

use std::net::{SocketAddr, TcpListener};
use std::path::Path;

use graph_core::persisted::Manifest;
use host_store_redis::redis::Client;
use host_store_sqlite::Database;
use host_tls::Tls;
use http_conventions::forwarding::TrustedProxies;
use http_conventions::routing::{AllowedHosts, InvalidHost};

use crate::cli::{DatabaseChoice, Options, ServerUrl};
use crate::stores::Stores;
use crate::{foreign, tls};

/// Contents of the files that the settings name.
pub(crate) struct Files {
    pub(crate) tls: Option<Tls>,
    pub(crate) documents: Option<Manifest>,
}

impl Files {
    /// Reads the files and checks the settings against each other.
    ///
    /// # Errors
    ///
    /// Every fault, each in a line.
    pub(crate) fn read(options: &Options) -> Result<Self, String> {
        let mut faults = Vec::new();
        let tls = options.tls.as_ref().map(tls::open);
        let tls = tls.and_then(|tls| tls.map_err(|fault| faults.push(fault)).ok());
        let documents = options.trusted_documents.as_deref().map(read_documents);
        let documents = documents.and_then(|read| read.map_err(|fault| faults.push(fault)).ok());
        if let DatabaseChoice::File(path) = &options.database {
            faults.extend(foreign::check(path).err());
        }
        if options.sign_in_as.is_some() && !is_local(options, options.listen) {
            let fault = "--sign-in-as signs every browser in and requires a loopback address: \
                         change --listen, --base-url or --trusted-proxy";
            faults.push(fault.to_owned());
        }
        match faults.is_empty() {
            true => Ok(Self { tls, documents }),
            false => Err(faults.join("\n")),
        }
    }
}

fn read_documents(path: &Path) -> Result<Manifest, String> {
    let shown = path.display();
    let text = std::fs::read(path)
        .map_err(|error| format!("--trusted-documents: cannot read `{shown}`: {error}"))?;
    Manifest::from_json(&text).map_err(|error| {
        let error = program::in_one_line(&error);
        format!("--trusted-documents: `{shown}` is no manifest: {error}")
    })
}

/// Binds a listener for the flag.
pub(crate) fn bind(flag: &str, address: SocketAddr) -> Result<TcpListener, String> {
    TcpListener::bind(address).map_err(|error| {
        format!("{flag}: cannot listen on {address}: {error}; choose another address or stop its program")
    })
}

/// Creates a client of Redis, and connects to the server once. The error names the server, and not
/// the password of the URL.
pub(crate) async fn connect(url: &ServerUrl) -> Result<Client, String> {
    let failed = |error: &dyn std::error::Error| {
        let error = program::in_one_line(error);
        format!("--redis: cannot use {url}: {error}; start the server or leave the flag out")
    };
    let client = Client::open(url.as_str()).map_err(|error| failed(&error))?;
    let connected = host_store_redis::Database::with_client(client.clone(), "payments-desk").await;
    connected.map_err(|error| failed(&error))?;
    Ok(client)
}

/// Opens the database, unless it belongs to another application.
pub(crate) async fn open_database(choice: &DatabaseChoice) -> Result<Stores, String> {
    let failed = |error: &dyn std::error::Error, way_out: &str| {
        let error = program::in_one_line(error);
        format!("--database: cannot open {choice}: {error}; {way_out}")
    };
    let file = "name another file or make this one accessible";
    Ok(match choice {
        DatabaseChoice::Memory => Database::open_in_memory()
            .map_err(|error| failed(&error, file))?
            .into(),
        DatabaseChoice::File(path) => {
            foreign::check(path)?;
            Database::open(path).map_err(|error| failed(&error, file))?.into()
        }
        DatabaseChoice::Postgres(url) => host_store_postgres::Database::connect(url.as_str())
            .await
            .map_err(|error| failed(&error, "start the server or name another one"))?
            .into(),
    })
}

/// The hosts that the service answers for: those of its URL, its listen address and
/// `--allowed-host`. Any host if it listens on all addresses and no flag names a host.
pub(crate) fn allowed_hosts(listen: SocketAddr, options: &Options) -> Result<AllowedHosts, InvalidHost> {
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
pub(crate) fn is_local(options: &Options, listen: SocketAddr) -> bool {
    let host = options.base_url.as_deref().map_or(Some(listen.ip()), |url| {
        let url: http::Uri = url.parse().ok()?;
        url.host()?.trim_matches(['[', ']']).parse().ok()
    });
    let is_loopback = listen.ip().is_loopback() && host.is_some_and(|host| host.is_loopback());
    is_loopback && options.trusted_proxies == TrustedProxies::new()
}

#[cfg(test)]
mod tests {
    use http::Request;

    use super::*;

    /// X9: what is for this machine alone needs a loopback listener under such a name.
    #[test]
    fn only_loopback_is_local() {
        for (listen, base_url, expected) in [
            ("127.0.0.1:80", None, true),
            ("[::1]:80", Some("http://[::1]:80"), true),
            ("0.0.0.0:80", None, false),
            ("192.0.2.1:80", None, false),
            ("127.0.0.1:80", Some("https://desk.example.com"), false),
            ("0.0.0.0:80", Some("http://127.0.0.1:80"), false),
        ] {
            let options = Options {
                base_url: base_url.map(str::to_owned),
                ..Options::default()
            };
            assert_eq!(
                is_local(&options, listen.parse().unwrap()),
                expected,
                "{listen} {base_url:?}"
            );
        }
    }

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
