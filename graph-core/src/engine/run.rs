//! Executes a plan.

use std::sync::atomic::Ordering;

use juniper::OperationType;

use super::root::{Root, SubscriptionRoot};
use super::{Engine, failures};
use crate::document::{Coerced, coerced_arguments};
use crate::error::ErrorCode;
use crate::executor::deferred::{Deferral, Remainder};
use crate::executor::plan::{Field, FieldFaults, Plan};
use crate::executor::{
    Anchor, Execution, Gate, ListIndices, Meter, Nothing, NullPropagation, Object, Path, PendingFields,
    Segment, WriteResult, checked, close, contained, name_anchor, write_field, write_object,
    write_object_async,
};
use crate::guard::{RequestContext, Watch};
use crate::loader::{Deadline, Driven, drive};
use crate::observe::{Observed, Observer};
use crate::response::{GraphResponse, PREFIX, ResponseError};

impl<Q, M, S> Engine<Q, M, S>
where
    Q: Root,
    M: Root<Host = Q::Host>,
    S: SubscriptionRoot<Host = Q::Host>,
{
    /// Executes a query or a mutation.
    pub(super) async fn planned(
        &self,
        plan: &Plan,
        variables: &Coerced<'_>,
        context: &RequestContext<Q::Host>,
        watch: Watch,
    ) -> GraphResponse {
        Self::name_anchors();
        let cx = match self.execution(plan, variables, context, watch) {
            Ok(cx) => cx,
            Err(refused) => return refused,
        };
        let mut out = Vec::with_capacity(plan.size_hint.load(Ordering::Relaxed));
        out.extend_from_slice(PREFIX);
        let answered = if plan.has_async {
            let expire = || cx.expire();
            let deadline = self.deadline(&expire);
            drive(self.pending(&cx, out), self.loaders(context), deadline).await
        } else {
            Some(
                self.ready(&cx, out)
                    .inspect(|written| plan.took(written.len() + 1)),
            )
        };
        match answered {
            Some(Ok(written)) => GraphResponse::written(written, self.take_errors(&cx)),
            Some(Err(NullPropagation)) => GraphResponse::null(self.take_errors(&cx)),
            None => Self::late(),
        }
    }

    /// Names the anchors of the root types before code that uses their fields.
    pub(super) fn name_anchors() {
        name_anchor(Nothing::<Q>::NEW, Anchor::<RequestContext<Q::Host>>::anchor);
        name_anchor(Nothing::<M>::NEW, Anchor::<RequestContext<Q::Host>>::anchor);
        name_anchor(Nothing::<S>::NEW, Anchor::<RequestContext<Q::Host>>::anchor);
    }

    /// Executes a plan without asynchronous fields.
    fn ready(
        &self,
        cx: &Execution<'_, RequestContext<Q::Host>>,
        mut out: Vec<u8>,
    ) -> Result<Vec<u8>, NullPropagation> {
        let (roots, path) = (&self.inner.roots, Path::Root(&ListIndices::ROOT));
        match cx.plan().kind {
            OperationType::Mutation => {
                write_object(&roots.mutation, &cx.plan().fields, cx, &path, &mut out)?;
            }
            OperationType::Query | OperationType::Subscription => {
                write_object(&roots.query, &cx.plan().fields, cx, &path, &mut out)?;
            }
        }
        Ok(out)
    }

    async fn pending(
        &self,
        cx: &Execution<'_, RequestContext<Q::Host>>,
        out: Vec<u8>,
    ) -> Result<Vec<u8>, NullPropagation> {
        self.first(cx, out).await.map(|first| first.data)
    }

    /// Executes the fields that are not deferred.
    pub(super) async fn first<'p>(
        &'p self,
        cx: &'p Execution<'p, RequestContext<Q::Host>>,
        out: Vec<u8>,
    ) -> Result<First<'p>, NullPropagation> {
        let roots = &self.inner.roots;
        match cx.plan().kind {
            OperationType::Mutation => in_series(&roots.mutation, cx, out).await,
            OperationType::Query | OperationType::Subscription => at_once(&roots.query, cx, out).await,
        }
    }

    /// Creates the execution of `plan`, unless a guard refuses the operation as a whole or an
    /// argument is invalid.
    pub(super) fn execution<'x>(
        &self,
        plan: &'x Plan,
        variables: &Coerced<'_>,
        context: &'x RequestContext<Q::Host>,
        watch: Watch,
    ) -> Result<Execution<'x, RequestContext<Q::Host>>, GraphResponse> {
        let denied = watch.judge(&plan.policies, context)?;
        let gate = self.inner.concurrency.map(Gate::new);
        let meter = Meter::new(self.inner.limits.response_bytes());
        let mut cx = Execution::new(context, plan, gate, watch, meter);
        cx.decisions.denied = denied;
        cx.observer = Observer::new(&self.inner.observing, plan.kind);
        let mut found = Vec::new();
        for slot in &plan.slots {
            let mut faults = Vec::new();
            let arguments = coerced_arguments(slot, variables, &mut faults);
            cx.decisions.arguments.push(arguments);
            if !faults.is_empty() {
                let meta = slot.meta;
                found.push(FieldFaults { meta, faults });
            }
        }
        if found.is_empty() && plan.faults.is_empty() {
            return Ok(cx);
        }
        let faulty = plan.faults.iter().chain(&found);
        // a field that a guard refuses is never called, nor are those below it, and the principal
        // may not know their rules
        let is_denied = |policy| cx.decisions.denies(policy);
        let reachable = (!cx.decisions.denied.is_empty()).then(|| plan.reachable(&is_denied));
        let is_reachable = |meta: &u32| reachable.as_ref().is_none_or(|known| known.contains(meta));
        let faulty = faulty.filter(|field| is_reachable(&field.meta));
        let faulty = faulty.map(|field| (field.meta, field.faults.as_slice()));
        failures::invalid_arguments(plan, faulty).map_or(Ok(cx), Err)
    }

    /// Errors recorded since the last call.
    pub(super) fn take_errors(&self, cx: &Execution<'_, RequestContext<Q::Host>>) -> Vec<ResponseError> {
        let recorded = cx.take_failures();
        if recorded.is_empty() {
            return Vec::new();
        }
        failures::response_errors(cx.plan(), recorded, &mut self.mask(cx.context()))
    }

    /// Loaders of the request, and their observation.
    pub(super) fn loaders<'c>(&self, context: &'c RequestContext<Q::Host>) -> Driven<'c> {
        Driven {
            loaders: context.loaders(),
            has_spans: self.inner.observing.has_resolver_spans(),
        }
    }

    pub(super) fn deadline<'d>(&self, expire: &'d (dyn Fn() + Send + Sync)) -> Option<Deadline<'d>> {
        let (duration, timer) = self.inner.deadline.as_ref()?;
        Some(Deadline {
            passes: timer.sleep(*duration),
            expire,
        })
    }

    /// Response of an operation without a partial result at its deadline.
    pub(super) fn late() -> GraphResponse {
        let error = ResponseError::new(ErrorCode::Timeout, "the operation was not ready in time");
        GraphResponse::null(vec![error])
    }
}

/// First part of a response.
pub(super) struct First<'p> {
    pub(super) data: Vec<u8>,
    /// Deferred groups of the objects in `data`.
    pub(super) inside: Vec<Deferral>,
    pub(super) remainder: Remainder<'p>,
}

/// Executes the root fields of a query concurrently.
async fn at_once<'p, C: Sync>(
    root: &'p impl Object<C>,
    cx: &'p Execution<'p, C>,
    out: Vec<u8>,
) -> Result<First<'p>, NullPropagation> {
    let mut seg = Segment::from(out);
    let mut pend = PendingFields::default();
    let path = Path::Root(&ListIndices::ROOT);
    write_object_async(root, &cx.plan().fields, cx, &path, &mut seg, &mut pend)?;
    cx.plan().took(seg.buf.len());
    let remainder = pend.run(&mut seg, cx).await?;
    let (data, inside) = seg.into_parts();
    Ok(First {
        data,
        inside,
        remainder,
    })
}

/// Executes the root fields of a mutation [in
/// series](https://spec.graphql.org/September2025/#sec-Normal-and-Serial-Execution).
async fn in_series<'p, C: Sync>(
    root: &'p impl Object<C>,
    cx: &'p Execution<'p, C>,
    out: Vec<u8>,
) -> Result<First<'p>, NullPropagation> {
    let start = out.len();
    let mut first = First {
        data: out,
        inside: Vec::new(),
        remainder: Remainder::new(Vec::new()),
    };
    for field in cx.plan().fields.iter() {
        // after the deadline nothing more is started, not even synchronous fields
        let ready = !field.has_async && !cx.is_expired();
        if ready || field.idx == Field::CONST || checked(field, cx).is_some() {
            one(root, field, cx, &mut first.data)?;
            continue;
        }
        let mut seg = Segment::default();
        field.key.write(&mut seg.buf);
        let hole = seg.leave(!field.non_null, field.meta, ListIndices::ROOT);
        let mut pend = PendingFields::default();
        if cx.is_expired() {
            pend.push(hole, Box::pin(std::future::pending()));
        } else {
            let future = root.field_async(field, cx, ListIndices::ROOT);
            let future = Observed::boxed(future, field, cx, ListIndices::ROOT);
            pend.push_field(hole, future, cx);
        }
        let remainder = pend.run(&mut seg, cx).await?;
        first.remainder.append(remainder);
        let (data, inside) = seg.into_parts();
        first.data.extend_from_slice(&data);
        first.inside.extend(inside);
    }
    close(start, &mut first.data);
    cx.plan().took(first.data.len() + 1);
    Ok(first)
}

/// Writes one synchronous root field.
fn one<C>(root: &impl Object<C>, field: &Field, cx: &Execution<'_, C>, out: &mut Vec<u8>) -> WriteResult {
    field.key.write(out);
    let path = Path::Root(&ListIndices::ROOT);
    let from = out.len();
    let written = contained(|| write_field(root, field, cx, &path, out));
    written.unwrap_or_else(|payload| cx.interrupted(Some(field), &path, payload, from, out))
}
