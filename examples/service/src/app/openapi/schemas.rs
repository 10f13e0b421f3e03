//! Schemas of the resources and of the request bodies.

use serde_json::{Map, Value, json};
use webhook_core::ports::TransportErrorKind;
use webhook_core::sender::{DeliveryState, EndpointState, FailureReason};

use super::super::webhook_endpoints::words;
use super::operation::to;
use crate::domain::{Amount, ChargeStatus, RefundStatus};

/// Text without control characters.
const TEXT: &str = r"^[^\u0000-\u001f\u007f-\u009f]*$";
/// Text without control characters that is not only spaces.
const NAME: &str =
    r"^[^\u0000-\u001f\u007f-\u009f]*[^\s\u0000-\u001f\u007f-\u009f][^\u0000-\u001f\u007f-\u009f]*$";

/// Schemas of the desk.
pub(super) fn own() -> Map<String, Value> {
    let all = [ids(), of_money(), of_endpoints(), of_deliveries()];
    all.into_iter()
        .flatten()
        .map(|(name, schema)| (name.to_owned(), schema))
        .collect()
}

fn ids() -> Vec<(&'static str, Value)> {
    let random = |prefix: &str| json!({ "type": "string", "pattern": format!("^{prefix}_[0-9a-f]{{32}}$") });
    vec![
        ("ChargeId", random("ch")),
        ("RefundId", random("re")),
        ("CustomerId", random("cus")),
        ("WebhookEndpointId", random("ep")),
        (
            "WebhookDeliveryId",
            json!({ "type": "string", "pattern": "^evt_[0-9a-f]{32}\\.ep_[0-9a-f]{32}$" }),
        ),
    ]
}

fn or_null(schema: &str) -> Value {
    json!({ "oneOf": [to(schema), { "type": "null" }] })
}

fn of_money() -> Vec<(&'static str, Value)> {
    let amount = json!({
        "type": "integer", "minimum": 1, "maximum": Amount::MAX.units(), "description": "In the currency's smallest unit.",
    });
    let currency =
        json!({ "type": "string", "pattern": "^[a-z]{3}$", "description": "ISO 4217, in lower case." });
    let description = json!({ "type": ["string", "null"], "maxLength": 500, "pattern": TEXT });
    let created = json!({ "type": "integer", "minimum": 0, "description": "Unix seconds." });
    let name = json!({ "type": "string", "minLength": 1, "maxLength": 500, "pattern": NAME });
    let refund_states = [
        RefundStatus::Pending,
        RefundStatus::Succeeded,
        RefundStatus::Failed,
    ]
    .map(RefundStatus::as_str);
    let charge = json!({
        "id": to("ChargeId"),
        "customer": or_null("CustomerId"),
        "amount": amount,
        "currency": currency,
        "description": description,
        "amount_refunded": { "type": "integer", "minimum": 0, "maximum": Amount::MAX.units() },
        "status": { "enum": ChargeStatus::ALL.map(ChargeStatus::as_str) },
        "version": { "type": "integer", "minimum": 1, "description": "Number of the current version, from 1." },
        "created": created,
    });
    let refund = json!({
        "id": to("RefundId"),
        "charge": to("ChargeId"),
        "amount": amount,
        "status": { "enum": refund_states },
        "created": created,
    });
    let new_charge = json!({
        "amount": amount, "currency": currency, "customer": or_null("CustomerId"), "description": description,
    });
    let of_all_left = json!({ "oneOf": [amount, { "type": "null" }] });
    vec![
        ("Charge", object(&charge)),
        ("NewCharge", some_required(&new_charge, &["amount", "currency"])),
        (
            "ChargePatch",
            some_required(&json!({ "description": description }), &[]),
        ),
        ("Refund", object(&refund)),
        ("NewRefund", some_required(&json!({ "amount": of_all_left }), &[])),
        (
            "Customer",
            object(&json!({ "id": to("CustomerId"), "name": name, "created": created })),
        ),
        ("NewCustomer", object(&json!({ "name": name }))),
    ]
}

fn of_endpoints() -> Vec<(&'static str, Value)> {
    let event =
        json!({ "type": "string", "maxLength": 130, "pattern": r"^[a-z0-9_]+(\.[a-z0-9_]+)*(\.\*)?$" });
    let events = json!({ "type": ["array", "null"], "items": event, "description": "Event types to send, or patterns such as `charge.*`; null for every type." });
    let states = json!({ "enum": EndpointState::ALL.map(EndpointState::as_str) });
    let audience = json!({ "enum": ["shop", "operator"], "description": "Events about charges, or operational events." });
    let rate = json!({ "type": ["integer", "null"], "minimum": 1, "maximum": u32::MAX, "description": "Maximum number of deliveries a second." });
    let (contents, classifications) = words();
    let url = json!({ "type": "string", "description": "Public https URL." });
    let endpoint = json!({
        "id": to("WebhookEndpointId"),
        "audience": audience,
        "url": { "type": "string", "format": "uri" },
        "events": events,
        "state": states,
        "rate": rate,
        "headers": { "type": "array", "items": { "type": "object", "properties": { "name": { "type": "string" } }, "required": ["name"] }, "description": "Static headers; their values are not shown." },
        "content": { "enum": contents },
        "classification": { "enum": classifications },
        "health": { "oneOf": [health(), { "type": "null" }], "description": "Only in the response to a GET of one endpoint that got a delivery." },
    });
    let or_default = |words: &[&str]| {
        let words: Vec<Value> = words
            .iter()
            .map(|word| json!(word))
            .chain([Value::Null])
            .collect();
        json!({ "enum": words })
    };
    let settings = [
        ("url", url),
        ("events", events.clone()),
        ("rate", rate.clone()),
        ("headers", new_headers()),
        ("content", or_default(&contents)),
        ("classification", or_default(&classifications)),
    ];
    let settings: Map<String, Value> = settings
        .into_iter()
        .map(|(name, schema)| (name.to_owned(), schema))
        .collect();
    let with = |name: &str, schema: &Value| {
        let mut members = settings.clone();
        members.insert(name.to_owned(), schema.clone());
        Value::Object(members)
    };
    let secret = json!({ "secret": { "type": "string", "description": "Signing secret; not shown again." } });
    let with_secret =
        json!({ "allOf": [to("WebhookEndpoint")], "properties": secret, "required": ["secret"] });
    let new_endpoint = with("audience", &audience);
    let patch = with("state", &states);
    vec![
        ("WebhookEndpoint", object(&endpoint)),
        ("NewWebhookEndpointSecret", with_secret),
        ("NewWebhookEndpoint", some_required(&new_endpoint, &["url"])),
        ("WebhookEndpointPatch", some_required(&patch, &[])),
    ]
}

/// Static headers of a request body, with their values.
fn new_headers() -> Value {
    let header = object(&json!({
        "name": { "type": "string", "maxLength": 256, "pattern": "^[A-Za-z0-9!#$%&'*+.^_`|~-]+$" },
        "value": { "type": "string", "maxLength": 4096, "pattern": r"^[\t -~]*$" },
    }));
    json!({ "type": ["array", "null"], "items": header, "maxItems": 32 })
}

fn of_deliveries() -> Vec<(&'static str, Value)> {
    let reasons = FailureReason::ALL.map(|reason| json!(reason.as_str()));
    let or_none: Vec<Value> = reasons.into_iter().chain([Value::Null]).collect();
    let delivery = json!({
        "id": to("WebhookDeliveryId"),
        "event": { "type": "string" },
        "endpoint": to("WebhookEndpointId"),
        "state": { "enum": DeliveryState::ALL.map(DeliveryState::as_str) },
        "attempts": { "type": "integer", "minimum": 0 },
        "due": { "type": ["integer", "null"], "description": "Unix seconds of the next attempt." },
        "reason": { "enum": or_none, "description": "Reason of a failure." },
    });
    let log = json!({ "log": { "type": "array", "items": to("WebhookAttempt") } });
    let logged = json!({ "allOf": [to("WebhookDelivery")], "properties": log, "required": ["log"] });
    vec![
        ("WebhookDelivery", object(&delivery)),
        ("LoggedWebhookDelivery", logged),
        ("WebhookAttempt", attempt()),
    ]
}

fn health() -> Value {
    let seconds = json!({ "type": ["integer", "null"], "description": "Unix seconds." });
    object(&json!({
        "failing": { "type": "boolean", "description": "The circuit breaker is open." },
        "failures": { "type": "integer", "minimum": 0, "description": "Failures since the last success." },
        "failing_since": seconds,
        "held_until": seconds,
        "concurrency": { "type": "integer", "minimum": 1, "description": "Limit of concurrent deliveries." },
    }))
}

fn attempt() -> Value {
    let took = json!({ "type": "integer", "minimum": 0 });
    let status = json!({ "type": "integer", "minimum": 100, "maximum": 599 });
    let failure = json!({ "enum": TransportErrorKind::ALL.map(TransportErrorKind::as_str) });
    let text = json!({ "type": "string" });
    json!({
        "oneOf": [
            object(&json!({ "status": status, "duration_ms": took, "answer": text })),
            object(&json!({ "failure": failure, "duration_ms": took, "message": text })),
        ],
    })
}

/// Object schema with all properties required.
fn object(properties: &Value) -> Value {
    let required: Vec<String> = properties
        .as_object()
        .into_iter()
        .flatten()
        .map(|(name, _)| name.clone())
        .collect();
    json!({ "type": "object", "properties": properties, "required": required })
}

fn some_required(properties: &Value, required: &[&str]) -> Value {
    json!({ "type": "object", "properties": properties, "required": required })
}

/// Adds the members of the desk's problem types.
pub(super) fn extend_problems(schemas: &mut Map<String, Value>) {
    let states = json!({ "enum": DeliveryState::ALL.map(DeliveryState::as_str) });
    for (problem, member, schema) in [
        (
            "RefundExceedsChargeProblem",
            "refundable",
            json!({ "type": "integer", "minimum": 0 }),
        ),
        ("DeliveryNotReplayableProblem", "state", states),
    ] {
        let Some(kind) = schemas.get_mut(problem).and_then(Value::as_object_mut) else {
            continue;
        };
        if let Some(properties) = kind.get_mut("properties").and_then(Value::as_object_mut) {
            properties.insert(member.to_owned(), schema);
        }
        kind.insert("required".to_owned(), json!([member]));
    }
}
