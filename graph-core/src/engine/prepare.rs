//! Finds the document of a request and checks it before execution.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::future::FutureExt as _;
use juniper::{GraphQLType, Variables};

use super::root::{Root, SubscriptionRoot};
use super::{Engine, Inner};
use crate::document::{Document, Judged, Read, Source};
use crate::error::ErrorCode;
use crate::guard::{Principal, RequestContext};
use crate::http::{GraphRequest, too_many_values};
use crate::limits::{Estimate, LimitMode, Measured, Outline, OutlineField};
use crate::observe::Observation;
use crate::response::{CostReport, GraphResponse, ResponseError};

/// Document that may run, with its estimate for the variables of the request.
pub(super) struct Prepared {
    pub(super) document: Arc<Document>,
    pub(super) estimate: Estimate,
    /// Cost report for the response.
    pub(super) report: Option<CostReport>,
    /// Observation of the operation, unless the caller of [`Engine::prepare`] has it.
    pub(super) observation: Observation,
}

impl Prepared {
    /// Ends the observation of a mutation that arrived where only queries are allowed.
    pub(super) fn refuse_write(mut self) {
        self.observation.refuse(ErrorCode::BadRequest);
    }
}

impl<Q, M, S> Engine<Q, M, S>
where
    Q: Root,
    M: Root<Host = Q::Host>,
    S: SubscriptionRoot<Host = Q::Host>,
{
    /// Finds and checks the document of `request`; no resolver runs.
    pub(super) async fn prepare(
        &self,
        request: &GraphRequest,
        context: &RequestContext<Q::Host>,
        observation: &mut Observation,
    ) -> Result<Prepared, GraphResponse> {
        let inner = &self.inner;
        let found = self.find(request, context).await;
        let document = found.map_err(|refused| inner.redacted(refused, context))?;
        observation.identify(&document);
        let introspective = context.introspection().unwrap_or(inner.introspective);
        if let (false, Some(field)) = (introspective, &document.judged.introspection) {
            return Err(switched_off(field));
        }
        let values = self.inner.limits.values();
        if request.has_more_values_than(values) {
            let message = too_many_values(values);
            return Err(GraphResponse::request_error(
                ErrorCode::MaxValuesExceeded,
                message,
            ));
        }
        let estimate = match &document.outline {
            Some(outline) => inner.limits.estimate(outline, &inner.costs, request.variables()),
            None => document.judged.estimate,
        };
        observation.estimate(estimate.cost());
        let report = inner.within(&estimate, request, context.principal())?;
        Ok(Prepared {
            document,
            estimate,
            report,
            observation: Observation::default(),
        })
    }

    /// Like [`prepare`](Self::prepare), but converts a panic to a response, and observes the
    /// operation.
    pub(super) async fn prepared(
        &self,
        request: &GraphRequest,
        context: &RequestContext<Q::Host>,
    ) -> Result<Prepared, GraphResponse> {
        let mut observation = self.inner.observe();
        let span = observation.span();
        let whole = span.instrument(self.prepare(request, context, &mut observation));
        let whole = AssertUnwindSafe(whole).catch_unwind().await;
        let mut whole = whole.unwrap_or_else(|payload| Err(self.panicked(payload.as_ref(), context)));
        match &mut whole {
            Ok(found) => found.observation = observation,
            Err(refused) => observation.finish(refused),
        }
        whole
    }

    /// Parses, validates and checks a text that is not cached. Also returns the size of the result
    /// in bytes.
    pub(super) fn read(&self, text: &str, request: &GraphRequest) -> (Read, usize) {
        let source = Source {
            text,
            operation: request.operation_name(),
        };
        let judge = |outline: &Outline| self.inner.judge(outline);
        match Document::new(&self.inner.facts(), &source, request.variables(), judge) {
            Ok(document) => {
                let size = document.size;
                (Ok(Arc::new(document)), size)
            }
            Err(refused) => {
                let size = refused.size();
                (Err(Arc::new(refused)), size)
            }
        }
    }
}

impl<Q: GraphQLType, M: GraphQLType, S: GraphQLType> Inner<Q, M, S> {
    /// Runs the checks that do not depend on the request.
    pub(super) fn judge(&self, outline: &Outline) -> Result<Judged, GraphResponse> {
        let invalid = |message: String| {
            Err(GraphResponse::request_error(
                ErrorCode::GraphqlValidationFailed,
                message,
            ))
        };
        // a query root can be a field of other types, where juniper validates introspection but
        // cannot resolve it
        let mut roots = outline.fields.iter();
        if let Some(field) = roots.find_map(|root| introspection(&root.children)) {
            if !self.introspective {
                return Err(switched_off(field));
            }
            return invalid(format!("`{field}` is supported at the root of a query only"));
        }
        let estimate = self.limits.estimate(outline, &self.costs, &Variables::new());
        // checked now, because the compiler writes the introspection result before the variables
        // are known
        let circles = self.limits.exceeded(&estimate.of_introspection());
        if !circles.is_empty() {
            return Err(GraphResponse::request_errors(circles));
        }
        // if sizes depend on variables, each request is checked separately
        if !outline.open {
            self.refused(self.limits.exceeded(&estimate))?;
        }
        Ok(Judged {
            estimate,
            introspection: introspection(&outline.fields).map(Into::into),
        })
    }

    /// Checks `estimate` against the limits, reports it to the log, and returns the cost report.
    fn within(
        &self,
        estimate: &Estimate,
        request: &GraphRequest,
        principal: Option<&Principal>,
    ) -> Result<Option<CostReport>, GraphResponse> {
        let exceeded = self.limits.exceeded(estimate);
        let codes = codes(&exceeded);
        if let Some(log) = &self.limit_log {
            log.record(&Measured {
                estimate: *estimate,
                exceeded: &codes,
                operation_name: request.operation_name(),
                principal,
            });
        }
        self.refused(exceeded)?;
        let asked = self.cost_reports && request.asks_for_cost();
        Ok(
            (asked || self.limits.mode() == LimitMode::Report).then(|| CostReport {
                estimated: estimate.cost(),
                limit: self.limits.cost(),
                exceeded: codes,
            }),
        )
    }

    /// Checks the sum of a batch against the limits and reports an excess to the log.
    pub(super) fn within_together(
        &self,
        sum: &Estimate,
        principal: Option<&Principal>,
    ) -> Result<(), GraphResponse> {
        let exceeded = self.limits.exceeded(sum);
        if let (Some(log), false) = (&self.limit_log, exceeded.is_empty()) {
            log.record(&Measured {
                estimate: *sum,
                exceeded: &codes(&exceeded),
                operation_name: None,
                principal,
            });
        }
        self.refused(exceeded)
    }

    /// Refuses the operation if `exceeded` has errors, but only in [`LimitMode::Enforce`].
    fn refused(&self, exceeded: Vec<ResponseError>) -> Result<(), GraphResponse> {
        match self.limits.mode() {
            LimitMode::Enforce if !exceeded.is_empty() => Err(GraphResponse::request_errors(exceeded)),
            LimitMode::Enforce | LimitMode::Measure | LimitMode::Report => Ok(()),
        }
    }
}

fn codes(exceeded: &[ResponseError]) -> Vec<ErrorCode> {
    let mut codes: Vec<_> = exceeded.iter().map(ResponseError::code).collect();
    codes.dedup();
    codes
}

fn switched_off(field: &str) -> GraphResponse {
    let message = format!("introspection is disabled: `{field}` is not served");
    GraphResponse::request_error(ErrorCode::IntrospectionDisabled, message)
}

/// First `__schema` or `__type` of `fields`, at any depth.
fn introspection(fields: &[OutlineField]) -> Option<&str> {
    fields.iter().find_map(|field| match field.name.as_str() {
        name @ ("__schema" | "__type") => Some(name),
        _ => introspection(&field.children),
    })
}
