//! UserInfo requests, [OpenID Connect Core
//! §5.3](https://openid.net/specs/openid-connect-core-1_0.html#UserInfo).

use std::borrow::Cow;
use std::fmt;
use std::time::SystemTime;

use bytes::Bytes;
use http::header::ACCEPT;
use http::{HeaderValue, Request, Response, StatusCode};
use serde::Deserialize;

use super::call::{CallResponse, sealed};
use super::draft::Draft;
use super::oauth_error::MAX_BODY;
use super::{Call, NotOffered, TokenResponse};
use crate::dpop::Htu;
use crate::exchange::is_of_type;
use crate::jose::IdTokenClaims;
use crate::json;
use crate::vocabulary::Subject;

/// Failure of a UserInfo request.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum UserInfoError {
    /// The server refused the access token. After 401 another token may be accepted; after 403 the
    /// token lacks the scope `openid`.
    #[error("the access token was refused with status {0}")]
    Refused(StatusCode),
    /// The response is not UserInfo. After a status of 5xx a retry may succeed.
    #[error("the userinfo endpoint responded with status {0}")]
    UnexpectedStatus(StatusCode),
    /// The response is signed or encrypted, which this crate does not support. Register the client
    /// without `userinfo_signed_response_alg` and `userinfo_encrypted_response_alg`.
    #[error("the userinfo response is signed or encrypted, which is not supported")]
    Signed,
    /// The response is not a JSON object with `sub`, or is longer than 64 KiB.
    #[error("the userinfo response is malformed")]
    Malformed,
    /// The response is about another user than the ID token. Use no part of it.
    #[error("the userinfo response is about another user than the id token")]
    WrongSubject,
}

/// UserInfo response: claims about the user, in addition to the ID token.
///
/// `Debug` shows no claims.
#[derive(Clone)]
pub struct UserInfo {
    subject: Subject,
    email: Option<String>,
    email_verified: Option<bool>,
    name: Option<String>,
    body: Bytes,
}

impl TokenResponse {
    /// Requests claims about the user who signed in. `identity` is the [verified](Self::identity)
    /// ID token of the sign-in. A response about another user is refused.
    ///
    /// # Errors
    ///
    /// [`NotOffered`] when the server has no UserInfo endpoint.
    pub fn user_info(&self, identity: &IdTokenClaims) -> Result<Call<UserInfo>, NotOffered> {
        let client = &self.expected.client;
        let endpoint = client.inner.userinfo_endpoint().ok_or(NotOffered::UserInfo)?;
        let mut request = Request::new(Bytes::new());
        *request.uri_mut() = endpoint.uri().clone();
        request
            .headers_mut()
            .insert(ACCEPT, HeaderValue::from_static("application/json"));
        let dpop = client.inner.dpop.as_ref();
        Ok(Call {
            draft: Draft::of_token(&self.access_token, dpop, Htu::of_endpoint(endpoint), request),
            expected: identity.subject.clone(),
        })
    }
}

#[derive(Deserialize)]
struct Wire<'a> {
    #[serde(borrow)]
    sub: Cow<'a, str>,
    email: Option<String>,
    #[serde(default, deserialize_with = "json::flag")]
    email_verified: Option<bool>,
    name: Option<String>,
}

impl sealed::Sealed for UserInfo {}

impl CallResponse for UserInfo {
    type Error = UserInfoError;
    type Expected = Subject;

    fn read(response: Response<Bytes>, subject: Subject, _now: SystemTime) -> Result<Self, UserInfoError> {
        match response.status() {
            StatusCode::OK => {}
            status @ (StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) => {
                return Err(UserInfoError::Refused(status));
            }
            status => return Err(UserInfoError::UnexpectedStatus(status)),
        }
        if is_of_type(response.headers(), "application/jwt") {
            return Err(UserInfoError::Signed);
        }
        let body = response.into_body();
        if body.len() > MAX_BODY {
            return Err(UserInfoError::Malformed);
        }
        let wire: Wire<'_> = json::object(&body).map_err(|_| UserInfoError::Malformed)?;
        // the access token may be that of another user, or the server confused two users
        if wire.sub != subject.as_str() {
            return Err(UserInfoError::WrongSubject);
        }
        Ok(Self {
            subject,
            email: wire.email,
            email_verified: wire.email_verified,
            name: wire.name,
            body: body.clone(),
        })
    }
}

impl UserInfo {
    /// Returns the claim `sub`, which equals that of the ID token.
    #[must_use]
    pub fn subject(&self) -> &Subject {
        &self.subject
    }

    /// Returns the claim `email`.
    #[must_use]
    pub fn email(&self) -> Option<&str> {
        self.email.as_deref()
    }

    /// Returns the claim `email_verified`: `true` if the server verified that the address belongs
    /// to the user; `None` if the server did not send the claim.
    #[must_use]
    pub fn email_verified(&self) -> Option<bool> {
        self.email_verified
    }

    /// Returns the claim `name`.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// Returns the whole response, a JSON object without repeated members, for claims that have no
    /// method here.
    #[must_use]
    pub fn json(&self) -> &Bytes {
        &self.body
    }
}

impl fmt::Debug for UserInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UserInfo").finish_non_exhaustive()
    }
}
