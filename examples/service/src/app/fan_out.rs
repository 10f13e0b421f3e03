//! Fan-out of changed charges between the processes on one database, over Redis.
//!
//! Redis delivers a message at most once. Where a change may have been missed, subscribers are
//! interrupted; they then subscribe again and read the charges. This happens
//!
//! - in one process, after its connection to Redis was re-established;
//! - in all processes, after an announcement could not be published, after the outcome of a write
//!   was unknown, and after a process died, since it may have committed a change and not published
//!   it.

use std::pin::pin;

use host_store_redis::{Database, Received};
use tokio::sync::broadcast::error::TryRecvError;
use tracing::error;

use super::App;
use super::work::FAILURE_DELAY;
use crate::desk::Announcement;

/// Redis channel of the announcements. A message names the process, and the charge or [`LOST`].
const CHARGES: &str = "charges";
/// Announcement that changes may have been missed.
const LOST: &str = "lost";

impl App {
    /// Publishes the announcements of this process until `stop`, and then those that are left.
    pub(super) async fn publish_changes(&self, here: &str, stop: impl Future<Output = ()>) {
        let Some(redis) = &self.redis else {
            return stop.await;
        };
        let mut announcements = self.desk.announcements();
        let (mut stop, mut is_lost) = (pin!(stop), false);
        loop {
            let next = async {
                match is_lost {
                    true => tokio::time::sleep(FAILURE_DELAY).await,
                    false => match announcements.recv().await {
                        Ok(announcement) => return announcement,
                        Err(_lagged) => {}
                    },
                }
                Announcement::Lost
            };
            tokio::select! {
                next = next => is_lost = !announced(redis, here, &next).await,
                () = &mut stop => break,
            }
        }
        if is_lost || self.desk.is_in_doubt() {
            announced(redis, here, &Announcement::Lost).await;
        }
        loop {
            let next = match announcements.try_recv() {
                Ok(announcement) => announcement,
                Err(TryRecvError::Lagged(_)) => Announcement::Lost,
                Err(TryRecvError::Empty | TryRecvError::Closed) => return,
            };
            if !announced(redis, here, &next).await {
                // once more, since the connection is re-established only by the next operation
                announced(redis, here, &Announcement::Lost).await;
                return;
            }
        }
    }

    /// Receives the announcements of the other processes. Without Redis it never completes.
    pub(super) async fn receive_changes(&self, here: &str) {
        let Some(redis) = &self.redis else {
            return std::future::pending().await;
        };
        let mut listener = loop {
            match redis.listen(CHARGES).await {
                Ok(listener) => break listener,
                Err(error) => error!(error = program::in_one_line(&error), "Redis fan-out failed"),
            }
            tokio::time::sleep(FAILURE_DELAY).await;
        };
        // those who subscribed before have missed changes
        self.desk.interrupt_subscribers();
        loop {
            match listener.next().await {
                Received::Message(message) => self.receive_change(here, &message).await,
                _reconnected => self.desk.interrupt_subscribers(),
            }
        }
    }

    async fn receive_change(&self, here: &str, message: &[u8]) {
        let words = str::from_utf8(message).ok().and_then(|text| text.split_once(' '));
        match words {
            Some((process, _)) if process == here => {}
            Some((_, LOST)) => self.desk.interrupt_subscribers(),
            Some((_, id)) => {
                if let Ok(id) = id.parse()
                    && let Err(error) = self.desk.publish_remote_change(id).await
                {
                    let _logged = self.refused(error);
                }
            }
            None => {}
        }
    }

    /// Interrupts all subscribers after the outcome of a write was unknown. Never completes.
    pub(super) async fn resolve_doubts(&self) {
        loop {
            if self.desk.resolve_doubt().await.is_err() {
                // the failed write is logged
                tokio::time::sleep(FAILURE_DELAY).await;
            }
        }
    }
}

/// Publishes an announcement. A failure is logged; the result is then `false`.
async fn announced(redis: &Database, here: &str, announcement: &Announcement) -> bool {
    let what = match announcement {
        Announcement::Changed(id) => id.as_str(),
        Announcement::Lost => LOST,
    };
    let published = redis.publish(CHARGES, format!("{here} {what}").into()).await;
    if let Err(error) = &published {
        error!(error = program::in_one_line(error), "Redis fan-out failed");
    }
    published.is_ok()
}
