//! Response to an HTTP request that is not a valid GraphQL request.

use bytes::Bytes;
use http::header::{ACCEPT_ENCODING, ALLOW, HeaderName, HeaderValue};
use http::{Response, StatusCode};

use super::StatusProfile;
use super::accept::Rendering;
use super::response::{of, response};
use crate::error::ErrorCode;
use crate::response::GraphResponse;

/// Status and message of a refused request.
#[derive(Debug)]
pub(crate) struct Refusal {
    status: StatusCode,
    code: ErrorCode,
    message: String,
    /// Response header that the status requires, such as `Allow`.
    instead: Option<(HeaderName, &'static str)>,
    rendering: Rendering,
    /// `true` if the parameters of the request are invalid. The status then depends on the profile.
    parameters: bool,
}

impl Refusal {
    fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Self {
            status,
            code: ErrorCode::BadRequest,
            message: message.into(),
            instead: None,
            rendering: Rendering::Json,
            parameters: false,
        }
    }

    /// Creates the refusal of a request with invalid parameters.
    pub(crate) fn parameters(message: impl Into<String>) -> Self {
        Self {
            parameters: true,
            ..Self::new(StatusCode::BAD_REQUEST, message)
        }
    }

    /// Creates the refusal of variables with too many values.
    pub(super) fn too_many_values(limit: usize) -> Self {
        Self {
            code: ErrorCode::MaxValuesExceeded,
            ..Self::parameters(too_many_values(limit))
        }
    }

    pub(super) fn bad_request(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, message)
    }

    pub(crate) fn method(allow: &'static str, message: &str) -> Self {
        Self {
            instead: Some((ALLOW, allow)),
            ..Self::new(StatusCode::METHOD_NOT_ALLOWED, message)
        }
    }

    pub(super) fn not_acceptable() -> Self {
        let message = "`Accept` names neither `application/json` nor `application/graphql-response+json`";
        Self::new(StatusCode::NOT_ACCEPTABLE, message)
    }

    pub(super) fn too_large(limit: usize) -> Self {
        Self::new(
            StatusCode::PAYLOAD_TOO_LARGE,
            format!("the body is larger than {limit} bytes"),
        )
    }

    pub(super) fn unsupported_media_type() -> Self {
        Self::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "the body must be `application/json` in UTF-8",
        )
    }

    pub(super) fn coded_content() -> Self {
        let message = "the body must have no content coding";
        Self {
            instead: Some((ACCEPT_ENCODING, "identity")),
            ..Self::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, message)
        }
    }

    /// Sets the media type; a refusal is never an event stream.
    pub(crate) fn rendered(mut self, rendering: Rendering) -> Self {
        self.rendering = rendering;
        self
    }

    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    pub(crate) fn code(&self) -> ErrorCode {
        self.code
    }

    /// Converts the refusal to a response of one operation in a batch.
    pub(crate) fn into_envelope(self) -> GraphResponse {
        GraphResponse::request_error(self.code, self.message)
    }

    pub(crate) fn into_response(self, profile: StatusProfile) -> Response<Bytes> {
        let fields = of(self.rendering);
        let status = match self.parameters {
            true => profile.parameters(self.rendering),
            false => self.status,
        };
        let instead = self.instead.clone();
        let mut response = response(status, fields, self.into_envelope().into_json());
        if let Some((name, value)) = instead {
            response
                .headers_mut()
                .insert(name, HeaderValue::from_static(value));
        }
        response
    }
}

/// Message for variables with more than `limit` values.
pub(crate) fn too_many_values(limit: usize) -> String {
    format!("the variables have more than {limit} values")
}
