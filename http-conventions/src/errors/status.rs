//! Statuses that a [`Problem`](super::Problem) can have without further headers.

use http::StatusCode;

/// A 4xx or 5xx status that requires no response header.
///
/// 401, 405, 407, 426, 429 and 503 are excluded. [`Problem`](super::Problem) has constructors for
/// 401, 405, 429 and 503 that take the required header.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct ErrorStatus(StatusCode);

impl ErrorStatus {
    /// 400: the request is malformed.
    pub const BAD_REQUEST: Self = Self(StatusCode::BAD_REQUEST);
    /// 403: the caller lacks a permission.
    pub const FORBIDDEN: Self = Self(StatusCode::FORBIDDEN);
    /// 404: the resource does not exist, or the host hides it from the caller.
    pub const NOT_FOUND: Self = Self(StatusCode::NOT_FOUND);
    /// 406: the request accepts no available representation.
    pub const NOT_ACCEPTABLE: Self = Self(StatusCode::NOT_ACCEPTABLE);
    /// 408: the request did not arrive in time.
    pub const REQUEST_TIMEOUT: Self = Self(StatusCode::REQUEST_TIMEOUT);
    /// 409: the request conflicts with the current state.
    pub const CONFLICT: Self = Self(StatusCode::CONFLICT);
    /// 410: the resource is permanently gone.
    pub const GONE: Self = Self(StatusCode::GONE);
    /// 412: a precondition of the request is false.
    pub const PRECONDITION_FAILED: Self = Self(StatusCode::PRECONDITION_FAILED);
    /// 413: the body is too large.
    pub const CONTENT_TOO_LARGE: Self = Self(StatusCode::PAYLOAD_TOO_LARGE);
    /// 414: the request target is too long.
    pub const URI_TOO_LONG: Self = Self(StatusCode::URI_TOO_LONG);
    /// 415: the resource does not support the media type or the content coding.
    pub const UNSUPPORTED_MEDIA_TYPE: Self = Self(StatusCode::UNSUPPORTED_MEDIA_TYPE);
    /// 416: no byte of the requested ranges exists.
    pub const RANGE_NOT_SATISFIABLE: Self = Self(StatusCode::RANGE_NOT_SATISFIABLE);
    /// 421: the server does not answer for the host of the request.
    pub const MISDIRECTED_REQUEST: Self = Self(StatusCode::MISDIRECTED_REQUEST);
    /// 422: the content is well-formed, but the service cannot process it.
    pub const UNPROCESSABLE_CONTENT: Self = Self(StatusCode::UNPROCESSABLE_ENTITY);
    /// 428: the request must be conditional.
    pub const PRECONDITION_REQUIRED: Self = Self(StatusCode::PRECONDITION_REQUIRED);
    /// 431: the header section is too large.
    pub const REQUEST_HEADER_FIELDS_TOO_LARGE: Self = Self(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE);
    /// 500: an internal error of the service.
    pub const INTERNAL_SERVER_ERROR: Self = Self(StatusCode::INTERNAL_SERVER_ERROR);
    /// 501: the service does not know the method.
    pub const NOT_IMPLEMENTED: Self = Self(StatusCode::NOT_IMPLEMENTED);
    /// 502: an upstream service sent an invalid response.
    pub const BAD_GATEWAY: Self = Self(StatusCode::BAD_GATEWAY);
    /// 504: an upstream service did not respond in time.
    pub const GATEWAY_TIMEOUT: Self = Self(StatusCode::GATEWAY_TIMEOUT);

    /// Returns the status code.
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

/// Error for a status that is not 4xx or 5xx, or that requires a response header.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("status is not an error, or requires a response header")]
pub struct InvalidErrorStatus;
