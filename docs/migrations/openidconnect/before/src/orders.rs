//! Orders of the user, from an API that takes the user's access token.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use axum::extract::State;
use openidconnect::core::CoreErrorResponseType;
use openidconnect::{AccessToken, OAuth2TokenResponse, RequestTokenError};
use tower_sessions::Session;

use crate::login::{User, expiry};
use crate::{App, error::AppError};

/// Time before its expiry at which an access token is replaced.
pub(crate) const LEEWAY: Duration = Duration::from_secs(10);

pub(crate) async fn list(State(app): State<Arc<App>>, session: Session) -> Result<String, AppError> {
    let token = access_token(&app, &session).await?;
    let request = app
        .http
        .get(format!("{}/orders", app.api))
        .bearer_auth(token.secret());
    let response = request.send().await.map_err(AppError::api)?;
    let response = response.error_for_status().map_err(AppError::api)?;
    response.text().await.map_err(AppError::api)
}

/// Returns the access token of the user, refreshed if it has expired.
async fn access_token(app: &App, session: &Session) -> Result<AccessToken, AppError> {
    let mut user: User = session.get("user").await?.ok_or(AppError::SignedOut)?;
    if user.expires_at.is_none_or(|at| SystemTime::now() + LEEWAY < at) {
        return Ok(user.access_token);
    }
    let Some(refresh_token) = &user.refresh_token else {
        session.flush().await?;
        return Err(AppError::SignedOut);
    };
    let request = app
        .oidc
        .exchange_refresh_token(refresh_token)
        .map_err(AppError::provider)?;
    let tokens = match request.request_async(&app.http).await {
        Ok(tokens) => tokens,
        Err(RequestTokenError::ServerResponse(refusal))
            if *refusal.error() == CoreErrorResponseType::InvalidGrant =>
        {
            session.flush().await?;
            return Err(AppError::SignedOut);
        }
        Err(error) => return Err(AppError::provider(error)),
    };
    user.access_token = tokens.access_token().clone();
    // a provider that does not rotate sends no new refresh token
    if let Some(rotated) = tokens.refresh_token() {
        user.refresh_token = Some(rotated.clone());
    }
    user.expires_at = expiry(tokens.expires_in());
    let token = user.access_token.clone();
    session.insert("user", user).await?;
    Ok(token)
}
