//! HTTP status codes of responses.

use http::StatusCode;

use super::accept::Rendering;
use crate::error::ErrorCode;
use crate::response::{GraphResponse, ResponseError};

/// Edition of [GraphQL over
/// HTTP](https://graphql.github.io/graphql-over-http/draft/#sec-Status-Codes) that defines the
/// status codes.
///
/// The table applies to `application/graphql-response+json`:
///
/// | response | `Audited` | `September2026` |
/// |---|---|---|
/// | data without errors | 200 | 200 |
/// | data (possibly null) with errors | 200 | 294 |
/// | invalid JSON or GraphQL syntax, or too many tokens | 400 | 400 |
/// | invalid parameters, validation, other limits, operation name or variables | 400 | 422 |
/// | refused before execution with `UNAUTHENTICATED` | 400 | 401 |
/// | refused before execution with `FORBIDDEN` | 400 | 403 |
/// | unknown hash of a persisted query | 200 | 404 |
/// | persisted queries disabled | 200 | 422 |
/// | hash does not match the text | 400 | 400 |
///
/// As `application/json`, both profiles send 400 for invalid JSON, invalid parameters and a hash
/// that does not match the text, and otherwise 200. 405, 406, 413 and 415 do not depend on the
/// profile.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub enum StatusProfile {
    /// Statuses that the audits of npm `graphql-http` check and that clients from before 2026
    /// expect.
    #[default]
    Audited,
    /// Statuses of the September 2026 edition, with 294 for partial success.
    September2026,
}

impl StatusProfile {
    /// Partial success. Clients that do not know 294 treat it as 200.
    const PARTIAL: u16 = 294;

    pub(super) fn status(self, answer: &GraphResponse, rendering: Rendering) -> StatusCode {
        let code = answer.errors().first().map(ResponseError::code);
        if !answer.is_request_error() {
            return match (self, rendering) {
                (Self::September2026, Rendering::GraphqlResponse) if code.is_some() => {
                    StatusCode::from_u16(Self::PARTIAL).unwrap_or(StatusCode::OK)
                }
                _ => StatusCode::OK,
            };
        }
        match (code, rendering, self) {
            (Some(ErrorCode::PersistedQueryMismatch), _, _) => StatusCode::BAD_REQUEST,
            (Some(code), Rendering::GraphqlResponse, Self::September2026) => refused(code),
            // like Apollo Server: a cache miss is not a failure, but browsers log other statuses as
            // failures
            (Some(ErrorCode::PersistedQueryNotFound | ErrorCode::PersistedQueryNotSupported), _, _) => {
                StatusCode::OK
            }
            (_, Rendering::GraphqlResponse, _) => StatusCode::BAD_REQUEST,
            _ => StatusCode::OK,
        }
    }

    /// Status of a request with invalid parameters.
    pub(super) fn parameters(self, rendering: Rendering) -> StatusCode {
        match (self, rendering) {
            (Self::September2026, Rendering::GraphqlResponse) => StatusCode::UNPROCESSABLE_ENTITY,
            _ => StatusCode::BAD_REQUEST,
        }
    }
}

fn refused(code: ErrorCode) -> StatusCode {
    match code {
        ErrorCode::GraphqlParseFailed => StatusCode::BAD_REQUEST,
        ErrorCode::PersistedQueryNotFound => StatusCode::NOT_FOUND,
        ErrorCode::Unauthenticated => StatusCode::UNAUTHORIZED,
        ErrorCode::Forbidden => StatusCode::FORBIDDEN,
        ErrorCode::InternalServerError => StatusCode::INTERNAL_SERVER_ERROR,
        _ => StatusCode::UNPROCESSABLE_ENTITY,
    }
}
