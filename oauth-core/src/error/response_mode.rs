//! Authorization responses in each response mode.

use std::fmt::Write;
use std::sync::LazyLock;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY};
use http::{HeaderName, HeaderValue, Method, Response};
use sha2::{Digest, Sha256};

use super::redirect;
use crate::html::escape;
use crate::vocabulary::{RedirectUri, ResponseMode};

/// Script of the page: submits its only form.
const SUBMIT: &str = "document.forms[0].submit()";

/// `Content-Security-Policy` of the page: no resource but its own script. `form-action` is absent,
/// because browsers apply it to the redirects of the client after the form, too.
static POLICY: LazyLock<String> = LazyLock::new(|| {
    let digest = STANDARD.encode(Sha256::digest(SUBMIT));
    format!("default-src 'none'; script-src 'sha256-{digest}'; base-uri 'none'")
});

const HEADERS: [(HeaderName, HeaderValue); 3] = [
    (CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8")),
    (CACHE_CONTROL, HeaderValue::from_static("no-store")),
    // the origin alone: `no-referrer` would make browsers send `Origin: null`
    (REFERRER_POLICY, HeaderValue::from_static("strict-origin")),
];

/// Sends the parameters `pairs` to the client. `method` is the method of the browser's request.
pub(crate) fn respond<'a>(
    redirect_uri: &RedirectUri,
    mode: ResponseMode,
    pairs: impl IntoIterator<Item = (&'a str, &'a str)>,
    method: &Method,
) -> Response<Bytes> {
    match mode {
        ResponseMode::Query => redirect(&redirect_uri.with_query(pairs), method),
        ResponseMode::Fragment => redirect(&redirect_uri.with_fragment(pairs), method),
        ResponseMode::FormPost => form_post(redirect_uri, pairs),
    }
}

/// Builds the page of [Form Post Response Mode
/// §2](https://openid.net/specs/oauth-v2-form-post-response-mode-1_0.html): a form that submits
/// itself. Without scripts, the user presses its button.
fn form_post<'a>(
    redirect_uri: &RedirectUri,
    pairs: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> Response<Bytes> {
    let mut page = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<title>Sign-in</title>\n\
         <form method=\"post\" action=\"{}\">\n",
        escape(redirect_uri.as_str())
    );
    for (name, value) in pairs {
        let (name, value) = (escape(name), escape(value));
        // writing to a string does not fail
        let _ = writeln!(page, "<input type=\"hidden\" name=\"{name}\" value=\"{value}\">");
    }
    let _ = write!(
        page,
        "<noscript><button>Continue</button></noscript>\n</form>\n<script>{SUBMIT}</script>\n</html>\n"
    );
    let mut response = Response::new(page.into());
    response.headers_mut().extend(HEADERS);
    // base64 and the fixed text are visible ASCII
    if let Ok(policy) = HeaderValue::from_str(&POLICY) {
        response.headers_mut().insert(CONTENT_SECURITY_POLICY, policy);
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    fn response(mode: ResponseMode) -> Response<Bytes> {
        let uri = "https://app.example/cb?a=b&c='".parse().unwrap();
        let pairs = [("code", "c&d"), ("state", "\"><script>alert(1)</script>")];
        respond(&uri, mode, pairs, &Method::POST)
    }

    /// O2, O3: a fragment follows the query of the redirect URI, which is kept.
    #[test]
    fn a_fragment_follows_the_query() {
        let response = response(ResponseMode::Fragment);
        assert_eq!(response.status(), 303);
        let location = response.headers()["location"].to_str().unwrap();
        let (uri, fragment) = location.split_once('#').unwrap();
        assert_eq!(uri, "https://app.example/cb?a=b&c='");
        assert!(
            fragment.starts_with("code=c%26d&state=%22%3E%3Cscript"),
            "{fragment}"
        );
    }

    /// O2, O3: attack: the parameters of a posted form stay in their attributes, and only the
    /// page's own script runs.
    #[test]
    fn posted_parameters_stay_in_their_attributes() {
        let response = response(ResponseMode::FormPost);
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["cache-control"], "no-store");
        let policy = response.headers()["content-security-policy"].to_str().unwrap();
        assert!(
            policy.starts_with("default-src 'none'; script-src 'sha256-"),
            "{policy}"
        );
        let page = String::from_utf8(response.body().to_vec()).unwrap();
        assert_eq!(page.matches("<script>").count(), 1);
        assert!(
            page.contains("action=\"https://app.example/cb?a=b&amp;c=&#39;\""),
            "{page}"
        );
        assert!(page.contains("name=\"code\" value=\"c&amp;d\""), "{page}");
        assert!(
            page.contains("value=\"&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;\""),
            "{page}"
        );
    }
}
