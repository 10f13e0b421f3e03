//! DPoP in the document ([RFC 9449](https://www.rfc-editor.org/rfc/rfc9449)): tokens bound to a
//! key, and the nonces for their proofs.

use serde_json::{Map, Value, json};

/// Description of both ways to present a token.
pub(super) const OF_TOKENS: &str = "A token comes as `Authorization: Bearer`, or, bound to a key of the client (RFC 9449), as `Authorization: DPoP` \
     with a proof in `DPoP` that holds the newest `DPoP-Nonce` of an answer; without that the challenge of a 401 says `use_dpop_nonce` and \
     brings one.";

const CHALLENGES: &str = "How to prove who asks: a challenge of `Bearer` and one of `DPoP` with the algorithms of proofs (RFC 9449, 7.1), \
     with the `error` at that of the scheme which was used.";

/// The header with the next nonce, in a response to a request with a proof.
pub(super) fn nonce() -> (String, Value) {
    let field = json!({ "$ref": "#/components/headers/DPoP-Nonce" });
    ("DPoP-Nonce".to_owned(), field)
}

/// Adds the nonce header and the challenges to the components and to every refusal.
pub(super) fn extend(components: &mut Map<String, Value>) {
    let described = json!({
        "description": "What the next proof has to hold (RFC 9449, 8.2), for who came with one or is to.",
        "required": false,
        "schema": { "type": "string", "pattern": r"^[\x21\x23-\x5B\x5D-\x7E]+$" },
    });
    if let Some(headers) = components.get_mut("headers").and_then(Value::as_object_mut) {
        headers.insert("DPoP-Nonce".to_owned(), described);
        if let Some(challenges) = headers.get_mut("WWW-Authenticate").and_then(Value::as_object_mut) {
            challenges.insert("description".to_owned(), json!(CHALLENGES));
        }
    }
    let responses = components.get_mut("responses").and_then(Value::as_object_mut);
    for response in responses.into_iter().flat_map(Map::values_mut) {
        if let Some(headers) = response.get_mut("headers").and_then(Value::as_object_mut) {
            headers.extend([nonce()]);
        }
    }
}
