//! HTML pages and their Content-Security-Policy.

use askama::Template;
use bytes::Bytes;
use host_ports::MediaRange;
use http::header::{
    CACHE_CONTROL, CONTENT_LENGTH, CONTENT_SECURITY_POLICY, CONTENT_TYPE, X_CONTENT_TYPE_OPTIONS,
};
use http::{HeaderValue, Request, Response, StatusCode};
use http_conventions::caching::CacheControl;
use http_conventions::errors::{ReceivedProblem, is_problem};

use super::Handled;
use super::problem::unavailable;

/// Capability that a page needs beside static content.
#[derive(Clone, Debug)]
pub(super) enum Capability {
    /// None.
    Nothing,
    /// Runs the script of the example client, which calls this service.
    Call,
    /// Runs the script of the console.
    Read,
    /// Runs the script of the console, which reads its page again, and submits forms to this
    /// service.
    Act,
    /// Submits a form to this service, which may redirect to these origins.
    Send(Vec<String>),
    /// Runs a vendored application that calls this service. It writes styles inline and has images
    /// in its style sheet, but evaluates no text as code.
    Embed,
}

impl Capability {
    /// Content-Security-Policy of the page: no inline code, no foreign sources, no framing.
    fn policy(&self) -> String {
        let more = match self {
            Self::Nothing => "form-action 'none'".to_owned(),
            Self::Call => "script-src 'self'; connect-src 'self'; form-action 'none'".to_owned(),
            Self::Read => "script-src 'self'; form-action 'none'".to_owned(),
            Self::Act => "script-src 'self'; connect-src 'self'; form-action 'self'".to_owned(),
            // browsers apply form-action to redirects after a form, too
            Self::Send(origins) => ["form-action 'self'"]
                .into_iter()
                .chain(origins.iter().map(String::as_str))
                .collect::<Vec<_>>()
                .join(" "),
            Self::Embed => "script-src 'self'; worker-src 'self'; connect-src 'self'; font-src 'self'; \
                            form-action 'self'"
                .to_owned(),
        };
        let (styles, images) = match self {
            Self::Embed => ("'self' 'unsafe-inline'", "'self' data:"),
            _ => ("'self'", "'self'"),
        };
        format!(
            "default-src 'none'; style-src {styles}; img-src {images}; base-uri 'none'; frame-ancestors 'none'; {more}"
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

/// Page for a browser that the authorization server must not redirect, under the policy of the
/// other pages.
pub(super) fn under_policy(mut page: Response<Bytes>) -> Response<Bytes> {
    if page.headers().contains_key(CONTENT_SECURITY_POLICY)
        && let Ok(policy) = HeaderValue::try_from(Capability::Nothing.policy())
    {
        page.headers_mut().insert(CONTENT_SECURITY_POLICY, policy);
    }
    page
}

#[derive(Template)]
#[template(path = "console/error.html")]
struct ErrorPage<'a> {
    title: &'a str,
    status: u16,
    reason: &'static str,
    description: &'a str,
    /// Path of the problem type; empty without one.
    kind: &'a str,
    request_id: &'a str,
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

/// Renders a finished problem as a page, if the request accepts HTML.
pub(super) fn in_browser(accepts_html: bool, answer: Response<Bytes>) -> Response<Bytes> {
    if !accepts_html || !is_problem(&answer) {
        return answer;
    }
    let Ok(problem) = ReceivedProblem::parse(answer.body()) else {
        return answer;
    };
    let (title, description) = match answer.status() {
        StatusCode::NOT_FOUND => (
            "Nothing is here",
            "The address may be mistyped, or what was here is gone.",
        ),
        StatusCode::UNAUTHORIZED => (
            "This address needs an access token",
            "It belongs to the API, which applications call. Sign in to see the same data in the console.",
        ),
        _ => (
            problem.title().unwrap_or("The request was refused"),
            problem.detail().unwrap_or("Go back and try again."),
        ),
    };
    // only types of this service are links
    let path = problem
        .type_uri()
        .find("/problems/")
        .and_then(|start| problem.type_uri().get(start..));
    let request_id = answer
        .headers()
        .get("x-request-id")
        .and_then(|id| id.to_str().ok());
    let page = ErrorPage {
        title,
        status: answer.status().as_u16(),
        reason: answer.status().canonical_reason().unwrap_or_default(),
        description,
        kind: path.unwrap_or_default(),
        request_id: request_id.unwrap_or_default(),
    };
    with_headers_of(&answer, &page).unwrap_or(answer)
}

/// Renders the page of a refusal and copies the refusal's headers.
fn in_place_of(refused: &Response<Bytes>, title: &str, description: &str) -> Handled {
    let status = refused.status();
    let page = ErrorPage {
        title,
        status: status.as_u16(),
        reason: status.canonical_reason().unwrap_or_default(),
        description,
        kind: "",
        request_id: "",
    };
    with_headers_of(refused, &page)
}

fn with_headers_of(refused: &Response<Bytes>, page: &ErrorPage<'_>) -> Handled {
    let page = rendered(refused.status(), page, &Capability::Nothing)?;
    Ok(in_place(refused, page))
}

/// Gives a page the status and the headers of the refusal that it shows.
pub(super) fn in_place(refused: &Response<Bytes>, mut response: Response<Bytes>) -> Response<Bytes> {
    *response.status_mut() = refused.status();
    let of_the_body = [
        CONTENT_TYPE,
        CACHE_CONTROL,
        CONTENT_LENGTH,
        CONTENT_SECURITY_POLICY,
        X_CONTENT_TYPE_OPTIONS,
    ];
    let owed = refused.headers().iter();
    let owed = owed.filter(|(name, _)| !of_the_body.contains(name));
    let headers = response.headers_mut();
    for (name, value) in owed {
        headers.append(name, value.clone());
    }
    response
}

/// Returns `true` if `Accept` names `text/html` with a weight above zero. `*/*` is not enough,
/// since programs send it.
pub(super) fn accepts_html(request: &Request<Bytes>) -> bool {
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
