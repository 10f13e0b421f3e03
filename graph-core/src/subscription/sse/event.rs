//! Format of the events.

use bytes::Bytes;

use crate::http::COMMENT;
use crate::response::GraphResponse;
use crate::subscription::OperationId;

/// Comment that starts a stream, because some browsers process the response head only after the
/// first body bytes.
pub(super) const GREETING: &[u8] = COMMENT;

/// Event with one response of the operation `id`.
pub(super) fn next_of(id: &OperationId, response: GraphResponse) -> Bytes {
    let json = response.into_json();
    [
        b"event: next\ndata: {\"id\":".as_slice(),
        id.quoted().as_bytes(),
        b",\"payload\":",
        &json,
        b"}\n\n",
    ]
    .concat()
    .into()
}

/// Final event of the operation `id`.
pub(super) fn complete_of(id: &OperationId) -> Bytes {
    format!("event: complete\ndata: {{\"id\":{}}}\n\n", id.quoted()).into()
}
