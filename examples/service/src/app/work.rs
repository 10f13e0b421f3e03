//! What the service does between requests: book refunds, deliver events, and let go of what has expired.

use std::ops::ControlFlow;
use std::time::{Duration, SystemTime};

use webhook_core::{ports::StoreError, sender::Handled};

use super::App;
use crate::with_sources;

/// How long the service waits after a store failed.
const AFTER_FAILURE: Duration = Duration::from_secs(1);
/// Another process on the same database may have enqueued something without waking this one.
const LOOK_AGAIN: Duration = Duration::from_secs(5);
/// How often what has expired is deleted.
const LET_GO: Duration = Duration::from_secs(60);

impl App {
    /// Works until dropped. Drop it only after the server has drained: what is then left waits in the database.
    pub async fn work(&self) {
        tokio::join!(self.book_refunds(), self.deliver_events(), self.let_go());
    }

    async fn book_refunds(&self) {
        loop {
            match self.desk.book_refunds().await {
                Ok(0) => {
                    let _elapsed =
                        tokio::time::timeout(LOOK_AGAIN, self.desk.refunds_asked_for().notified()).await;
                }
                Ok(_) => {}
                Err(error) => {
                    let _told = self.refused(error);
                    tokio::time::sleep(AFTER_FAILURE).await;
                }
            }
        }
    }

    async fn deliver_events(&self) {
        let wait = |next_due| self.wait_for_events(next_due);
        let told = |told: Result<Handled, StoreError>| {
            if let Err(error) = told {
                (self.log)(&format!("delivery: {}", with_sources(&error)));
            }
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

    async fn let_go(&self) {
        loop {
            if let Err(error) = self.database.purge(self.clock.now()).await {
                let _told = self.refused(error.into());
            }
            if let Err(error) = self.attempts.purge(self.clock.now()).await {
                let _told = self.unanswered(&error);
            }
            tokio::time::sleep(LET_GO).await;
        }
    }
}
