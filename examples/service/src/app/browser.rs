//! The browser behind a page: who is signed in there, and which forms it was given.

use bytes::Bytes;
use http::header::SET_COOKIE;
use http::{HeaderMap, HeaderValue, Request, Response, StatusCode};
use http_conventions::caching::CacheControl;
use http_conventions::errors::{ErrorStatus, Problem};
use oauth_core::params::Params;
use oauth_core::ports::OsEntropy;
use oauth_core::ports::StoreError;
use oauth_core::session::{Session, SessionSecret, SignedOut};
use std::time::Duration;

use super::App;
use super::problem::unavailable;
use crate::desk::User;

/// How long the form of a sign-in may lie open.
const FORM_LIFETIME: Duration = Duration::from_secs(60 * 60);

/// A browser. It has a secret in its cookie whether somebody is signed in or not, so that each of its forms can prove that
/// it was given to this browser.
pub(super) struct Browser {
    secret: SessionSecret,
    /// Whether the browser has yet to be told the secret.
    fresh: bool,
    session: Option<Session>,
}

impl Browser {
    /// The session of whoever is signed in.
    pub(super) const fn session(&self) -> Option<&Session> {
        self.session.as_ref()
    }

    /// What each form carries in its field `csrf_token`.
    pub(super) fn csrf_token(&self) -> String {
        self.secret.csrf_token().to_string()
    }

    /// Whether this browser was given the form that came.
    pub(super) fn was_given(&self, form: &Params) -> bool {
        form.optional("csrf_token")
            .is_some_and(|token| self.secret.is_csrf_token(token))
    }
}

impl App {
    /// The browser that sent these headers. A use of its session, if there is one.
    ///
    /// # Errors
    ///
    /// 503 when the store cannot answer.
    pub(super) async fn browser(&self, headers: &HeaderMap) -> Result<Browser, Problem> {
        let authenticated = self.sessions.authenticate(headers).await;
        let signed_out = match authenticated.map_err(|error| self.unanswered(&error))? {
            Ok(session) => {
                return Ok(Browser {
                    secret: session.secret.clone(),
                    fresh: false,
                    session: Some(session),
                });
            }
            Err(signed_out) => signed_out,
        };
        // one of no session that is still known is that of a form in another tab
        let known = self.sessions.cookie().read(headers);
        let known = known.filter(|_| signed_out == SignedOut::Unknown);
        Ok(Browser {
            fresh: known.is_none(),
            secret: known.unwrap_or_else(|| SessionSecret::generate(&OsEntropy)),
            session: None,
        })
    }

    /// Gives the browser its secret along with the page, where it has none.
    pub(super) fn handed_to(&self, browser: &Browser, mut page: Response<Bytes>) -> Response<Bytes> {
        if browser.fresh {
            let cookie = self.sessions.cookie().set(&browser.secret, FORM_LIFETIME);
            page.headers_mut().append(SET_COOKIE, cookie);
        }
        page
    }

    /// Who is signed in at the browser; `None` also for somebody who is no user any more.
    ///
    /// # Errors
    ///
    /// 503 when the database cannot answer.
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

    /// What the peer is told when the store of the authorization server fails; the log is told why.
    pub(super) fn unanswered(&self, error: &StoreError) -> Problem {
        (self.log)(&failure::in_one_line(error));
        unavailable()
    }
}

/// Reads the form of a page.
///
/// # Errors
///
/// 415 for another media type, 400 for what is no form.
pub(super) fn form(request: &Request<Bytes>) -> Result<Params, Problem> {
    if !oauth_core::params::is_form(request.headers()) {
        return Err(Problem::new(ErrorStatus::UNSUPPORTED_MEDIA_TYPE));
    }
    Params::parse(request.body())
        .map_err(|_| Problem::new(ErrorStatus::BAD_REQUEST).with_detail("the form cannot be read"))
}

/// A form that this browser was not given: another site made it, or the person behind it has changed since.
pub(super) fn not_given() -> Problem {
    Problem::new(ErrorStatus::FORBIDDEN).with_detail(
        "this form is out of date or was not made here; load its page again and send it from there",
    )
}

/// Sends the browser to another page by a GET.
pub(super) fn see_other(path: &str, cookies: impl IntoIterator<Item = HeaderValue>) -> Response<Bytes> {
    let mut response = Response::new(Bytes::new());
    *response.status_mut() = StatusCode::SEE_OTHER;
    let headers = response.headers_mut();
    CacheControl::no_store().apply(headers);
    // a path of this service with base64url in its query, so always a field value
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
