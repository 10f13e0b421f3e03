//! What the program is told when it starts.

use std::env;
use std::error::Error;
use std::time::Duration;

use oauth_core::Issuer;

const USAGE: &str = "\
usage: protected-api [--issuer http://127.0.0.1:8080] [--listen 127.0.0.1:8090] [--url http://127.0.0.1:8090]
                     [--client demo-api] [--remember 10]

  --issuer URL         whose access tokens open it
  --listen ADDRESS     where it listens
  --url URL            where the public knows it, which is the audience of its tokens

With a secret in CLIENT_SECRET it asks the issuer what tokens are worth that are no JWTs:
  --client ID          as whom
  --remember SECONDS   for how long an answer is believed: a revoked token opens the API until then";

pub(crate) struct Options {
    pub(crate) issuer: Issuer,
    pub(crate) listen: String,
    pub(crate) url: String,
    pub(crate) asking: Option<Asking>,
}

/// As whom the issuer is asked about opaque tokens.
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
        let (mut client, mut remember) = (None, None);
        let mut arguments = env::args().skip(1);
        while let Some(flag) = arguments.next() {
            let value = arguments.next().ok_or(USAGE)?;
            match flag.as_str() {
                "--issuer" => issuer = value,
                "--listen" => listen = value,
                "--url" => url = value,
                "--client" => client = Some(value),
                "--remember" => remember = Some(value.parse().map_err(|_| USAGE)?),
                _ => return Err(USAGE.into()),
            }
        }
        // in the environment, where other users of the machine do not see it
        let asking = match env::var("CLIENT_SECRET") {
            Ok(secret) => Some(Asking {
                client: client.unwrap_or_else(|| String::from("demo-api")),
                secret,
                remember: Duration::from_secs(remember.unwrap_or(10)),
            }),
            // whoever says how to ask wants it asked
            Err(_) if client.is_some() || remember.is_some() => return Err(USAGE.into()),
            Err(_) => None,
        };
        Ok(Self {
            issuer: issuer.parse()?,
            listen,
            url,
            asking,
        })
    }
}
