//! Background work: books refunds, delivers webhooks and deletes expired rows.

use std::ops::ControlFlow;
use std::time::{Duration, SystemTime};

use tokio::sync::broadcast::error::RecvError;
use tokio::sync::watch;
use webhook_core::{ports::StoreError, sender::Handled};

use super::App;
use crate::desk::DeskError;

/// Delay after a store failed.
const AFTER_FAILURE: Duration = Duration::from_secs(1);
/// Polling interval: another process on the database may enqueue work without waking this one.
const LOOK_AGAIN: Duration = Duration::from_secs(5);
/// Redis channel of changed charges; a message names the process and the charge.
const CHARGES: &str = "charges";
/// Interval at which expired rows are deleted.
const LET_GO: Duration = Duration::from_secs(60);

impl App {
    /// Runs until dropped. Drop it only after the server has drained; unfinished work stays in the
    /// database.
    pub async fn work(&self) {
        tokio::join!(
            self.book_refunds(),
            self.deliver_events(),
            self.fan_out(),
            self.let_go()
        );
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
                        tokio::time::timeout(LOOK_AGAIN, self.desk.refunds_asked_for().notified()).await;
                }
                Ok(_) => {
                    self.worked.send_replace(());
                }
                Err(error) => {
                    let _told = self.refused(error);
                    tokio::time::sleep(AFTER_FAILURE).await;
                }
            }
        }
    }

    async fn deliver_events(&self) {
        let wait = |next_due| self.wait_for_events(next_due);
        let told = |told: Result<Handled, StoreError>| match told {
            Ok(_) => {
                self.worked.send_replace(());
            }
            Err(error) => (self.log)(&format!("delivery: {}", failure::in_one_line(&error))),
        };
        self.dispatcher.run(wait, told).await;
    }

    async fn wait_for_events(&self, next_due: Option<SystemTime>) -> ControlFlow<()> {
        let due = async {
            match next_due {
                Some(due) => self.clock.sleep_until(due).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = due => {}
            () = self.desk.events_enqueued().notified() => {}
            () = tokio::time::sleep(LOOK_AGAIN) => {}
        }
        // the work ends when it is dropped
        ControlFlow::Continue(())
    }

    /// Publishes the charges that this process changes, and receives those of other processes on
    /// the database.
    async fn fan_out(&self) {
        if let Some(redis) = &self.redis {
            let here = hex(crate::random());
            tokio::join!(self.tell_others(redis, &here), self.hear_others(redis, &here));
        }
    }

    async fn tell_others(&self, redis: &host_store_redis::Database, here: &str) {
        let mut changes = self.desk.changes_made_here();
        loop {
            match changes.recv().await {
                Ok(id) => {
                    let told = redis.publish(CHARGES, format!("{here} {id}").into()).await;
                    if let Err(error) = told {
                        (self.log)(&format!("fan-out: {}", failure::in_one_line(&error)));
                    }
                }
                Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Closed) => return,
            }
        }
    }

    async fn hear_others(&self, redis: &host_store_redis::Database, here: &str) {
        let mut others = loop {
            match redis.listen(CHARGES).await {
                Ok(listener) => break listener,
                Err(error) => (self.log)(&format!("fan-out: {}", failure::in_one_line(&error))),
            }
            tokio::time::sleep(AFTER_FAILURE).await;
        };
        loop {
            let message = others.next().await;
            let Some((process, id)) = str::from_utf8(&message)
                .ok()
                .and_then(|text| text.split_once(' '))
            else {
                continue;
            };
            if let (true, Ok(id)) = (process != here, id.parse()) {
                match self.desk.changed_elsewhere(id).await {
                    // not found: the message belongs to another database
                    Ok(()) | Err(DeskError::NotFound) => {}
                    Err(error) => {
                        let _told = self.refused(error);
                    }
                }
            }
        }
    }

    async fn let_go(&self) {
        loop {
            if let Err(error) = self.database.purge(self.clock.now()).await {
                let _told = self.refused(error.into());
            }
            tokio::time::sleep(LET_GO).await;
        }
    }
}

/// Bytes in hexadecimal.
fn hex(bytes: [u8; 16]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
