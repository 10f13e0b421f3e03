//! What the service does between requests: book refunds, and deliver events.

use std::time::{Duration, SystemTime};

use super::App;

/// How long the service waits after a store failed.
const AFTER_FAILURE: Duration = Duration::from_secs(1);
/// Another process on the same database may have enqueued something without waking this one.
const LOOK_AGAIN: Duration = Duration::from_secs(5);

impl App {
    /// Works until dropped. Drop it only after the server has drained: what is then left waits in the database.
    pub async fn work(&self) {
        tokio::join!(self.book_refunds(), self.deliver_events());
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
        loop {
            match self.dispatcher.run_due().await {
                Ok(report) => self.wait_for_events(report.next_due).await,
                Err(error) => {
                    (self.log)(&format!("delivery: {error}"));
                    tokio::time::sleep(AFTER_FAILURE).await;
                }
            }
        }
    }

    async fn wait_for_events(&self, next_due: Option<SystemTime>) {
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
    }
}
