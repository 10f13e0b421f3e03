//! `webhook sign`: the headers of a body.

use std::time::SystemTime;

use bytes::Bytes;
use http::{HeaderValue, Request};
use webhook_core::{
    event::{EventId, Timestamp},
    ports::OsEntropy,
    receiver::Provider,
};

use crate::{Failure, args::Args, failed, keys, show, usage};

pub(crate) fn run(words: Vec<String>) -> Result<(), Failure> {
    let [scheme, secret, file] = keys::FLAGS;
    let [provider, url] = keys::PROVIDER;
    let valued = [scheme, secret, file, provider, url, "--id", "--timestamp"];
    let args = Args::parse(words, &valued, &[])?.without_operands()?;
    let time: Option<Timestamp> = args.read("--timestamp", "whole Unix seconds")?;
    let time = time.map_or_else(SystemTime::now, SystemTime::from);
    if let Some(provider) = keys::provider(&args)? {
        return as_provider(&args, provider, time);
    }
    let signers = keys::signers(&args)?;
    let id: Option<EventId> = args.read("--id", "1 to 256 visible ASCII characters without a dot")?;
    let id = id.unwrap_or_else(|| EventId::generate(&OsEntropy));
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

/// Prints the headers that the provider would send.
fn as_provider(args: &Args, provider: Provider, time: SystemTime) -> Result<(), Failure> {
    let signer = keys::provider_signer(args, provider)?;
    let id = match args.one("--id")? {
        Some(id) => id.to_owned(),
        None => EventId::generate(&OsEntropy).to_string(),
    };
    let target = match keys::url(args)?.1 {
        Some(query) => format!("/?{query}"),
        None => "/".to_owned(),
    };
    let request = Request::post(target).body(show::stdin()?);
    let mut request: Request<Bytes> = request.map_err(|_| usage("--url is no URL"))?;
    signer.sign(&mut request, Some(&id), time).map_err(failed)?;
    for (name, value) in request.headers() {
        show::line(&format!("{name}: {}", text(value)?));
    }
    Ok(())
}

fn text(value: &HeaderValue) -> Result<&str, Failure> {
    value.to_str().map_err(failed)
}
