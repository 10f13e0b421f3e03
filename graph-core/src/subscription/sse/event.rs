//! How events are written.

use bytes::Bytes;

use crate::http::KEEP_ALIVE;
use crate::response::GraphResponse;
use crate::subscription::OperationId;

/// Some browsers see the head of a response only when its body starts.
pub(super) const GREETING: &[u8] = KEEP_ALIVE;

/// One response of the operation `id`.
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

/// The end of the operation `id`.
pub(super) fn complete_of(id: &OperationId) -> Bytes {
    format!("event: complete\ndata: {{\"id\":{}}}\n\n", id.quoted()).into()
}
