//! Tracing: `traceparent`, `tracestate` and `Server-Timing`.
//!
//! # Trace context
//!
//! The fields `traceparent` and `tracestate` of the W3C [Trace
//! Context](https://www.w3.org/TR/trace-context-2/), level 2, connect the requests of several
//! services to one trace. A [`TraceContext`] is the position of one request. It continues the trace
//! of the caller, or begins a new one. The host writes it to the requests that it sends while it
//! handles this request.
//!
//! ```
//! use http::HeaderMap;
//! use http_conventions::{
//!     ports::OsEntropy,
//!     tracing::{Sampling, TRACEPARENT, TraceContext},
//! };
//!
//! let mut request = HeaderMap::new();
//! let sent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
//! request.insert(TRACEPARENT, sent.parse()?);
//!
//! let trace = TraceContext::adopt_or_begin(&request, &OsEntropy, Sampling::NEVER);
//! assert_eq!(trace.trace_id().to_string(), "0af7651916cd43dd8448eb211c80319c");
//! assert!(trace.is_sampled());
//!
//! let mut outbound = HeaderMap::new();
//! trace.apply(&mut outbound);
//! assert_eq!(outbound[TRACEPARENT], trace.position().header_value());
//! assert_ne!(outbound[TRACEPARENT], sent, "the parent of that request is this one");
//! # Ok::<(), http::header::InvalidHeaderValue>(())
//! ```
//!
//! Work that runs after its request has ended, such as the delivery of a webhook, needs the text of
//! [`TraceContext::position`] in its row, and sends a `traceparent` with the same trace id.
//!
//! # Server-Timing
//!
//! `Server-Timing` ([W3C](https://www.w3.org/TR/server-timing/)) shows developers the parts of a
//! request's duration in the tools of the browser.
//!
//! ```
//! use std::time::Duration;
//!
//! use http_conventions::tracing::{InvalidMetric, ServerTiming};
//!
//! let timing = ServerTiming::new()
//!     .with_metric("db", Duration::from_micros(53_200), "two queries")?
//!     .with_metric("render", Duration::from_millis(4), "")?;
//! assert_eq!(timing.as_str(), r#"db;dur=53.2;desc="two queries", render;dur=4"#);
//! # Ok::<(), InvalidMetric>(())
//! ```

mod context;
mod ids;
mod position;
mod sampling;
mod server_timing;
mod state;

pub use self::{
    context::{CallerTrust, TRACEPARENT, TRACESTATE, TraceContext},
    ids::{SpanId, TraceId},
    position::{InvalidTracePosition, TracePosition},
    sampling::Sampling,
    server_timing::{InvalidMetric, SERVER_TIMING, ServerTiming},
};
pub(crate) use server_timing::{has_metric, is_metric};
