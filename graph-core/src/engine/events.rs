//! Subscriptions: executes the plan for every event.

use futures_util::stream::StreamExt as _;

use super::root::{Root, SubscriptionRoot};
use super::{Engine, skipped};
use crate::document::{Document, coerce};
use crate::executor::plan::{Field, Plan};
use crate::executor::{Execution, ListIndices, NullPropagation, SegmentResult, checked, close};
use crate::guard::RequestContext;
use crate::http::GraphRequest;
use crate::loader::drive;
use crate::observe::{Observation, Observed};
use crate::response::{GraphResponse, PREFIX};
use crate::subscription::{Emitter, StreamItem};

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
        watched: (&Emitter<StreamItem>, &mut Observation),
    ) -> Result<(), GraphResponse> {
        let facts = self.inner.facts();
        let variables = coerce(facts.schema, &document.variables, request.variables());
        let variables = variables.map_err(|refused| self.inner.redacted(refused, context))?;
        let plan = document.plan(&facts, &variables, false)?;
        let cx = self.execution(&plan, &variables, context, self.watch(request))?;
        self.follow_plan(&plan, &cx, watched).await
    }

    async fn follow_plan(
        &self,
        plan: &Plan,
        cx: &Execution<'_, RequestContext<Q::Host>>,
        (emitter, observation): (&Emitter<StreamItem>, &mut Observation),
    ) -> Result<(), GraphResponse> {
        Self::name_anchors();
        let Some(field) = plan.fields.first() else {
            return Err(skipped());
        };
        if let Some(refusal) = checked(field, cx) {
            let NullPropagation = cx.record_failure(field, ListIndices::ROOT, refusal);
            return Err(GraphResponse::request_errors(self.take_errors(cx)));
        }
        let root = &self.inner.roots.subscription;
        let loaders = self.loaders(cx.context());
        let opened = Observed::boxed(root.open(field, cx), field, cx, ListIndices::ROOT);
        let opened = drive(opened, loaders, None).await;
        let Some(Ok(mut events)) = opened else {
            return Err(GraphResponse::request_errors(self.take_errors(cx)));
        };
        emitter.emit(StreamItem::Opened).await;
        loop {
            cx.context().loaders().clear();
            cx.meter.reset();
            let Some(Some(event)) = drive(events.next(), loaders, None).await else {
                return Ok(());
            };
            let response = GraphResponse::written(written(field, event), self.take_errors(cx));
            let began = cx.observer.as_ref().and_then(|observer| observer.event());
            observation.event(&response, began);
            emitter.emit(StreamItem::Response(response)).await;
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
