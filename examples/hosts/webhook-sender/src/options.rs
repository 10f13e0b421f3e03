//! Command line options.

use std::env;

use crate::Failure;

const USAGE: &str = "\
usage: WEBHOOK_SECRET=whsec_… webhook-sender [--hold-skew] STORE URL… [AMOUNT]… [-]

  STORE        an SQLite file, or postgres://…
  URL          a receiver; all of them have the same secret
  AMOUNT       a charge to store before the deliveries begin
  -            reads more amounts from standard input, one in a line
  --hold-skew  holds a delivery that a receiver refuses because the clock of this machine is wrong";

pub(crate) struct Options {
    pub(crate) secret: String,
    pub(crate) store: String,
    pub(crate) urls: Vec<String>,
    pub(crate) amounts: Vec<u32>,
    pub(crate) reads_input: bool,
    pub(crate) holds_skew: bool,
}

impl Options {
    /// Parses the command line; `None` if the usage was requested, and printed.
    pub(crate) fn parse() -> Result<Option<Self>, Failure> {
        let mut words: Vec<String> = env::args().skip(1).collect();
        if words.iter().any(|word| word == "--help") {
            crate::deliver::say(USAGE);
            return Ok(None);
        }
        let holds_skew = take(&mut words, "--hold-skew");
        let reads_input = take(&mut words, "-");
        let secret = env::var("WEBHOOK_SECRET").map_err(|_| USAGE)?;
        let mut words = words.into_iter();
        let store = words.next().ok_or(USAGE)?;
        let (urls, amounts): (Vec<_>, Vec<_>) = words.partition(|word| word.contains("://"));
        if urls.is_empty() {
            return Err(USAGE.into());
        }
        let amounts: Result<_, _> = amounts.iter().map(|amount| amount.parse()).collect();
        Ok(Some(Self {
            secret,
            store,
            urls,
            amounts: amounts.map_err(|_| USAGE)?,
            reads_input,
            holds_skew,
        }))
    }
}

/// Removes a flag; returns `true` if it was there.
fn take(words: &mut Vec<String>, flag: &str) -> bool {
    let before = words.len();
    words.retain(|word| word != flag);
    words.len() < before
}
