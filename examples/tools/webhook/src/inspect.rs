//! `webhook inspect`: deliveries, their attempts, and dead letters.

use host_store_sqlite::Database;
use webhook_core::sender::{AttemptResult, Delivery, DeliveryFilter, Outbox, Page};

use crate::{Failure, args::Args, caused, show, store};

const PAGE: usize = 100;

pub(crate) async fn run(words: Vec<String>) -> Result<(), Failure> {
    let valued = [&store::FLAGS[..], &["--limit"]].concat();
    let args = Args::parse(words, &valued, &["--attempts"])?;
    let (file, filter) = (args.operand("the file")?, store::filter(&args)?);
    let limit: usize = args.read("--limit", "a number")?.unwrap_or(PAGE);
    let database = store::open(file)?;
    let (shown, is_all) = table(&database, &filter, limit, args.has("--attempts")).await?;
    let more = if is_all {
        ""
    } else {
        "; there are more, see --limit"
    };
    show::line(&format!("{shown} deliveries{more}"));
    Ok(())
}

/// Prints at most `limit` deliveries; returns their number, and `true` if there are no more.
pub(crate) async fn table(
    database: &Database,
    filter: &DeliveryFilter,
    limit: usize,
    with_attempts: bool,
) -> Result<(usize, bool), Failure> {
    store::heading();
    let (mut shown, mut after) = (0, None);
    loop {
        let page = Page {
            after: after.take(),
            limit: PAGE,
        };
        let deliveries = database.list(filter, &page).await.map_err(caused)?;
        for delivery in &deliveries {
            if shown == limit {
                return Ok((shown, false));
            }
            store::row(delivery);
            if with_attempts {
                attempts(database, delivery).await?;
            }
            shown += 1;
        }
        match deliveries.last() {
            Some(last) => after = Some(last.id.clone()),
            None => return Ok((shown, true)),
        }
    }
}

async fn attempts(database: &Database, delivery: &Delivery) -> Result<(), Failure> {
    for attempt in database.attempts(&delivery.id).await.map_err(caused)? {
        let result = match &attempt.result {
            AttemptResult::Answered { status, body } => format!("{status} {}", show::foreign(body, 80)),
            AttemptResult::Failed { kind, message } => {
                format!("{}: {}", kind.as_str(), show::foreign(message.as_bytes(), 80))
            }
        };
        let line = format!(
            "    {}  {:>8}  {result}",
            show::time(attempt.started_at),
            show::duration(attempt.duration)
        );
        show::line(line.trim_end());
    }
    Ok(())
}
