//! What the program is told when it starts.

use std::env;

const USAGE: &str = "usage: webhook-receiver [--secret whsec_…] [--listen 127.0.0.1:8090]";

pub(crate) struct Options {
    pub(crate) secret: String,
    pub(crate) listen: String,
}

impl Options {
    /// The secret may come from `WEBHOOK_SECRET`, where other users of the machine do not see it.
    pub(crate) fn parse() -> Result<Self, &'static str> {
        let mut secret = env::var("WEBHOOK_SECRET").ok();
        let mut listen = String::from("127.0.0.1:8090");
        let mut arguments = env::args().skip(1);
        while let Some(flag) = arguments.next() {
            match (flag.as_str(), arguments.next()) {
                ("--secret", Some(value)) => secret = Some(value),
                ("--listen", Some(value)) => listen = value,
                _ => return Err(USAGE),
            }
        }
        let secret = secret.ok_or(USAGE)?;
        Ok(Self { secret, listen })
    }
}
