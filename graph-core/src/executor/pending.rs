//! The futures that fill the holes of a segment.
//!
//! They borrow the value that the segment was written from; both live in one future, which is how nothing outlives anything.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_util::future::BoxFuture;
use futures_util::stream::{FuturesUnordered, Stream};

use super::{Bubble, Cx, Flow, Seg, SegResult};
use crate::error::{ErrorCode, GraphError};

/// How many futures are polled all together at each wake-up; more of them get a waker each.
const FEW: usize = 8;

/// The futures that fill the holes of a segment, in the order of the holes.
#[derive(Default)]
pub struct Pend<'p> {
    tasks: Vec<Task<'p>>,
}

impl std::fmt::Debug for Pend<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pend").field("tasks", &self.tasks.len()).finish()
    }
}

/// The future of a hole; `None` when it was cancelled.
struct Task<'p> {
    hole: usize,
    future: Option<BoxFuture<'p, SegResult>>,
}

impl Future for Task<'_> {
    type Output = Option<(usize, SegResult)>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let hole = self.hole;
        match &mut self.future {
            None => Poll::Ready(None),
            Some(future) => future.as_mut().poll(cx).map(|result| Some((hole, result))),
        }
    }
}

impl<'p> Pend<'p> {
    pub(crate) fn push(&mut self, hole: usize, future: BoxFuture<'p, SegResult>) {
        self.tasks.push(Task {
            hole,
            future: Some(future),
        });
    }

    /// Makes room for so many futures.
    pub(crate) fn reserve(&mut self, futures: usize) {
        self.tasks.reserve(futures);
    }

    /// Drops the futures of the holes from `hole` on.
    pub(crate) fn truncate(&mut self, hole: usize) {
        self.tasks.truncate(hole);
    }

    /// Runs the futures at once and fills the holes of `seg`.
    pub(crate) async fn run<C>(mut self, seg: &mut Seg, cx: &Cx<'_, C>) -> Flow {
        if self.tasks.is_empty() {
            return Ok(());
        }
        let first = poll_fn(|task| Poll::Ready(self.round(task, seg))).await;
        first?;
        if self.tasks.is_empty() {
            return Ok(());
        }
        if self.tasks.len() <= FEW {
            let rest = poll_fn(|task| {
                let polled = self.round(task, seg).and_then(|()| {
                    if cx.is_expired() {
                        self.time_out(seg, cx)?;
                    }
                    Ok(self.tasks.is_empty())
                });
                match polled {
                    Ok(false) => Poll::Pending,
                    Ok(true) => Poll::Ready(Ok(())),
                    Err(bubble) => Poll::Ready(Err(bubble)),
                }
            });
            // what the first round left is woken by itself, and is not polled twice for nothing
            return if cx.is_expired() {
                rest.await
            } else {
                after_wake(rest).await
            };
        }
        // every future is polled again as it enters the set: that is what gives it its waker
        let mut set: Box<FuturesUnordered<Task<'p>>> = Box::new(self.tasks.into_iter().collect());
        let mut alive = set.len();
        poll_fn(|task| many(&mut set, &mut alive, seg, cx, task)).await
    }

    /// Polls every future once, in the order of the document.
    fn round(&mut self, context: &mut Context<'_>, seg: &mut Seg) -> Flow {
        let (mut flow, mut nulled) = (Ok(()), false);
        self.tasks.retain_mut(|task| {
            if flow.is_err() {
                return false;
            }
            let Poll::Ready(Some((hole, result))) = Pin::new(task).poll(context) else {
                return true;
            };
            flow = settle(seg, hole, result).map(|null| nulled |= null);
            false
        });
        if nulled {
            self.tasks.retain(|task| !seg.is_dead(task.hole));
        }
        flow
    }

    /// Answers without what is not ready.
    fn time_out<C>(&mut self, seg: &mut Seg, cx: &Cx<'_, C>) -> Flow {
        for task in self.tasks.drain(..) {
            late(seg, task.hole, cx)?;
        }
        Ok(())
    }
}

/// Fills a hole. Whether a value around it became null: the futures of its other holes are of no use.
fn settle(seg: &mut Seg, hole: usize, result: SegResult) -> Result<bool, Bubble> {
    match result {
        Ok(segment) => {
            seg.fill(hole, segment);
            Ok(false)
        }
        Err(Bubble) => seg.null_around(hole).map(|()| true),
    }
}

fn late<C>(seg: &mut Seg, hole: usize, cx: &Cx<'_, C>) -> Flow {
    let Some((meta, trail, nullable)) = seg.field_of(hole).filter(|_| !seg.is_dead(hole)) else {
        return Ok(());
    };
    let error = GraphError::new(ErrorCode::Timeout, "the field was not ready in time");
    cx.note_meta(meta, trail, error.into());
    if nullable {
        return Ok(());
    }
    seg.null_around(hole)
}

fn many<C>(
    set: &mut FuturesUnordered<Task<'_>>,
    alive: &mut usize,
    seg: &mut Seg,
    cx: &Cx<'_, C>,
    context: &mut Context<'_>,
) -> Poll<Flow> {
    if cx.is_expired() {
        return Poll::Ready(last_round(set, seg, cx, context));
    }
    while *alive > 0 {
        let Poll::Ready(Some(done)) = Pin::new(&mut *set).poll_next(context) else {
            return Poll::Pending;
        };
        let Some((hole, result)) = done else { continue };
        *alive -= 1;
        match settle(seg, hole, result) {
            Ok(false) => {}
            Ok(true) => cancel_dead(set, alive, seg),
            Err(bubble) => return Poll::Ready(Err(bubble)),
        }
    }
    Poll::Ready(Ok(()))
}

/// Drops the futures of holes in values that are null.
fn cancel_dead(set: &mut FuturesUnordered<Task<'_>>, alive: &mut usize, seg: &Seg) {
    for task in set.iter_mut() {
        if task.future.is_some() && seg.is_dead(task.hole) {
            task.future = None;
            *alive -= 1;
        }
    }
}

/// Polls every future a last time, so that those within it can answer without what is not ready in them.
fn last_round<C>(
    set: &mut FuturesUnordered<Task<'_>>,
    seg: &mut Seg,
    cx: &Cx<'_, C>,
    context: &mut Context<'_>,
) -> Flow {
    for task in set.iter_mut() {
        let hole = task.hole;
        let polled = Pin::new(&mut *task).poll(context);
        task.future = None;
        match polled {
            Poll::Ready(Some((hole, result))) => {
                settle(seg, hole, result)?;
            }
            Poll::Ready(None) => {}
            Poll::Pending => late(seg, hole, cx)?,
        }
    }
    Ok(())
}

/// Goes on with `future` when something woke the task, not at once.
async fn after_wake<T>(future: impl Future<Output = T>) -> T {
    let mut woken = false;
    poll_fn(|_| {
        if woken {
            return Poll::Ready(());
        }
        woken = true;
        Poll::Pending
    })
    .await;
    future.await
}

#[cfg(test)]
#[path = "tests/pending.rs"]
mod tests;
