//! Failures, and their pages.

use std::error::Error;

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};

pub(crate) enum AppError {
    /// The user must sign in.
    SignedOut,
    /// The provider's response through the browser is unusable.
    Callback(&'static str),
    NoIdToken,
    WrongAccessToken,
    Provider(Box<dyn Error + Send + Sync>),
    Api(Box<dyn Error + Send + Sync>),
    Session(tower_sessions::session::Error),
}

impl AppError {
    pub(crate) fn provider(error: impl Error + Send + Sync + 'static) -> Self {
        Self::Provider(error.into())
    }

    pub(crate) fn api(error: impl Error + Send + Sync + 'static) -> Self {
        Self::Api(error.into())
    }
}

impl From<tower_sessions::session::Error> for AppError {
    fn from(error: tower_sessions::session::Error) -> Self {
        Self::Session(error)
    }
}

/// An error with its causes.
fn causes(error: &dyn Error) -> String {
    let cause = error.source().map(|source| format!(": {}", causes(source)));
    format!("{error}{}", cause.unwrap_or_default())
}

impl IntoResponse for AppError {
    fn into_response(self) -> Response {
        let (status, page, cause) = match &self {
            Self::SignedOut => (
                StatusCode::UNAUTHORIZED,
                "Sign in first.",
                "no session".to_owned(),
            ),
            Self::Callback(cause) => (StatusCode::BAD_REQUEST, "Signing in failed.", (*cause).to_owned()),
            Self::NoIdToken => (
                StatusCode::BAD_GATEWAY,
                "Signing in failed.",
                "no id token".to_owned(),
            ),
            Self::WrongAccessToken => (
                StatusCode::BAD_GATEWAY,
                "Signing in failed.",
                "at_hash".to_owned(),
            ),
            Self::Provider(error) => (StatusCode::BAD_GATEWAY, "Signing in failed.", causes(&**error)),
            Self::Api(error) => (StatusCode::BAD_GATEWAY, "The API failed.", causes(&**error)),
            Self::Session(error) => (StatusCode::SERVICE_UNAVAILABLE, "Try again later.", causes(error)),
        };
        eprintln!("{cause}");
        (status, page).into_response()
    }
}
