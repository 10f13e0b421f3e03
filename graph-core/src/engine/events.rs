//! Subscriptions: executes the plan for every event.

use futures_util::stream::StreamExt as _;

use super::plain::{self, Plain};
use super::root::{Root, SubscriptionRoot};
use super::{Engine, skipped};
use crate::compat::Spreadable;
use crate::document::{Document, Executable, coerce};
use crate::executor::plan::{Field, Plan};
use crate::executor::{Execution, ListIndices, NullPropagation, SegmentResult, checked, close};
use crate::guard::RequestContext;
use crate::http::GraphRequest;
use crate::loader::drive;
use crate::response::{GraphResponse, PREFIX};
use crate::subscription::Emitter;

impl<Q, M, S> Engine<Q, M, S>
where
    Q: Root,
    M: Root<Host = Q::Host>,
    S: SubscriptionRoot<Host = Q::Host>,
{
    /// Runs a subscription to its end.
    pub(super) async fn follow(
        &self,
        document: &Document,
        request: &GraphRequest,
        context: &RequestContext<Q::Host>,
        emitter: &Emitter<GraphResponse>,
    ) -> Result<(), GraphResponse> {
        let facts = self.inner.facts();
        let variables = coerce(facts.schema, &document.variables, request.variables());
        let variables = variables.map_err(|refused| self.inner.redacted(refused, context))?;
        let executable = document.executable(&facts, &variables)?;
        let watch = self.watch(request);
        match &*executable {
            Executable::Plan(plan) => {
                let cx = self.execution(plan, &variables, context, watch)?;
                self.follow_plan(plan, &cx, emitter).await
            }
            Executable::Plain(foreign) => {
                let plain = Plain::new(&self.inner.schema, (document, foreign), context, watch)?;
                self.follow_plain(&plain, request, context, emitter).await
            }
        }
    }

    async fn follow_plan(
        &self,
        plan: &Plan,
        cx: &Execution<'_, RequestContext<Q::Host>>,
        emitter: &Emitter<GraphResponse>,
    ) -> Result<(), GraphResponse> {
        let Some(field) = plan.fields.first() else {
            return Err(skipped());
        };
        if let Some(refusal) = checked(field, cx) {
            let NullPropagation = cx.record_failure(field, ListIndices::ROOT, refusal);
            return Err(GraphResponse::request_errors(self.take_errors(cx)));
        }
        let root = self.inner.schema.subscription_type.root();
        let loaders = cx.context().loaders();
        let opened = drive(root.open(field, cx), loaders, None).await;
        let Some(Ok(mut events)) = opened else {
            return Err(GraphResponse::request_errors(self.take_errors(cx)));
        };
        loop {
            loaders.clear();
            let Some(Some(event)) = drive(events.next(), loaders, None).await else {
                return Ok(());
            };
            let written = written(field, event);
            emitter
                .emit(GraphResponse::written(written, self.take_errors(cx)))
                .await;
        }
    }

    async fn follow_plain<'r>(
        &'r self,
        plain: &Plain<'r, Q, M, Spreadable<S>>,
        request: &GraphRequest,
        context: &'r RequestContext<Q::Host>,
        emitter: &Emitter<GraphResponse>,
    ) -> Result<(), GraphResponse> {
        let open = plain.open(request.variables(), context, self.mask(context));
        let loaders = context.loaders();
        let Some(opened) = drive(open, loaders, None).await else {
            return Ok(());
        };
        let (key, mut events) = opened?;
        loop {
            loaders.clear();
            let Some(Some(event)) = drive(plain.next(&mut events), loaders, None).await else {
                return Ok(());
            };
            emitter.emit(plain::event(&key, event, self.mask(context))).await;
        }
    }
}

/// Writes the data of one event.
fn written(field: &Field, event: SegmentResult) -> Vec<u8> {
    let mut out = PREFIX.to_vec();
    let start = out.len();
    let Ok(seg) = event else {
        out.extend_from_slice(b"null");
        return out;
    };
    field.key.write(&mut out);
    out.extend_from_slice(&seg.into_bytes());
    close(start, &mut out);
    out
}
