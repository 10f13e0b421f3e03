//! The two ways to drive a dispatcher.

use std::{ops::ControlFlow, time::SystemTime};

use super::{Dispatcher, Handled, Report, round::Round};
use crate::ports::StoreError;

/// After so many deliveries a round ends although more are due, so that its report stays small.
const LONGEST_ROUND: usize = 1024;

impl Dispatcher {
    /// Delivers what is due until nothing more is, and says when to come back.
    ///
    /// The simple form, for a single pass: it returns only when its last exchange has ended, and looks for new work only when
    /// one of them ends. [`run`](Self::run) is for a service. Outcomes are written as they come in, those that came while the store
    /// was busy in one step: a slow receiver keeps nobody's outcome waiting, and a slow store no exchange. After 1,024 deliveries it returns although more are due;
    /// `next_due` is in the past then.
    ///
    /// # Errors
    ///
    /// The first [`StoreError`]. What was under way has been brought home; what could not be written, one by one and a second
    /// time, comes up again when its lease ends. Deliveries whose endpoint could not be read are held for ten seconds, and the others went out.
    pub async fn run_due(&self) -> Result<Report, StoreError> {
        let mut round = Round::new(self);
        let mut handled = Vec::new();
        let mut leased = 0;
        loop {
            if leased < LONGEST_ROUND && !round.has_failed {
                leased += round.lease().await;
                handled.append(&mut round.set_aside);
            }
            let Some(ended) = round.ended().await else {
                break;
            };
            handled.extend(round.settle(ended).await);
        }
        handled.extend(round.settle_again().await);
        let next_due = if leased < LONGEST_ROUND {
            round.next_due().await
        } else {
            self.outbox.next_due().await?
        };
        match round.errors.into_iter().next() {
            Some(error) => Err(error),
            None => Ok(Report { handled, next_due }),
        }
    }

    /// Delivers, until `wait` says to stop. `told` hears what became of each lease, once that is written, and of each verb of a
    /// store that failed.
    ///
    /// Whenever there are places free, `wait` is called with the moment at which something becomes due, if there is one. Its
    /// future should end at that moment, or as soon as a new event is stored, and answer [`ControlFlow::Continue`]: what is
    /// due is then sent at once, however many other exchanges hang. It is dropped when an exchange ends, and made anew; so a
    /// wake must stay told until it is heard, as tokio's `Notify::notify_one` does. With no place free it is called with
    /// `None`, as only an exchange that ends can change that.
    ///
    /// What is due may be out of reach for a moment, because other dispatchers have all the leases of its endpoint, or are just
    /// taking one: then `wait` is given a moment soon, and each time a later one, from a quarter of a second to four.
    ///
    /// After [`ControlFlow::Break`] nothing more is leased, and `run` returns when all that is under way is settled.
    ///
    /// # Failures
    ///
    /// After a [`StoreError`] of the outbox nothing is leased for the same time; what is under way goes on. Outcomes that could not
    /// be written together are written one by one, and what fails then is kept and written again after each pause, as long as
    /// its lease lasts: one that nobody can write costs only itself a repetition. It keeps its place among those under way
    /// meanwhile. One that had been written, and only its answer was lost, is told as [`Settled::Stale`](crate::sender::Settled::Stale).
    /// Where the endpoint store fails, be it for one endpoint or for all, the
    /// delivery is [held](crate::sender::Disposition::Held) for ten seconds with what else is for that endpoint, and has spent nothing. One that is given up and could not be
    /// disabled is given up again by its next failure. A panic of the
    /// transport is a failed attempt, and one of the endpoint store a `StoreError`: neither ends the other exchanges. A panic
    /// of the outbox ends the run.
    ///
    /// # Examples
    ///
    /// ```
    /// # use std::{ops::ControlFlow, time::SystemTime};
    /// # use webhook_core::sender::Dispatcher;
    /// # use tokio::sync::{Notify, watch};
    /// async fn deliver(dispatcher: Dispatcher, new_event: &Notify, stop: watch::Receiver<bool>) {
    ///     let wait = |next_due: Option<SystemTime>| {
    ///         let mut stop = stop.clone();
    ///         async move {
    ///             tokio::select! {
    ///                 () = sleep_until(next_due) => ControlFlow::Continue(()),
    ///                 () = new_event.notified() => ControlFlow::Continue(()),
    ///                 _ = stop.wait_for(|stop| *stop) => ControlFlow::Break(()),
    ///             }
    ///         }
    ///     };
    ///     dispatcher.run(wait, |told| println!("{told:?}")).await;
    /// }
    /// # async fn sleep_until(_: Option<SystemTime>) {}
    /// ```
    pub async fn run<F>(
        &self,
        mut wait: impl FnMut(Option<SystemTime>) -> F,
        mut told: impl FnMut(Result<Handled, StoreError>),
    ) where
        F: Future<Output = ControlFlow<()>>,
    {
        let mut round = Round::new(self);
        loop {
            round.lease().await;
            let next_due = round.next_due().await;
            round.set_aside.drain(..).map(Ok).for_each(&mut told);
            round.errors.drain(..).map(Err).for_each(&mut told);
            let ControlFlow::Continue(ended) = round.ended_or(wait(next_due)).await else {
                break;
            };
            round.settle(ended).await.into_iter().map(Ok).for_each(&mut told);
        }
        while let Some(ended) = round.ended().await {
            round.settle(ended).await.into_iter().map(Ok).for_each(&mut told);
        }
        // nobody waits for a pause any more
        round.settle_again().await.into_iter().map(Ok).for_each(&mut told);
        round.errors.into_iter().map(Err).for_each(told);
    }
}
