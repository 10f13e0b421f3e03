//! Command line options.

use std::env;
use std::error::Error;
use std::time::Duration;

use oauth_core::vocabulary::ClientId;
use oauth_core::{Issuer, IssuerProfile};

const USAGE: &str = "\
usage: protected-api [--issuer http://127.0.0.1:8080] [--listen 127.0.0.1:8090] [--url http://127.0.0.1:8090]
                     [--issuer-profile rfc9068] [--client demo-api] [--remember 10]

  --issuer URL         issuer of the access tokens
  --issuer-profile P   shape of its tokens: rfc9068, keycloak, auth0, okta, entra-id, or
                       cognito:ID,… with the ids of the accepted clients
  --listen ADDRESS     address and port to listen on
  --url URL            public URL of the API, the audience of its tokens

With a secret in CLIENT_SECRET, opaque tokens are introspected at the issuer:
  --client ID          client id for introspection
  --remember SECONDS   cache lifetime of a result: a revoked token is accepted until then";

pub(crate) struct Options {
    pub(crate) issuer: Issuer,
    pub(crate) listen: String,
    pub(crate) url: String,
    pub(crate) profile: IssuerProfile,
    pub(crate) asking: Option<Asking>,
}

/// Client credentials for introspection of opaque tokens.
pub(crate) struct Asking {
    pub(crate) client: String,
    pub(crate) secret: String,
    pub(crate) remember: Duration,
}

impl Options {
    pub(crate) fn parse() -> Result<Self, Box<dyn Error>> {
        let mut issuer = String::from("http://127.0.0.1:8080");
        let mut listen = String::from("127.0.0.1:8090");
        let mut url = String::from("http://127.0.0.1:8090");
        let mut issuer_profile = IssuerProfile::rfc9068();
        let (mut client, mut remember) = (None, None);
        let mut arguments = env::args().skip(1);
        while let Some(flag) = arguments.next() {
            let value = arguments.next().ok_or(USAGE)?;
            match flag.as_str() {
                "--issuer" => issuer = value,
                "--issuer-profile" => issuer_profile = profile(&value).ok_or(USAGE)?,
                "--listen" => listen = value,
                "--url" => url = value,
                "--client" => client = Some(value),
                "--remember" => remember = Some(value.parse().map_err(|_| USAGE)?),
                _ => return Err(USAGE.into()),
            }
        }
        // from the environment: other users of the machine can see the command line
        let asking = match env::var("CLIENT_SECRET") {
            Ok(secret) => Some(Asking {
                client: client.unwrap_or_else(|| String::from("demo-api")),
                secret,
                remember: Duration::from_secs(remember.unwrap_or(10)),
            }),
            // the flags of introspection need the secret
            Err(_) if client.is_some() || remember.is_some() => return Err(USAGE.into()),
            Err(_) => None,
        };
        Ok(Self {
            issuer: issuer.parse()?,
            listen,
            url,
            profile: issuer_profile,
            asking,
        })
    }
}

/// Parses the name of an issuer profile.
fn profile(text: &str) -> Option<IssuerProfile> {
    Some(match text.split_once(':').unwrap_or((text, "")) {
        ("rfc9068", "") => IssuerProfile::rfc9068(),
        ("keycloak", "") => IssuerProfile::keycloak(),
        ("auth0", "") => IssuerProfile::auth0(),
        ("okta", "") => IssuerProfile::okta(),
        ("entra-id", "") => IssuerProfile::entra_id(),
        ("cognito", clients) => {
            let clients: Result<Vec<ClientId>, _> = clients.split(',').map(str::parse).collect();
            IssuerProfile::cognito(clients.ok()?)
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// O31: each profile has a name; Cognito needs its clients.
    #[test]
    fn profiles_have_names() {
        for (name, expected) in [
            ("rfc9068", IssuerProfile::rfc9068()),
            ("keycloak", IssuerProfile::keycloak()),
            ("auth0", IssuerProfile::auth0()),
            ("okta", IssuerProfile::okta()),
            ("entra-id", IssuerProfile::entra_id()),
            (
                "cognito:a,b",
                IssuerProfile::cognito(["a", "b"].map(|id| id.parse().unwrap())),
            ),
        ] {
            assert_eq!(profile(name), Some(expected), "{name}");
        }
        for unknown in ["", "cognito", "cognito:", "cognito:a,", "keycloak:a", "Keycloak"] {
            assert_eq!(profile(unknown), None, "{unknown}");
        }
    }
}
