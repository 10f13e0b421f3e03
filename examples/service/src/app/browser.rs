//! Browser state of a page request: the session, and the CSRF tokens of its forms.

use bytes::Bytes;
use http::header::{ACCEPT, SET_COOKIE};
use http::{HeaderMap, HeaderValue, Request, Response, StatusCode};
use http_conventions::caching::CacheControl;
use http_conventions::errors::{ErrorStatus, Problem};
use oauth_core::Sessions;
use oauth_core::params::Params;
use oauth_core::ports::OsEntropy;
use oauth_core::ports::StoreError;
use oauth_core::session::{Session, SessionSecret, SignedOut};
use std::time::Duration;

use super::App;
use super::observed::record_principal;
use super::problem::unavailable;
use crate::desk::User;

/// Lifetime of a sign-in form's CSRF token.
const FORM_LIFETIME: Duration = Duration::from_secs(60 * 60);

/// Header field of a script's CSRF token.
const CSRF_HEADER: &str = "x-csrf-token";

/// Header field of a read that the script of an open page makes by itself.
const LIVE_READ: &str = "x-live-read";

/// A browser, identified by the secret in its cookie. The cookie also exists without a session, so
/// that every form can carry a CSRF token of this browser.
pub(super) struct Browser {
    secret: SessionSecret,
    /// The cookie has to be set.
    fresh: bool,
    session: Option<Session>,
}

impl Browser {
    /// Session of the signed-in user.
    pub(super) const fn session(&self) -> Option<&Session> {
        self.session.as_ref()
    }

    /// CSRF token of the browser's forms, for the field `csrf_token`.
    pub(super) fn csrf_token(&self) -> String {
        self.secret.csrf_token().to_string()
    }

    /// Returns `true` if the header `x-csrf-token` of a script is a CSRF token of this browser.
    pub(super) fn accepts_header(&self, headers: &HeaderMap) -> bool {
        let token = headers.get(CSRF_HEADER).and_then(|token| token.to_str().ok());
        token.is_some_and(|token| self.secret.is_csrf_token(token))
    }

    /// Returns `true` if the form carries a CSRF token of this browser.
    pub(super) fn accepts_form(&self, form: &Params) -> bool {
        form.optional("csrf_token")
            .is_some_and(|token| self.secret.is_csrf_token(token))
    }
}

impl App {
    /// Reads the browser's cookie and marks its session as used, unless an open page makes the
    /// request by itself.
    ///
    /// # Errors
    ///
    /// Returns 503 if the store fails.
    pub(super) async fn browser(&self, headers: &HeaderMap) -> Result<Browser, Problem> {
        let authenticated = match is_live_read(headers) {
            true => self.sessions.peek(headers).await,
            false => self.sessions.authenticate(headers).await,
        };
        let signed_out = match authenticated.map_err(|error| self.store_failed(&error))? {
            Ok(session) => {
                record_principal(session.record.subject.as_str());
                return Ok(Browser {
                    secret: session.secret.clone(),
                    fresh: false,
                    session: Some(session),
                });
            }
            Err(signed_out) => signed_out,
        };
        // keep a secret without a session: a form in another tab may rely on it
        let known = self.sessions.cookie().read(headers);
        let known = known.filter(|_| signed_out == SignedOut::Unknown);
        Ok(Browser {
            fresh: known.is_none(),
            secret: known.unwrap_or_else(|| SessionSecret::generate(&OsEntropy)),
            session: None,
        })
    }

    /// Sets the cookie on `page` if the browser has none yet.
    pub(super) fn with_browser_cookie(
        &self,
        browser: &Browser,
        mut page: Response<Bytes>,
    ) -> Response<Bytes> {
        if browser.fresh {
            let cookie = self.sessions.cookie().set(&browser.secret, FORM_LIFETIME);
            page.headers_mut().append(SET_COOKIE, cookie);
        }
        page
    }

    /// User signed in at the browser. Returns `None` without a session, or if the user no longer
    /// exists.
    ///
    /// # Errors
    ///
    /// Returns 503 if the database fails.
    pub(super) async fn user_of<'a>(
        &self,
        browser: &'a Browser,
    ) -> Result<Option<(User, &'a Session)>, Problem> {
        let Some(session) = browser.session() else {
            return Ok(None);
        };
        let user = self.desk.user_by_subject(session.record.subject.as_str()).await;
        let user = user.map_err(|error| self.refused(error))?;
        Ok(user.map(|user| (user, session)))
    }

    /// Builds the 503 for a failure of the authorization server's store, and logs its cause.
    pub(super) fn store_failed(&self, error: &StoreError) -> Problem {
        tracing::error!(
            error = program::in_one_line(error),
            "the store of the authorization server failed"
        );
        unavailable()
    }
}

/// Returns `true` if the session can still be used. This is no use of the session itself, which an
/// open page must not prolong.
pub(super) async fn is_active(sessions: &Sessions, session: &Session) -> bool {
    let record = &session.record;
    let active = sessions.list(&record.subject).await;
    active.is_ok_and(|active| active.iter().any(|known| known.id == record.id))
}

/// Returns `true` for a request that the script of an open page makes without its user: the stream
/// of events, and a read that follows an event.
fn is_live_read(headers: &HeaderMap) -> bool {
    let is_stream = headers
        .get(ACCEPT)
        .is_some_and(|accept| accept == "text/event-stream");
    is_stream || headers.contains_key(LIVE_READ)
}

/// Parses the form of a page.
///
/// # Errors
///
/// - 415 for another media type
/// - 400 for a malformed form
pub(super) fn form(request: &Request<Bytes>) -> Result<Params, Problem> {
    if !oauth_core::params::is_form(request.headers()) {
        return Err(Problem::new(ErrorStatus::UNSUPPORTED_MEDIA_TYPE));
    }
    Params::parse(request.body()).map_err(|_| {
        Problem::new(ErrorStatus::BAD_REQUEST)
            .with_detail("the form is malformed; send it as application/x-www-form-urlencoded")
    })
}

/// The 403 for a form without a CSRF token of this browser: another site made it, or the session
/// has changed.
pub(super) fn missing_csrf_token() -> Problem {
    Problem::new(ErrorStatus::FORBIDDEN)
        .with_detail("the form is out of date or comes from another site; reload its page and send it again")
}

/// Redirects with 303 to another page.
pub(super) fn see_other(path: &str, cookies: impl IntoIterator<Item = HeaderValue>) -> Response<Bytes> {
    let mut response = Response::new(Bytes::new());
    *response.status_mut() = StatusCode::SEE_OTHER;
    let headers = response.headers_mut();
    CacheControl::no_store().apply(headers);
    // the path and its base64url query are valid in a header
    headers.extend(
        HeaderValue::try_from(path)
            .ok()
            .map(|path| (http::header::LOCATION, path)),
    );
    for cookie in cookies {
        headers.append(SET_COOKIE, cookie);
    }
    response
}
