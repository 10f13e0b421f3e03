//! A file of host-store-sqlite, and the selection of deliveries.

use std::{
    error::Error,
    fs::File,
    time::{Duration, SystemTime},
};

use host_store_sqlite::{
    Database,
    rusqlite::{Connection, OpenFlags},
};
use webhook_core::event::Timestamp;
use webhook_core::sender::{Delivery, DeliveryFilter, DeliveryState, Period};

use crate::{Failure, args::Args, failed, show};

/// Flags of this module.
pub(crate) const FLAGS: [&str; 5] = ["--event", "--endpoint", "--state", "--from", "--before"];

/// Opens an existing store. Refuses other files, because `Database::open` would create tables in
/// them.
pub(crate) fn open(file: &str) -> Result<Database, Failure> {
    let name = show::word(file);
    let said = |error: &dyn Error| failed(format!("{name}: {error}"));
    File::open(file).map_err(|error| said(&error))?;
    // SQLite's message contains the file name unescaped
    let look = Connection::open_with_flags(file, OpenFlags::SQLITE_OPEN_READ_ONLY)
        .map_err(|_| failed(format!("{name}: not a database that can be opened")))?;
    look.busy_timeout(Duration::from_secs(5))
        .map_err(|error| said(&error))?;
    let tables = "SELECT count(*) FROM sqlite_schema WHERE name IN ('webhook_delivery', 'store_component')";
    let found: u32 = look
        .query_row(tables, (), |row| row.get(0))
        .map_err(|error| said(&error))?;
    if found != 2 {
        return Err(failed(format!("{name}: not a database of host-store-sqlite")));
    }
    drop(look);
    Database::open(file).map_err(|error| failed(format!("{name}: {}", show::chain(&error))))
}

/// Filter of deliveries for the flags.
pub(crate) fn filter(args: &Args) -> Result<DeliveryFilter, Failure> {
    let expected = "ready, retry_scheduled, leased, acked, permanent_failure or dead_letter";
    let state = |text: &str| {
        let state: Result<DeliveryState, _> = text.parse();
        state.map_err(|_| {
            crate::usage(format!(
                "--state does not take `{}`: {expected}",
                show::word(text)
            ))
        })
    };
    let states = args.all("--state").map(state).collect::<Result<Vec<_>, _>>()?;
    let mut filter = DeliveryFilter::in_states(states);
    if let Some(event) = args.read("--event", "an event id")? {
        filter = filter.with_event(event);
    }
    if let Some(endpoint) = args.read("--endpoint", "an endpoint id")? {
        filter = filter.with_endpoint(endpoint);
    }
    let time = |flag| -> Result<Option<SystemTime>, Failure> {
        let time: Option<Timestamp> = args.read(flag, "whole Unix seconds")?;
        Ok(time.map(SystemTime::from))
    };
    let (from, before) = (time("--from")?, time("--before")?);
    Ok(filter.with_created(Period { from, before }))
}

/// Header line of a table of deliveries.
pub(crate) fn heading() {
    show::line(&format!(
        "{:<36}  {:<24}  {:<17}  {:>8}  {:<20}  REASON",
        "EVENT", "ENDPOINT", "STATE", "ATTEMPTS", "DUE"
    ));
}

/// Line of a table of deliveries.
pub(crate) fn row(delivery: &Delivery) {
    let due = if delivery.state.is_live() {
        show::time(delivery.due_at)
    } else {
        "-".to_owned()
    };
    show::line(&format!(
        "{:<36}  {:<24}  {:<17}  {:>8}  {due:<20}  {}",
        delivery.id.event.as_str(),
        delivery.id.endpoint.as_str(),
        delivery.state.as_str(),
        delivery.attempts,
        delivery.reason.map_or("-", |reason| reason.as_str()),
    ));
}
