//! The seam to juniper's executor: everything that knows how an operation is executed is here.

use juniper::parser::{ParseError, SourcePosition};
use juniper::{
    ExecutionError, FieldError, GraphQLError, GraphQLType, Object, OperationType, RootNode,
    ValidatedOperation, Value, ValuesStream, Variables,
};

use super::root::{Root, SubscriptionRoot};
use crate::compat::{self, Outline};
use crate::error::ErrorCode;
use crate::error::mask::Mask;
use crate::guard::RequestContext;
use crate::http::GraphRequest;
use crate::response::{GraphResponse, Location, PathSegment, ResponseError};

/// How many mistakes of a document are told, as in graphql-js; all of them can be many times its size.
const MISTAKES: usize = 100;

/// An operation that fits the schema.
pub(super) struct Operation<'r, Q, M, S>
where
    Q: GraphQLType,
    M: GraphQLType,
    S: GraphQLType,
{
    validated: ValidatedOperation<'r, Q, M, S>,
    schema: &'r RootNode<Q, M, S>,
}

impl<'r, Q, M, S> Operation<'r, Q, M, S>
where
    Q: Root,
    M: Root<Host = Q::Host>,
    S: SubscriptionRoot<Host = Q::Host>,
{
    /// Parses and validates.
    pub(super) fn new(
        schema: &'r RootNode<Q, M, S>,
        request: &'r GraphRequest,
    ) -> Result<Self, GraphResponse> {
        match ValidatedOperation::new(request.query(), request.operation_name(), schema) {
            Ok(validated) => Ok(Self { validated, schema }),
            Err(error) => Err(refused(error, ErrorCode::GraphqlValidationFailed)),
        }
    }

    pub(super) fn kind(&self) -> OperationType {
        self.validated.operation_type()
    }

    /// Asks `judge` whether the operation may run.
    pub(super) fn judge(
        &self,
        request: &GraphRequest,
        judge: impl FnOnce(&Outline<'_>) -> Result<(), GraphResponse>,
    ) -> Result<(), GraphResponse> {
        let (query, name) = (request.query(), request.operation_name());
        compat::with_outline(self.schema, query, name, request.variables(), judge).unwrap_or_else(|| {
            Err(GraphResponse::refused(
                ErrorCode::OperationResolutionFailure,
                "no such operation",
            ))
        })
    }

    /// Coerces the variables and runs a query or a mutation.
    pub(super) async fn execute(
        &self,
        variables: &Variables,
        context: &RequestContext<Q::Host>,
        mask: &mut Mask<'_>,
    ) -> GraphResponse {
        match self.validated.execute(variables, context).await {
            Ok((data, errors)) => GraphResponse::executed(data, masked(&errors, mask)),
            Err(error) => refused(error, ErrorCode::BadUserInput),
        }
    }

    /// Coerces the variables and opens a subscription: the response key of its field, and its events.
    pub(super) async fn open(
        &self,
        variables: &Variables,
        context: &'r RequestContext<Q::Host>,
        mask: &mut Mask<'_>,
    ) -> Result<(String, ValuesStream<'r>), GraphResponse> {
        let (root, errors) = match self.validated.resolve_into_stream(variables, context).await {
            Ok(opened) => opened,
            Err(error) => return Err(refused(error, ErrorCode::BadUserInput)),
        };
        let field = root.into_object().and_then(|object| object.into_iter().next());
        match field {
            Some((key, Value::Scalar(events))) if errors.is_empty() => Ok((key, events)),
            _ if errors.is_empty() => Err(GraphResponse::refused(
                ErrorCode::GraphqlValidationFailed,
                "the field of the subscription is skipped",
            )),
            _ => Err(GraphResponse::request_errors(masked(&errors, mask))),
        }
    }
}

/// The response to one event of the subscription field `key`.
pub(super) fn event(
    key: &str,
    event: Result<Value, Vec<ExecutionError<juniper::DefaultScalarValue>>>,
    mask: &mut Mask<'_>,
) -> GraphResponse {
    match event {
        Ok(value) => {
            let mut data = Object::with_capacity(1);
            data.add_field(key, value);
            GraphResponse::executed(Value::object(data), Vec::new())
        }
        Err(errors) => GraphResponse::executed(Value::Null, masked(&errors, mask)),
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

/// What juniper refused; `invalid` is the code for its validation errors, which mean something else after validation.
fn refused(error: GraphQLError, invalid: ErrorCode) -> GraphResponse {
    match error {
        GraphQLError::ParseError(error) => {
            let code = match error.item {
                ParseError::DepthLimitExceeded(_) => ErrorCode::MaxDepthExceeded,
                ParseError::FieldLimitExceeded(_) => ErrorCode::MaxCostExceeded,
                _ => ErrorCode::GraphqlParseFailed,
            };
            let error = ResponseError::new(code, error.item.to_string()).at(location(&error.span.start));
            error.into()
        }
        GraphQLError::ValidationError(errors) => GraphResponse::request_errors(
            errors
                .iter()
                .take(MISTAKES)
                .map(|error| {
                    let refused = ResponseError::new(invalid, error.message());
                    error
                        .locations()
                        .iter()
                        .fold(refused, |refused, at| refused.at(location(at)))
                })
                .collect(),
        ),
        GraphQLError::NoOperationProvided
        | GraphQLError::MultipleOperationsProvided
        | GraphQLError::UnknownOperationName
        | GraphQLError::IsSubscription
        | GraphQLError::NotSubscription
        | GraphQLError::NotSupported(_) => {
            GraphResponse::refused(ErrorCode::OperationResolutionFailure, error.to_string())
        }
    }
}

fn location(position: &SourcePosition) -> Location {
    Location::new(position.line() + 1, position.column() + 1)
}
