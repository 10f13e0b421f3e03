//! Errors of resolvers: [`GraphError`], its codes, and masking.
//!
//! - A [`GraphError`] reaches the client with its code and message.
//! - Every other error (a [`FieldError`] of juniper, an error converted with `?`) is masked. The
//!   client receives `INTERNAL_SERVER_ERROR` and a correlation id; the
//!   [`IncidentLog`](crate::ports::IncidentLog) receives the cause.
//! - A host that moves from juniper can
//!   [pass](crate::EngineBuilder::danger_pass_field_errors) errors of juniper unmasked.
//! - Errors before execution are not masked. They include the error texts of the host's own scalar
//!   and input object parsers: write these texts for clients.
//!
//! ```
//! use graph_core::error::{ErrorCode, GraphError};
//!
//! fn charge(id: &str) -> Result<u32, GraphError> {
//!     let number: u32 = id.parse()?; // masked: a parse error was not written for clients
//!     if number > 9 {
//!         return Err(GraphError::not_found("no such charge").with_extension("id", id));
//!     }
//!     Ok(number)
//! }
//!
//! assert_eq!(charge("x").unwrap_err().code(), ErrorCode::InternalServerError);
//! assert_eq!(charge("10").unwrap_err().code(), ErrorCode::NotFound);
//! assert_eq!(charge("7").unwrap(), 7);
//! ```

mod code;

use std::any::Any;
use std::error::Error;
use std::fmt::Display;

use juniper::{DefaultScalarValue, FieldError, IntoFieldError, Object, ScalarValue, Value};

pub use self::code::ErrorCode;

/// Message that replaces the cause of a masked error.
pub(crate) const MASKED: &str = "internal server error";

/// Extension keys that carry a [`GraphError`] through juniper; they are never sent to the client.
pub(crate) const CODE: &str = "\0code";
pub(crate) const DETAIL: &str = "\0detail";
pub(crate) const PANIC: &str = "\0panic";

/// Error for the client: a code, a message and extensions.
///
/// The type implements neither `Display` nor [`Error`], so that `?` keeps the code in a resolver
/// that returns [`juniper::FieldResult`]: juniper converts every `Display` type into a
/// [`FieldError`] without a code.
#[derive(Clone, Debug, PartialEq)]
pub struct GraphError {
    code: ErrorCode,
    message: String,
    extensions: Vec<(String, Value)>,
    /// Cause for the log; `Some` marks a masked error.
    detail: Option<String>,
    /// The resolver panicked.
    has_panicked: bool,
    /// Extensions of an error of juniper, whose message is `detail`.
    foreign: Option<Box<Value>>,
}

impl GraphError {
    /// Creates an error with a code and a message for the client.
    ///
    /// [`ErrorCode::InternalServerError`] creates a masked error: `message` goes to the incident
    /// log.
    #[must_use]
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        let message = message.into();
        if code == ErrorCode::InternalServerError {
            return Self::masked(message);
        }
        Self {
            code,
            message,
            extensions: Vec::new(),
            detail: None,
            has_panicked: false,
            foreign: None,
        }
    }

    /// Creates `BAD_USER_INPUT`: an argument has a valid type and an invalid value.
    #[must_use]
    pub fn bad_user_input(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::BadUserInput, message)
    }

    /// Creates `UNAUTHENTICATED`: the field requires a principal.
    #[must_use]
    pub fn unauthenticated(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::Unauthenticated, message)
    }

    /// Creates `FORBIDDEN`: the principal lacks the permission.
    #[must_use]
    pub fn forbidden(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::Forbidden, message)
    }

    /// Creates `NOT_FOUND`: the requested object does not exist.
    #[must_use]
    pub fn not_found(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::NotFound, message)
    }

    /// Creates `CONFLICT`: the current state of the object does not allow the operation.
    #[must_use]
    pub fn conflict(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::Conflict, message)
    }

    /// Creates a masked error: the client receives `INTERNAL_SERVER_ERROR`, the incident log
    /// receives `cause`.
    #[must_use]
    pub fn internal(cause: impl Display) -> Self {
        Self::masked(cause.to_string())
    }

    /// Converts an error of juniper, for a function that returns [`GraphError`], such as
    /// [`Batch::load`](crate::Batch::load).
    ///
    /// - An error that was a [`GraphError`] keeps its code.
    /// - Any other error is masked, unless the host
    ///   [passes errors of juniper](crate::EngineBuilder::danger_pass_field_errors).
    ///
    /// ```
    /// use graph_core::{ErrorCode, GraphError};
    /// use juniper::{FieldError, FieldResult};
    ///
    /// fn stock() -> FieldResult<u32> {
    ///     Err(FieldError::from("sold out"))
    /// }
    ///
    /// fn is_available() -> Result<bool, GraphError> {
    ///     Ok(stock().map_err(GraphError::from_field_error)? > 0)
    /// }
    ///
    /// assert_eq!(is_available().unwrap_err().code(), ErrorCode::InternalServerError);
    /// ```
    #[must_use]
    #[expect(clippy::needless_pass_by_value, reason = "an argument of `map_err`")]
    pub fn from_field_error(error: FieldError) -> Self {
        let message = error.message().to_owned();
        let carried = error.extensions();
        let code = carried.as_object_value().and_then(|object| text(object, CODE));
        let Some(code) = code.and_then(ErrorCode::from_wire) else {
            return Self {
                foreign: Some(Box::new(carried.clone())),
                ..Self::masked(message)
            };
        };
        let mut restored = Self::new(code, message);
        for (key, value) in carried.as_object_value().into_iter().flat_map(Object::iter) {
            match (key.as_str(), value.as_scalar()) {
                (CODE, _) => {}
                (DETAIL, Some(DefaultScalarValue::String(detail))) => {
                    restored.message = MASKED.to_owned();
                    restored.detail = Some(detail.clone());
                }
                (PANIC, _) => restored.has_panicked = true,
                _ => restored.extensions.push((key.clone(), value.clone())),
            }
        }
        restored
    }

    /// Adds `extensions.{key}` to the error.
    ///
    /// The key `code` is ignored. A masked error sends no extensions.
    #[must_use]
    pub fn with_extension(mut self, key: impl Into<String>, value: impl Into<Extension>) -> Self {
        self.extensions.push((key.into(), value.into().0));
        self
    }

    /// Returns the code that the client receives.
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        self.code
    }

    /// Returns the message that the client receives.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Masked error of a resolver that panicked.
    pub(crate) fn panicked(payload: &(dyn Any + Send)) -> Self {
        Self {
            has_panicked: true,
            ..Self::masked(panic_message(payload))
        }
    }

    fn masked(detail: String) -> Self {
        Self {
            has_panicked: false,
            code: ErrorCode::InternalServerError,
            message: MASKED.to_owned(),
            extensions: Vec::new(),
            detail: Some(detail),
            foreign: None,
        }
    }
}

/// Masks any error of the host, so that `?` never leaks an internal message to the client.
impl<E: Error> From<E> for GraphError {
    fn from(error: E) -> Self {
        Self::masked(with_causes(&error))
    }
}

/// Code of a [`GraphError`]; `None` for other errors.
pub(crate) fn code_of(error: &FieldError) -> Option<ErrorCode> {
    let carried = error.extensions().as_object_value()?;
    text(carried, CODE).and_then(ErrorCode::from_wire)
}

/// Message of a panic.
pub(crate) fn panic_message(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| payload.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a panic without a message".to_owned())
}

/// The error with all its sources, for the log.
pub(crate) fn with_causes(error: &dyn Error) -> String {
    let mut detail = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        detail.push_str(": ");
        detail.push_str(&cause.to_string());
        source = cause.source();
    }
    detail
}

/// String value of `key` among the extensions of an error.
pub(crate) fn text<'o>(object: &'o Object<DefaultScalarValue>, key: &str) -> Option<&'o str> {
    match object.get_field_value(key)? {
        Value::Scalar(DefaultScalarValue::String(text)) => Some(text),
        _ => None,
    }
}

impl<S: ScalarValue> From<GraphError> for FieldError<S> {
    fn from(error: GraphError) -> Self {
        if let (Some(extensions), Some(message)) = (error.foreign, &error.detail) {
            return Self::new(message, extensions.map_scalar_value());
        }
        let mut carried = Object::with_capacity(error.extensions.len() + 2);
        carried.add_field(CODE, Value::scalar(error.code.as_str()));
        if let Some(detail) = error.detail {
            carried.add_field(DETAIL, Value::scalar(detail));
        }
        if error.has_panicked {
            carried.add_field(PANIC, Value::scalar(true));
        }
        for (key, value) in error.extensions {
            carried.add_field(key, value);
        }
        Self::new(error.message, Value::object(carried).map_scalar_value())
    }
}

impl<S: ScalarValue> IntoFieldError<S> for GraphError {
    fn into_field_error(self) -> FieldError<S> {
        self.into()
    }
}

/// Value of an extension: a string, a number, a boolean or a juniper value.
#[derive(Clone, Debug, PartialEq)]
pub struct Extension(Value);

impl From<&str> for Extension {
    fn from(text: &str) -> Self {
        Self(Value::scalar(text))
    }
}

impl From<String> for Extension {
    fn from(text: String) -> Self {
        Self(Value::scalar(text))
    }
}

impl From<i32> for Extension {
    fn from(number: i32) -> Self {
        Self(Value::scalar(number))
    }
}

impl From<f64> for Extension {
    fn from(number: f64) -> Self {
        Self(Value::scalar(number))
    }
}

impl From<bool> for Extension {
    fn from(truth: bool) -> Self {
        Self(Value::scalar(truth))
    }
}

impl From<Value> for Extension {
    fn from(value: Value) -> Self {
        Self(value)
    }
}
