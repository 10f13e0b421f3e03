//! What the service does between requests: book refunds, deliver events, and let go of what has expired.

use std::ops::ControlFlow;
use std::time::{Duration, SystemTime};

use tokio::sync::broadcast::error::RecvError;
use tokio::sync::watch;
use webhook_core::{ports::StoreError, sender::Handled};

use super::App;
use crate::desk::DeskError;

/// How long the service waits after a store failed.
const AFTER_FAILURE: Duration = Duration::from_secs(1);
/// Another process on the same database may have enqueued something without waking this one.
const LOOK_AGAIN: Duration = Duration::from_secs(5);
/// Where processes tell each other of charges: which process, and which charge.
const CHARGES: &str = "charges";
/// How often what has expired is deleted.
const LET_GO: Duration = Duration::from_secs(60);

impl App {
    /// Works until dropped. Drop it only after the server has drained: what is then left waits in the database.
    pub async fn work(&self) {
        tokio::join!(
            self.book_refunds(),
            self.deliver_events(),
            self.fan_out(),
            self.let_go()
        );
    }

    /// Changes when refunds were booked or deliveries settled.
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
        // the work ends by being dropped
        ControlFlow::Continue(())
    }

    /// Tells the other processes on the database which charges change here, and hears of those that change there.
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
                    // of another database
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

/// A name for this process.
fn hex(bytes: [u8; 16]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
