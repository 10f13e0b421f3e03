//! Delivery of events until the program is told to stop.

use std::io::{Write, stderr, stdout};
use std::time::{Duration, SystemTime};
use std::{ops::ControlFlow, sync::Arc};

use tokio::{sync::Notify, time::sleep};
use webhook_core::ports::StoreError;
use webhook_core::sender::{Dispatcher, Handled};

/// Interval at which events of other processes are found.
const POLL: Duration = Duration::from_secs(1);

/// Delivers due events until Ctrl-C or SIGTERM, then finishes open deliveries. `wake` ends a wait
/// for due events.
pub(crate) async fn until_stopped(dispatcher: &Dispatcher, wake: &Notify) {
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
                () = wake.notified() => ControlFlow::Continue(()),
                () = stopped.notified() => ControlFlow::Break(()),
            }
        }
    };
    dispatcher.run(wait, report).await;
}

fn report(result: Result<Handled, StoreError>) {
    match result {
        Ok(handled) => {
            if let Some(skew) = handled.skew {
                complain(&format!("clock.skewed: {skew}"));
            }
            say(&format!("{:?} {}", handled.disposition, handled.delivery.event));
        }
        Err(error) => complain(&program::in_one_line(&error)),
    }
}

/// Prints a line. Deliveries continue if standard output is closed.
pub(crate) fn say(line: &str) {
    writeln!(stdout(), "{line}").ok();
}

/// Prints a line to standard error.
pub(crate) fn complain(line: &str) {
    writeln!(stderr(), "{line}").ok();
}
