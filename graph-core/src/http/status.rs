//! Which status an answer has.

use http::StatusCode;

use super::accept::Rendering;
use crate::error::ErrorCode;
use crate::response::{GraphResponse, ResponseError};

/// Which edition of [GraphQL over HTTP](https://graphql.github.io/graphql-over-http/draft/#sec-Status-Codes) says what the status of
/// `application/graphql-response+json` is. As `application/json` everything well-formed is 200 in both.
///
/// | answer | `Audited` | `September2026` |
/// |---|---|---|
/// | data without errors | 200 | 200 |
/// | data, perhaps null, with errors | 200 | 294 |
/// | no JSON, or a document that cannot be parsed | 400 | 400 |
/// | parameters, validation, limits, the operation's name, variables | 400 | 422 |
/// | an unknown hash | 200 | 404 |
/// | persisted queries are off | 200 | 422 |
/// | a text of another hash | 400 | 400 |
///
/// 405, 406, 413 and 415 are the same in both.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub enum StatusProfile {
    /// What the audits of npm `graphql-http` ask for, and what clients expect that were written before 2026.
    #[default]
    Audited,
    /// The edition of September 2026, with 294 for partial success.
    September2026,
}

impl StatusProfile {
    /// Partial Success; a client that does not know it takes it for 200.
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
            // as Apollo Server: a browser notes every other status of a miss, which is no failure
            (Some(ErrorCode::PersistedQueryNotFound | ErrorCode::PersistedQueryNotSupported), _, _) => {
                StatusCode::OK
            }
            (_, Rendering::GraphqlResponse, _) => StatusCode::BAD_REQUEST,
            _ => StatusCode::OK,
        }
    }

    /// The status of parameters that are JSON and no request.
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
