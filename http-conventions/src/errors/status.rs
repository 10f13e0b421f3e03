//! The statuses a [`Problem`](super::Problem) may have when nothing but the status is known.

use http::StatusCode;

/// A 4xx or 5xx status that obliges the answer to carry no header of its own.
///
/// 401, 405, 407, 426, 429 and 503 are not among them; [`Problem`](super::Problem) has constructors for those this crate
/// answers with, which ask for the header.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct ErrorStatus(StatusCode);

impl ErrorStatus {
    /// 400: the request is malformed.
    pub const BAD_REQUEST: Self = Self(StatusCode::BAD_REQUEST);
    /// 403: known, and not allowed.
    pub const FORBIDDEN: Self = Self(StatusCode::FORBIDDEN);
    /// 404: no such resource, or none the caller may know of.
    pub const NOT_FOUND: Self = Self(StatusCode::NOT_FOUND);
    /// 406: no representation the caller accepts.
    pub const NOT_ACCEPTABLE: Self = Self(StatusCode::NOT_ACCEPTABLE);
    /// 408: the request did not arrive in time.
    pub const REQUEST_TIMEOUT: Self = Self(StatusCode::REQUEST_TIMEOUT);
    /// 409: at odds with the current state.
    pub const CONFLICT: Self = Self(StatusCode::CONFLICT);
    /// 410: was here, and will not come back.
    pub const GONE: Self = Self(StatusCode::GONE);
    /// 412: a precondition the caller stated is false.
    pub const PRECONDITION_FAILED: Self = Self(StatusCode::PRECONDITION_FAILED);
    /// 413: the body is too large.
    pub const CONTENT_TOO_LARGE: Self = Self(StatusCode::PAYLOAD_TOO_LARGE);
    /// 414: the target is too long.
    pub const URI_TOO_LONG: Self = Self(StatusCode::URI_TOO_LONG);
    /// 415: the body is of a kind the resource does not take.
    pub const UNSUPPORTED_MEDIA_TYPE: Self = Self(StatusCode::UNSUPPORTED_MEDIA_TYPE);
    /// 422: well-formed, and yet not processable.
    pub const UNPROCESSABLE_CONTENT: Self = Self(StatusCode::UNPROCESSABLE_ENTITY);
    /// 428: the request must be conditional.
    pub const PRECONDITION_REQUIRED: Self = Self(StatusCode::PRECONDITION_REQUIRED);
    /// 431: the header section is too large.
    pub const REQUEST_HEADER_FIELDS_TOO_LARGE: Self = Self(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE);
    /// 500: a fault of the service.
    pub const INTERNAL_SERVER_ERROR: Self = Self(StatusCode::INTERNAL_SERVER_ERROR);
    /// 501: a method the service does not know.
    pub const NOT_IMPLEMENTED: Self = Self(StatusCode::NOT_IMPLEMENTED);
    /// 502: a service behind this one answered badly.
    pub const BAD_GATEWAY: Self = Self(StatusCode::BAD_GATEWAY);
    /// 504: a service behind this one did not answer in time.
    pub const GATEWAY_TIMEOUT: Self = Self(StatusCode::GATEWAY_TIMEOUT);

    /// The status code.
    #[must_use]
    pub const fn status(self) -> StatusCode {
        self.0
    }
}

impl TryFrom<StatusCode> for ErrorStatus {
    type Error = InvalidErrorStatus;

    fn try_from(status: StatusCode) -> Result<Self, Self::Error> {
        match status.as_u16() {
            401 | 405 | 407 | 426 | 429 | 503 => Err(InvalidErrorStatus),
            400..=599 => Ok(Self(status)),
            _ => Err(InvalidErrorStatus),
        }
    }
}

/// The status is no error, or owes the answer a header.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("not an error status without obligations")]
pub struct InvalidErrorStatus;
