//! Delivery of events until the program is told to stop.

use std::io::{Write, stderr, stdout};
use std::time::{Duration, SystemTime};
use std::{ops::ControlFlow, sync::Arc};

use tokio::{sync::Notify, time::sleep};
use webhook_core::ports::StoreError;
use webhook_core::sender::{Dispatcher, Handled};

/// Interval at which events of other processes are found.
const POLL: Duration = Duration::from_secs(1);

/// Delivers due events until Ctrl-C or SIGTERM, then finishes open deliveries.
pub(crate) async fn until_stopped(dispatcher: &Dispatcher) {
    let stop = Arc::new(Notify::new());
    let stopped = Arc::clone(&stop);
    tokio::spawn(async move {
        program::stop_requested().await;
        stop.notify_one();
    });
    let wait = |next_due: Option<SystemTime>| {
        let until_due = next_due.map(|due| due.duration_since(SystemTime::now()).unwrap_or_default());
        let stopped = Arc::clone(&stopped);
        async move {
            tokio::select! {
                () = sleep(until_due.unwrap_or(POLL).min(POLL)) => ControlFlow::Continue(()),
                () = stopped.notified() => ControlFlow::Break(()),
            }
        }
    };
    // deliveries continue if stdout is closed
    let tell = |told: Result<Handled, StoreError>| {
        match told {
            Ok(handled) => writeln!(stdout(), "{:?} {}", handled.disposition, handled.delivery.event),
            Err(error) => writeln!(stderr(), "{}", program::in_one_line(&error)),
        }
        .ok();
    };
    dispatcher.run(wait, tell).await;
}
