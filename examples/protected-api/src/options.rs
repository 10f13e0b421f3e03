//! What the program is told when it starts.

use std::env;
use std::error::Error;
use std::time::Duration;

use oauth_core::vocabulary::Issuer;

const USAGE: &str = "\
usage: protected-api [--issuer http://127.0.0.1:8080] [--listen 127.0.0.1:8090] [--url http://127.0.0.1:8090]
                     [--introspection URL [--client demo-api] [--remember 10]]

  --issuer URL         whose access tokens open it
  --listen ADDRESS     where it listens
  --url URL            where the public knows it, which is the audience of its tokens
  --introspection URL  where to ask what tokens are worth that are no JWTs, with the secret in CLIENT_SECRET
  --client ID          as whom
  --remember SECONDS   for how long an answer is believed: a revoked token opens the API until then";

pub(crate) struct Options {
    pub(crate) issuer: Issuer,
    pub(crate) listen: String,
    pub(crate) url: String,
    pub(crate) introspection: Option<Asked>,
}

/// Who is asked about opaque tokens, and as whom.
pub(crate) struct Asked {
    pub(crate) endpoint: String,
    pub(crate) client: String,
    pub(crate) secret: String,
    pub(crate) remember: Duration,
}

impl Options {
    pub(crate) fn parse() -> Result<Self, Box<dyn Error>> {
        let mut issuer = String::from("http://127.0.0.1:8080");
        let mut listen = String::from("127.0.0.1:8090");
        let mut url = String::from("http://127.0.0.1:8090");
        let (mut endpoint, mut client, mut remember) = (None, String::from("demo-api"), 10);
        let mut arguments = env::args().skip(1);
        while let Some(flag) = arguments.next() {
            let value = arguments.next().ok_or(USAGE)?;
            match flag.as_str() {
                "--issuer" => issuer = value,
                "--listen" => listen = value,
                "--url" => url = value,
                "--introspection" => endpoint = Some(value),
                "--client" => client = value,
                "--remember" => remember = value.parse().map_err(|_| USAGE)?,
                _ => return Err(USAGE.into()),
            }
        }
        let asked = |endpoint| {
            // where other users of the machine do not see it
            let secret = env::var("CLIENT_SECRET").map_err(|_| USAGE)?;
            let remember = Duration::from_secs(remember);
            Ok::<_, &str>(Asked {
                endpoint,
                client,
                secret,
                remember,
            })
        };
        Ok(Self {
            issuer: issuer.parse()?,
            listen,
            url,
            introspection: endpoint.map(asked).transpose()?,
        })
    }
}
