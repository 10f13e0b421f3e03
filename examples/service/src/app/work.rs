//! Background work: books refunds, delivers webhooks, tells clients of ended sessions and deletes
//! expired rows.

use std::ops::ControlFlow;
use std::time::{Duration, SystemTime};

use oauth_core::server::AuthEvent;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::watch;
use tokio::task::{JoinError, JoinSet};
use tracing::{error, warn};
use webhook_core::{ports::StoreError, sender::Handled};

use super::App;

/// Delay after a store failed.
const FAILURE_DELAY: Duration = Duration::from_secs(1);
/// Polling interval: another process on the database may enqueue work without waking this one.
const POLL_INTERVAL: Duration = Duration::from_secs(5);
/// Redis channel of changed charges; a message names the process and the charge.
const CHARGES: &str = "charges";
/// Interval at which due logouts are sent.
const LOGOUT_INTERVAL: Duration = Duration::from_secs(1);
/// Limit of concurrent calls that send logouts. A call waits for its slowest client, so that others
/// must run beside it.
const LOGOUT_CALLS: usize = 8;
/// Interval at which expired rows are deleted.
const PURGE_INTERVAL: Duration = Duration::from_secs(60);

impl App {
    /// Runs until [`drain`](Self::drain), and then until the running deliveries and logouts are
    /// settled.
    /// Unfinished work stays in the database.
    pub async fn work(&self) {
        let drained = async { tokio::join!(self.deliver_events(), self.send_logouts()) };
        let rest = async { tokio::join!(self.book_refunds(), self.fan_out(), self.delete_expired()) };
        tokio::select! {
            _drained = drained => {}
            _never = rest => {}
        }
    }

    /// Receiver that changes when refunds were booked or deliveries settled.
    #[must_use]
    pub fn progress(&self) -> watch::Receiver<()> {
        self.worked.subscribe()
    }

    async fn book_refunds(&self) {
        loop {
            match self.desk.book_refunds().await {
                Ok(0) => {
                    let _elapsed =
                        tokio::time::timeout(POLL_INTERVAL, self.desk.refund_notify().notified()).await;
                }
                Ok(_) => {
                    self.worked.send_replace(());
                }
                Err(error) => {
                    let _logged = self.refused(error);
                    tokio::time::sleep(FAILURE_DELAY).await;
                }
            }
        }
    }

    async fn deliver_events(&self) {
        let wait = |next_due| self.wait_for_events(next_due);
        let settled = |outcome: Result<Handled, StoreError>| match outcome {
            Ok(handled) => {
                if let Some(skew) = handled.skew {
                    let delivery = &handled.delivery;
                    warn!(skew = %skew, delivery = %delivery, "clock.skewed: the delivery is held");
                }
                self.worked.send_replace(());
            }
            Err(error) => error!(error = program::in_one_line(&error), "webhook delivery failed"),
        };
        self.dispatcher.run(wait, settled).await;
    }

    async fn wait_for_events(&self, next_due: Option<SystemTime>) -> ControlFlow<()> {
        let mut draining = self.draining.subscribe();
        let due = async {
            match next_due {
                Some(due) => self.clock.sleep_until(due).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = due => {}
            () = self.desk.event_notify().notified() => {}
            () = tokio::time::sleep(POLL_INTERVAL) => {}
            _ = draining.wait_for(|draining| *draining) => return ControlFlow::Break(()),
        }
        ControlFlow::Continue(())
    }

    /// Publishes the charges that this process changes, and receives those of other processes on
    /// the database.
    async fn fan_out(&self) {
        if let Some(redis) = &self.redis {
            let here = hex(crate::random());
            tokio::join!(
                self.publish_changes(redis, &here),
                self.receive_changes(redis, &here)
            );
        }
    }

    async fn publish_changes(&self, redis: &host_store_redis::Database, here: &str) {
        let mut changes = self.desk.local_changes();
        loop {
            match changes.recv().await {
                Ok(id) => {
                    let published = redis.publish(CHARGES, format!("{here} {id}").into()).await;
                    if let Err(error) = published {
                        error!(error = program::in_one_line(&error), "Redis fan-out failed");
                    }
                }
                Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Closed) => return,
            }
        }
    }

    async fn receive_changes(&self, redis: &host_store_redis::Database, here: &str) {
        let mut others = loop {
            match redis.listen(CHARGES).await {
                Ok(listener) => break listener,
                Err(error) => error!(error = program::in_one_line(&error), "Redis fan-out failed"),
            }
            tokio::time::sleep(FAILURE_DELAY).await;
        };
        loop {
            let message = others.next().await;
            let Some((process, id)) = str::from_utf8(&message)
                .ok()
                .and_then(|text| text.split_once(' '))
            else {
                continue;
            };
            if let (true, Ok(id)) = (process != here, id.parse())
                && let Err(error) = self.desk.publish_remote_change(id).await
            {
                let _logged = self.refused(error);
            }
        }
    }

    /// Sends logout tokens to the clients of ended sessions, until the service drains and the
    /// running calls have ended.
    async fn send_logouts(&self) {
        let mut calls = JoinSet::<Result<Vec<_>, StoreError>>::new();
        let mut draining = self.draining.subscribe();
        loop {
            tokio::select! {
                () = tokio::time::sleep(LOGOUT_INTERVAL) => {}
                _ = draining.wait_for(|draining| *draining) => break,
            }
            while let Some(sent) = calls.try_join_next() {
                self.log_logouts(sent);
            }
            if calls.len() < LOGOUT_CALLS {
                let server = self.server.clone();
                calls.spawn(async move { server.send_logouts().await });
            }
        }
        while let Some(sent) = calls.join_next().await {
            self.log_logouts(sent);
        }
    }

    fn log_logouts(&self, sent: Result<Result<Vec<AuthEvent>, StoreError>, JoinError>) {
        match sent {
            Ok(Ok(events)) => self.log_events(&events),
            Ok(Err(error)) => {
                let _logged = self.store_failed(&error);
            }
            Err(panicked) => error!(error = display(panicked), "sending logouts failed"),
        }
    }

    async fn delete_expired(&self) {
        loop {
            if let Err(error) = self.desk.delete_expired().await {
                let _logged = self.refused(error);
            }
            tokio::time::sleep(PURGE_INTERVAL).await;
        }
    }
}

/// Bytes in hexadecimal.
fn hex(bytes: [u8; 16]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
