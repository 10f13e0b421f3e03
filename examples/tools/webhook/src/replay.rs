//! `webhook replay`: final deliveries become due again, and an endpoint gets earlier events.

use std::time::SystemTime;

use host_store_sqlite::Database;
use webhook_core::sender::{
    DeliveryFilter, DeliveryState, Endpoint, EndpointStore, MissingRequest, Outbox, ReplayRequest,
};

use crate::{Failure, args::Args, caused, failed, inspect, show, store, usage};

/// Maximum number of events of one store call. A dispatcher on the same file waits for one call at
/// most.
const AT_ONCE: usize = 1_000;

pub(crate) async fn run(words: Vec<String>) -> Result<(), Failure> {
    let args = Args::parse(words, &store::FLAGS, &["--all", "--dry-run", "--missing"])?;
    let (file, filter) = (args.operand("the file")?, store::filter(&args)?);
    if let Some(live) = filter.states.iter().find(|state| state.is_live()) {
        return Err(usage(format!(
            "--state {live}: only failed and acknowledged deliveries are replayed"
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
    if args.has("--all") && filter.states.contains(&DeliveryState::Acked) {
        return Err(usage(
            "--state acked requires --event, --endpoint, --from or --before, not --all",
        ));
    }
    again(&store::open(file)?, filter, dry_run).await
}

/// Replays failed deliveries, and acknowledged ones if the filter names their state.
async fn again(database: &Database, filter: DeliveryFilter, dry_run: bool) -> Result<(), Failure> {
    if dry_run {
        let mut failed_ones = filter.clone();
        if failed_ones.states.is_empty() {
            failed_ones.states = DeliveryFilter::failed().states;
        }
        inspect::table(database, &failed_ones, usize::MAX, false).await?;
    }
    let acknowledged = filter.states.contains(&DeliveryState::Acked);
    let request = ReplayRequest {
        filter,
        acknowledged,
        after: None,
        limit: usize::MAX,
        now: SystemTime::now(),
        dry_run,
    };
    let count = database.replay(&request).await.map_err(caused)?.count;
    let what = if dry_run {
        "would be sent again"
    } else {
        "are due again"
    };
    show::line(&format!("{count} deliveries {what}"));
    Ok(())
}

/// Creates the deliveries of earlier events that the endpoint never got.
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
