//! Sign-out at the server: by the browser ([OpenID Connect RP-Initiated
//! Logout](https://openid.net/specs/openid-connect-rpinitiated-1_0.html)) and by logout tokens of
//! the server ([OpenID Connect Back-Channel
//! Logout](https://openid.net/specs/openid-connect-backchannel-1_0.html)).

use std::time::SystemTime;

use bytes::Bytes;
use http::{Method, Request, Response, StatusCode};
use serde_json::json;

use super::form::Form;
use super::{Client, NotOffered};
use crate::jose::{LogoutToken, RemoteKeySet, VerifyError};
use crate::params::{Params, is_form};
use crate::response::{json, uncached};
use crate::vocabulary::{RedirectUri, State};

/// Refusal of a back-channel logout. Send [`response`](Self::response) to the server.
#[non_exhaustive]
#[derive(Clone, Debug, thiserror::Error)]
pub enum LogoutError {
    /// The request is not a `POST` of a form with exactly one `logout_token`.
    #[error("the logout request is malformed")]
    Malformed,
    /// The logout token is invalid, or the keys of the server cannot be fetched.
    #[error("cannot verify the logout token: it is invalid, or the keys of the server are unavailable")]
    Unverified(#[from] VerifyError),
}

impl LogoutError {
    /// Builds the response: status 400, or 503 if the keys of the server cannot be fetched, so that
    /// the server tries again. It does not reveal the cause.
    #[must_use]
    pub fn response(&self) -> Response<Bytes> {
        match self {
            Self::Unverified(VerifyError::KeysUnavailable(_)) => {
                let body = json!({ "error": "temporarily_unavailable" });
                json(StatusCode::SERVICE_UNAVAILABLE, &body)
            }
            _ => json(StatusCode::BAD_REQUEST, &json!({ "error": "invalid_request" })),
        }
    }
}

impl Client {
    /// Builds the URL to which the host redirects the browser to sign the user out at the server,
    /// after it has ended its own session. Pass the [ID token](super::TokenResponse::id_token) of
    /// the sign-in as `id_token`. Without it, the server asks the user for confirmation. After the
    /// sign-out, the server redirects to `post_logout_redirect_uri`, which must be registered, with
    /// `state`.
    ///
    /// # Errors
    ///
    /// [`NotOffered::EndSession`] when the server has no sign-out endpoint.
    ///
    /// # Security
    ///
    /// The URL contains the ID token, with its claims about the user: do not log it.
    pub fn sign_out_url(
        &self,
        id_token: Option<&str>,
        post_logout_redirect_uri: Option<&RedirectUri>,
        state: Option<&State>,
    ) -> Result<String, NotOffered> {
        let endpoint = self.inner.provider.end_session_endpoint.as_ref();
        let endpoint = endpoint.ok_or(NotOffered::EndSession)?;
        let mut form = Form::from([("client_id", self.inner.client_id.as_str())]);
        form.add_some("id_token_hint", id_token);
        form.add_some(
            "post_logout_redirect_uri",
            post_logout_redirect_uri.map(RedirectUri::as_str),
        );
        form.add_some("state", state.map(State::as_str));
        Ok(endpoint.with_query(&form.encode()))
    }

    /// Verifies a back-channel logout, a `POST` of the server to the client's
    /// `backchannel_logout_uri`. `keys` are the keys of the server
    /// ([`Provider::keys`](super::Provider::keys)).
    ///
    /// The host then ends the local sessions with the `sid` of the token
    /// ([`LogoutToken::session`]), or all sessions of its user if the token has no `sid`, and sends
    /// [`accept_logout`], also if it knows no such session.
    ///
    /// ```
    /// # use std::time::SystemTime;
    /// # use bytes::Bytes;
    /// # use http::{Request, Response};
    /// use oauth_core::client::{Client, accept_logout};
    /// use oauth_core::jose::RemoteKeySet;
    ///
    /// async fn backchannel_logout(
    ///     client: &Client,
    ///     keys: &RemoteKeySet,
    ///     request: &Request<Bytes>,
    ///     end_sessions: impl Fn(Option<&str>, Option<&str>),
    /// ) -> Response<Bytes> {
    ///     match client.verify_backchannel_logout(request, keys, SystemTime::now()).await {
    ///         Ok(logout) => {
    ///             let user = logout.subject.as_ref().map(|subject| subject.as_str());
    ///             end_sessions(logout.session.as_deref(), user);
    ///             accept_logout()
    ///         }
    ///         Err(refused) => refused.response(),
    ///     }
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// [`LogoutError`] when the request or its token is invalid, or the keys cannot be fetched.
    ///
    /// # Security
    ///
    /// The request does not come from a browser, so the route must require neither a cookie nor a
    /// CSRF token. The signature of the logout token authenticates the request.
    pub async fn verify_backchannel_logout(
        &self,
        request: &Request<Bytes>,
        keys: &RemoteKeySet,
        now: SystemTime,
    ) -> Result<LogoutToken, LogoutError> {
        if request.method() != Method::POST || !is_form(request.headers()) {
            return Err(LogoutError::Malformed);
        }
        let form = Params::parse(request.body()).map_err(|_| LogoutError::Malformed)?;
        if form.first_repeated(&[]).is_some() {
            return Err(LogoutError::Malformed);
        }
        let token = form.optional("logout_token").ok_or(LogoutError::Malformed)?;
        let (issuer, client_id) = (self.inner.provider.issuer(), &self.inner.client_id);
        let verify = |keys: &_| LogoutToken::verify(token, keys, issuer, client_id, now);
        Ok(keys.verify(verify, now).await?)
    }
}

/// Response to a back-channel logout that was carried out: status 200, never cached ([OpenID
/// Connect Back-Channel Logout
/// §2.8](https://openid.net/specs/openid-connect-backchannel-1_0.html#BCResponse)).
#[must_use]
pub fn accept_logout() -> Response<Bytes> {
    uncached(Response::new(Bytes::new()))
}
