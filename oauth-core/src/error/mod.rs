//! Error responses of the authorization server.
//!
//! [`ErrorResponse`] is the JSON error of the token endpoint and the other endpoints that clients
//! call directly ([RFC 6749 §5.2](https://www.rfc-editor.org/rfc/rfc6749#section-5.2)).
//! [`AuthorizationErrorResponse`] is sent through the browser ([RFC 6749
//! §4.1.2.1](https://www.rfc-editor.org/rfc/rfc6749#section-4.1.2.1)). Neither contains internal
//! details. Only the host gets the precise [`Reason`].
//!
//! ```
//! use oauth_core::error::{ErrorCode, ErrorResponse};
//!
//! let response = ErrorResponse::new(ErrorCode::InvalidGrant).into_response();
//! assert_eq!(response.status(), 400);
//! assert_eq!(response.headers()["cache-control"], "no-store");
//! assert_eq!(response.body(), r#"{"error":"invalid_grant"}"#);
//! ```

mod authorization;
mod diagnosis;
mod reason;
mod response_mode;
mod token;

pub use authorization::{AuthorizationErrorCode, AuthorizationErrorResponse, redirect};
pub use diagnosis::diagnosis;
pub use reason::Reason;
#[cfg(feature = "_signatures")]
pub(crate) use response_mode::respond;
pub use token::{ErrorCode, ErrorResponse};
