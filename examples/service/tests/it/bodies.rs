//! Request bodies: all faults of the members in one response, in words of the service.

use http::Response;
use serde_json::{Value, json};

use crate::desk::{ALL_SCOPES, bearer, call, header, json, open};

/// Code and detail of each fault, by its pointer.
fn faults(response: &Response<bytes::Bytes>) -> Vec<(String, String, String)> {
    let body = json(response);
    let text = |fault: &Value, name: &str| fault.get(name).and_then(Value::as_str).unwrap().to_owned();
    let errors = body.get("errors").and_then(Value::as_array).unwrap();
    errors
        .iter()
        .map(|fault| (text(fault, "pointer"), text(fault, "code"), text(fault, "detail")))
        .collect()
}

/// Pointers and codes of the faults.
fn codes(response: &Response<bytes::Bytes>) -> Vec<String> {
    let mut codes: Vec<String> = faults(response)
        .into_iter()
        .map(|(pointer, code, _)| format!("{pointer} {code}"))
        .collect();
    codes.sort();
    codes
}

const CREATE: (&str, &str) = ("POST", "/v1/charges");

/// H28: faults of types and of the rules of the desk are in one list.
#[tokio::test]
async fn faults_of_types_and_rules_are_in_one_422() {
    let app = open().await;
    let token = bearer(&app, ALL_SCOPES).await;
    for (body, expected) in [
        (json!({}), &["/amount missing", "/currency missing"][..]),
        (
            json!({ "amount": "10", "currency": "EUR", "customer": 7, "description": "\u{7}" }),
            &[
                "/amount wrong-type",
                "/currency invalid-value",
                "/customer wrong-type",
                "/description invalid-value",
            ],
        ),
        (
            json!({ "amount": 0, "currency": null, "customer": "cus_1" }),
            &[
                "/amount invalid-value",
                "/currency wrong-type",
                "/customer invalid-value",
            ],
        ),
        (
            json!({ "amount": 1.5, "currency": "eur" }),
            &["/amount invalid-value"],
        ),
    ] {
        let refused = call(&app, &token, CREATE, &[], &body.to_string()).await;
        assert_eq!(refused.status(), 422, "{body}");
        assert_eq!(json(&refused).get("detail"), None, "the list is complete: {body}");
        assert_eq!(codes(&refused), expected, "{body}");
    }
}

/// H28: an array of the members is no object.
#[tokio::test]
async fn array_of_members_is_refused() {
    let app = open().await;
    let token = bearer(&app, ALL_SCOPES).await;
    let refused = call(&app, &token, CREATE, &[], r#"[1,"eur"]"#).await;
    assert_eq!(refused.status(), 422);
    assert_eq!(codes(&refused), [" wrong-type"]);
}

/// H28: the details are those of the conventions and of the desk.
#[tokio::test]
async fn details_are_in_words_of_the_service() {
    let app = open().await;
    let token = bearer(&app, ALL_SCOPES).await;
    let body = json!({ "amount": "10", "currency": "EURO" }).to_string();
    let refused = call(&app, &token, CREATE, &[], &body).await;
    let details: Vec<String> = faults(&refused)
        .into_iter()
        .map(|(_, _, detail)| detail)
        .collect();
    assert_eq!(
        details,
        [
            "expected a number, found a string",
            "must be three lower-case letters, for example `eur`",
        ]
    );
    for body in ["", "{", r#"{"amount":1,"amount":2,"currency":"eur"}"#, "{]"] {
        let refused = call(&app, &token, CREATE, &[], body).await;
        assert_eq!(refused.status(), 400, "{body}");
        let kind = json(&refused).get("type").unwrap().to_string();
        assert!(kind.ends_with("/problems/malformed-content\""), "{kind}");
    }
}

/// H28: a fault that only the database finds has the same form.
#[tokio::test]
async fn unknown_customer_has_the_form_of_a_fault() {
    let app = open().await;
    let token = bearer(&app, ALL_SCOPES).await;
    let customer = format!("cus_{}", "0".repeat(32));
    let body = json!({ "amount": 1, "currency": "eur", "customer": customer }).to_string();
    let refused = call(&app, &token, CREATE, &[], &body).await;
    assert_eq!(refused.status(), 422);
    assert_eq!(codes(&refused), ["/customer invalid-value"]);
    let named = call(&app, &token, ("POST", "/v1/customers"), &[], r#"{"name":" "}"#).await;
    assert_eq!(codes(&named), ["/name invalid-value"]);
}

/// H28, W24: all faults of the settings of an endpoint are reported at once.
#[tokio::test]
async fn faulty_settings_are_reported_at_once() {
    let app = open().await;
    let token = bearer(&app, ALL_SCOPES).await;
    let body = json!({
        "url": 7, "events": ["A"], "rate": 0, "content": "xml", "classification": "kind", "audience": "all",
        "headers": [{ "name": "webhook-id", "value": "x" }],
    });
    let refused = call(
        &app,
        &token,
        ("POST", "/v1/webhook-endpoints"),
        &[],
        &body.to_string(),
    )
    .await;
    assert_eq!(refused.status(), 422);
    assert_eq!(
        codes(&refused),
        [
            "/audience unknown-value",
            "/classification invalid-value",
            "/content invalid-value",
            "/events invalid-value",
            "/headers invalid-value",
            "/rate invalid-value",
            "/url wrong-type",
        ]
    );
}

/// H28: other media types and codings get 415 with the supported ones.
#[tokio::test]
async fn unsupported_bodies_name_the_supported_ones() {
    let app = open().await;
    let token = bearer(&app, ALL_SCOPES).await;
    for (sent, name, value) in [
        (("content-type", "text/plain"), "accept", "application/json"),
        (("content-encoding", "gzip"), "accept-encoding", "identity"),
    ] {
        let refused = call(&app, &token, CREATE, &[sent], "{}").await;
        assert_eq!(refused.status(), 415, "{sent:?}");
        assert_eq!(header(refused.headers(), name), value);
    }
}
