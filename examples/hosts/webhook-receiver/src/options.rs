//! Command line options.

use std::env;
use std::path::PathBuf;

const USAGE: &str =
    "usage: webhook-receiver [--secret whsec_…] [--listen 127.0.0.1:8090] [--database receiver.sqlite]";

pub(crate) struct Options {
    pub(crate) secret: String,
    pub(crate) listen: String,
    /// Without a file, the events are in memory.
    pub(crate) database: Option<PathBuf>,
}

impl Options {
    /// Parses the command line. `WEBHOOK_SECRET` hides the secret from other users of the machine.
    pub(crate) fn parse() -> Result<Self, &'static str> {
        let mut secret = env::var("WEBHOOK_SECRET").ok();
        let mut listen = String::from("127.0.0.1:8090");
        let mut database = None;
        let mut arguments = env::args().skip(1);
        while let Some(flag) = arguments.next() {
            match (flag.as_str(), arguments.next()) {
                ("--secret", Some(value)) => secret = Some(value),
                ("--listen", Some(value)) => listen = value,
                ("--database", Some(value)) => database = Some(PathBuf::from(value)),
                _ => return Err(USAGE),
            }
        }
        let secret = secret.ok_or(USAGE)?;
        Ok(Self {
            secret,
            listen,
            database,
        })
    }
}
