//! A browser for tests: keeps cookies and the CSRF token of the current page; follows no redirects.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;

use bytes::Bytes;
use http::Response;
use http::header::SET_COOKIE;
use service::app::App;

use crate::desk::{FORM, ask, header, request};

pub(crate) const HTML: (&str, &str) = ("accept", "text/html,application/xhtml+xml;q=0.9");
pub(crate) const EMAIL: &str = "ada@example.com";
pub(crate) const PASSWORD: &str = "correct horse battery staple";
const AGENT: &str = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";

#[derive(Clone)]
pub(crate) struct Browser {
    app: Arc<App>,
    pub(crate) agent: String,
    pub(crate) cookies: BTreeMap<String, String>,
    /// CSRF token of the current page's form.
    pub(crate) token: String,
    /// Address of the client, if the adapter passes one.
    pub(crate) peer: Option<SocketAddr>,
}

impl Browser {
    pub(crate) fn new(app: &Arc<App>) -> Self {
        Self {
            app: Arc::clone(app),
            agent: AGENT.to_owned(),
            cookies: BTreeMap::new(),
            token: String::new(),
            peer: None,
        }
    }

    pub(crate) async fn get(&mut self, path: &str) -> Response<Bytes> {
        let jar = self.jar();
        let headers = [HTML, ("cookie", jar.as_str()), ("user-agent", &self.agent)];
        let response = ask(&self.app, request("GET", path, &headers, "")).await;
        self.seen(response)
    }

    /// Submits the form of the current page.
    pub(crate) async fn post(&mut self, path: &str, fields: &[(&str, &str)]) -> Response<Bytes> {
        let body = form_urlencoded::Serializer::new(String::new())
            .extend_pairs(fields)
            .append_pair("csrf_token", &self.token)
            .finish();
        let jar = self.jar();
        let headers = [FORM, HTML, ("cookie", jar.as_str()), ("user-agent", &self.agent)];
        let mut request = request("POST", path, &headers, body);
        if let Some(peer) = self.peer {
            request.extensions_mut().insert(peer);
        }
        let response = ask(&self.app, request).await;
        self.seen(response)
    }

    /// Signs in on the account page.
    pub(crate) async fn sign_in(&mut self) -> Response<Bytes> {
        assert_eq!(self.get("/login").await.status(), 200);
        let fields = [("email", EMAIL), ("password", PASSWORD)];
        let response = self.post("/login", &fields).await;
        assert_eq!(where_to(&response), "/account", "{response:?}");
        self.get("/account").await
    }

    pub(crate) async fn is_signed_in(&mut self) -> bool {
        let response = self.get("/account").await;
        assert!(
            response.status() == 200 || where_to(&response) == "/login",
            "{response:?}"
        );
        response.status() == 200
    }

    pub(crate) fn jar(&self) -> String {
        let pairs: Vec<_> = self
            .cookies
            .iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        pairs.join("; ")
    }

    fn seen(&mut self, response: Response<Bytes>) -> Response<Bytes> {
        let mut set = Vec::new();
        for cookie in response.headers().get_all(SET_COOKIE) {
            let cookie = cookie.to_str().unwrap();
            let (name, value) = cookie.split(';').next().unwrap().split_once('=').unwrap();
            // RFC 6265, 4.1.1: a server should not set one name twice in a response
            assert!(!set.contains(&name), "{name} is set twice");
            set.push(name);
            if cookie.contains("Max-Age=0") {
                self.cookies.remove(name);
            } else {
                self.cookies.insert(name.to_owned(), value.to_owned());
            }
        }
        let text = text(&response);
        if let Some((_, rest)) = text.split_once("name=\"csrf_token\" value=\"") {
            self.token = rest.split('"').next().unwrap().to_owned();
        }
        response
    }
}

pub(crate) fn text(response: &Response<Bytes>) -> String {
    String::from_utf8_lossy(response.body()).into_owned()
}

/// Target of a 303 redirect; empty for another response.
pub(crate) fn where_to(response: &Response<Bytes>) -> &str {
    match response.status().as_u16() {
        303 => header(response.headers(), "location"),
        _ => "",
    }
}
