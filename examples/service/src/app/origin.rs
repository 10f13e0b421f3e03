//! Check that a request comes from a page of this service, against forged requests (CSRF).
//!
//! A browser attaches the session cookie to requests of other sites too. A request that acts by
//! that cookie must therefore also pass this check of `Origin` and `Sec-Fetch-Site`, which the
//! scripts of a page cannot set.

use http::header::ORIGIN;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request};

const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
const SEC_FETCH_MODE: HeaderName = HeaderName::from_static("sec-fetch-mode");

/// Returns `true` if a page of `base_url` makes the request.
///
/// - `Sec-Fetch-Site`, if present, is `same-origin`. Browsers omit it over plain http to another
///   machine.
/// - `Origin`, if present, is `base_url`. For a form of the service's own pages it is `null`,
///   because their policy sends no referrer; then `Sec-Fetch-Site` and `Sec-Fetch-Mode: navigate`
///   are required, because it is `null` for unknown pages too.
/// - A request other than GET and HEAD has `Origin`: browsers send it with each POST, and omit it
///   from a GET of the page's own origin.
/// - Neither is repeated.
pub(super) fn is_own_page<B>(request: &Request<B>, base_url: &str) -> bool {
    let headers = request.headers();
    let (Ok(site), Ok(origin)) = (single(headers, &SEC_FETCH_SITE), single(headers, &ORIGIN)) else {
        return false;
    };
    let is_same_site = site.map(|site| site == "same-origin");
    match (is_same_site, origin.map(HeaderValue::as_bytes)) {
        (Some(false), _) => false,
        (_, None) => matches!(*request.method(), Method::GET | Method::HEAD),
        (Some(true), Some(b"null")) => {
            single(headers, &SEC_FETCH_MODE).is_ok_and(|mode| mode.is_some_and(|mode| mode == "navigate"))
        }
        (_, Some(origin)) => origin.eq_ignore_ascii_case(base_url.as_bytes()),
    }
}

/// The field's only value; `None` if it is absent.
///
/// # Errors
///
/// The field is repeated.
fn single<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Result<Option<&'h HeaderValue>, Repeated> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (value, None) => Ok(value),
        (_, Some(_)) => Err(Repeated),
    }
}

struct Repeated;

#[cfg(test)]
mod tests {
    use super::*;

    const OWN: &str = "https://desk.example.com";
    const SAME: (&str, &str) = ("sec-fetch-site", "same-origin");
    const FORM: (&str, &str) = ("sec-fetch-mode", "navigate");

    fn check(method: &str, headers: &[(&str, &str)], expected: bool) {
        let mut request = Request::builder().method(method).uri("/console/live");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(()).unwrap();
        assert_eq!(is_own_page(&request, OWN), expected, "{method} {headers:?}");
    }

    /// X9: the service's own pages: a script, a form without a referrer, an event stream.
    #[test]
    fn accepts_own_page() {
        for method in ["GET", "POST"] {
            check(method, &[("origin", OWN), SAME], true);
            check(method, &[("origin", OWN)], true);
            check(method, &[("origin", "HTTPS://desk.example.COM"), SAME], true);
            check(method, &[("origin", "null"), SAME, FORM], true);
        }
        check("GET", &[SAME], true);
        // over plain http to another machine, from the page's own origin
        check("GET", &[], true);
    }

    /// X9: pages of other sites and origins, and those that a browser does not name.
    #[test]
    fn rejects_other_pages() {
        for method in ["GET", "POST"] {
            for site in ["cross-site", "same-site", "none", "", "Same-Origin"] {
                check(method, &[("sec-fetch-site", site)], false);
                check(method, &[("sec-fetch-site", site), ("origin", OWN)], false);
                check(
                    method,
                    &[("sec-fetch-site", site), ("origin", "null"), FORM],
                    false,
                );
            }
            for origin in [
                "http://evil.example",
                "https://desk.example.com:8443",
                "http://desk.example.com",
                "https://desk.example.com.evil.example",
                "https://desk.example.com/",
                "",
            ] {
                check(method, &[("origin", origin)], false);
                check(method, &[("origin", origin), SAME], false);
            }
            // a sandboxed frame, and a script, which names its origin
            check(method, &[("origin", "null")], false);
            check(method, &[("origin", "null"), FORM], false);
            check(method, &[("origin", "null"), SAME], false);
            check(
                method,
                &[("origin", "null"), SAME, ("sec-fetch-mode", "cors")],
                false,
            );
        }
        for method in ["POST", "PUT"] {
            check(method, &[], false);
            check(method, &[SAME], false);
            check(method, &[SAME, FORM], false);
        }
    }

    /// X9: a field that is there twice names no page.
    #[test]
    fn rejects_repeated_fields() {
        check("POST", &[("origin", OWN), ("origin", OWN), SAME], false);
        check(
            "POST",
            &[("origin", OWN), ("origin", "http://evil.example")],
            false,
        );
        check("GET", &[SAME, ("sec-fetch-site", "cross-site")], false);
        check("GET", &[SAME, SAME], false);
        check("POST", &[("origin", "null"), SAME, FORM, FORM], false);
    }
}
