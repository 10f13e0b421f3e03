//! Command line options.

use std::env;
use std::error::Error;
use std::net::IpAddr;

use oauth_core::client::ClientCredentials;
use oauth_core::vocabulary::ClientId;
use oauth_core::{Issuer, Scopes};
use url::{Host, Url};
use webhook_core::address::AddressPolicy;

const USAGE: &str = "usage: oauth-login [--issuer http://127.0.0.1:8080] [--client-id demo-web] [--scopes 'openid email profile']
                   [--listen 127.0.0.1:9999]

The secret of the client is read from OAUTH_CLIENT_SECRET; a client without one is public. Register
http://127.0.0.1:9999/callback with the issuer as the redirect URI.";
/// The web client of the payments service.
const DEMO: (&str, &str) = ("demo-web", "demo-web-secret");

pub(crate) struct Options {
    pub(crate) issuer: Issuer,
    pub(crate) client_id: ClientId,
    pub(crate) credentials: ClientCredentials,
    pub(crate) scopes: Scopes,
    pub(crate) listen: String,
}

impl Options {
    pub(crate) fn parse() -> Result<Self, Box<dyn Error>> {
        let (mut issuer, mut client_id) = ("http://127.0.0.1:8080".to_owned(), DEMO.0.to_owned());
        let (mut scopes, mut listen) = ("openid email profile".to_owned(), "127.0.0.1:9999".to_owned());
        let mut arguments = env::args().skip(1);
        while let Some(flag) = arguments.next() {
            let value = arguments.next().ok_or(USAGE)?;
            match flag.as_str() {
                "--issuer" => issuer = value,
                "--client-id" => client_id = value,
                "--scopes" => scopes = value,
                "--listen" => listen = value,
                _ => return Err(USAGE.into()),
            }
        }
        let known = (client_id == DEMO.0).then(|| DEMO.1.to_owned());
        // from the environment: other users of the machine can see the command line
        let credentials = match env::var("OAUTH_CLIENT_SECRET").ok().or(known) {
            Some(secret) => ClientCredentials::Basic(secret.parse()?),
            None => ClientCredentials::None,
        };
        Ok(Self {
            issuer: issuer.parse()?,
            client_id: client_id.parse()?,
            credentials,
            scopes: scopes.parse()?,
            listen,
        })
    }

    /// Allowed addresses of requests: public ones with https at the issuer's port, and loopback if
    /// the issuer is on this machine.
    pub(crate) fn addresses(&self) -> AddressPolicy {
        let policy = AddressPolicy::new();
        let Ok(issuer) = Url::parse(self.issuer.as_str()) else {
            return policy;
        };
        let policy = match issuer.port_or_known_default() {
            Some(port) => policy.with_port(port),
            None => policy,
        };
        let loopback = match issuer.host() {
            Some(Host::Ipv4(address)) => IpAddr::from(address).is_loopback(),
            Some(Host::Ipv6(address)) => IpAddr::from(address).is_loopback(),
            Some(Host::Domain(_)) | None => false,
        };
        if loopback {
            policy.danger_allow_loopback().danger_allow_http()
        } else {
            policy
        }
    }
}
