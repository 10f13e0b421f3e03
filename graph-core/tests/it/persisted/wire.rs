//! Wire format of document ids (G13, G14, G19).

use serde_json::{Value, json};

use super::{automatic, by_id, extensions, got, hash, registering};
use crate::fixture::{Fixture, codes, fixture, json as envelope, post_body};

const PING: &str = "{ ping }";

async fn status_and_codes(shop: &Fixture, body: &Value) -> (u16, Vec<String>) {
    let response = shop.send(post_body(body.to_string())).await;
    let told = envelope(&response);
    (
        response.status().as_u16(),
        codes(&told).into_iter().map(str::to_owned).collect(),
    )
}

/// G13: `sha256:` and digits in `documentId`, also with the text, and the parameters of Relay's
/// documentation.
#[tokio::test]
async fn every_way_to_name_a_hash_means_the_same() {
    let (shop, store) = automatic();
    let (hex, prefixed) = (hash(PING), format!("sha256:{}", hash(PING)));
    let registered = json!({ "query": PING, "documentId": prefixed });
    let pinged = json!({ "data": { "ping": "pong" } });
    assert_eq!(
        envelope(&shop.send(post_body(registered.to_string())).await),
        pinged
    );
    assert_eq!(store.len(), 1);
    for named in [
        json!({ "documentId": prefixed }),
        json!({ "documentId": hex }),
        json!({ "doc_id": hex }),
        json!({ "id": hex }),
        json!({ "documentId": prefixed, "extensions": extensions(&hex) }),
        json!({ "query": "", "documentId": prefixed }),
        json!({ "query": null, "documentId": prefixed, "id": 7, "doc_id": null }),
        // as urql sends it on a retry
        json!({ "extensions": { "persistedQuery": { "version": 1, "sha256Hash": hex, "miss": true }, "other": [] } }),
    ] {
        let answer = envelope(&shop.send(post_body(named.to_string())).await);
        assert_eq!(answer, pinged, "{named}");
    }
    for (name, value) in [("documentId", &prefixed), ("doc_id", &hex), ("id", &hex)] {
        assert_eq!(
            envelope(&shop.send(got(&[(name, value)])).await),
            pinged,
            "{name}"
        );
    }
}

/// G1: a text needs no id, and `id` may have another meaning for other clients.
#[tokio::test]
async fn a_text_is_not_named_by_relays_words() {
    let shop = fixture();
    for id in [json!("sha256:x"), json!(7), json!({}), json!(null)] {
        let body = json!({ "query": PING, "id": id, "doc_id": id });
        let (status, codes) = status_and_codes(&shop, &body).await;
        assert_eq!((status, codes.len()), (200, 0), "{body}");
    }
}

/// G13, G19: an invalid id, or two different ids, are a bad request.
#[tokio::test]
async fn a_malformed_id_is_a_bad_request() {
    let (shop, _) = automatic();
    let persisted = |value: Value| json!({ "query": PING, "extensions": { "persistedQuery": value } });
    for body in [
        persisted(json!(7)),
        persisted(json!({})),
        persisted(json!({ "version": 1 })),
        persisted(json!({ "sha256Hash": hash(PING) })),
        persisted(json!({ "version": 2, "sha256Hash": hash(PING) })),
        persisted(json!({ "version": "1", "sha256Hash": hash(PING) })),
        persisted(json!({ "version": -1, "sha256Hash": hash(PING) })),
        persisted(json!({ "version": 1, "sha256Hash": 7 })),
        persisted(json!({ "version": 1, "sha256Hash": null })),
        json!({ "documentId": 7 }),
        json!({ "documentId": [] }),
        json!({ "documentId": hash(PING), "extensions": extensions(&hash("{ viewer }")) }),
        json!({ "documentId": null, "extensions": {} }),
        json!({ "query": "", "variables": {} , "extensions": { "persistedQuery": 1 } }),
    ] {
        let (status, codes) = status_and_codes(&shop, &body).await;
        assert_eq!((status, codes), (400, vec!["BAD_REQUEST".to_owned()]), "{body}");
    }
    assert_eq!(shop.shop.calls(), 0);
}

/// G19: an id of any length and content is an unknown one.
#[tokio::test]
async fn a_hostile_id_is_an_unknown_one() {
    let (shop, store) = automatic();
    shop.send(registering(PING)).await;
    let long = "a".repeat(512 << 10);
    let zeroes = "0".repeat(64);
    let doubled = format!("sha256:sha256:{}", hash(PING));
    let spaced = format!(" {}", hash(PING));
    for id in [
        "", "\0", "sha256:", "'; --", &long, &zeroes, &doubled, &spaced, "\u{ff10}",
    ] {
        let answer = envelope(&shop.send(by_id(id)).await);
        assert_eq!(codes(&answer), ["PERSISTED_QUERY_NOT_FOUND"]);
        assert!(answer.to_string().len() < 200, "nothing of it is sent back");
    }
    assert_eq!(store.len(), 1);
}
