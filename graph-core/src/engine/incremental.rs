//! Execution with deferred fragments.

use std::future::poll_fn;
use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::task::Poll;

use futures_util::future::FutureExt as _;
use futures_util::stream::{self, StreamExt as _};

use super::prepare::Prepared;
use super::root::{Root, SubscriptionRoot};
use super::{Engine, failures};
use crate::executor::Execution;
use crate::executor::deferred::Remainder;
use crate::executor::plan::Plan;
use crate::guard::RequestContext;
use crate::http::incremental::{DeferFormat, Publisher};
use crate::http::{self as wire, GraphRequest, HttpResponse, Rendering};
use crate::loader::drive;
use crate::observe::Observation;
use crate::response::{GraphResponse, PREFIX};
use crate::subscription::{Emitter, produced};

/// Item of an operation with deferred fragments.
enum Payload {
    /// Only result, because nothing was deferred.
    Whole(GraphResponse),
    /// JSON of one of several payloads; the last one is marked.
    Part(Vec<u8>, bool),
}

/// Receiver of the payloads, with the observation of the operation.
struct Output {
    format: DeferFormat,
    emitter: Emitter<Payload>,
    observation: Observation,
}

impl Output {
    /// Emits a payload; ends the observation before the last one is taken, because the client may
    /// not ask for more.
    async fn send(&mut self, payload: Option<Vec<u8>>, is_last: bool) {
        if let Some(payload) = &payload {
            self.observation.payload(payload.len());
        }
        if is_last {
            self.observation.complete();
        }
        if let Some(payload) = payload {
            self.emitter.emit(Payload::Part(payload, is_last)).await;
        }
    }
}

impl<Q, M, S> Engine<Q, M, S>
where
    Q: Root,
    M: Root<Host = Q::Host>,
    S: SubscriptionRoot<Host = Q::Host>,
{
    /// Executes an operation and renders deferred fragments as parts. If no fragment is deferred,
    /// renders the result as `rendering`.
    pub(super) async fn respond_deferred(
        &self,
        mut found: Prepared,
        request: GraphRequest,
        (rendering, format): (Rendering, DeferFormat),
        context: RequestContext<Q::Host>,
    ) -> HttpResponse {
        let profile = self.inner.http.profile;
        let engine = self.clone();
        let mut payloads = produced(move |emitter| async move {
            let mut output = Output {
                format,
                emitter,
                observation: std::mem::take(&mut found.observation),
            };
            let span = output.observation.span();
            let whole = span.instrument(engine.emit_payloads(&found, &request, &context, &mut output));
            let whole = AssertUnwindSafe(whole).catch_unwind().await;
            let whole = whole.unwrap_or_else(|payload| Some(engine.panicked(payload.as_ref(), &context)));
            if let Some(whole) = whole {
                let whole = whole.with_cost(found.report.clone());
                output.observation.finish(&whole);
                output.emitter.emit(Payload::Whole(whole)).await;
            }
        });
        match payloads.next().await {
            Some(Payload::Whole(response)) => match rendering {
                Rendering::EventStream => HttpResponse::Stream(wire::events(stream::iter([response]))),
                _ => HttpResponse::Full(wire::json(response, rendering, profile)),
            },
            first => {
                let parts = stream::iter(first).chain(payloads);
                let parts = parts.filter_map(|payload| {
                    std::future::ready(match payload {
                        Payload::Part(json, is_last) => Some((json, is_last)),
                        // unreachable: a whole response is the only item
                        Payload::Whole(_) => None,
                    })
                });
                HttpResponse::Stream(wire::deferred(parts, format))
            }
        }
    }

    /// Emits the payloads of an operation. Returns the response if nothing is deferred.
    async fn emit_payloads(
        &self,
        found: &Prepared,
        request: &GraphRequest,
        context: &RequestContext<Q::Host>,
        output: &mut Output,
    ) -> Option<GraphResponse> {
        self.begin(request, &found.document, context).await;
        let document = &found.document;
        let seen = document.introspects().then(|| self.inner.seen(context));
        let (plan, variables) = match self.choose(document, seen.as_deref(), (request, true), context) {
            Ok(chosen) => chosen,
            Err(refused) => return Some(refused),
        };
        let watch = self.watch(request);
        if plan.deferred.is_empty() {
            return Some(self.planned(&plan, &variables, context, watch).await);
        }
        Self::name_anchors();
        let cx = match self.execution(&plan, &variables, context, watch) {
            Ok(cx) => cx,
            Err(refused) => return Some(refused),
        };
        self.emit_parts(&plan, &cx, found, output).await
    }

    async fn emit_parts(
        &self,
        plan: &Plan,
        cx: &Execution<'_, RequestContext<Q::Host>>,
        found: &Prepared,
        output: &mut Output,
    ) -> Option<GraphResponse> {
        let expire = || cx.expire();
        let loaders = self.loaders(cx.context());
        let operation = drive(self.execute_parts(cx), loaders, self.deadline(&expire));
        let mut operation = pin!(AssertUnwindSafe(operation).catch_unwind());
        let mut publisher = Publisher::new(plan, output.format);
        let mut mask = self.mask(cx.context());
        let mut is_first = true;
        loop {
            let ended = poll_fn(|task| match operation.as_mut().poll(task) {
                Poll::Ready(ended) => Poll::Ready(Some(ended)),
                Poll::Pending if cx.deliveries.has_parts() => Poll::Ready(None),
                Poll::Pending => Poll::Pending,
            })
            .await;
            for part in cx.deliveries.take_parts() {
                let errors = failures::response_errors(plan, part.failures, &mut mask);
                let Some(deferral) = part.deferral else {
                    let response = match part.data {
                        Some(data) => GraphResponse::written(data, errors),
                        None => GraphResponse::null(errors),
                    };
                    if part.inside.is_empty() {
                        return Some(response);
                    }
                    is_first = false;
                    output.observation.mark(response.errors());
                    let response = response.with_cost(found.report.clone());
                    let first = publisher.first(response, part.inside);
                    output.send(Some(first), false).await;
                    continue;
                };
                output.observation.mark(&errors);
                publisher.add(&deferral, part.data, part.inside, errors);
            }
            let unfinished = ended.map(|ended| match ended {
                Ok(Some(()) | None) => Self::late(),
                Err(payload) => GraphResponse::null(vec![mask.panic(payload.as_ref())]),
            });
            if let Some(unfinished) = unfinished {
                if is_first {
                    return Some(unfinished);
                }
                if !publisher.is_complete() {
                    output.observation.mark(unfinished.errors());
                }
                publisher.fail(unfinished.errors());
            }
            let payload = publisher.payload();
            let is_complete = publisher.is_complete();
            output.send(payload, is_complete).await;
            if is_complete {
                return None;
            }
        }
    }

    /// Executes the first part, then the deferred groups.
    async fn execute_parts(&self, cx: &Execution<'_, RequestContext<Q::Host>>) {
        match self.first(cx, PREFIX.to_vec()).await {
            Ok(first) => {
                first
                    .remainder
                    .after_first(Some(first.data), first.inside, cx)
                    .await;
            }
            Err(_) => Remainder::new(Vec::new()).after_first(None, Vec::new(), cx).await,
        }
    }
}
