//! Deferred groups: parts of the response that follow the first one.
//!
//! A deferred group borrows the object that it belongs to, so that no resolver of the enclosing
//! objects runs twice. The future that owns the object hands over its segment early and stays alive
//! until the groups inside it are complete:
//!
//! 1. The object leaves an empty hole for each group, and the future of the group is put aside.
//! 2. When all other holes are filled, the future that owns the object puts its segment into
//!    [`Deliveries`] and returns `Pending` once. The future around it takes the segment, and puts
//!    the rest aside as part of its own [`Remainder`].
//! 3. The root records the first part. The remainders then run, and each group records its part.

use std::collections::HashMap;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::{Mutex, PoisonError};
use std::task::Poll;

use futures_util::future::BoxFuture;
use futures_util::stream::{FuturesUnordered, Stream as _};

use super::plan::Plan;
use super::{Execution, FieldFailure, ListIndices, PendingFields, Segment, SegmentResult, WriteResult};

/// Deferred group of one object.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub(crate) struct Deferral {
    /// Index into [`Plan::deferred`](super::Plan).
    pub(crate) group: u32,
    /// List indices of the object.
    pub(crate) indices: ListIndices,
}

/// Complete part of the response.
#[derive(Debug)]
pub(crate) struct Part {
    /// `None` for the first part.
    pub(crate) deferral: Option<Deferral>,
    /// JSON; `None` if a failure propagated to the object.
    pub(crate) data: Option<Vec<u8>>,
    pub(crate) failures: Vec<FieldFailure>,
    /// Deferred groups of the objects in `data`.
    pub(crate) inside: Vec<Deferral>,
}

impl Part {
    /// Place in the document order.
    fn place(&self) -> Option<(u32, &[u32])> {
        let deferral = self.deferral.as_ref()?;
        Some((deferral.group, deferral.indices.as_slice()))
    }
}

/// Results that futures hand over before they complete.
#[derive(Debug, Default)]
pub(crate) struct Deliveries {
    /// Segment of the future that is being polled.
    early: Mutex<Option<Segment>>,
    parts: Mutex<Vec<Part>>,
    /// Failures by the part that they belong to.
    failures: Mutex<HashMap<Option<Deferral>, Vec<FieldFailure>>>,
}

impl Deliveries {
    /// Segment that the future polled last has handed over.
    pub(super) fn take_early(&self) -> Option<Segment> {
        self.early.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn hand_over(&self, segment: Segment) {
        *self.early.lock().unwrap_or_else(PoisonError::into_inner) = Some(segment);
    }

    fn record(&self, part: Part) {
        self.parts
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(part);
    }

    /// Assigns the failures in `recorded` to their parts, and takes those of `part`.
    pub(super) fn take_failures(
        &self,
        recorded: Vec<FieldFailure>,
        plan: &Plan,
        part: Option<&Deferral>,
    ) -> Vec<FieldFailure> {
        let mut failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        for failure in recorded {
            let part = part_of(&failure, plan);
            failures.entry(part).or_default().push(failure);
        }
        failures.remove(&part.cloned()).unwrap_or_default()
    }

    pub(crate) fn has_parts(&self) -> bool {
        let parts = self.parts.lock().unwrap_or_else(PoisonError::into_inner);
        !parts.is_empty()
    }

    /// Takes the parts that were recorded since the last call, in document order. A part precedes
    /// the parts of the objects in it, because an inner group has a greater number.
    pub(crate) fn take_parts(&self) -> Vec<Part> {
        let mut parts = std::mem::take(&mut *self.parts.lock().unwrap_or_else(PoisonError::into_inner));
        parts.sort_by(|one, other| one.place().cmp(&other.place()));
        parts
    }
}

/// Deferred group of a failed field; `None` in the first part.
fn part_of(failure: &FieldFailure, plan: &Plan) -> Option<Deferral> {
    let meta = plan.metas.get(usize::try_from(failure.meta).ok()?)?;
    let group = meta.group?;
    let lists = plan.deferred.get(usize::try_from(group).ok()?)?.lists;
    let lists = usize::try_from(lists).ok()?;
    Some(Deferral {
        group,
        indices: failure.indices.first(lists),
    })
}

/// Work that follows a part of the response.
pub(crate) struct Remainder<'p>(Vec<BoxFuture<'p, SegmentResult>>);

impl<'p> Remainder<'p> {
    pub(crate) fn new(futures: Vec<BoxFuture<'p, SegmentResult>>) -> Self {
        Self(futures)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn append(&mut self, mut other: Self) {
        self.0.append(&mut other.0);
    }

    /// Hands over `segment`, and continues when the future around it runs its own remainder.
    pub(super) async fn after<C>(self, segment: Segment, cx: &Execution<'_, C>) -> SegmentResult {
        cx.deliveries.hand_over(segment);
        pause().await;
        self.run(cx).await;
        Ok(Segment::default())
    }

    /// Records the first part of the response, and continues when the host has taken it.
    pub(crate) async fn after_first<C>(
        self,
        data: Option<Vec<u8>>,
        inside: Vec<Deferral>,
        cx: &Execution<'_, C>,
    ) {
        cx.deliveries.record(Part {
            deferral: None,
            data,
            failures: cx.take_failures_of(None),
            inside,
        });
        pause().await;
        self.run(cx).await;
    }

    async fn run<C>(self, cx: &Execution<'_, C>) {
        let mut futures: FuturesUnordered<_> = self.0.into_iter().collect();
        poll_fn(|task| {
            if cx.is_expired() {
                // each group fails its own pending fields
                for future in futures.iter_mut() {
                    let _is_ready = Pin::new(future).poll(task).is_ready();
                }
                return Poll::Ready(());
            }
            loop {
                match Pin::new(&mut futures).poll_next(task) {
                    // a group has recorded its own part
                    Poll::Ready(Some(_)) => {}
                    Poll::Ready(None) => return Poll::Ready(()),
                    Poll::Pending => return Poll::Pending,
                }
            }
        })
        .await;
    }
}

/// Returns `Pending` once.
async fn pause() {
    let mut is_resumed = false;
    poll_fn(|_| match std::mem::replace(&mut is_resumed, true) {
        true => Poll::Ready(()),
        false => Poll::Pending,
    })
    .await;
}

/// Writes the fields of a deferred group.
pub(super) type Write<'p> =
    Box<dyn FnOnce(&Deferral, &mut Segment, &mut PendingFields<'p>) -> WriteResult + Send + 'p>;

/// Executes a deferred group and records its part.
pub(super) async fn deferred<'p, C: Sync>(
    deferral: Deferral,
    write: Write<'p>,
    cx: &'p Execution<'p, C>,
) -> SegmentResult {
    let mut seg = Segment::default();
    let mut pend = PendingFields::default();
    let written = match write(&deferral, &mut seg, &mut pend) {
        Ok(()) => {
            cx.meter.complete(seg.buf.len());
            pend.run(&mut seg, cx).await
        }
        Err(propagation) => Err(propagation),
    };
    let failures = cx.take_failures_of(Some(&deferral));
    let (data, inside, remainder) = match written {
        Ok(remainder) => {
            let (data, inside) = seg.into_parts();
            (Some(data), inside, Some(remainder))
        }
        Err(_) => (None, Vec::new(), None),
    };
    cx.deliveries.record(Part {
        deferral: Some(deferral),
        data,
        failures,
        inside,
    });
    if let Some(remainder) = remainder {
        remainder.run(cx).await;
    }
    Ok(Segment::default())
}
