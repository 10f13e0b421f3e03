//! Operations that juniper executes, because they select a field marked `#[graph(plain)]`.

use futures_util::stream::StreamExt as _;
use juniper::{
    ExecutionError, FieldError, GraphQLType, Object, RootNode, ValidatedOperation, Value, ValuesStream,
    Variables,
};

use super::root::Root;
use crate::compat::{location, refused};
use crate::document::{Document, Foreign};
use crate::error::ErrorCode;
use crate::guard::{RequestContext, Watch, watched};
use crate::mask::Mask;
use crate::response::{GraphResponse, PathSegment, ResponseError};

/// Operation that juniper executes.
pub(super) struct Plain<'r, Q, M, S>
where
    Q: GraphQLType,
    M: GraphQLType,
    S: GraphQLType,
{
    validated: ValidatedOperation<'r, Q, M, S>,
    foreign: &'r Foreign,
    watch: Watch,
}

impl<'r, Q, M, S> Plain<'r, Q, M, S>
where
    Q: Root,
    M: Root<Host = Q::Host>,
    S: juniper::GraphQLSubscriptionType<Context = RequestContext<Q::Host>, TypeInfo = ()> + Send + Sync,
{
    /// Prepares the operation, unless a guard refuses it as a whole.
    pub(super) fn new(
        schema: &'r RootNode<Q, M, S>,
        (document, foreign): (&'r Document, &'r Foreign),
        context: &RequestContext<Q::Host>,
        watch: Watch,
    ) -> Result<Self, GraphResponse> {
        let watch = watch.with_juniper(&foreign.policies, context)?;
        match ValidatedOperation::new(&document.text, document.operation.as_deref(), schema) {
            Ok(validated) => Ok(Self {
                validated,
                foreign,
                watch,
            }),
            Err(error) => Err(refused(&error, ErrorCode::GraphqlValidationFailed)),
        }
    }

    /// Executes a query or a mutation.
    pub(super) async fn execute(
        &self,
        variables: &Variables,
        context: &RequestContext<Q::Host>,
        mut mask: Mask<'_>,
    ) -> GraphResponse {
        let answered = self.validated.execute(variables, context);
        match watched(self.watch.clone(), answered).await {
            Ok((data, errors)) => {
                let errors = masked(&errors, &mut mask);
                GraphResponse::executed_with(&data, &self.foreign.introspection, errors)
            }
            Err(error) => refused(&error, ErrorCode::BadUserInput),
        }
    }

    /// Starts a subscription; returns the response key of its field and its events.
    pub(super) async fn open(
        &self,
        variables: &Variables,
        context: &'r RequestContext<Q::Host>,
        mut mask: Mask<'_>,
    ) -> Result<(String, ValuesStream<'r>), GraphResponse> {
        let opened = self.validated.resolve_into_stream(variables, context);
        let (root, errors) = match watched(self.watch.clone(), opened).await {
            Ok(opened) => opened,
            Err(error) => return Err(refused(&error, ErrorCode::BadUserInput)),
        };
        let field = root.into_object().and_then(|object| object.into_iter().next());
        match field {
            Some((key, Value::Scalar(events))) if errors.is_empty() => Ok((key, events)),
            _ if errors.is_empty() => Err(super::skipped()),
            _ => Err(GraphResponse::request_errors(masked(&errors, &mut mask))),
        }
    }

    /// Next event of a subscription.
    pub(super) async fn next(&self, events: &mut ValuesStream<'r>) -> Option<Event> {
        watched(self.watch.clone(), events.next()).await
    }
}

/// Event as juniper returns it.
type Event = Result<Value, Vec<ExecutionError<juniper::DefaultScalarValue>>>;

/// Response to one event of the subscription field `key`.
pub(super) fn event(key: &str, event: Event, mut mask: Mask<'_>) -> GraphResponse {
    match event {
        Ok(value) => {
            let mut data = Object::with_capacity(1);
            data.add_field(key, value);
            GraphResponse::executed(&Value::object(data), Vec::new())
        }
        Err(errors) => GraphResponse::executed(&Value::Null, masked(&errors, &mut mask)),
    }
}

fn masked(errors: &[ExecutionError<juniper::DefaultScalarValue>], mask: &mut Mask<'_>) -> Vec<ResponseError> {
    errors
        .iter()
        .map(|error| {
            let field: &FieldError = error.error();
            let path = error.path().iter().cloned().map(PathSegment::Key).collect();
            mask.field_error(field, location(error.location()), path)
        })
        .collect()
}
