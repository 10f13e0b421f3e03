//! A minimal browser: cookies and redirects.

use std::cell::RefCell;
use std::collections::BTreeMap;

use bytes::Bytes;
use host_transport_hyper::HyperTransport;
use http::header::{CONTENT_TYPE, COOKIE, LOCATION, SET_COOKIE};
use http::{Request, Response};
use oauth_core::ports::Transport;
use webhook_core::address::AddressPolicy;

#[derive(Default)]
pub(crate) struct Browser {
    cookies: RefCell<BTreeMap<String, String>>,
}

impl Browser {
    /// Sends one request; `form` is posted.
    pub(crate) async fn exchange(&self, url: &str, form: Option<&str>) -> Response<Bytes> {
        let cookies: Vec<_> = self
            .cookies
            .borrow()
            .iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        let request = Request::builder()
            .method(if form.is_some() { "POST" } else { "GET" })
            .uri(url)
            .header(COOKIE, cookies.join("; "))
            .header(CONTENT_TYPE, "application/x-www-form-urlencoded")
            .body(Bytes::from(form.unwrap_or_default().to_owned()))
            .unwrap();
        let port = request.uri().port_u16().unwrap();
        let here = AddressPolicy::new()
            .danger_allow_loopback()
            .danger_allow_http()
            .with_port(port);
        let response = Transport::send(&HyperTransport::new(here), request)
            .await
            .unwrap();
        for set in response.headers().get_all(SET_COOKIE) {
            let (pair, attributes) = set.to_str().unwrap().split_once(';').unwrap();
            let (name, value) = pair.split_once('=').unwrap();
            let mut cookies = self.cookies.borrow_mut();
            if attributes.contains("Max-Age=0") {
                cookies.remove(name);
            } else {
                cookies.insert(name.to_owned(), value.to_owned());
            }
        }
        response
    }

    pub(crate) async fn status(&self, url: &str) -> u16 {
        self.exchange(url, None).await.status().as_u16()
    }

    pub(crate) async fn text(&self, url: &str) -> String {
        let response = self.exchange(url, None).await;
        String::from_utf8(response.body().to_vec()).unwrap()
    }

    /// Returns the target of a redirect.
    pub(crate) async fn follow(&self, url: &str) -> String {
        let response = self.exchange(url, None).await;
        let location = response.headers().get(LOCATION);
        let location = location.unwrap_or_else(|| panic!("{url}: {response:?}"));
        location.to_str().unwrap().to_owned()
    }

    /// Begins a sign-in at the app, passes the issuer, and stops at the link back to the app.
    pub(crate) async fn link_back(&self, app: &str) -> String {
        let issuer = self.follow(&format!("{app}/login")).await;
        self.follow(&issuer).await
    }
}
