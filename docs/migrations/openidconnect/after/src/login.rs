//! Login by authorization code with PKCE.

use std::sync::Arc;
use std::time::SystemTime;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::header::SET_COOKIE;
use axum::http::{HeaderMap, Uri};
use axum::response::{IntoResponse, Redirect, Response};
use oauth_core::client::TokenSource;

use crate::{App, error::AppError};

/// A signed-in user, until the session of the browser ends.
pub(crate) struct User {
    pub(crate) name: String,
    pub(crate) email: String,
    pub(crate) tokens: TokenSource,
    until: SystemTime,
}

pub(crate) async fn start(State(app): State<Arc<App>>, headers: HeaderMap) -> Result<Response, AppError> {
    Ok(app.sign_ins.start(&headers).await?.map(Body::from))
}

pub(crate) async fn callback(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
    uri: Uri,
) -> Result<Response, AppError> {
    let user = app.sign_ins.finish(&headers, &uri).await?;
    let subject = &user.identity.subject;
    let signed_in = app.sign_ins.sessions().sign_in(&headers, subject, None).await?;
    let (record, now) = (signed_in.session.record, app.ports.now());
    let name = user.identity.name.unwrap_or_else(|| subject.as_str().to_owned());
    let mut users = app.users();
    users.retain(|_, user| now < user.until);
    users.insert(
        record.id,
        User {
            name,
            email: user.identity.email.unwrap_or_default(),
            tokens: TokenSource::new(user.tokens, app.ports.clone()),
            until: record.expires_at,
        },
    );
    Ok(([(SET_COOKIE, signed_in.set_cookie)], Redirect::to("/")).into_response())
}

pub(crate) async fn logout(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
    form: Bytes,
) -> Result<Response, AppError> {
    let session = app.sign_ins.session(&headers).await?;
    let response = app.sign_ins.sign_out(&headers, &form, "/").await?;
    if let Some(session) = session {
        app.users().remove(&session.record.id);
    }
    Ok(response.map(Body::from))
}
