//! Pages for browsers.

use askama::Template;
use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, LOCATION, REFERRER_POLICY};
use http::{HeaderValue, Request, Response, StatusCode};
use http_body_util::Full;

pub(crate) type Page = Response<Full<Bytes>>;

/// The only page: the signed-in user, and an error if there is one.
#[derive(Default, Template)]
#[template(path = "page.html")]
pub(crate) struct Home<'p> {
    pub(crate) issuer: &'p str,
    pub(crate) person: Option<Person<'p>>,
    pub(crate) problem: Option<&'p str>,
}

pub(crate) struct Person<'p> {
    pub(crate) name: &'p str,
    pub(crate) email: Option<&'p str>,
    pub(crate) subject: &'p str,
    pub(crate) scopes: String,
    /// Proves that the sign-out form was sent to this browser.
    pub(crate) csrf_token: &'p str,
}

/// Converts a response of oauth-core.
pub(crate) fn of(response: Response<Bytes>) -> Page {
    response.map(Full::new)
}

impl Home<'_> {
    pub(crate) fn shown(&self, status: StatusCode) -> Page {
        let text = self.render().unwrap_or_default();
        let mut page = Response::new(Full::from(text));
        *page.status_mut() = status;
        let headers = page.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        let policy = "default-src 'none'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'";
        headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(policy));
        // the URL of the callback contains a code
        headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
        page
    }
}

/// Redirects the browser with 303, so that it continues with GET.
pub(crate) fn see_other(location: &str) -> Page {
    let mut page = Response::new(Full::default());
    *page.status_mut() = StatusCode::SEE_OTHER;
    let headers = page.headers_mut();
    if let Ok(location) = HeaderValue::from_str(location) {
        headers.insert(LOCATION, location);
    }
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    page
}

/// Response of the server if the app cannot answer.
pub(crate) fn refused(_: &Request<()>, status: StatusCode) -> Response<Bytes> {
    let mut page = Response::new(Bytes::new());
    *page.status_mut() = status;
    page
}
