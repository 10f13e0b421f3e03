//! Drivers of a dispatcher: `run` for a service, `run_due` for a single pass.

use std::{ops::ControlFlow, pin::pin, time::SystemTime};

use futures_util::future::select;

use super::{Dispatcher, Handled, Limits, Report, membership::Membership, round::Round};
use crate::ports::StoreError;

/// Number of leased deliveries after which `run_due` returns, to bound its report.
const LONGEST_ROUND: usize = 1024;

impl Dispatcher {
    /// Delivers until nothing is due; returns the results and the time of the next call.
    ///
    /// - This is the simple form for a single pass. A service uses [`run`](Self::run).
    /// - It returns when its last exchange has ended, and looks for new work only when an exchange
    ///   ends.
    /// - Outcomes are written as they arrive; outcomes that arrive during a write form the next
    ///   batch.
    /// - After 1,024 deliveries it returns although more are due; `next_due` is then in the past.
    ///
    /// # Errors
    ///
    /// The first [`StoreError`] of the outbox or the endpoint store, instead of the report. All
    /// exchanges have ended by then.
    ///
    /// - After an error of the outbox nothing more is leased. Outcomes are written one by one, and
    ///   failed writes are tried once more. Deliveries whose outcomes are still unwritten are sent
    ///   again after their leases have ended.
    /// - After an error of the endpoint store, the deliveries whose endpoint it could not load are
    ///   held for 10 seconds. All others are sent.
    pub async fn run_due(&self) -> Result<Report, StoreError> {
        let mut round = Round::new(self, None);
        let mut handled = Vec::new();
        let mut ended = Vec::new();
        loop {
            if round.leased < LONGEST_ROUND && !round.has_failed {
                handled.extend(round.turn(ended).await);
                handled.append(&mut round.set_aside);
            } else {
                handled.extend(round.settle(ended).await);
            }
            let Some(next) = round.ended().await else {
                break;
            };
            ended = next;
        }
        handled.extend(round.settle_again().await);
        let next_due = if round.leased < LONGEST_ROUND {
            round.next_due()
        } else {
            let next_due = self.within(Limits::VERB, self.outbox.next_due()).await;
            round.keep(next_due).flatten()
        };
        match round.errors.into_iter().next() {
            Some(error) => Err(error),
            None => Ok(Report { handled, next_due }),
        }
    }

    /// Delivers until `wait` returns [`ControlFlow::Break`]. Calls `report` with the result of each
    /// lease after its settlement, and with each [`StoreError`].
    ///
    /// # Contract of `wait`
    ///
    /// - It is called with the time at which the next delivery is due, if any, whenever an exchange
    ///   can start. If no exchange can start, it is called with `None`, because only the end of an
    ///   exchange changes that.
    /// - Its future should end at this time, or when a new event is stored, with
    ///   [`ControlFlow::Continue`]. Due deliveries are then sent at once, also while other
    ///   exchanges hang.
    /// - The future is dropped when an exchange ends, and created again. A wake-up must not get
    ///   lost between the two; `Notify::notify_one` of tokio keeps it.
    /// - If due deliveries cannot be leased, for example because other dispatchers hold all leases
    ///   of their endpoint, the time is 0.25 seconds ahead. This wait doubles up to 4 seconds.
    /// - After [`ControlFlow::Break`] nothing is leased, and `run` returns when all running
    ///   exchanges are settled.
    ///
    /// # Failures
    ///
    /// - *Error of the outbox, or no response within 20 seconds*: nothing is leased for 0.25 to 4
    ///   seconds; running exchanges continue. A failed batch is written one outcome at a time. An
    ///   outcome that cannot be written alone is tried again after each pause. After 20 failures it
    ///   is given up, and its event is sent again. Until then it occupies one place of
    ///   [`with_concurrency`](Self::with_concurrency). If only the response of the store was lost,
    ///   the retry reports [`Settled::Stale`](crate::sender::Settled::Stale).
    /// - *Unknown result of a lease*: the dispatcher joins the outbox as a new instance. The old
    ///   one leaves as soon as its exchanges are settled, which frees leases that the store wrote
    ///   and the dispatcher does not know.
    /// - *Error of the endpoint store, or no response within 10 seconds*: the delivery and all
    ///   others for its endpoint are [held](crate::sender::Disposition::Held) for 10 seconds
    ///   without a counted attempt. An endpoint that could not be disabled is disabled at its next
    ///   failure.
    /// - *Panic of the classification or the entropy*: a counted attempt without a row in the
    ///   attempt log, even if the receiver responded with 2xx. The panic is reported as a
    ///   `StoreError`.
    /// - *Panic of the metrics*: no effect.
    /// - *Panic of the transport*: a failed attempt. A transport that does not end an exchange is
    ///   abandoned 2 seconds after the deadline: a timeout.
    /// - *Panic of the endpoint store*: treated as an error of the endpoint store.
    /// - *Panic of the outbox*: propagated to the caller of `run`.
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
    ///     dispatcher.run(wait, |result| println!("{result:?}")).await;
    /// }
    /// # async fn sleep_until(_: Option<SystemTime>) {}
    /// ```
    pub async fn run<F>(
        &self,
        mut wait: impl FnMut(Option<SystemTime>) -> F,
        mut report: impl FnMut(Result<Handled, StoreError>),
    ) where
        F: Future<Output = ControlFlow<()>>,
    {
        let membership = Membership::default();
        let deliver = async {
            let mut round = Round::new(self, Some(&membership));
            let mut ended = Vec::new();
            loop {
                let handled = round.turn(ended).await;
                let handled = round.set_aside.drain(..).chain(handled);
                handled.map(Ok).for_each(&mut report);
                let next_due = round.next_due();
                round.take_errors().map(Err).for_each(&mut report);
                let ControlFlow::Continue(next) = round.ended_or(wait(next_due)).await else {
                    break;
                };
                ended = next;
            }
            while let Some(ended) = round.ended().await {
                round
                    .settle(ended)
                    .await
                    .into_iter()
                    .map(Ok)
                    .for_each(&mut report);
            }
            // a stop does not wait for the end of a pause
            round
                .settle_again()
                .await
                .into_iter()
                .map(Ok)
                .for_each(&mut report);
            membership.leave_all(self).await;
            round.take_errors().map(Err).for_each(&mut report);
        };
        // the heartbeat never ends
        select(pin!(deliver), pin!(membership.beat_forever(self))).await;
    }
}
