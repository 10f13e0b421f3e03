//! Masking of resolver errors: a [`GraphError`](crate::GraphError) passes; any other error is
//! hidden and logged, unless the host passes the errors of juniper.

use std::any::Any;

use juniper::{DefaultScalarValue, FieldError, Object, Value};

use crate::error::{DETAIL, ErrorCode, MASKED, PANIC, code_of, panic_message, text, with_causes};
use crate::ports::{Entropy, Incident, IncidentKind, IncidentLog, StoreError};
use crate::response::{Location, PathSegment, ResponseError};

/// Converts failures of one operation into errors for the client, and reports hidden causes.
pub(crate) struct Mask<'e> {
    entropy: &'e dyn Entropy,
    log: Option<&'e dyn IncidentLog>,
    correlation_id: Option<String>,
    /// `true` if errors of juniper pass to the client.
    passes_field_errors: bool,
}

impl<'e> Mask<'e> {
    pub(crate) fn new(
        entropy: &'e dyn Entropy,
        log: Option<&'e dyn IncidentLog>,
        correlation_id: Option<&str>,
    ) -> Self {
        Self {
            entropy,
            log,
            correlation_id: correlation_id.map(str::to_owned),
            passes_field_errors: false,
        }
    }

    /// Sets whether errors of juniper pass to the client.
    pub(crate) fn passing_field_errors(mut self, passes: bool) -> Self {
        self.passes_field_errors = passes;
        self
    }

    /// Error for the client after a field failed.
    pub(crate) fn field_error(
        &mut self,
        error: &FieldError<DefaultScalarValue>,
        location: Location,
        path: Vec<PathSegment>,
    ) -> ResponseError {
        let carried = error.extensions().as_object_value();
        let code = code_of(error);
        let shown = match (code, carried) {
            (Some(code), Some(object)) if code != ErrorCode::InternalServerError => {
                ResponseError::new(code, error.message()).with_extensions(public(object))
            }
            (None, carried) if self.passes_field_errors => passed(error.message(), carried),
            (_, carried) => {
                let detail = carried
                    .and_then(|object| text(object, DETAIL))
                    .unwrap_or(error.message());
                let has_panicked = carried.is_some_and(|object| object.contains_field(PANIC));
                let kind = match has_panicked {
                    true => IncidentKind::Panic,
                    false => IncidentKind::Error,
                };
                self.incident(kind, detail.to_owned(), &path)
            }
        };
        shown.at(location).in_field(path)
    }

    /// Error for the client after a panic.
    pub(crate) fn panic(&mut self, payload: &(dyn Any + Send)) -> ResponseError {
        self.incident(IncidentKind::Panic, panic_message(payload), &[])
    }

    /// Reports a store failure to the log only.
    pub(crate) fn store(&mut self, error: &StoreError) {
        self.incident(IncidentKind::Store, with_causes(error), &[]);
    }

    fn incident(&mut self, kind: IncidentKind, detail: String, path: &[PathSegment]) -> ResponseError {
        let entropy = self.entropy;
        let correlation_id = self.correlation_id.get_or_insert_with(|| draw(entropy)).clone();
        if let Some(log) = self.log {
            log.record(&Incident {
                correlation_id: correlation_id.clone(),
                detail,
                kind,
                path: path.to_vec(),
            });
        }
        ResponseError::new(ErrorCode::InternalServerError, MASKED)
            .with_extensions([("correlationId".to_owned(), Value::scalar(correlation_id))])
    }
}

/// Error of juniper, unmasked.
fn passed(message: &str, carried: Option<&Object<DefaultScalarValue>>) -> ResponseError {
    let Some(carried) = carried else {
        return ResponseError::new(ErrorCode::InternalServerError, message);
    };
    let code = own_code(carried).unwrap_or(ErrorCode::InternalServerError);
    let error = ResponseError::new(code, message);
    let error = error.with_extensions(public(carried));
    match carried.contains_field("code") {
        true => error.with_code_of_extensions(),
        false => error,
    }
}

fn own_code(carried: &Object<DefaultScalarValue>) -> Option<ErrorCode> {
    text(carried, "code").and_then(ErrorCode::from_wire)
}

/// Code that the client receives for an error of a resolver.
pub(crate) fn sent_code(error: &FieldError, passes_field_errors: bool) -> ErrorCode {
    let passed = || {
        let carried = error.extensions().as_object_value();
        carried.filter(|_| passes_field_errors).and_then(own_code)
    };
    code_of(error)
        .or_else(passed)
        .unwrap_or(ErrorCode::InternalServerError)
}

fn draw(entropy: &dyn Entropy) -> String {
    let mut bytes = [0_u8; 16];
    entropy.fill(&mut bytes);
    format!("{:032x}", u128::from_be_bytes(bytes))
}

fn public(object: &Object<DefaultScalarValue>) -> impl Iterator<Item = (String, Value)> {
    object
        .iter()
        .filter(|(key, _)| !key.starts_with('\0'))
        .map(|(key, value)| (key.clone(), value.clone()))
}
