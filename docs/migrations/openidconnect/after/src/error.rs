//! Failures, and their pages.

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use oauth_core::client::{ApiError, RefreshError, SignInError};
use oauth_core::error::diagnosis;
use oauth_core::ports::StoreError;

pub(crate) enum AppError {
    /// The user must sign in.
    SignedOut,
    SignIn(SignInError),
    Api(ApiError),
    /// The API refused with this status.
    Refused(StatusCode),
    /// The URL of the API is malformed.
    Url,
    Session(StoreError),
}

impl From<SignInError> for AppError {
    fn from(error: SignInError) -> Self {
        Self::SignIn(error)
    }
}

impl From<ApiError> for AppError {
    fn from(error: ApiError) -> Self {
        Self::Api(error)
    }
}

impl From<StoreError> for AppError {
    fn from(error: StoreError) -> Self {
        Self::Session(error)
    }
}

impl IntoResponse for AppError {
    fn into_response(self) -> Response {
        let (status, page, cause) = match &self {
            Self::SignedOut => (
                StatusCode::UNAUTHORIZED,
                "Sign in first.",
                "no session".to_owned(),
            ),
            Self::SignIn(error) => (error.status(), "Signing in failed.", diagnosis(error)),
            Self::Api(ApiError::Refresh(error @ RefreshError::Failed(_))) => {
                (StatusCode::BAD_GATEWAY, "Signing in failed.", diagnosis(error))
            }
            Self::Api(error) => (StatusCode::BAD_GATEWAY, "The API failed.", diagnosis(error)),
            Self::Refused(status) => (StatusCode::BAD_GATEWAY, "The API failed.", status.to_string()),
            Self::Url => (
                StatusCode::BAD_GATEWAY,
                "The API failed.",
                "malformed url".to_owned(),
            ),
            Self::Session(error) => (
                StatusCode::SERVICE_UNAVAILABLE,
                "Try again later.",
                diagnosis(error),
            ),
        };
        eprintln!("{cause}");
        (status, page).into_response()
    }
}
