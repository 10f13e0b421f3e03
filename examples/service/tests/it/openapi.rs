//! The OpenAPI document as clients fetch it.

use serde_json::Value;

use super::desk::{ask, header, json, open, request};

/// H22, H7, H8, H9: the document is cacheable, and a conditional request gets 304.
#[tokio::test]
async fn the_document_is_served_with_its_tag() {
    let app = open().await;
    let document = ask(&app, request("GET", "/openapi.json", &[], "")).await;
    assert_eq!(document.status(), 200);
    assert_eq!(header(document.headers(), "content-type"), "application/json");
    assert_eq!(header(document.headers(), "cache-control"), "public, max-age=300");
    let tag = header(document.headers(), "etag").to_owned();

    let again = ask(
        &app,
        request("GET", "/openapi.json", &[("if-none-match", &tag)], ""),
    )
    .await;
    assert_eq!((again.status().as_u16(), again.body().len()), (304, 0));
    assert_eq!(header(again.headers(), "cache-control"), "public, max-age=300");
    let other = ask(
        &app,
        request("GET", "/openapi.json", &[("if-none-match", "\"other\"")], ""),
    )
    .await;
    assert_eq!(other.body(), document.body());
    let refused = ask(&app, request("POST", "/openapi.json", &[], "")).await;
    assert_eq!(
        (refused.status().as_u16(), header(refused.headers(), "allow")),
        (405, "GET, HEAD, OPTIONS")
    );
}

/// H22: every reference resolves, and the document states the configuration of the desk.
#[tokio::test]
async fn document_states_the_configuration() {
    let app = open().await;
    let document = json(&ask(&app, request("GET", "/openapi.json", &[], "")).await);
    let mut seen = 0;
    follow(&document, &document, &mut seen);
    assert!(seen > 200, "{seen}");

    let at = |pointer: &str| document.pointer(pointer).unwrap_or_else(|| panic!("{pointer}"));
    assert_eq!(at("/openapi"), "3.1.0");
    assert_eq!(at("/components/parameters/Limit/schema/maximum"), 100);
    assert_eq!(at("/components/parameters/IdempotencyKey/required"), false);
    let parameters = |operation: &str| -> Vec<&str> {
        let all = at(&format!("/paths/{operation}/parameters"))
            .as_array()
            .unwrap()
            .iter();
        all.filter_map(|parameter| parameter.get("$ref")?.as_str()?.rsplit('/').next())
            .collect()
    };
    assert_eq!(parameters("~1v1~1charges/get"), ["Limit", "After", "Before"]);
    assert_eq!(parameters("~1v1~1webhook-deliveries/get"), ["Limit", "After"]);
    assert_eq!(parameters("~1v1~1charges/post"), ["IdempotencyKey"]);
    let put = "~1v1~1charges~1{id}/put";
    assert_eq!(parameters(put), ["IfMatch", "IdempotencyKey"]);
    for (status, name) in [
        ("409", "Conflict"),
        ("412", "PreconditionFailed"),
        ("503", "ServiceUnavailable"),
    ] {
        let reference = format!("#/components/responses/{name}");
        let found = at(&format!("/paths/{put}/responses/{status}/$ref"));
        assert_eq!(found, reference.as_str());
    }
    at(&format!(
        "/paths/{put}/responses/200/headers/Idempotency-Replayed"
    ));
    let conflicts = at("/components/responses/Conflict/content/application~1problem+json/schema/oneOf");
    let conflicts = conflicts.to_string();
    assert!(
        conflicts.contains("RefundExceedsChargeProblem") && conflicts.contains("IdempotencyKeyReusedProblem")
    );
    let refundable = at("/components/schemas/RefundExceedsChargeProblem/required/0");
    assert_eq!(refundable, "refundable");
}

/// O20, H22: the document states how a bound token is presented and which responses carry a nonce:
/// every one of a resource.
#[tokio::test]
async fn document_describes_proofs_and_nonces() {
    let app = open().await;
    let document = json(&ask(&app, request("GET", "/openapi.json", &[], "")).await);
    let at = |pointer: &str| document.pointer(pointer).unwrap_or_else(|| panic!("{pointer}"));
    let scheme = at("/components/securitySchemes/oauth/description")
        .as_str()
        .unwrap();
    let challenges = at("/components/headers/WWW-Authenticate/description")
        .as_str()
        .unwrap();
    assert!(scheme.contains("use_dpop_nonce") && challenges.contains("`DPoP`"));
    assert_eq!(at("/components/headers/DPoP-Nonce/required"), false);

    let mut seen = 0;
    for path in at("/paths").as_object().unwrap().values() {
        let operations = path.as_object().unwrap().values();
        for response in operations
            .filter_map(|operation| operation.get("responses")?.as_object())
            .flat_map(|responses| responses.values())
        {
            let response = match response.get("$ref").and_then(Value::as_str) {
                Some(reference) => at(reference.trim_start_matches('#')),
                None => response,
            };
            let nonce = response.pointer("/headers/DPoP-Nonce/$ref");
            assert_eq!(nonce.unwrap(), "#/components/headers/DPoP-Nonce", "{response}");
            seen += 1;
        }
    }
    assert!(seen > 100, "{seen}");
}

fn follow(document: &Value, part: &Value, seen: &mut usize) {
    if let Some(reference) = part.get("$ref").and_then(Value::as_str) {
        *seen += 1;
        assert!(
            document.pointer(reference.trim_start_matches('#')).is_some(),
            "{reference}"
        );
    }
    match part {
        Value::Array(items) => items.iter().for_each(|item| follow(document, item, seen)),
        Value::Object(members) => members.values().for_each(|member| follow(document, member, seen)),
        _ => {}
    }
}
