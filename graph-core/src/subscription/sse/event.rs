//! How events are written.

use bytes::Bytes;

use crate::response::GraphResponse;

/// A comment: some browsers see the head of a response only when its body starts.
pub(super) const GREETING: &[u8] = b":\n\n";

/// The end of a response with one operation.
pub(crate) const COMPLETE: &[u8] = b"event: complete\ndata:\n\n";

/// One response of the only operation.
pub(crate) fn next(response: GraphResponse) -> Bytes {
    let json = response.into_json();
    [b"event: next\ndata: ".as_slice(), &json, b"\n\n"]
        .concat()
        .into()
}

/// One response of the operation `id`.
pub(super) fn next_of(id: &str, response: GraphResponse) -> Bytes {
    let json = response.into_json();
    let id = quoted(id);
    [
        b"event: next\ndata: {\"id\":".as_slice(),
        id.as_bytes(),
        b",\"payload\":",
        &json,
        b"}\n\n",
    ]
    .concat()
    .into()
}

/// The end of the operation `id`.
pub(super) fn complete_of(id: &str) -> Bytes {
    format!("event: complete\ndata: {{\"id\":{}}}\n\n", quoted(id)).into()
}

/// JSON has no line breaks but escaped ones, so that nothing in an id starts a line of its own.
fn quoted(id: &str) -> String {
    serde_json::Value::from(id).to_string()
}
