//! Changed charges, for the subscribers in this process and for the other processes on the
//! database.

use std::sync::{Arc, PoisonError, RwLock};

use tokio::sync::{broadcast, watch};

use super::{Desk, DeskError};
use crate::domain::{Charge, ChargeId};

/// Capacity of the channels.
const CHANNEL_CAPACITY: usize = 256;

/// Announcement of this process to the other processes on the database.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Announcement {
    /// This process changed a charge.
    Changed(ChargeId),
    /// Changes may not have been announced: the subscribers of all processes have to read the
    /// charges again.
    Lost,
}

/// Channels of changed charges. Clones share them.
#[derive(Clone)]
pub(super) struct Updates {
    /// Replaced after a loss, which closes the receivers of the former channel.
    subscribers: Arc<RwLock<broadcast::Sender<Charge>>>,
    announcements: broadcast::Sender<Announcement>,
    /// Number of changes in doubt: writes of unknown outcome, and changes that could not be read.
    doubts: watch::Sender<u64>,
}

impl Default for Updates {
    fn default() -> Self {
        Self {
            subscribers: Arc::new(RwLock::new(broadcast::Sender::new(CHANNEL_CAPACITY))),
            announcements: broadcast::Sender::new(CHANNEL_CAPACITY),
            doubts: watch::Sender::new(0),
        }
    }
}

impl Updates {
    fn subscribers(&self) -> broadcast::Sender<Charge> {
        let subscribers = self.subscribers.read();
        subscribers.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Notifies all subscribers of a change that this process has committed.
    pub(super) fn publish(&self, charge: &Charge) {
        // fails without a subscriber
        let _subscribers = self.subscribers().send(charge.clone());
        let _others = self.announcements.send(Announcement::Changed(charge.id.clone()));
    }

    /// Runs `operation`: a write, or the read of a change to publish. A store error or a dropped
    /// future counts as a change in doubt, because a write may be committed nevertheless.
    pub(super) async fn track_doubt<T>(
        &self,
        operation: impl Future<Output = Result<T, DeskError>>,
    ) -> Result<T, DeskError> {
        let mut doubt = Doubt(Some(&self.doubts));
        let done = operation.await;
        if !matches!(done, Err(DeskError::Store(_))) {
            doubt.0 = None;
        }
        done
    }
}

/// Counts a change in doubt when dropped, unless it is cleared.
struct Doubt<'a>(Option<&'a watch::Sender<u64>>);

impl Drop for Doubt<'_> {
    fn drop(&mut self) {
        if let Some(doubts) = self.0 {
            doubts.send_modify(|doubts| *doubts = doubts.saturating_add(1));
        }
    }
}

impl Desk {
    /// Subscribes to all charges that change from now on, in this process or, with
    /// [`publish_remote_change`](Self::publish_remote_change), in another.
    ///
    /// The channel keeps 256 charges. A subscriber misses changes if it falls further behind
    /// (`Lagged`), or if the channel is closed (`Closed`) by
    /// [`interrupt_subscribers`](Self::interrupt_subscribers). It then subscribes again and reads
    /// the charges.
    #[must_use]
    pub fn charge_updates(&self) -> broadcast::Receiver<Charge> {
        self.updates.subscribers().subscribe()
    }

    /// Subscribes to the announcements of this process from now on. The channel keeps 256.
    #[must_use]
    pub fn announcements(&self) -> broadcast::Receiver<Announcement> {
        self.updates.announcements.subscribe()
    }

    /// Notifies the subscribers of this process of a charge that another process on the same
    /// database has changed.
    ///
    /// # Errors
    ///
    /// See [`charge`](Self::charge). If the database fails, the subscribers are interrupted as soon
    /// as it responds.
    pub async fn publish_remote_change(&self, id: ChargeId) -> Result<(), DeskError> {
        let subscribers = self.updates.subscribers();
        if subscribers.receiver_count() > 0 {
            let charge = self.updates.track_doubt(self.charge(id)).await?;
            let _subscribers = subscribers.send(charge);
        }
        Ok(())
    }

    /// Closes the channels of the subscribers in this process, because they may have missed
    /// changes.
    pub fn interrupt_subscribers(&self) {
        let new_channel = broadcast::Sender::new(CHANNEL_CAPACITY);
        let subscribers = self.updates.subscribers.write();
        *subscribers.unwrap_or_else(PoisonError::into_inner) = new_channel;
    }

    /// Interrupts the subscribers of all processes on the database, because changes may not have
    /// been announced.
    pub fn announce_loss(&self) {
        self.interrupt_subscribers();
        let _others = self.updates.announcements.send(Announcement::Lost);
    }

    /// Returns `true` if a change may exist that this process could not announce.
    #[must_use]
    pub fn is_in_doubt(&self) -> bool {
        *self.updates.doubts.borrow() > 0
    }

    /// Waits for a change in doubt, checks that the database responds, and calls
    /// [`announce_loss`](Self::announce_loss).
    ///
    /// # Errors
    ///
    /// Returns [`DeskError::Store`] if the database does not respond yet. The next call tries again
    /// at once.
    pub async fn resolve_doubt(&self) -> Result<(), DeskError> {
        let doubts = &self.updates.doubts;
        // the channel stays open
        let _is_open = doubts.subscribe().wait_for(|doubts| *doubts > 0).await.is_ok();
        let doubt_count = *doubts.borrow();
        self.store.check().await?;
        self.announce_loss();
        doubts.send_modify(|doubts| *doubts = doubts.saturating_sub(doubt_count));
        Ok(())
    }
}
