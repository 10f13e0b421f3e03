//! Background work: books refunds, delivers webhooks, tells clients of ended sessions, rotates the
//! signing keys and deletes expired rows.

use std::ops::ControlFlow;
use std::time::{Duration, SystemTime};

use oauth_core::server::AuthEvent;
use tokio::sync::watch;
use tokio::task::{JoinError, JoinSet};
use tracing::{error, warn};
use webhook_core::{ports::StoreError, sender::Handled};

use super::App;

/// Delay after a store failed.
pub(super) const FAILURE_DELAY: Duration = Duration::from_secs(1);
/// Polling interval: another process on the database may enqueue work without waking this one.
const POLL_INTERVAL: Duration = Duration::from_secs(5);
/// Interval at which due logouts are sent.
const LOGOUT_INTERVAL: Duration = Duration::from_secs(1);
/// Limit of concurrent calls that send logouts. A call waits for its slowest client, so that others
/// must run beside it.
const LOGOUT_CALLS: usize = 8;
/// Interval at which the stored signing keys are read.
const KEY_INTERVAL: Duration = Duration::from_secs(60);
/// Interval at which expired rows are deleted.
const PURGE_INTERVAL: Duration = Duration::from_secs(60);

impl App {
    /// Runs until [`drain`](Self::drain), and then until the running deliveries and logouts are
    /// settled and the changes of charges are published.
    /// Unfinished work stays in the database.
    pub async fn work(&self) {
        #[cfg(feature = "break-it")]
        let delivering = self.deliver_despite_faults();
        #[cfg(not(feature = "break-it"))]
        let delivering = self.deliver_events();
        let here = hex(crate::random());
        // the last announcements are those of the last refunds
        let (booked, mut is_booked) = watch::channel(false);
        let book = async {
            self.book_refunds().await;
            booked.send_replace(true);
        };
        let publish = self.publish_changes(&here, async move {
            let _booked = is_booked.wait_for(|is_booked| *is_booked).await;
        });
        let drained = async { tokio::join!(delivering, self.send_logouts(), book, publish) };
        let received = self.receive_changes(&here);
        let rest = async {
            tokio::join!(
                received,
                self.resolve_doubts(),
                self.delete_expired(),
                self.rotate_keys()
            )
        };
        tokio::select! {
            _drained = drained => {}
            _never = rest => {}
        }
    }

    /// Reads the signing keys that the processes on the database share, and takes the step of their
    /// rotation that is due: publishes the next key, signs with it, or ends the publication of an
    /// old one. Returns the time of the next step. [`work`](Self::work) calls it in time.
    ///
    /// Returns `None` if the database failed, which is logged; the keys that are loaded follow
    /// their schedule.
    pub async fn refresh_keys(&self) -> Option<SystemTime> {
        let refreshed = self.authority.refresh().await;
        let failed = |error| {
            error!(
                error = program::in_one_line(&error),
                "the signing keys were not read"
            );
        };
        refreshed.map_err(failed).ok()
    }

    /// Receiver that changes when refunds were booked or deliveries settled.
    #[must_use]
    pub fn progress(&self) -> watch::Receiver<()> {
        self.worked.subscribe()
    }

    /// Books refunds until the service drains.
    async fn book_refunds(&self) {
        let mut draining = self.draining.subscribe();
        while !*draining.borrow() {
            let pause = match self.desk.book_refunds().await {
                Ok(0) => POLL_INTERVAL,
                Ok(_) => {
                    self.worked.send_replace(());
                    continue;
                }
                Err(error) => {
                    let _logged = self.refused(error);
                    FAILURE_DELAY
                }
            };
            tokio::select! {
                () = self.desk.refund_notify().notified(), if pause == POLL_INTERVAL => {}
                () = tokio::time::sleep(pause) => {}
                _ = draining.wait_for(|draining| *draining) => {}
            }
        }
    }

    pub(super) async fn deliver_events(&self) {
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
                let server = self.server();
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

    /// Follows the schedule of the signing keys, and the keys that other processes store.
    async fn rotate_keys(&self) {
        loop {
            let due = match self.refresh_keys().await {
                Some(changes_at) => changes_at.max(self.clock.now() + FAILURE_DELAY),
                None => self.clock.now() + FAILURE_DELAY,
            };
            tokio::select! {
                () = self.clock.sleep_until(due) => {}
                () = tokio::time::sleep(KEY_INTERVAL) => {}
            }
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
