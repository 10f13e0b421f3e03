//! Span and measurements of one operation.
//!
//! The span follows the [semantic conventions of
//! OpenTelemetry](https://opentelemetry.io/docs/specs/semconv/graphql/graphql-spans/).

use std::sync::Arc;
use std::time::Duration;

use super::{Observing, Recorder, type_name};
use crate::document::Document;
use crate::error::ErrorCode;
use crate::executor::contained;
use crate::metrics::{OperationMetrics, Outcome};
use crate::response::{GraphResponse, ResponseError};

/// Observation of one operation from its start to its end. Dropped before the end, it records a
/// cancelled operation.
#[derive(Debug)]
pub(crate) struct Observation {
    measuring: Option<Box<Measuring>>,
    #[cfg(feature = "tracing")]
    span: tracing::Span,
    #[cfg(feature = "tracing")]
    document_text: bool,
}

/// Observation without span and measurements.
impl Default for Observation {
    fn default() -> Self {
        Self {
            measuring: None,
            #[cfg(feature = "tracing")]
            span: tracing::Span::none(),
            #[cfg(feature = "tracing")]
            document_text: false,
        }
    }
}

/// Span of an operation; empty without the feature `tracing`.
#[cfg(feature = "tracing")]
pub(crate) struct OperationSpan(tracing::Span);

#[cfg(not(feature = "tracing"))]
pub(crate) struct OperationSpan;

impl OperationSpan {
    /// Runs `work` in the span.
    ///
    /// Not an `async fn`, which would store `work` twice.
    #[cfg(feature = "tracing")]
    pub(crate) fn instrument<F: Future>(self, work: F) -> tracing::instrument::Instrumented<F> {
        tracing::Instrument::instrument(work, self.0)
    }

    #[cfg(not(feature = "tracing"))]
    pub(crate) fn instrument<F: Future>(self, work: F) -> F {
        work
    }
}

#[derive(Debug)]
struct Measuring {
    recorder: Recorder,
    /// Start of the operation, or of its second half; `None` between the halves.
    since: Option<Duration>,
    /// Duration of the first half.
    before: Duration,
    document: Option<Arc<Document>>,
    cost: Option<u64>,
    /// Distinct codes so far.
    codes: Vec<ErrorCode>,
    bytes: u64,
}

impl Observation {
    /// Starts the observation.
    pub(crate) fn new(observing: &Observing) -> Self {
        Self {
            measuring: observing.metrics.as_ref().map(Measuring::new),
            #[cfg(feature = "tracing")]
            span: tracing::info_span!(
                "GraphQL Operation",
                otel.name = tracing::field::Empty,
                otel.kind = "server",
                otel.status_code = tracing::field::Empty,
                error.r#type = tracing::field::Empty,
                graphql.operation.r#type = tracing::field::Empty,
                graphql.operation.name = tracing::field::Empty,
                graphql.document = tracing::field::Empty,
            ),
            #[cfg(feature = "tracing")]
            document_text: observing.document_text,
        }
    }

    /// Span of the operation.
    #[cfg(feature = "tracing")]
    pub(crate) fn span(&self) -> OperationSpan {
        OperationSpan(self.span.clone())
    }

    #[cfg(not(feature = "tracing"))]
    #[expect(clippy::unused_self, reason = "the other form has a span")]
    pub(crate) fn span(&self) -> OperationSpan {
        OperationSpan
    }

    /// Records the document of the operation.
    #[inline]
    pub(crate) fn identify(&mut self, document: &Arc<Document>) {
        if self.is_observed() {
            self.identify_observed(document);
        }
    }

    #[cold]
    fn identify_observed(&mut self, document: &Arc<Document>) {
        #[cfg(feature = "tracing")]
        if !self.span.is_disabled() {
            let kind = type_name(document.kind);
            self.span.record("otel.name", kind);
            self.span.record("graphql.operation.type", kind);
            if let Some(name) = document.name.as_deref() {
                self.span.record("graphql.operation.name", name);
            }
            if self.document_text {
                self.span.record("graphql.document", &*document.text);
            }
        }
        if let Some(measuring) = &mut self.measuring {
            measuring.document = Some(Arc::clone(document));
        }
    }

    /// Records the estimated cost.
    pub(crate) fn estimate(&mut self, cost: u64) {
        if let Some(measuring) = &mut self.measuring {
            measuring.cost = Some(cost);
        }
    }

    /// Stops the clock while another operation of the batch runs.
    pub(crate) fn pause(&mut self) {
        if let Some(measuring) = &mut self.measuring {
            measuring.before = measuring.duration();
            measuring.since = None;
        }
    }

    /// Restarts the clock.
    pub(crate) fn resume(&mut self) {
        if let Some(measuring) = &mut self.measuring {
            measuring.since = Some(measuring.recorder.now());
        }
    }

    /// Records the response to one event of a subscription.
    pub(crate) fn event(&mut self, response: &GraphResponse, began: Option<Duration>) {
        self.mark(response.errors());
        let Some(measuring) = &mut self.measuring else {
            return;
        };
        let bytes = length(response.json_length());
        measuring.bytes = measuring.bytes.saturating_add(bytes);
        let now = measuring.recorder.now();
        let mut codes = Vec::new();
        add_codes(&mut codes, response.errors());
        let event = OperationMetrics {
            outcome: outcome(response),
            error_codes: &codes,
            duration: now.saturating_sub(began.unwrap_or(now)),
            response_bytes: bytes,
            ..measuring.metrics(Outcome::Success)
        };
        let metrics = &measuring.recorder.metrics;
        // the operation continues without the measurement
        let _panic = contained(|| metrics.event(&event));
    }

    /// Records one of several payloads of the response.
    pub(crate) fn payload(&mut self, bytes: usize) {
        if let Some(measuring) = &mut self.measuring {
            measuring.bytes = measuring.bytes.saturating_add(length(bytes));
        }
    }

    /// Records errors that the client receives.
    pub(crate) fn mark(&mut self, errors: &[ResponseError]) {
        let Some(first) = errors.first() else { return };
        self.mark_span(first.code());
        if let Some(measuring) = &mut self.measuring {
            add_codes(&mut measuring.codes, errors);
        }
    }

    #[cfg(feature = "tracing")]
    fn mark_span(&self, code: ErrorCode) {
        self.span.record("otel.status_code", "ERROR");
        self.span.record("error.type", code.as_str());
    }

    #[cfg(not(feature = "tracing"))]
    #[expect(clippy::unused_self, reason = "the other form has a span")]
    fn mark_span(&self, _: ErrorCode) {}

    /// Ends an operation with a single response, or with its last response.
    #[inline]
    pub(crate) fn finish(&mut self, response: &GraphResponse) {
        if self.is_observed() {
            self.finish_observed(response);
        }
    }

    /// Returns `true` if there is a span or a measurement.
    #[inline]
    fn is_observed(&self) -> bool {
        #[cfg(feature = "tracing")]
        if !self.span.is_disabled() {
            return true;
        }
        self.measuring.is_some()
    }

    #[cold]
    fn finish_observed(&mut self, response: &GraphResponse) {
        self.mark(response.errors());
        if self.measuring.is_some() {
            self.payload(response.json_length());
            self.end(outcome(response));
        }
    }

    /// Ends an operation whose responses are recorded.
    pub(crate) fn complete(&mut self) {
        let outcome = match &self.measuring {
            Some(measuring) if !measuring.codes.is_empty() => Outcome::Partial,
            _ => Outcome::Success,
        };
        self.end(outcome);
    }

    /// Ends an operation that is refused without a response in GraphQL.
    pub(crate) fn refuse(&mut self, code: ErrorCode) {
        self.mark_span(code);
        if let Some(measuring) = &mut self.measuring {
            measuring.codes.push(code);
        }
        self.end(Outcome::Refused);
    }

    #[inline]
    fn end(&mut self, outcome: Outcome) {
        if let Some(measuring) = self.measuring.take() {
            measuring.end(outcome);
        }
    }
}

impl Drop for Observation {
    fn drop(&mut self) {
        self.end(Outcome::Cancelled);
    }
}

impl Measuring {
    fn new(recorder: &Recorder) -> Box<Self> {
        Box::new(Self {
            recorder: recorder.clone(),
            since: Some(recorder.now()),
            before: Duration::ZERO,
            document: None,
            cost: None,
            codes: Vec::new(),
            bytes: 0,
        })
    }

    /// Calls the hook. The response must not depend on it, and this may run while a panic unwinds.
    #[cold]
    fn end(&self, outcome: Outcome) {
        let _panic = contained(|| {
            let measured = self.metrics(outcome);
            self.recorder.metrics.operation(&measured);
        });
    }

    fn duration(&self) -> Duration {
        let running = self.since.map(|since| self.recorder.now().saturating_sub(since));
        self.before.saturating_add(running.unwrap_or_default())
    }

    fn metrics(&self, outcome: Outcome) -> OperationMetrics<'_> {
        let document = self.document.as_deref();
        OperationMetrics {
            operation_type: document.map(|document| type_name(document.kind)),
            operation: document.and_then(|document| document.listed_as.as_deref()),
            outcome,
            error_codes: &self.codes,
            duration: self.duration(),
            response_bytes: self.bytes,
            cost: self.cost,
        }
    }
}

fn outcome(response: &GraphResponse) -> Outcome {
    if response.errors().is_empty() {
        Outcome::Success
    } else if response.is_request_error() {
        Outcome::Refused
    } else if response.is_null() {
        Outcome::Failure
    } else {
        Outcome::Partial
    }
}

fn add_codes(codes: &mut Vec<ErrorCode>, errors: &[ResponseError]) {
    for error in errors {
        if !codes.contains(&error.code()) {
            codes.push(error.code());
        }
    }
}

fn length(bytes: usize) -> u64 {
    u64::try_from(bytes).unwrap_or(u64::MAX)
}
