//! Operations that juniper executes: those that select a field of a plain type of its own.

use juniper::{
    ExecutionError, FieldError, GraphQLType, Object, RootNode, ValidatedOperation, Value, ValuesStream,
    Variables,
};

use super::root::Root;
use crate::compat::{location, refused};
use crate::document::Document;
use crate::error::ErrorCode;
use crate::error::mask::Mask;
use crate::guard::RequestContext;
use crate::response::{GraphResponse, PathSegment, ResponseError};

/// An operation in juniper's hands.
pub(super) struct Plain<'r, Q, M, S>
where
    Q: GraphQLType,
    M: GraphQLType,
    S: GraphQLType,
{
    validated: ValidatedOperation<'r, Q, M, S>,
}

impl<'r, Q, M, S> Plain<'r, Q, M, S>
where
    Q: Root,
    M: Root<Host = Q::Host>,
    S: juniper::GraphQLSubscriptionType<Context = RequestContext<Q::Host>, TypeInfo = ()> + Send + Sync,
{
    pub(super) fn new(schema: &'r RootNode<Q, M, S>, document: &'r Document) -> Result<Self, GraphResponse> {
        match ValidatedOperation::new(&document.text, document.operation.as_deref(), schema) {
            Ok(validated) => Ok(Self { validated }),
            Err(error) => Err(refused(&error, ErrorCode::GraphqlValidationFailed)),
        }
    }

    /// Runs a query or a mutation.
    pub(super) async fn execute(
        &self,
        variables: &Variables,
        context: &RequestContext<Q::Host>,
        mut mask: Mask<'_>,
    ) -> GraphResponse {
        match self.validated.execute(variables, context).await {
            Ok((data, errors)) => GraphResponse::executed(&data, masked(&errors, &mut mask)),
            Err(error) => refused(&error, ErrorCode::BadUserInput),
        }
    }

    /// Opens a subscription: the response key of its field, and its events.
    pub(super) async fn open(
        &self,
        variables: &Variables,
        context: &'r RequestContext<Q::Host>,
        mut mask: Mask<'_>,
    ) -> Result<(String, ValuesStream<'r>), GraphResponse> {
        let (root, errors) = match self.validated.resolve_into_stream(variables, context).await {
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
}

/// The response to one event of the subscription field `key`.
pub(super) fn event(
    key: &str,
    event: Result<Value, Vec<ExecutionError<juniper::DefaultScalarValue>>>,
    mut mask: Mask<'_>,
) -> GraphResponse {
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
