//! What the server tells about the person who signed in,
//! [OpenID Connect Core §5.3](https://openid.net/specs/openid-connect-core-1_0.html#UserInfo).

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

/// Why nothing more is known of the person.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum UserInfoError {
    /// The server does not take the access token: with 401 another one may do, with 403 it would have to permit `openid`.
    #[error("the access token was refused with status {0}")]
    Refused(StatusCode),
    /// The answer tells nothing; with a status of 5xx a later attempt may succeed.
    #[error("the userinfo endpoint answered with status {0}")]
    UnexpectedStatus(StatusCode),
    /// The answer is signed or encrypted, which this crate does not read: the client is registered with
    /// `userinfo_signed_response_alg` or `userinfo_encrypted_response_alg`, and should not be.
    #[error("the userinfo response is signed or encrypted")]
    Signed,
    /// The answer is not JSON of at most 64 KiB with a `sub`.
    #[error("the userinfo response is malformed")]
    Malformed,
    /// The answer is about another person than the one who signed in: nothing in it may be used.
    #[error("the userinfo response is about another person")]
    WrongSubject,
}

/// What a server tells about a person, in addition to the ID token.
///
/// `Debug` shows nothing of it.
#[derive(Clone)]
pub struct UserInfo {
    subject: Subject,
    email: Option<String>,
    email_verified: Option<bool>,
    name: Option<String>,
    body: Bytes,
}

impl TokenResponse {
    /// Asks the server about whoever signed in: `identity` is what the ID token of the sign-in was
    /// [verified](Self::identity) to say. An answer about anybody else is refused.
    ///
    /// # Errors
    ///
    /// The server has no endpoint for that.
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
        // it may be anybody's: the access token was swapped, or the server mixed people up
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
    /// `sub`: the person of the ID token.
    #[must_use]
    pub fn subject(&self) -> &Subject {
        &self.subject
    }

    /// `email`.
    #[must_use]
    pub fn email(&self) -> Option<&str> {
        self.email.as_deref()
    }

    /// `email_verified`: whether the server knows that the address is the person's.
    #[must_use]
    pub fn email_verified(&self) -> Option<bool> {
        self.email_verified
    }

    /// `name`.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// The whole answer, a JSON object in which no member is repeated, for claims that have no method here.
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
