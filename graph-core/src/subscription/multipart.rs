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
//! | a subscription that starts | 200 with `multipart/mixed;boundary="graphql";subscriptionSpec=1.0` |
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
//! The first part is a heartbeat, so that the response has a part even if no event happens. The
//! closing delimiter follows when the subscription ends. If the host drops the response, for
//! example because the token expired, the delimiter is missing and Apollo Client 4 reports an
//! error.
//!
//! A chunk of the response ends with the delimiter of the next part, because clients read a part up
//! to the delimiter after it.
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
pub(crate) const MEDIA_TYPE: &str = r#"multipart/mixed;boundary="graphql";subscriptionSpec=1.0"#;

/// Start of the response: a heartbeat with the delimiters around it, as Apollo Router sends.
pub(crate) const OPENING: &[u8] = b"\r\n--graphql\r\ncontent-type: application/json\r\n\r\n{}\r\n--graphql";

/// Delimiter before a first part that is ready.
pub(crate) const START: &[u8] = b"--graphql";

/// Rest of the closing delimiter, after [`DELIMITER`].
pub(crate) const CLOSING: &[u8] = b"--\r\n";

/// Part that clients ignore.
pub(crate) const HEARTBEAT: &[u8] = b"\r\ncontent-type: application/json\r\n\r\n{}\r\n--graphql";

/// Text between a delimiter and the body of its part.
const HEAD: &[u8] = b"\r\ncontent-type: application/json\r\n\r\n";

/// Delimiter after a part.
const DELIMITER: &[u8] = b"\r\n--graphql";

/// Writes the part of `item`, from the end of the previous delimiter to the end of the next one.
pub(crate) fn part(item: StreamItem) -> Option<Bytes> {
    let part = match item {
        StreamItem::Opened => return None,
        StreamItem::Response(response) => {
            let json = response.into_json();
            [HEAD, br#"{"payload":"#, &json, b"}", DELIMITER].concat()
        }
        StreamItem::Failure(response) => {
            let errors = response.errors_json();
            [HEAD, br#"{"payload":null,"errors":"#, &errors, b"}", DELIMITER].concat()
        }
    };
    Some(part.into())
}

/// Writes a part with the body `json`.
pub(crate) fn json(json: &[u8]) -> Bytes {
    [HEAD, json, DELIMITER].concat().into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorCode;
    use crate::response::GraphResponse;

    fn check(item: StreamItem, body: &str) {
        let expected = format!("\r\ncontent-type: application/json\r\n\r\n{body}\r\n--graphql");
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
        assert_eq!([HEAD, b"{}", DELIMITER].concat(), HEARTBEAT);
        assert_eq!([DELIMITER, HEARTBEAT].concat(), OPENING);
    }
}
