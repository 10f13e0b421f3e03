//! What a resolver returns when it fails, and what of it a client sees.
//!
//! A [`GraphError`] passes to the client with its code and message. Everything else (a [`FieldError`] of juniper, an error of
//! the host converted with `?`) is masked: the client sees `INTERNAL_SERVER_ERROR` and a correlation id, the
//! [`IncidentLog`](crate::ports::IncidentLog) sees the cause.
//!
//! What is refused before execution is told as it is, and that includes what the parser of a host's own scalar or input object
//! says of a value: write it for clients.
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

use std::error::Error;
use std::fmt::Display;

use juniper::{FieldError, IntoFieldError, Object, ScalarValue, Value};

pub use self::code::ErrorCode;

/// Message that a client reads instead of the cause.
pub(crate) const MASKED: &str = "internal server error";

/// Keys under which a [`GraphError`] travels through juniper; no client ever sees them.
pub(crate) const CODE: &str = "\0code";
pub(crate) const DETAIL: &str = "\0detail";

/// A failure that a client may see: a code, a message and extensions.
///
/// It implements neither `Display` nor [`Error`] on purpose: juniper turns anything printable into a [`FieldError`] without a
/// code, so that `?` in a resolver that returns [`juniper::FieldResult`] would lose it. As it is, `?` keeps the code there too.
#[derive(Clone, Debug, PartialEq)]
pub struct GraphError {
    code: ErrorCode,
    message: String,
    extensions: Vec<(String, Value)>,
    /// For the log only; `Some` means that the client sees a masked error.
    detail: Option<String>,
}

impl GraphError {
    /// An error with `code` that tells the client `message`.
    ///
    /// With [`ErrorCode::InternalServerError`] the error is masked like any other internal failure, and `message` goes to the log.
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
        }
    }

    /// `BAD_USER_INPUT`: an argument has the right type and a wrong value.
    #[must_use]
    pub fn bad_user_input(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::BadUserInput, message)
    }

    /// `UNAUTHENTICATED`: the field needs a principal.
    #[must_use]
    pub fn unauthenticated(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::Unauthenticated, message)
    }

    /// `FORBIDDEN`: the principal may not do this.
    #[must_use]
    pub fn forbidden(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::Forbidden, message)
    }

    /// `NOT_FOUND`: the thing asked for does not exist.
    #[must_use]
    pub fn not_found(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::NotFound, message)
    }

    /// `CONFLICT`: the state of the thing does not allow this.
    #[must_use]
    pub fn conflict(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::Conflict, message)
    }

    /// A masked failure: the client sees `INTERNAL_SERVER_ERROR`, only the incident log sees `cause`.
    #[must_use]
    pub fn internal(cause: impl Display) -> Self {
        Self::masked(cause.to_string())
    }

    /// Adds `extensions.{key}`; `code` is ours and stays as it is, and a masked error shows none.
    #[must_use]
    pub fn with_extension(mut self, key: impl Into<String>, value: impl Into<Extension>) -> Self {
        self.extensions.push((key.into(), value.into().0));
        self
    }

    /// The code that the client sees.
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        self.code
    }

    /// The message that the client sees.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    fn masked(detail: String) -> Self {
        Self {
            code: ErrorCode::InternalServerError,
            message: MASKED.to_owned(),
            extensions: Vec::new(),
            detail: Some(detail),
        }
    }
}

/// Any error of the host becomes a masked one, so that `?` never shows a client what it was not meant to see.
impl<E: Error> From<E> for GraphError {
    fn from(error: E) -> Self {
        Self::masked(with_causes(&error))
    }
}

/// What the log reads of an error.
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

impl<S: ScalarValue> From<GraphError> for FieldError<S> {
    fn from(error: GraphError) -> Self {
        let mut carried = Object::with_capacity(error.extensions.len() + 2);
        carried.add_field(CODE, Value::scalar(error.code.as_str()));
        if let Some(detail) = error.detail {
            carried.add_field(DETAIL, Value::scalar(detail));
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

/// A value of `extensions`: text, a number or a truth value.
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
