//! Subscriptions over `multipart/mixed`, by [Apollo's multipart
//! protocol](https://www.apollographql.com/docs/graphos/routing/operations/subscriptions/multipart-protocol)
//! 1.0.
//!
//! [`Engine::respond`](crate::Engine::respond) serves it for `Accept:
//! multipart/mixed;subscriptionSpec=1.0`, which the HTTP link of Apollo Client sends with each
//! subscription. A range without this parameter does not match.
//!
//! | operation | response |
//! |---|---|
//! | a subscription that starts | 200 with `multipart/mixed;boundary=graphql;subscriptionSpec=1.0` |
//! | a query or a mutation | the response in the other formats of `Accept`, or as JSON |
//! | a request or an operation that is refused | the error with its status, in the same formats |
//!
//! If `Accept` also allows `text/event-stream`, the weight decides, then the order.
//!
//! # Format
//!
//! Each part has the content type `application/json` and one of these bodies:
//!
//! | body | meaning |
//! |---|---|
//! | `{"payload":{"data":…}}` | result of one event, possibly with `errors` |
//! | `{"payload":null,"errors":[…]}` | error that ends the subscription |
//! | `{}` | heartbeat; see [`EventStream::with_keep_alive`] |
//!
//! The first part is a heartbeat, so that the response has a part even if no event happens. When
//! the subscription ends, a last heartbeat and the closing delimiter follow. If the host drops the
//! response, for example because the token expired, the closing delimiter is missing and Apollo
//! Client 4 reports an error.
//!
//! A chunk of the response ends with the delimiter line of the next part, because clients read a
//! part up to the delimiter after it. The line is complete, because the parser of Go needs its end.
//! So another part must follow: the last heartbeat. Each part has its length, with which the parser
//! of aiohttp does not wait for the next part.
//!
//! # Security
//!
//! A payload cannot end its part: a delimiter starts with a line break, and JSON escapes line
//! breaks.
//!
//! # Performance
//!
//! The stream queues nothing: it polls the next event after the host took the previous part.
//!
//! [`EventStream::with_keep_alive`]: crate::http::EventStream::with_keep_alive

use bytes::Bytes;

use super::StreamItem;

/// Content type of the response.
pub(crate) const MEDIA_TYPE: &str = "multipart/mixed;boundary=graphql;subscriptionSpec=1.0";

/// Start of the response: a heartbeat with the delimiters around it, as Apollo Router sends.
pub(crate) const OPENING: &[u8] =
    b"\r\n--graphql\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}\r\n--graphql\r\n";

/// Delimiter before a first part that is ready.
pub(crate) const START: &[u8] = b"--graphql\r\n";

/// Part that clients ignore.
pub(crate) const HEARTBEAT: &[u8] =
    b"content-type: application/json\r\ncontent-length: 2\r\n\r\n{}\r\n--graphql\r\n";

/// Last part, which clients ignore, and the closing delimiter.
pub(crate) const CLOSING: &[u8] =
    b"content-type: application/json\r\ncontent-length: 2\r\n\r\n{}\r\n--graphql--\r\n";

/// Part between deferred fragments that clients ignore.
pub(crate) const DEFERRED_HEARTBEAT: &[u8] =
    b"content-type: application/json\r\ncontent-length: 16\r\n\r\n{\"hasNext\":true}\r\n--graphql\r\n";

/// Headers of a part, up to the number of its bytes.
const HEAD: &[u8] = b"content-type: application/json\r\ncontent-length: ";

/// Delimiter between two parts.
const DELIMITER: &[u8] = b"\r\n--graphql\r\n";

/// Delimiter after the last part.
const LAST_DELIMITER: &[u8] = b"\r\n--graphql--\r\n";

/// Writes the part of `item`, from the end of the previous delimiter to the end of the next one.
pub(crate) fn part(item: StreamItem) -> Option<Bytes> {
    let (start, json) = match item {
        StreamItem::Opened => return None,
        StreamItem::Response(response) => (r#"{"payload":"#, response.into_json()),
        StreamItem::Failure(response) => (r#"{"payload":null,"errors":"#, response.errors_json().into()),
    };
    Some(framed(&[start.as_bytes(), &json, b"}"], DELIMITER))
}

/// Writes a part with the body `json`.
pub(crate) fn json(json: &[u8], is_last: bool) -> Bytes {
    framed(&[json], if is_last { LAST_DELIMITER } else { DELIMITER })
}

/// Writes a part with the concatenated `body`.
fn framed(body: &[&[u8]], delimiter: &[u8]) -> Bytes {
    let length = body.iter().map(|piece| piece.len()).sum::<usize>();
    // a length has at most 20 digits
    let mut part = Vec::with_capacity(HEAD.len() + 24 + length + delimiter.len());
    part.extend_from_slice(HEAD);
    part.extend_from_slice(length.to_string().as_bytes());
    part.extend_from_slice(b"\r\n\r\n");
    for piece in body {
        part.extend_from_slice(piece);
    }
    part.extend_from_slice(delimiter);
    part.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorCode;
    use crate::response::GraphResponse;

    fn check(item: StreamItem, body: &str) {
        let length = body.len();
        let expected = format!(
            "content-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}\r\n--graphql\r\n"
        );
        assert_eq!(part(item).unwrap(), expected);
    }

    /// G25: a part holds a payload, or the errors that end the subscription.
    #[test]
    fn part_holds_payload_or_errors() {
        let response = |data: &str| {
            let written = format!(r#"{{"data":{data}"#);
            StreamItem::Response(GraphResponse::written(written.into(), Vec::new()))
        };
        check(response(r#"{"id":1}"#), r#"{"payload":{"data":{"id":1}}}"#);
        check(
            response("{\"name\":\"\u{e9}\u{1f600}\"}"),
            "{\"payload\":{\"data\":{\"name\":\"\u{e9}\u{1f600}\"}}}",
        );
        let refused = GraphResponse::request_error(ErrorCode::Forbidden, "no");
        check(
            StreamItem::Failure(refused),
            r#"{"payload":null,"errors":[{"message":"no","extensions":{"code":"FORBIDDEN"}}]}"#,
        );
        assert_eq!(part(StreamItem::Opened), None);
    }

    /// G25: the heartbeat is a part with an empty object.
    #[test]
    fn heartbeat_is_empty_part() {
        assert_eq!(json(b"{}", false), HEARTBEAT);
        assert_eq!(json(b"{}", true), CLOSING);
        assert_eq!(json(br#"{"hasNext":true}"#, false), DEFERRED_HEARTBEAT);
        assert_eq!([DELIMITER, HEARTBEAT].concat(), OPENING);
    }
}
