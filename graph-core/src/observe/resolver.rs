//! Spans and measurements of the resolvers of one execution.
//!
//! A plan marks the fields with a resolver, so that unmarked plans cost nothing. The executor
//! starts the observation of a marked field before the call. The resolver ends when the first
//! entry of its selection is reached, which the plan marks too, or else when the field is written.
//!
//! Resolvers are not nested in one another: their spans are children of the operation's span. A
//! span that a resolver opens itself is a child of the resolver's span.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use futures_util::future::BoxFuture;
use juniper::{FieldError, OperationType};

use super::{Observing, Recorder};
use crate::error::ErrorCode;
use crate::executor::plan::{Field, Plan};
use crate::executor::{Execution, ListIndices, contained};
use crate::mask::sent_code;
use crate::metrics::ResolverMetrics;

/// Observer of the resolvers of one execution.
#[derive(Debug)]
pub(crate) struct Observer {
    recorder: Option<Recorder>,
    resolver_metrics: bool,
    #[cfg(feature = "tracing")]
    resolver_spans: bool,
    /// `true` if errors of juniper pass to the client.
    passes_field_errors: bool,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Resolver that is being called or polled.
    current: Option<Resolving>,
    /// Start of the current event of a subscription.
    event: Option<Duration>,
}

/// Running resolver.
#[derive(Debug)]
pub(crate) struct Resolving {
    meta: u32,
    parent_type: &'static str,
    field: &'static str,
    started: Option<Duration>,
    error: Option<ErrorCode>,
    #[cfg(feature = "tracing")]
    span: tracing::Span,
}

impl Observer {
    /// Observer of an execution; `None` if there is nothing to observe.
    #[inline]
    pub(crate) fn new(observing: &Observing, kind: OperationType) -> Option<Box<Self>> {
        let is_stream = kind == OperationType::Subscription && observing.metrics.is_some();
        (is_stream || observing.has_resolvers()).then(|| {
            Box::new(Self {
                recorder: observing.metrics.clone(),
                resolver_metrics: observing.resolver_metrics,
                #[cfg(feature = "tracing")]
                resolver_spans: observing.resolver_spans,
                passes_field_errors: observing.passes_field_errors,
                state: Mutex::default(),
            })
        })
    }

    /// Records the start of an event.
    pub(crate) fn begin_event(&self) {
        if let Some(recorder) = &self.recorder {
            let now = recorder.now();
            self.with_state(|state| state.event = Some(now));
        }
    }

    /// Start of the current event.
    pub(crate) fn event(&self) -> Option<Duration> {
        self.with_state(|state| state.event)
    }

    /// Records the failure of the field `meta`, if its resolver is running.
    pub(crate) fn fail(&self, meta: u32, error: &FieldError) {
        let code = sent_code(error, self.passes_field_errors);
        self.with_state(|state| {
            if let Some(current) = state.current.as_mut().filter(|current| current.meta == meta) {
                current.error.get_or_insert(code);
            }
        });
    }

    /// Ends the running resolver, because its value is being written.
    pub(crate) fn resolved(&self) {
        let current = self.with_state(|state| state.current.take());
        if let Some(resolving) = current {
            resolving.exit();
            self.record(&resolving);
        }
    }

    fn start(&self, plan: &Plan, field: &Field, indices: &ListIndices) -> Resolving {
        let at = usize::try_from(field.meta).ok();
        let (parent_type, name) = at
            .and_then(|at| plan.resolvers.get(at).copied())
            .unwrap_or_default();
        #[cfg(feature = "tracing")]
        let span = match self.resolver_spans {
            true => span(plan, field.meta, indices, (parent_type, name)),
            false => tracing::Span::none(),
        };
        #[cfg(not(feature = "tracing"))]
        let _ = indices;
        let recorder = self.recorder.as_ref().filter(|_| self.resolver_metrics);
        Resolving {
            meta: field.meta,
            parent_type,
            field: name,
            started: recorder.map(Recorder::now),
            error: None,
            #[cfg(feature = "tracing")]
            span,
        }
    }

    /// Makes `resolving` the current resolver; returns the resolver around it.
    fn enter(&self, resolving: Resolving) -> Option<Resolving> {
        resolving.enter();
        self.with_state(|state| state.current.replace(resolving))
    }

    /// Restores the resolver around; returns the current resolver unless it has ended.
    fn leave(&self, around: Option<Resolving>) -> Option<Resolving> {
        let current = self.with_state(|state| std::mem::replace(&mut state.current, around));
        current.inspect(Resolving::exit)
    }

    fn record(&self, resolving: &Resolving) {
        resolving.mark();
        if let (Some(recorder), Some(started)) = (&self.recorder, resolving.started) {
            let measured = ResolverMetrics {
                parent_type: resolving.parent_type,
                field: resolving.field,
                duration: recorder.now().saturating_sub(started),
                error: resolving.error,
            };
            // the operation continues without the measurement
            let _panic = contained(|| recorder.metrics.resolver(&measured));
        }
    }

    fn with_state<T>(&self, apply: impl FnOnce(&mut State) -> T) -> T {
        apply(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[cfg(feature = "tracing")]
impl Resolving {
    // entered by hand, because a guard would have to stay on the stack of the resolver
    fn enter(&self) {
        self.span.with_subscriber(|(id, dispatch)| dispatch.enter(id));
    }

    fn exit(&self) {
        self.span.with_subscriber(|(id, dispatch)| dispatch.exit(id));
    }

    fn mark(&self) {
        if let Some(code) = self.error {
            self.span.record("otel.status_code", "ERROR");
            self.span.record("error.type", code.as_str());
        }
    }
}

#[cfg(not(feature = "tracing"))]
#[expect(clippy::unused_self, reason = "the other form has a span")]
impl Resolving {
    fn enter(&self) {}

    fn exit(&self) {}

    fn mark(&self) {}
}

/// Maximum bytes of `graphql.field.path`, whose response keys are aliases of the client.
#[cfg(feature = "tracing")]
const PATH: usize = 256;

#[cfg(feature = "tracing")]
fn span(plan: &Plan, meta: u32, indices: &ListIndices, (parent_type, field): (&str, &str)) -> tracing::Span {
    let span = tracing::info_span!(
        "GraphQL Resolver",
        otel.name = tracing::field::Empty,
        otel.status_code = tracing::field::Empty,
        error.r#type = tracing::field::Empty,
        graphql.field.name = field,
        graphql.field.parent_type = parent_type,
        graphql.field.schema_coordinate = tracing::field::Empty,
        graphql.field.path = tracing::field::Empty,
    );
    if !span.is_disabled() {
        let coordinate = format!("{parent_type}.{field}");
        span.record("otel.name", &*coordinate);
        span.record("graphql.field.schema_coordinate", &*coordinate);
        let at = usize::try_from(meta).ok();
        let place = at.and_then(|at| plan.metas.get(at)).map(|meta| meta.place);
        span.record(
            "graphql.field.path",
            &*text(&plan.path(place, indices.as_slice())),
        );
    }
    span
}

/// Path in the notation of the conventions: `users[0].name`.
#[cfg(feature = "tracing")]
fn text(path: &[crate::response::PathSegment]) -> String {
    use std::fmt::Write as _;

    use crate::response::{PathSegment, cut};

    let mut text = String::new();
    for segment in path {
        // writing to a `String` does not fail
        let _written = match segment {
            PathSegment::Key(key) if text.is_empty() => text.write_str(key),
            PathSegment::Key(key) => write!(text, ".{key}"),
            PathSegment::Index(index) => write!(text, "[{index}]"),
        };
        if text.len() > PATH {
            break;
        }
    }
    cut(text, PATH)
}

/// Calls the synchronous resolver of `field` and writes its value.
#[cold]
pub(crate) fn observe<C, T>(
    field: &Field,
    cx: &Execution<'_, C>,
    indices: &ListIndices,
    resolve: &mut dyn FnMut() -> T,
) -> T {
    let Some(observer) = &cx.observer else {
        return resolve();
    };
    let around = observer.enter(observer.start(cx.plan(), field, indices));
    let resolved = contained(resolve);
    let current = observer.leave(around);
    match resolved {
        Ok(written) => {
            if let Some(resolving) = current {
                observer.record(&resolving);
            }
            written
        }
        Err(payload) => {
            if let Some(resolving) = current {
                observer.record(&resolving.failed(ErrorCode::InternalServerError));
            }
            std::panic::resume_unwind(payload)
        }
    }
}

impl Resolving {
    fn failed(mut self, code: ErrorCode) -> Self {
        self.error = Some(code);
        self
    }
}

/// Future of a field whose resolver is observed.
pub(crate) struct Observed<'p, C, T> {
    field: &'p Field,
    cx: &'p Execution<'p, C>,
    observer: &'p Observer,
    future: BoxFuture<'p, T>,
    progress: Progress,
}

/// Progress of a resolver.
enum Progress {
    /// Not polled, with the list indices of the field.
    Waiting(ListIndices),
    Running(Resolving),
    Ended,
}

impl<'p, C: Sync, T: Send + 'p> Observed<'p, C, T> {
    /// Observes the resolver in `future`, if the plan marks its field.
    pub(crate) fn boxed(
        future: BoxFuture<'p, T>,
        field: &'p Field,
        cx: &'p Execution<'p, C>,
        indices: ListIndices,
    ) -> BoxFuture<'p, T> {
        match &cx.observer {
            Some(observer) if field.observed => Box::pin(Self {
                field,
                cx,
                observer,
                future,
                progress: Progress::Waiting(indices),
            }),
            _ => future,
        }
    }
}

impl<C, T> Future for Observed<'_, C, T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        let observer = self.observer;
        let resolving = match std::mem::replace(&mut self.progress, Progress::Ended) {
            Progress::Waiting(indices) => observer.start(self.cx.plan(), self.field, &indices),
            Progress::Running(resolving) => resolving,
            Progress::Ended => return self.future.as_mut().poll(context),
        };
        let around = observer.enter(resolving);
        let polled = contained(|| self.future.as_mut().poll(context));
        let current = observer.leave(around);
        match (polled, current) {
            (Ok(Poll::Pending), Some(resolving)) => {
                self.progress = Progress::Running(resolving);
                Poll::Pending
            }
            (Ok(polled), current) => {
                if let Some(resolving) = current {
                    observer.record(&resolving);
                }
                polled
            }
            (Err(payload), current) => {
                if let Some(resolving) = current {
                    observer.record(&resolving.failed(ErrorCode::InternalServerError));
                }
                std::panic::resume_unwind(payload)
            }
        }
    }
}

impl<C, T> Drop for Observed<'_, C, T> {
    /// Records a resolver that the deadline stopped. Any other resolver that is dropped has no
    /// result.
    fn drop(&mut self) {
        let progress = std::mem::replace(&mut self.progress, Progress::Ended);
        if let Progress::Running(resolving) = progress
            && self.cx.is_expired()
        {
            self.observer.record(&resolving.failed(ErrorCode::Timeout));
        }
    }
}
