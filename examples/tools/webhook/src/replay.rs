//! `webhook replay`: failed deliveries become due again, and an endpoint gets earlier events.

use std::time::SystemTime;

use host_store_sqlite::Database;
use webhook_core::sender::{DeliveryFilter, Endpoint, EndpointStore, MissingRequest, Outbox, ReplayRequest};

use crate::{Failure, args::Args, caused, failed, inspect, show, store, usage};

/// Events that one step examines: a dispatcher beside this program waits no longer than that.
const AT_ONCE: usize = 1_000;

pub(crate) async fn run(words: Vec<String>) -> Result<(), Failure> {
    let args = Args::parse(words, &store::FLAGS, &["--all", "--dry-run", "--missing"])?;
    let (file, filter) = (args.operand("the file")?, store::filter(&args)?);
    if let Some(live) = filter.states.iter().find(|state| !state.is_failed()) {
        return Err(usage(format!(
            "--state {live}: only failed deliveries are replayed"
        )));
    }
    let dry_run = args.has("--dry-run");
    if args.has("--missing") {
        let is_more = filter.event.is_some() || !filter.states.is_empty() || args.has("--all");
        let id = filter.endpoint.as_ref().filter(|_| !is_more);
        let id =
            id.ok_or_else(|| usage("--missing requires --endpoint ID, and permits --from and --before"))?;
        let database = store::open(file)?;
        let endpoint = database.load(id).await.map_err(caused)?;
        let endpoint = endpoint.ok_or_else(|| failed(format!("{id}: no such endpoint")))?;
        return missing(&database, &endpoint, &filter, dry_run).await;
    }
    let is_narrow = filter.event.is_some() || filter.endpoint.is_some() || !filter.created.is_all();
    if is_narrow == args.has("--all") {
        return Err(usage(
            "say which: --event ID, --endpoint ID, --from N, --before N, or --all",
        ));
    }
    again(&store::open(file)?, filter, dry_run).await
}

/// Replays failed deliveries.
async fn again(database: &Database, filter: DeliveryFilter, dry_run: bool) -> Result<(), Failure> {
    if dry_run {
        let mut failed_ones = filter.clone();
        if failed_ones.states.is_empty() {
            failed_ones.states = DeliveryFilter::failed().states;
        }
        inspect::table(database, &failed_ones, usize::MAX, false).await?;
    }
    let request = ReplayRequest {
        filter,
        now: SystemTime::now(),
        dry_run,
    };
    let count = database.replay(&request).await.map_err(caused)?;
    let what = if dry_run {
        "would be sent again"
    } else {
        "are due again"
    };
    show::line(&format!("{count} deliveries {what}"));
    Ok(())
}

/// Creates deliveries that the endpoint never had.
async fn missing(
    database: &Database,
    endpoint: &Endpoint,
    filter: &DeliveryFilter,
    dry_run: bool,
) -> Result<(), Failure> {
    let mut count = 0;
    let mut request = MissingRequest {
        created: filter.created,
        after: None,
        limit: AT_ONCE,
        now: SystemTime::now(),
        dry_run,
    };
    loop {
        let missing = database.replay_missing(endpoint, &request).await;
        let missing = missing.map_err(caused)?;
        count += missing.count;
        request.after = missing.next;
        if request.after.is_none() {
            break;
        }
    }
    let what = if dry_run {
        "would be sent for the first time"
    } else {
        "are due for the first time"
    };
    show::line(&format!("{count} deliveries {what}"));
    Ok(())
}
