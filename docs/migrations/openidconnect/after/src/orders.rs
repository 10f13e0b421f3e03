//! Orders of the user, from an API that takes the user's access token.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, Request};
use oauth_core::client::{ApiError, RefreshError, TokenSource};
use oauth_core::ports::ExchangeLimits;

use crate::{App, error::AppError};

pub(crate) async fn list(State(app): State<Arc<App>>, headers: HeaderMap) -> Result<String, AppError> {
    let session = app.sign_ins.session(&headers).await?.ok_or(AppError::SignedOut)?;
    let id = session.record.id;
    let tokens = app.users().get(&id).map(|user| user.tokens.clone());
    match read(&tokens.ok_or(AppError::SignedOut)?, format!("{}/orders", app.api)).await {
        Err(AppError::Api(ApiError::Refresh(RefreshError::Ended(_) | RefreshError::NoRefreshToken))) => {
            app.users().remove(&id);
            app.sign_ins.sessions().end(&session.record.subject, &id).await?;
            Err(AppError::SignedOut)
        }
        done => done,
    }
}

/// Reads a text from an API. The token is refreshed if it has expired.
pub(crate) async fn read(tokens: &TokenSource, url: String) -> Result<String, AppError> {
    let limits = ExchangeLimits {
        max_response_body: 1 << 20,
        ..Default::default()
    };
    let request = Request::get(url).extension(limits).body(Bytes::new());
    let request = request.map_err(|_| AppError::Url)?;
    let response = tokens.call(request).await?;
    if !response.status().is_success() {
        return Err(AppError::Refused(response.status()));
    }
    Ok(String::from_utf8_lossy(response.body()).into_owned())
}
