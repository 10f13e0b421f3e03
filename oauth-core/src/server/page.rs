//! Error page, for a browser that the server must not redirect to a client.

use std::fmt::Write;
use std::sync::{Arc, LazyLock};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY, X_FRAME_OPTIONS};
use http::{HeaderName, HeaderValue, Response, StatusCode};
use sha2::{Digest, Sha256};

use crate::error::Reason;
use crate::html::escape;
use crate::vocabulary::ClientId;

/// Refused authorization or sign-out request, for the error page. The user cannot correct the
/// request, so the page must name the reason and the developer or operator to contact.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct AuthorizationFault {
    /// Reason of the refusal. Its [code](Reason::code) is also in the
    /// [`AuthEvent`](crate::server::AuthEvent).
    pub reason: Reason,
    /// Client of the request, if it is known. It may not be registered. `None` for a page of
    /// [`resume`](crate::server::AuthorizationServer::resume).
    pub client_id: Option<ClientId>,
    /// Parameter `redirect_uri` as the browser sent it. It is not verified: escape it, and do not
    /// link to it. `None` for a sign-out, a pushed request and a page of `resume`.
    pub redirect_uri: Option<String>,
    /// Identifier of the request, from its [`RequestContext`](crate::server::RequestContext).
    pub request_id: Option<String>,
}

/// Renderer of error pages: returns an HTML document.
pub(super) type ErrorPage = Arc<dyn Fn(&AuthorizationFault) -> String + Send + Sync>;

const STYLE: &str = "body{font-family:system-ui,sans-serif;line-height:1.5;max-width:34rem;margin:4rem auto;padding:0 1rem;\
    color:#1f2328;background:#fff}h1{font-size:1.4rem}dl{font-size:.9rem;color:#57606a}dt{float:left;margin-right:.5rem}\
    dd{margin:0;overflow-wrap:anywhere}@media(prefers-color-scheme:dark){body{color:#e6edf3;background:#0d1117}\
    dl{color:#9198a1}}";

/// `Content-Security-Policy` of the default page: no resource but its own style.
static POLICY: LazyLock<String> = LazyLock::new(|| {
    let digest = STANDARD.encode(Sha256::digest(STYLE));
    format!("default-src 'none'; style-src 'sha256-{digest}'; frame-ancestors 'none'; base-uri 'none'")
});

const HEADERS: [(HeaderName, HeaderValue); 4] = [
    (CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8")),
    (CACHE_CONTROL, HeaderValue::from_static("no-store")),
    (REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
    (X_FRAME_OPTIONS, HeaderValue::from_static("DENY")),
];

/// Builds the error page, by the host's renderer if there is one. The `Content-Security-Policy` of
/// a host's page allows inline styles, and style sheets and images from the same origin.
pub(super) fn error_page(
    status: StatusCode,
    fault: &AuthorizationFault,
    renderer: Option<&ErrorPage>,
) -> Response<Bytes> {
    let (body, policy) = match renderer {
        Some(render) => (
            render(fault),
            "default-src 'none'; style-src 'self' 'unsafe-inline'; img-src 'self'; frame-ancestors 'none'; base-uri 'none'",
        ),
        None => (default_page(fault), POLICY.as_str()),
    };
    let mut response = Response::new(body.into());
    *response.status_mut() = status;
    response.headers_mut().extend(HEADERS);
    // base64 and the fixed text are visible ASCII
    if let Ok(policy) = HeaderValue::from_str(policy) {
        response.headers_mut().insert(CONTENT_SECURITY_POLICY, policy);
    }
    response
}

/// Renders the reason and the request identifier. Nothing of the request is shown, so that an
/// attacker cannot put text on the page.
fn default_page(fault: &AuthorizationFault) -> String {
    let mut page = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n<title>Request refused</title>\n\
         <style>{STYLE}</style>\n<h1>Request refused</h1>\n<p>{}</p>\n<dl>\n",
        advice(fault.reason)
    );
    let facts = [
        ("Reason", Some(fault.reason.code())),
        ("Request", fault.request_id.as_deref()),
    ];
    for (name, value) in facts {
        if let Some(value) = value {
            // writing to a string does not fail
            let _ = writeln!(page, "<dt>{name}:</dt><dd><code>{}</code></dd>", escape(value));
        }
    }
    page.push_str("</dl>\n</html>\n");
    page
}

/// Returns the sentences for the person at the browser.
const fn advice(reason: Reason) -> &'static str {
    match reason {
        Reason::InteractionExpired
        | Reason::InteractionUnknown
        | Reason::RequestUriExpired
        | Reason::RequestUriSpent => {
            "The sign-in took too long, was completed before, or began in another browser. \
             Go back to the application and start again."
        }
        Reason::ClientUnknown | Reason::ClientChanged => {
            "The application that sent you is not registered here. \
             Tell its developer the reason below."
        }
        Reason::RedirectUriMissing | Reason::RedirectUriNotRegistered => {
            "The application asked to send you to an address that is not registered for it. \
             Tell its developer the reason below."
        }
        Reason::StoreUnavailable | Reason::StoreCorrupt | Reason::SigningFailed | Reason::EntropyRepeats => {
            "This service has a fault. Try again in a few minutes."
        }
        _ => {
            "The application sent a request that cannot be answered. \
             Tell its developer the reason below."
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// O3, O37: the page names the reason and the request, and shows nothing that an attacker
    /// chose.
    #[test]
    fn page_shows_reason_and_request_id_only() {
        let fault = AuthorizationFault {
            reason: Reason::RedirectUriNotRegistered,
            client_id: Some("<b>chosen".parse().unwrap()),
            redirect_uri: Some("https://evil.example/chosen".to_owned()),
            request_id: Some("<id>&'\"".to_owned()),
        };
        let page = default_page(&fault);
        assert!(page.contains("<code>redirect_uri_not_registered</code>"));
        assert!(page.contains("<code>&lt;id&gt;&amp;&#39;&quot;</code>"));
        assert!(!page.contains("chosen") && !page.contains("href"));
    }

    /// O37: the style is allowed by its digest alone.
    #[test]
    fn policy_allows_only_the_own_style() {
        let fault = AuthorizationFault {
            reason: Reason::ClientUnknown,
            client_id: None,
            redirect_uri: None,
            request_id: None,
        };
        let page = error_page(StatusCode::BAD_REQUEST, &fault, None);
        let policy = page.headers()[CONTENT_SECURITY_POLICY].to_str().unwrap();
        assert!(policy.starts_with("default-src 'none'; style-src 'sha256-"));
        assert!(!policy.contains("unsafe"));
    }
}
