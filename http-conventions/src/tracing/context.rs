//! Trace context of one request.

use http::{HeaderMap, HeaderName, HeaderValue};

use super::{Sampling, SpanId, TraceId, TracePosition, state};
use crate::{ports::Entropy, single_value};

/// Header of the position in a trace.
pub const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");
/// Header of the state that tracing systems add to a trace.
pub const TRACESTATE: HeaderName = HeaderName::from_static("tracestate");

/// Trust in the trace context of callers. There is no default, because only the host knows its
/// callers.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[expect(clippy::exhaustive_enums, reason = "a trace is continued or it is not")]
pub enum CallerTrust {
    /// The trace of each caller is continued. Use it behind a gateway that replaces the fields of
    /// clients, and between services of one owner.
    Trusted,
    /// Each request begins a new trace. The trace of its caller is kept as a
    /// [link](TraceContext::link).
    Untrusted,
}

/// Position of one request in a trace.
///
/// # Security
///
/// A client that may continue its own trace chooses whether the host records the trace, and which
/// requests belong to it. It can make the host record each request, and can add requests to the
/// trace of another client. Use [`begin_linked`](Self::begin_linked) for such clients.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct TraceContext {
    position: TracePosition,
    caller: Option<Caller>,
}

/// Valid trace fields of the request.
#[derive(Clone, Debug, Eq, PartialEq)]
struct Caller {
    position: TracePosition,
    state: Option<HeaderValue>,
}

impl TraceContext {
    /// Begins a trace. `entropy` creates its id, and `sampling` decides if it is recorded.
    #[must_use]
    pub fn begin(entropy: &dyn Entropy, sampling: Sampling) -> Self {
        let trace_id = TraceId::generate(entropy);
        let is_sampled = sampling.records(trace_id);
        Self {
            position: TracePosition::new(trace_id, SpanId::generate(entropy), is_sampled),
            caller: None,
        }
    }

    /// Continues the trace of the caller, or begins one if the request has no valid `traceparent`.
    ///
    /// - A `traceparent` of several lines is invalid.
    /// - The new position has the trace id and the flags of the caller, and a new span id.
    /// - An invalid `tracestate` is dropped. A `tracestate` above 512 characters is shortened.
    ///
    /// # Security
    ///
    /// See [`TraceContext`].
    #[must_use]
    pub fn adopt_or_begin(headers: &HeaderMap, entropy: &dyn Entropy, sampling: Sampling) -> Self {
        match Caller::read(headers) {
            Some(caller) => Self {
                position: caller.position.at(SpanId::generate(entropy)),
                caller: Some(caller),
            },
            None => Self::begin(entropy, sampling),
        }
    }

    /// Begins a trace, and links it to the trace of the caller.
    #[must_use]
    pub fn begin_linked(headers: &HeaderMap, entropy: &dyn Entropy, sampling: Sampling) -> Self {
        Self {
            caller: Caller::read(headers),
            ..Self::begin(entropy, sampling)
        }
    }

    /// Continues the trace of the linked caller, for example after the caller has authenticated as
    /// a service of the host. Has no effect without a link.
    pub fn adopt_link(&mut self) {
        if let Some(caller) = &self.caller {
            self.position = caller.position.at(self.position.span_id());
        }
    }

    /// Position of this request. It is the parent of the requests that the host sends while it
    /// handles this one.
    #[must_use]
    pub const fn position(&self) -> TracePosition {
        self.position
    }

    /// Id of the trace.
    #[must_use]
    pub const fn trace_id(&self) -> TraceId {
        self.position.trace_id()
    }

    /// Returns `true` if the trace is recorded.
    #[must_use]
    pub const fn is_sampled(&self) -> bool {
        self.position.is_sampled()
    }

    /// Position of the caller, if its trace is continued.
    #[must_use]
    pub fn parent(&self) -> Option<TracePosition> {
        self.continued_caller().map(|caller| caller.position)
    }

    /// Position of the caller, if its trace is not continued.
    #[must_use]
    pub fn link(&self) -> Option<TracePosition> {
        let caller = self.caller.as_ref().map(|caller| caller.position);
        caller.filter(|_| self.continued_caller().is_none())
    }

    /// Sets `traceparent` and `tracestate` of a request that the host sends, and replaces existing
    /// values.
    pub fn apply(&self, headers: &mut HeaderMap) {
        headers.insert(TRACEPARENT, self.position.header_value());
        match self.continued_caller().and_then(|caller| caller.state.as_ref()) {
            Some(state) => headers.insert(TRACESTATE, state.clone()),
            None => headers.remove(TRACESTATE),
        };
    }

    fn continued_caller(&self) -> Option<&Caller> {
        let is_same = |caller: &&Caller| caller.position.trace_id() == self.trace_id();
        self.caller.as_ref().filter(is_same)
    }
}

impl Caller {
    fn read(headers: &HeaderMap) -> Option<Self> {
        let value = single_value(headers, &TRACEPARENT)?;
        Some(Self {
            position: TracePosition::parse(value.as_bytes()).ok()?,
            state: state::read(headers),
        })
    }
}
