//! HTML pages and their Content-Security-Policy.

use askama::Template;
use bytes::Bytes;
use host_ports::MediaRange;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderValue, Request, Response, StatusCode};
use http_conventions::caching::CacheControl;

use super::Handled;
use super::problem::unavailable;

/// Capability that a page needs beside static content.
#[derive(Clone, Debug)]
pub(super) enum Capability {
    /// None.
    Nothing,
    /// Runs the console's script, which calls this service.
    Call,
    /// Submits a form to this service, which may redirect to these origins.
    Send(Vec<String>),
}

impl Capability {
    /// Content-Security-Policy of the page: no inline code, no foreign sources, no framing.
    fn policy(&self) -> String {
        let more = match self {
            Self::Nothing => "form-action 'none'".to_owned(),
            Self::Call => "script-src 'self'; connect-src 'self'; form-action 'none'".to_owned(),
            // browsers apply form-action to redirects after a form, too
            Self::Send(origins) => ["form-action 'self'"]
                .into_iter()
                .chain(origins.iter().map(String::as_str))
                .collect::<Vec<_>>()
                .join(" "),
        };
        format!(
            "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; frame-ancestors 'none'; {more}"
        )
    }
}

/// Renders a template.
///
/// # Errors
///
/// Returns 503 if the template fails; the templates of this service do not.
pub(super) fn rendered(status: StatusCode, page: &impl Template, capability: &Capability) -> Handled {
    let page = page.render().map_err(|_| unavailable())?;
    let mut response = Response::new(Bytes::from(page));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    CacheControl::no_store().apply(headers);
    for (name, value) in [
        ("content-type", "text/html; charset=utf-8"),
        ("referrer-policy", "no-referrer"),
        ("x-content-type-options", "nosniff"),
        ("x-frame-options", "DENY"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    let policy = HeaderValue::try_from(capability.policy()).map_err(|_| unavailable())?;
    headers.insert("content-security-policy", policy);
    Ok(response)
}

#[derive(Template)]
#[template(path = "problem.html")]
pub(super) struct ProblemPage<'a> {
    pub(super) title: &'a str,
    pub(super) status: u16,
    pub(super) description: &'a str,
}

/// Renders a problem as a page, if the request accepts HTML.
///
/// # Errors
///
/// Returns the problem of `handled`, if the request does not accept HTML.
pub(super) fn problem_as_page(request: &Request<Bytes>, handled: Handled) -> Handled {
    let Err(problem) = handled else {
        return handled;
    };
    if !accepts_html(request) {
        return Err(problem);
    }
    let status = problem.status();
    let (title, description) = match status {
        StatusCode::BAD_REQUEST => (
            "This sign-in cannot continue",
            "It has expired, is complete, or was started in another browser. Go back to the application and start again.",
        ),
        StatusCode::FORBIDDEN => (
            "This page was out of date",
            "Nothing was changed. Go back, reload the page, and try again.",
        ),
        StatusCode::TOO_MANY_REQUESTS => (
            "Too many attempts",
            "This attempt was not checked. Wait, then go back and try again. Each wrong attempt makes the wait longer.",
        ),
        _ => (
            "The request failed",
            "Go back to the application and try again in a moment.",
        ),
    };
    in_place_of(&problem.into_response(), title, description)
}

/// Renders the refusal of a limit as a page, if the request accepts HTML.
pub(super) fn limit_as_page(request: &Request<Bytes>, refused: Response<Bytes>) -> Response<Bytes> {
    if !accepts_html(request) {
        return refused;
    }
    let (title, description) = match refused.status() {
        StatusCode::TOO_MANY_REQUESTS => (
            "Too many requests",
            "Your network has sent too many requests. Wait a moment, then reload the page.",
        ),
        _ => ("The service is busy", "Wait a moment, then reload the page."),
    };
    in_place_of(&refused, title, description).unwrap_or(refused)
}

/// Renders the page of a refusal and copies the refusal's headers.
fn in_place_of(refused: &Response<Bytes>, title: &str, description: &str) -> Handled {
    let status = refused.status();
    let page = ProblemPage {
        title,
        status: status.as_u16(),
        description,
    };
    let mut response = rendered(status, &page, &Capability::Nothing)?;
    let owed = refused.headers().iter();
    let owed = owed.filter(|(name, _)| *name != CONTENT_TYPE && *name != CACHE_CONTROL);
    let headers = response.headers_mut();
    for (name, value) in owed {
        headers.append(name, value.clone());
    }
    Ok(response)
}

/// Returns `true` if `Accept` names `text/html` with a weight above zero. `*/*` is not enough,
/// since programs send it.
fn accepts_html(request: &Request<Bytes>) -> bool {
    MediaRange::all(request.headers())
        .any(|range| range.precision("text/html") == Some(2) && range.weight().is_acceptable())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn html_is_accepted_if_named_and_not_refused() {
        for (accept, expected) in [
            ("text/html", true),
            ("text/html,application/xhtml+xml,*/*;q=0.8", true),
            ("text/html;q=0.1, application/json", true),
            ("text/html;q=0", false),
            ("text/html;q=0, */*", false),
            ("text/html; q=0.000, application/json", false),
            ("*/*", false),
            ("application/json", false),
            ("", false),
        ] {
            let request = Request::get("/").header("accept", accept).body(Bytes::new());
            assert_eq!(accepts_html(&request.unwrap()), expected, "{accept}");
        }
    }
}
