//! Futures that fill the holes of a segment.
//!
//! The futures borrow the value that was written to the segment. One outer future owns the value
//! and these futures.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_util::future::BoxFuture;
use futures_util::stream::{FuturesUnordered, Stream};

use super::contain::contained;
use super::deferred::{Deliveries, Remainder};
use super::{Execution, NullPropagation, Payload, Segment, SegmentResult, WriteResult};
use crate::error::{ErrorCode, GraphError};

/// Maximum number of futures that are polled together. With more futures, each gets its own waker.
const FEW: usize = 8;

/// Number of joint polls before each future gets its own waker. Futures that wait for one batch are
/// ready at the second poll, and a spurious poll is cheaper than a waker.
const ROUNDS: u32 = 2;

/// Futures of the holes of a segment, in order of the holes.
#[derive(Default)]
pub struct PendingFields<'p> {
    tasks: Vec<Task<'p>>,
}

impl std::fmt::Debug for PendingFields<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PendingFields")
            .field("tasks", &self.tasks.len())
            .finish()
    }
}

/// Future of a hole; `None` if cancelled.
struct Task<'p> {
    hole: usize,
    future: Option<BoxFuture<'p, SegmentResult>>,
    kind: Kind<'p>,
}

#[derive(Clone, Copy)]
enum Kind<'p> {
    /// Completes with the segment.
    Plain,
    /// May hand over the segment before it completes, because it has deferred groups inside.
    Early(&'p Deliveries),
    /// Deferred group, which starts when the segment is complete.
    Deferred,
}

/// Segment of a future that is complete or continues with its deferred groups, or its panic.
struct Done<'p> {
    hole: usize,
    result: Result<SegmentResult, Payload>,
    remainder: Option<BoxFuture<'p, SegmentResult>>,
}

impl<'p> Future for Task<'p> {
    type Output = Option<Done<'p>>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let Self { hole, future, kind } = &mut *self;
        let Some(running) = future else {
            return Poll::Ready(None);
        };
        let (result, remainder) = match (contained(|| running.as_mut().poll(cx)), kind) {
            (Ok(Poll::Ready(result)), _) => (Ok(result), None),
            (Ok(Poll::Pending), Kind::Early(deliveries)) => match deliveries.take_early() {
                Some(segment) => (Ok(Ok(segment)), future.take()),
                None => return Poll::Pending,
            },
            (Ok(Poll::Pending), Kind::Plain | Kind::Deferred) => return Poll::Pending,
            (Err(payload), _) => {
                *future = None;
                (Err(payload), None)
            }
        };
        let hole = *hole;
        Poll::Ready(Some(Done {
            hole,
            result,
            remainder,
        }))
    }
}

impl<'p> PendingFields<'p> {
    pub(crate) fn push(&mut self, hole: usize, future: BoxFuture<'p, SegmentResult>) {
        self.add(hole, future, Kind::Plain);
    }

    /// Adds the future of a field that may have deferred groups in its selection.
    pub(crate) fn push_field<C>(
        &mut self,
        hole: usize,
        future: BoxFuture<'p, SegmentResult>,
        cx: &'p Execution<'p, C>,
    ) {
        let kind = if cx.plan().deferred.is_empty() {
            Kind::Plain
        } else {
            Kind::Early(&cx.deliveries)
        };
        self.add(hole, future, kind);
    }

    /// Adds the future of a deferred group.
    pub(crate) fn push_deferred(&mut self, hole: usize, future: BoxFuture<'p, SegmentResult>) {
        self.add(hole, future, Kind::Deferred);
    }

    fn add(&mut self, hole: usize, future: BoxFuture<'p, SegmentResult>, kind: Kind<'p>) {
        self.tasks.push(Task {
            hole,
            future: Some(future),
            kind,
        });
    }

    /// Reserves space for `futures`.
    pub(crate) fn reserve(&mut self, futures: usize) {
        if self.tasks.is_empty() {
            self.tasks.reserve_exact(futures);
        } else {
            self.tasks.reserve(futures);
        }
    }

    /// Drops the futures of all holes from `hole` on.
    pub(crate) fn truncate(&mut self, hole: usize) {
        self.tasks.truncate(hole);
    }

    /// Runs the futures concurrently and fills the holes of `seg`. Returns the work that follows
    /// when the response up to here is sent: deferred groups, and futures that own values of such
    /// groups.
    pub(crate) async fn run<C>(
        mut self,
        seg: &mut Segment,
        cx: &Execution<'_, C>,
    ) -> Result<Remainder<'p>, NullPropagation> {
        let mut rest = Rest::default();
        if self.tasks.is_empty() {
            return Ok(rest.remainder(seg));
        }
        if !cx.plan().deferred.is_empty() {
            let is_deferred = |task: &mut Task<'p>| matches!(task.kind, Kind::Deferred);
            let deferred = self.tasks.extract_if(.., is_deferred);
            rest.0
                .extend(deferred.filter_map(|task| Some((task.hole, task.future?))));
        }
        let (mut set, mut rounds) = (None, 0);
        poll_fn(|task| match &mut set {
            None => self.wait(&mut set, &mut rounds, (seg, &mut rest), cx, task),
            Some(set) => set.poll((seg, &mut rest), cx, task),
        })
        .await?;
        Ok(rest.remainder(seg))
    }

    /// Polls all futures together. If many are still pending, gives each its own waker.
    fn wait<C>(
        &mut self,
        set: &mut Option<Box<Many<'p>>>,
        rounds: &mut u32,
        (seg, rest): Filling<'_, 'p>,
        cx: &Execution<'_, C>,
        task: &mut Context<'_>,
    ) -> Poll<WriteResult> {
        self.round(task, (seg, rest), cx)?;
        if self.tasks.is_empty() {
            return Poll::Ready(Ok(()));
        }
        if cx.is_expired() {
            return Poll::Ready(self.time_out(seg, cx));
        }
        *rounds += 1;
        if *rounds < ROUNDS || self.tasks.len() <= FEW {
            return Poll::Pending;
        }
        // the set polls each future once more, which registers its own waker
        let many = Many {
            alive: self.tasks.len(),
            set: self.tasks.drain(..).collect(),
        };
        set.insert(Box::new(many)).poll((seg, rest), cx, task)
    }

    /// Polls every future once, in document order.
    fn round<C>(
        &mut self,
        context: &mut Context<'_>,
        (seg, rest): Filling<'_, 'p>,
        cx: &Execution<'_, C>,
    ) -> WriteResult {
        let (mut outcome, mut nulled) = (Ok(()), false);
        self.tasks.retain_mut(|task| {
            if outcome.is_err() {
                return false;
            }
            let Poll::Ready(Some(done)) = Pin::new(task).poll(context) else {
                return true;
            };
            outcome = settle(seg, rest, done, cx).map(|null| nulled |= null);
            false
        });
        if nulled {
            self.tasks.retain(|task| !seg.is_dead(task.hole));
        }
        outcome
    }

    /// Fails pending fields with `TIMEOUT`.
    fn time_out<C>(&mut self, seg: &mut Segment, cx: &Execution<'_, C>) -> WriteResult {
        for task in self.tasks.drain(..) {
            late(seg, task.hole, cx)?;
        }
        Ok(())
    }
}

/// Fills a hole. Returns `true` if a value around the hole became null, so that the other futures
/// of that value are useless.
fn settle<'p, C>(
    seg: &mut Segment,
    rest: &mut Rest<'p>,
    done: Done<'p>,
    cx: &Execution<'_, C>,
) -> Result<bool, NullPropagation> {
    match done.result {
        Ok(Ok(segment)) => {
            seg.fill(done.hole, segment);
            rest.0
                .extend(done.remainder.map(|remainder| (done.hole, remainder)));
            Ok(false)
        }
        Ok(Err(NullPropagation)) => seg.null_around(done.hole).map(|()| true),
        Err(payload) => {
            let Some((meta, indices, nullable)) = seg.field_of(done.hole) else {
                return Ok(false);
            };
            cx.panicked(meta, indices, &*payload);
            // a hole that nothing fills is null
            if nullable {
                Ok(false)
            } else {
                seg.null_around(done.hole).map(|()| true)
            }
        }
    }
}

/// Segment with holes, and the work that follows it.
type Filling<'f, 'p> = (&'f mut Segment, &'f mut Rest<'p>);

/// Work that follows a segment, by the hole that it belongs to.
#[derive(Default)]
struct Rest<'p>(Vec<(usize, BoxFuture<'p, SegmentResult>)>);

impl<'p> Rest<'p> {
    /// Drops the work of null values.
    fn remainder(self, seg: &Segment) -> Remainder<'p> {
        let alive = self.0.into_iter().filter(|(hole, _)| !seg.is_dead(*hole));
        Remainder::new(alive.map(|(_, future)| future).collect())
    }
}

fn late<C>(seg: &mut Segment, hole: usize, cx: &Execution<'_, C>) -> WriteResult {
    let Some((meta, indices, nullable)) = seg.field_of(hole).filter(|_| !seg.is_dead(hole)) else {
        return Ok(());
    };
    let error = GraphError::new(ErrorCode::Timeout, "the field was not ready in time");
    cx.record_failure_by_meta(meta, indices, error.into());
    if nullable {
        return Ok(());
    }
    seg.null_around(hole)
}

/// Futures with a waker each.
struct Many<'p> {
    set: FuturesUnordered<Task<'p>>,
    /// Number of futures that are not cancelled.
    alive: usize,
}

impl<'p> Many<'p> {
    fn poll<C>(
        &mut self,
        (seg, rest): Filling<'_, 'p>,
        cx: &Execution<'_, C>,
        context: &mut Context<'_>,
    ) -> Poll<WriteResult> {
        if cx.is_expired() {
            return Poll::Ready(self.last_round((seg, rest), cx, context));
        }
        while self.alive > 0 {
            let Poll::Ready(Some(done)) = Pin::new(&mut self.set).poll_next(context) else {
                return Poll::Pending;
            };
            let Some(done) = done else { continue };
            self.alive -= 1;
            match settle(seg, rest, done, cx) {
                Ok(false) => {}
                Ok(true) => self.cancel_dead(seg),
                Err(propagation) => return Poll::Ready(Err(propagation)),
            }
        }
        Poll::Ready(Ok(()))
    }

    /// Drops the futures of holes in null values.
    fn cancel_dead(&mut self, seg: &Segment) {
        for task in self.set.iter_mut() {
            if task.future.is_some() && seg.is_dead(task.hole) {
                task.future = None;
                self.alive -= 1;
            }
        }
    }

    /// Polls every future once more after the deadline, so that nested values can fail their own
    /// pending fields.
    fn last_round<C>(
        &mut self,
        (seg, rest): Filling<'_, 'p>,
        cx: &Execution<'_, C>,
        context: &mut Context<'_>,
    ) -> WriteResult {
        for task in self.set.iter_mut() {
            let hole = task.hole;
            let polled = Pin::new(&mut *task).poll(context);
            task.future = None;
            match polled {
                Poll::Ready(Some(done)) => {
                    settle(seg, rest, done, cx)?;
                }
                Poll::Ready(None) => {}
                Poll::Pending => late(seg, hole, cx)?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
#[path = "tests/pending.rs"]
mod tests;
