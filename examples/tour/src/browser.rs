//! The tour's browser: keeps cookies, submits the forms of its pages and follows redirects one at a
//! time.

use std::collections::BTreeMap;

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE, COOKIE, SET_COOKIE, USER_AGENT};
use http::{Method, Request, StatusCode};

use super::Tour;
use super::http::{FullResponse, send};
use super::report::{Mismatch, mismatch};

/// A browser with its cookies.
#[derive(Clone)]
pub(super) struct Browser {
    base_url: String,
    agent: &'static str,
    cookies: BTreeMap<String, String>,
    /// CSRF token of the current page's form.
    token: String,
}

impl Browser {
    pub(super) fn new(tour: &Tour<'_>, agent: &'static str) -> Self {
        Self {
            base_url: tour.base_url.to_owned(),
            agent,
            cookies: BTreeMap::new(),
            token: String::new(),
        }
    }

    pub(super) async fn get(&mut self, path: &str) -> Result<FullResponse, Mismatch> {
        self.ask(Method::GET, path, Bytes::new()).await
    }

    /// Submits the form of the current page.
    pub(super) async fn post(
        &mut self,
        path: &str,
        fields: &[(&str, &str)],
    ) -> Result<FullResponse, Mismatch> {
        let body = form_urlencoded::Serializer::new(String::new())
            .extend_pairs(fields)
            .append_pair("csrf_token", &self.token)
            .finish();
        self.ask(Method::POST, path, Bytes::from(body)).await
    }

    /// Copy of the browser as another site uses it: with the cookies, without the CSRF token.
    pub(super) fn without_form_token(&self) -> Self {
        Self {
            token: String::new(),
            ..self.clone()
        }
    }

    /// Value of the session cookie.
    pub(super) fn session(&self) -> &str {
        self.cookies.get("session").map_or("", String::as_str)
    }

    async fn ask(&mut self, method: Method, path: &str, body: Bytes) -> Result<FullResponse, Mismatch> {
        let cookies: Vec<_> = self
            .cookies
            .iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        let url = match path.strip_prefix('/') {
            Some(_) => format!("{}{path}", self.base_url),
            None => path.to_owned(),
        };
        let request = Request::builder()
            .method(method)
            .uri(url)
            .header(ACCEPT, "text/html")
            .header(CONTENT_TYPE, "application/x-www-form-urlencoded")
            .header(USER_AGENT, self.agent)
            .header(COOKIE, cookies.join("; "))
            .body(body)
            .map_err(|error| mismatch(path, "a request", error))?;
        let answer = send(request).await?;
        self.keep(&answer);
        Ok(answer)
    }

    fn keep(&mut self, answer: &FullResponse) {
        let set = answer.response.headers().get_all(SET_COOKIE).iter();
        for cookie in set.filter_map(|cookie| cookie.to_str().ok()) {
            let pair = cookie.split(';').next().and_then(|pair| pair.split_once('='));
            match pair {
                Some((name, _)) if cookie.contains("Max-Age=0") => drop(self.cookies.remove(name)),
                Some((name, value)) => {
                    self.cookies.insert(name.to_owned(), value.to_owned());
                }
                None => {}
            }
        }
        if let Some((_, rest)) = answer.text().split_once("name=\"csrf_token\" value=\"") {
            self.token = rest.split('"').next().unwrap_or_default().to_owned();
        }
    }
}

/// Target of a 303 redirect.
pub(super) fn see_other(answer: &FullResponse) -> Result<String, Mismatch> {
    answer.expect(StatusCode::SEE_OTHER)?;
    Ok(answer.expect_header("location")?.to_owned())
}
