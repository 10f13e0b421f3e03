//! webhooksmith 0.2.1 as a program: stores events, delivers them, and prints the nanoseconds of the
//! deliveries.
//!
//! `webhooksmith STORE SINK EVENTS ENDPOINTS BODY`: a new `sqlite:FILE` or an empty `postgres://`
//! database, the URL to deliver to, the number of events, the number of endpoints that get them in
//! turns, and the bytes in each.

use std::env::args;
use std::error::Error;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::{runtime, time::sleep};
use webhooksmith::{Endpoint, QueueStats, Result, SqliteEngine, WebhookEngine};

const SECRET: &str = "a secret of thirty-two characters";

/// Concurrent deliveries, as many as ours.
const AT_ONCE: u32 = 64;

/// Shortest interval between two checks for completion.
const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// The same calls on its two engines, which share no trait. A second engine counts the deliveries:
/// the first has one connection on SQLite, and the future that stops it is not polled during a
/// batch.
macro_rules! deliver {
    ($builder:expr, $order:expr) => {{
        let order = $order;
        let (engine, counting) = ($builder.build().await?, $builder.build().await?);
        engine.migrate().await?;
        let mut endpoints: Vec<Endpoint> = Vec::new();
        for number in 0..order.endpoints {
            let url = format!("{}/{number}", order.sink);
            endpoints.push(engine.register(&url, SECRET).await?);
        }
        for endpoint in endpoints.iter().cycle().take(order.events) {
            engine
                .send("invoice.paid", order.payload.clone(), endpoint.id)
                .await?;
        }
        let all_delivered = async {
            while delivered(&counting.queue_stats().await) < order.events {
                sleep(LOOK_AGAIN).await;
            }
        };
        let start = Instant::now();
        engine.run_graceful(all_delivered).await;
        Ok(start.elapsed().as_nanos())
    }};
}

fn delivered(stats: &Result<QueueStats>) -> usize {
    let delivered = stats.as_ref().map_or(0, |stats| stats.delivered);
    usize::try_from(delivered).unwrap_or_default()
}

struct Order {
    sink: String,
    events: usize,
    endpoints: usize,
    payload: Value,
}

async fn run(store: &str, order: Order) -> Result<u128> {
    if store.starts_with("sqlite:") {
        let url = format!("{store}?mode=rwc");
        let builder = || SqliteEngine::builder().database_url(&url).allow_insecure_urls();
        deliver!(builder(), order)
    } else {
        let builder = || {
            WebhookEngine::builder()
                .database_url(store)
                .allow_insecure_urls()
                .batch_size(AT_ONCE.into())
                .max_connections(AT_ONCE / 2)
        };
        deliver!(builder(), order)
    }
}

fn main() -> std::result::Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = args().skip(1).collect();
    let [store, sink, events, endpoints, body] = &arguments[..] else {
        return Err("usage: webhooksmith STORE SINK EVENTS ENDPOINTS BODY".into());
    };
    let frame = json!({ "data": "" }).to_string().len();
    let order = Order {
        sink: sink.clone(),
        events: events.parse()?,
        endpoints: endpoints.parse()?,
        payload: json!({ "data": "x".repeat(body.parse::<usize>()?.saturating_sub(frame)) }),
    };
    let runtime = runtime::Builder::new_current_thread().enable_all().build()?;
    println!("{}", runtime.block_on(run(store, order))?);
    Ok(())
}
