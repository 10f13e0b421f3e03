//! `webhook sign`: the three headers of a body.

use std::time::SystemTime;

use http::HeaderValue;
use webhook_core::{
    event::{EventId, Timestamp},
    ports::OsEntropy,
};

use crate::{Failure, args::Args, failed, keys, show};

pub(crate) fn run(words: Vec<String>) -> Result<(), Failure> {
    let [scheme, secret, file] = keys::FLAGS;
    let args = Args::parse(words, &[scheme, secret, file, "--id", "--timestamp"], &[])?.without_operands()?;
    let signers = keys::signers(&args)?;
    let id: Option<EventId> = args.read("--id", "1 to 256 visible ASCII characters without a dot")?;
    let id = id.unwrap_or_else(|| EventId::generate(&OsEntropy));
    let time: Option<Timestamp> = args.read("--timestamp", "whole Unix seconds")?;
    let time = time.map_or_else(SystemTime::now, SystemTime::from);
    let headers = signers.sign(&id, time, &show::stdin()?);
    for (name, value) in [
        ("Webhook-Id", &headers.id),
        ("Webhook-Timestamp", &headers.timestamp),
        ("Webhook-Signature", &headers.signature),
    ] {
        show::line(&format!("{name}: {}", text(value)?));
    }
    Ok(())
}

fn text(value: &HeaderValue) -> Result<&str, Failure> {
    value.to_str().map_err(failed)
}
