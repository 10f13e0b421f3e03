//! DPoP in the document ([RFC 9449](https://www.rfc-editor.org/rfc/rfc9449)): tokens bound to a
//! key, and the nonces for their proofs.

use serde_json::{Map, Value, json};

/// Description of both ways to present a token.
pub(super) const OF_TOKENS: &str = "Send a bearer token as `Authorization: Bearer`. Send a token bound to a key (RFC 9449) as `Authorization: DPoP` \
     with a proof in `DPoP` that contains the latest `DPoP-Nonce`. Without it, the response is a 401 with `use_dpop_nonce` and \
     a nonce.";

const CHALLENGES: &str = "Authentication challenges: `Bearer`, and `DPoP` with the algorithms of proofs (RFC 9449, 7.1), \
     with `error` on the challenge of the scheme that was used.";

/// The header with the next nonce, in a response to a request with a proof.
pub(super) fn nonce() -> (String, Value) {
    let field = json!({ "$ref": "#/components/headers/DPoP-Nonce" });
    ("DPoP-Nonce".to_owned(), field)
}

/// Adds the nonce header and the challenges to the components and to every refusal.
pub(super) fn extend(components: &mut Map<String, Value>) {
    let described = json!({
        "description": "Nonce for the next proof (RFC 9449, 8.2), sent to clients that present a proof or have to.",
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
