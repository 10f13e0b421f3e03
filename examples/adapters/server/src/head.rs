//! Checks of a request head.

use http::{HeaderMap, Request, StatusCode, header};
use http_conventions::routing::HostRefusal;

use crate::Limits;

/// Checks the head of a request, before its body is read.
///
/// # Errors
///
/// The status of the refusal:
///
/// | status | condition |
/// |---|---|
/// | 400 | no valid `Host`, or several ([RFC 9112 §3.2](https://www.rfc-editor.org/rfc/rfc9112#section-3.2)) |
/// | 400 | `Content-Length` beside `Transfer-Encoding` ([RFC 9112 §6.1](https://www.rfc-editor.org/rfc/rfc9112#section-6.1)): a proxy in front may find another end of the request (request smuggling) |
/// | 413 | `Content-Length` above [`Limits::body`]; refused before a `100 Continue` invites the body |
/// | 421 | a host that is not in [`Limits::hosts`] |
/// | 501 | a transfer coding other than `chunked` ([RFC 9112 §6.1](https://www.rfc-editor.org/rfc/rfc9112#section-6.1)) |
pub fn check_head<B>(request: &Request<B>, limits: &Limits) -> Result<(), StatusCode> {
    check_framing(request.headers())?;
    limits.hosts.check(request).map_err(|refusal| match refusal {
        HostRefusal::Malformed => StatusCode::BAD_REQUEST,
        HostRefusal::Misdirected => StatusCode::MISDIRECTED_REQUEST,
    })?;
    match declared_length(request.headers()) {
        Some(length) if length > limits.body => Err(StatusCode::PAYLOAD_TOO_LARGE),
        _ => Ok(()),
    }
}

fn check_framing(headers: &HeaderMap) -> Result<(), StatusCode> {
    let mut codings = headers.get_all(header::TRANSFER_ENCODING).iter();
    let Some(coding) = codings.next() else {
        return Ok(());
    };
    if headers.contains_key(header::CONTENT_LENGTH) {
        return Err(StatusCode::BAD_REQUEST);
    }
    match coding.as_bytes().trim_ascii().eq_ignore_ascii_case(b"chunked") && codings.next().is_none() {
        true => Ok(()),
        false => Err(StatusCode::NOT_IMPLEMENTED),
    }
}

fn declared_length(headers: &HeaderMap) -> Option<usize> {
    headers.get(header::CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(head: &[(&str, &str)]) -> u16 {
        let limits = Limits {
            body: 10,
            ..Limits::default()
        };
        let head = head.iter().fold(Request::post("/"), |head, (name, value)| {
            head.header(*name, *value)
        });
        check_head(&head.body(()).unwrap(), &limits).map_or_else(|status| status.as_u16(), |()| 0)
    }

    /// X10: a body with ambiguous framing is refused, as is a body that this server cannot decode.
    #[test]
    fn heads_are_checked_before_their_bodies() {
        let host = ("host", "a");
        assert_eq!(check(&[host]), 0);
        assert_eq!(check(&[host, ("content-length", "10")]), 0);
        assert_eq!(check(&[host, ("content-length", "11")]), 413);
        assert_eq!(check(&[host, ("transfer-encoding", " Chunked ")]), 0);
        assert_eq!(check(&[host, ("transfer-encoding", "gzip, chunked")]), 501);
        assert_eq!(check(&[host, ("transfer-encoding", "identity")]), 501);
        let twice = [("transfer-encoding", "gzip"), ("transfer-encoding", "chunked")];
        assert_eq!(check(&[&[host], &twice[..]].concat()), 501);
        let both = [("content-length", "3"), ("transfer-encoding", "chunked")];
        assert_eq!(check(&[&[host], &both[..]].concat()), 400);
        assert_eq!(check(&[]), 400);
        assert_eq!(check(&[host, host]), 400);
        assert_eq!(check(&[("host", "a@b")]), 400);
    }
}
