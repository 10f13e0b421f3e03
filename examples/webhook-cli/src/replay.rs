//! `webhook replay`: failed deliveries become due again.

use std::time::SystemTime;

use webhook_core::sender::{DeliveryFilter, Outbox, ReplayRequest};

use crate::{Failure, args::Args, failed, inspect, show, store, usage};

pub(crate) async fn run(words: Vec<String>) -> Result<(), Failure> {
    let [event, endpoint, state] = store::FLAGS;
    let args = Args::parse(words, &[event, endpoint, state], &["--all", "--dry-run"])?;
    let (file, filter) = (args.operand("the file")?, store::filter(&args)?);
    if let Some(live) = filter.states.iter().find(|state| !state.is_failed()) {
        return Err(usage(format!("--state {live}: only what failed is sent again")));
    }
    let is_narrow = filter.event.is_some() || filter.endpoint.is_some();
    if is_narrow == args.has("--all") {
        return Err(usage("say which: --event ID, --endpoint ID, or --all"));
    }
    let database = store::open(file)?;
    let dry_run = args.has("--dry-run");
    if dry_run {
        let mut failed_ones = filter.clone();
        if failed_ones.states.is_empty() {
            failed_ones.states = DeliveryFilter::failed().states;
        }
        inspect::table(&database, &failed_ones, usize::MAX, false).await?;
    }
    let request = ReplayRequest {
        filter,
        now: SystemTime::now(),
        dry_run,
    };
    let count = database.replay(&request).await.map_err(failed)?;
    let what = if dry_run {
        "would be sent again"
    } else {
        "are due again"
    };
    show::line(&format!("{count} deliveries {what}"));
    Ok(())
}
