//! Login by authorization code with PKCE.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use axum::extract::{Query, State};
use axum::response::Redirect;
use openidconnect::core::{CoreAuthenticationFlow, CoreTokenResponse};
use openidconnect::{
    AccessToken, AccessTokenHash, AuthorizationCode, CsrfToken, Nonce, OAuth2TokenResponse,
    PkceCodeChallenge, PkceCodeVerifier, RefreshToken, Scope, TokenResponse,
};
use serde::{Deserialize, Serialize};
use tower_sessions::Session;

use crate::{App, error::AppError};

/// A login that waits for the provider's response, in the session of the browser.
#[derive(Deserialize, Serialize)]
struct Pending {
    state: CsrfToken,
    nonce: Nonce,
    verifier: PkceCodeVerifier,
}

/// The signed-in user, in the session of the browser.
#[derive(Deserialize, Serialize)]
pub(crate) struct User {
    pub(crate) subject: String,
    pub(crate) name: String,
    pub(crate) email: String,
    pub(crate) access_token: AccessToken,
    pub(crate) refresh_token: Option<RefreshToken>,
    pub(crate) expires_at: Option<SystemTime>,
}

#[derive(Deserialize)]
pub(crate) struct Callback {
    code: Option<String>,
    state: Option<String>,
    error: Option<String>,
}

pub(crate) fn expiry(lifetime: Option<Duration>) -> Option<SystemTime> {
    SystemTime::now().checked_add(lifetime?)
}

pub(crate) async fn start(State(app): State<Arc<App>>, session: Session) -> Result<Redirect, AppError> {
    let (challenge, verifier) = PkceCodeChallenge::new_random_sha256();
    let flow = CoreAuthenticationFlow::AuthorizationCode;
    let (url, state, nonce) = app
        .oidc
        .authorize_url(flow, CsrfToken::new_random, Nonce::new_random)
        .add_scope(Scope::new("email".to_owned()))
        .add_scope(Scope::new("orders:read".to_owned()))
        .set_pkce_challenge(challenge)
        .url();
    session
        .insert(
            "pending",
            Pending {
                state,
                nonce,
                verifier,
            },
        )
        .await?;
    Ok(Redirect::to(url.as_str()))
}

pub(crate) async fn callback(
    State(app): State<Arc<App>>,
    session: Session,
    Query(query): Query<Callback>,
) -> Result<Redirect, AppError> {
    let pending: Pending = session
        .remove("pending")
        .await?
        .ok_or(AppError::Callback("no login is pending"))?;
    if query.state.as_deref() != Some(pending.state.secret().as_str()) {
        return Err(AppError::Callback("the state does not match"));
    }
    if query.error.is_some() {
        return Err(AppError::Callback("the provider refused"));
    }
    let code = query.code.ok_or(AppError::Callback("the code is missing"))?;
    let tokens = app
        .oidc
        .exchange_code(AuthorizationCode::new(code))
        .map_err(AppError::provider)?
        .set_pkce_verifier(pending.verifier)
        .request_async(&app.http)
        .await
        .map_err(AppError::provider)?;
    let user = verify(&app, &tokens, &pending.nonce)?;
    // against session fixation
    session.cycle_id().await?;
    session.insert("user", user).await?;
    Ok(Redirect::to("/"))
}

/// Verifies the ID token, and reads the user from it.
fn verify(app: &App, tokens: &CoreTokenResponse, nonce: &Nonce) -> Result<User, AppError> {
    let id_token = tokens.id_token().ok_or(AppError::NoIdToken)?;
    let verifier = app.oidc.id_token_verifier();
    let claims = id_token.claims(&verifier, nonce).map_err(AppError::provider)?;
    if let Some(expected) = claims.access_token_hash() {
        let algorithm = id_token.signing_alg().map_err(AppError::provider)?;
        let key = id_token.signing_key(&verifier).map_err(AppError::provider)?;
        let actual =
            AccessTokenHash::from_token(tokens.access_token(), algorithm, key).map_err(AppError::provider)?;
        if actual != *expected {
            return Err(AppError::WrongAccessToken);
        }
    }
    let name = claims.name().and_then(|name| name.get(None));
    Ok(User {
        subject: claims.subject().to_string(),
        name: name.map_or_else(|| claims.subject().to_string(), |name| name.to_string()),
        email: claims.email().map(|email| email.to_string()).unwrap_or_default(),
        access_token: tokens.access_token().clone(),
        refresh_token: tokens.refresh_token().cloned(),
        expires_at: expiry(tokens.expires_in()),
    })
}

pub(crate) async fn logout(session: Session) -> Result<Redirect, AppError> {
    session.flush().await?;
    Ok(Redirect::to("/"))
}
