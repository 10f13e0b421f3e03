//! Every operation of `/v1`.

use http::StatusCode;
use http_conventions::openapi::Takes;
use http_conventions::pipeline::Conventions;
use serde_json::{Value, json};
use webhook_core::sender::DeliveryState;

use super::operation::{Operation, link, page_of, to};
use crate::domain::ChargeStatus;

const READ: &str = "read:charges";
const WRITE: &str = "write:charges";
const REFUND: &str = "write:refunds";

const OK: (StatusCode, &str) = (StatusCode::OK, "The current state.");
const NOT_FOUND: (StatusCode, &str) = (StatusCode::NOT_FOUND, "NotFound");
const UNPROCESSABLE: (StatusCode, &str) = (StatusCode::UNPROCESSABLE_ENTITY, "UnprocessableContent");
const UNAVAILABLE: (StatusCode, &str) = (StatusCode::SERVICE_UNAVAILABLE, "ServiceUnavailable");
const CONFLICT: (StatusCode, &str) = (StatusCode::CONFLICT, "Conflict");

pub(super) fn paths(conventions: &Conventions) -> Value {
    json!({
        "/v1/charges": charges(conventions),
        "/v1/charges/{id}": charge(conventions),
        "/v1/charges/{id}/refunds": refunds(conventions),
        "/v1/charges/{id}/refunds/{refund}": refund(conventions),
        "/v1/customers": customers(conventions),
        "/v1/customers/{id}": customer(conventions),
        "/v1/webhook-endpoints": webhook_endpoints(conventions),
        "/v1/webhook-endpoints/{id}": webhook_endpoint(conventions),
        "/v1/webhook-endpoints/{id}/rotations": webhook_rotations(conventions),
        "/v1/webhook-endpoints/{id}/test-events": webhook_test_events(conventions),
        "/v1/webhook-deliveries": webhook_deliveries(conventions),
        "/v1/webhook-deliveries/{id}": webhook_delivery(conventions),
        "/v1/webhook-deliveries/{id}/replays": webhook_replays(conventions),
    })
}

fn in_path(name: &str, schema: &str) -> Value {
    json!({ "name": name, "in": "path", "required": true, "schema": to(schema) })
}

fn charges(conventions: &Conventions) -> Value {
    let list = Operation::new(
        conventions,
        ("listCharges", "The charges, newest first"),
        READ,
        &[Takes::PageBothWays],
    )
    .filtered(
        "status",
        "Only those in this state.",
        &json!({ "enum": ChargeStatus::ALL.map(ChargeStatus::as_str) }),
    )
    .filtered("customer", "Only charges of this customer.", &to("CustomerId"))
    .answers(
        (StatusCode::OK, "A page."),
        &page_of("Charge"),
        &["Link"],
        &json!({}),
    )
    .refuses(&[UNAVAILABLE]);
    let of_charge = json!({ "id": "$response.body#/id" });
    let links = json!({
        "read": link("readCharge", &of_charge),
        "replace": {
            "operationId": "replaceCharge",
            "parameters": { "id": "$response.body#/id", "header.If-Match": "$response.header.ETag" },
            "requestBody": "$response.body",
        },
        "refund": link("askForRefund", &of_charge),
        "refunds": link("listRefunds", &of_charge),
    });
    let create = Operation::new(
        conventions,
        ("createCharge", "Create a charge"),
        WRITE,
        &[Takes::Content, Takes::IdempotencyKey],
    )
    .reads(
        "NewCharge",
        true,
        &json!({ "amount": 1000, "currency": "eur", "description": "two tickets" }),
    )
    .answers(
        (StatusCode::CREATED, "The charge."),
        &to("Charge"),
        &["Location", "ETag", "Idempotency-Replayed"],
        &links,
    )
    .refuses(&[UNPROCESSABLE]);
    json!({ "get": list.value(), "post": create.value() })
}

fn charge(conventions: &Conventions) -> Value {
    let read = Operation::new(
        conventions,
        ("readCharge", "A charge"),
        READ,
        &[Takes::ReadPreconditions],
    )
    .answers(OK, &to("Charge"), &["ETag"], &json!({}))
    .refuses(&[NOT_FOUND, UNAVAILABLE]);
    let replace = Operation::new(
        conventions,
        ("replaceCharge", "Replace the description of a charge"),
        WRITE,
        &[Takes::Content, Takes::WritePreconditions, Takes::IdempotencyKey],
    )
    .reads(
        "NewCharge",
        true,
        &json!({ "amount": 1000, "currency": "eur", "description": "three tickets" }),
    )
    .answers(OK, &to("Charge"), &["ETag", "Idempotency-Replayed"], &json!({}))
    .refuses(&[NOT_FOUND, UNPROCESSABLE]);
    let change = Operation::new(
        conventions,
        ("changeCharge", "Change the description of a charge"),
        WRITE,
        &[Takes::Patch, Takes::WritePreconditions, Takes::IdempotencyKey],
    )
    .patches("ChargePatch", &json!({ "description": "three tickets" }))
    .answers(OK, &to("Charge"), &["ETag", "Idempotency-Replayed"], &json!({}))
    .refuses(&[NOT_FOUND]);
    json!({
        "parameters": [in_path("id", "ChargeId")],
        "get": read.value(), "put": replace.value(), "patch": change.value(),
    })
}

fn refunds(conventions: &Conventions) -> Value {
    let list = Operation::new(
        conventions,
        ("listRefunds", "The refunds of a charge, newest first"),
        READ,
        &[Takes::PageBothWays],
    )
    .answers(
        (StatusCode::OK, "A page."),
        &page_of("Refund"),
        &["Link"],
        &json!({}),
    )
    .refuses(&[NOT_FOUND, UNAVAILABLE]);
    let of_refund = json!({ "id": "$request.path.id", "refund": "$response.body#/id" });
    let ask = Operation::new(
        conventions,
        (
            "askForRefund",
            "Request a refund of an amount, or of the rest of the charge",
        ),
        REFUND,
        &[Takes::Content, Takes::IdempotencyKey],
    )
    .reads("NewRefund", false, &json!({ "amount": 100 }))
    .answers(
        (
            StatusCode::ACCEPTED,
            "The refund is queued; poll the URL in Location.",
        ),
        &to("Refund"),
        &["Location", "Idempotency-Replayed"],
        &json!({ "poll": link("readRefund", &of_refund) }),
    )
    .refuses(&[NOT_FOUND, CONFLICT, UNPROCESSABLE]);
    json!({ "parameters": [in_path("id", "ChargeId")], "get": list.value(), "post": ask.value() })
}

fn refund(conventions: &Conventions) -> Value {
    let read = Operation::new(conventions, ("readRefund", "A refund"), READ, &[])
        .answers(OK, &to("Refund"), &[], &json!({}))
        .refuses(&[NOT_FOUND, UNAVAILABLE]);
    json!({
        "parameters": [in_path("id", "ChargeId"), in_path("refund", "RefundId")],
        "get": read.value(),
    })
}

fn customers(conventions: &Conventions) -> Value {
    let list = Operation::new(
        conventions,
        ("listCustomers", "The customers, newest first"),
        READ,
        &[Takes::PageBothWays],
    )
    .answers(
        (StatusCode::OK, "A page."),
        &page_of("Customer"),
        &["Link"],
        &json!({}),
    )
    .refuses(&[UNAVAILABLE]);
    let create = Operation::new(
        conventions,
        ("createCustomer", "Create a customer"),
        WRITE,
        &[Takes::Content, Takes::IdempotencyKey],
    )
    .reads("NewCustomer", true, &json!({ "name": "Grace Hopper" }))
    .answers(
        (StatusCode::CREATED, "The customer."),
        &to("Customer"),
        &["Location", "Idempotency-Replayed"],
        &json!({ "read": link("readCustomer", &json!({ "id": "$response.body#/id" })) }),
    )
    .refuses(&[UNPROCESSABLE]);
    json!({ "get": list.value(), "post": create.value() })
}

fn customer(conventions: &Conventions) -> Value {
    let read = Operation::new(conventions, ("readCustomer", "A customer"), READ, &[])
        .answers(OK, &to("Customer"), &[], &json!({}))
        .refuses(&[NOT_FOUND, UNAVAILABLE]);
    json!({ "parameters": [in_path("id", "CustomerId")], "get": read.value() })
}

fn webhook_endpoints(conventions: &Conventions) -> Value {
    let register = Operation::new(
        conventions,
        ("registerWebhookEndpoint", "Register a webhook endpoint"),
        WRITE,
        &[Takes::Content, Takes::IdempotencyKey],
    )
    .reads(
        "NewWebhookEndpoint",
        true,
        &json!({ "url": "https://shop.example/webhooks", "events": ["charge.created"] }),
    )
    .answers(
        (
            StatusCode::CREATED,
            "The endpoint and its secret, which is shown only once.",
        ),
        &to("NewWebhookEndpointSecret"),
        &["Location"],
        &json!({
            "read": link("readWebhookEndpoint", &json!({ "id": "$response.body#/id" })),
            "change": link("changeWebhookEndpoint", &json!({ "id": "$response.body#/id" })),
            "rotate": link("rotateWebhookSecret", &json!({ "id": "$response.body#/id" })),
            "test": link("sendWebhookTestEvent", &json!({ "id": "$response.body#/id" })),
            "delete": link("deleteWebhookEndpoint", &json!({ "id": "$response.body#/id" })),
        }),
    )
    .refuses(&[UNPROCESSABLE]);
    let first = json!({ "id": "$response.body#/data/0/id" });
    let list = Operation::new(
        conventions,
        ("listWebhookEndpoints", "The webhook endpoints"),
        READ,
        &[Takes::Page],
    )
    .answers(
        (StatusCode::OK, "A page."),
        &page_of("WebhookEndpoint"),
        &["Link"],
        &json!({ "read": link("readWebhookEndpoint", &first) }),
    )
    .refuses(&[UNAVAILABLE]);
    json!({ "get": list.value(), "post": register.value() })
}

fn webhook_endpoint(conventions: &Conventions) -> Value {
    let read = Operation::new(conventions, ("readWebhookEndpoint", "An endpoint"), READ, &[])
        .answers(OK, &to("WebhookEndpoint"), &[], &json!({}))
        .refuses(&[NOT_FOUND, UNAVAILABLE]);
    let change = Operation::new(
        conventions,
        ("changeWebhookEndpoint", "Change an endpoint"),
        WRITE,
        &[Takes::Content],
    )
    .patches("WebhookEndpointPatch", &json!({ "state": "paused", "rate": 10 }))
    .answers(OK, &to("WebhookEndpoint"), &[], &json!({}))
    .refuses(&[NOT_FOUND, UNPROCESSABLE, UNAVAILABLE]);
    let delete = Operation::new(
        conventions,
        (
            "deleteWebhookEndpoint",
            "Delete an endpoint; its waiting deliveries fail",
        ),
        WRITE,
        &[],
    )
    .answers_without_content("The endpoint is deleted.")
    .refuses(&[NOT_FOUND, UNAVAILABLE]);
    json!({
        "parameters": [in_path("id", "WebhookEndpointId")],
        "get": read.value(), "patch": change.value(), "delete": delete.value(),
    })
}

fn webhook_rotations(conventions: &Conventions) -> Value {
    let rotate = Operation::new(
        conventions,
        (
            "rotateWebhookSecret",
            "Rotate the secret; the old one signs beside it for a day",
        ),
        WRITE,
        &[Takes::IdempotencyKey],
    )
    .answers(
        (
            StatusCode::OK,
            "The endpoint and its new secret, which is shown only once.",
        ),
        &to("NewWebhookEndpointSecret"),
        &[],
        &json!({}),
    )
    .refuses(&[NOT_FOUND, CONFLICT]);
    json!({ "parameters": [in_path("id", "WebhookEndpointId")], "post": rotate.value() })
}

fn webhook_test_events(conventions: &Conventions) -> Value {
    let send = Operation::new(
        conventions,
        (
            "sendWebhookTestEvent",
            "Send a test event, whatever the event types",
        ),
        WRITE,
        &[Takes::IdempotencyKey],
    )
    .answers(
        (
            StatusCode::ACCEPTED,
            "The event is queued; poll the URL in Location.",
        ),
        &to("WebhookDelivery"),
        &["Location", "Idempotency-Replayed"],
        &json!({ "poll": link("readWebhookDelivery", &json!({ "id": "$response.body#/id" })) }),
    )
    .refuses(&[NOT_FOUND]);
    json!({ "parameters": [in_path("id", "WebhookEndpointId")], "post": send.value() })
}

fn webhook_deliveries(conventions: &Conventions) -> Value {
    let first = json!({ "id": "$response.body#/data/0/id" });
    let list = Operation::new(conventions, ("listWebhookDeliveries", "The deliveries of events"), READ, &[Takes::Page])
        .filtered("state", "Only those in this state.", &json!({ "enum": DeliveryState::ALL.map(DeliveryState::as_str) }))
        .answers(
            (StatusCode::OK, "A page."),
            &page_of("WebhookDelivery"),
            &["Link"],
            &json!({ "read": link("readWebhookDelivery", &first), "replay": link("replayWebhookDelivery", &first) }),
        )
        .refuses(&[UNAVAILABLE]);
    json!({ "get": list.value() })
}

fn webhook_delivery(conventions: &Conventions) -> Value {
    let read = Operation::new(
        conventions,
        ("readWebhookDelivery", "A delivery with the log of its attempts"),
        READ,
        &[],
    )
    .answers(OK, &to("LoggedWebhookDelivery"), &[], &json!({}))
    .refuses(&[NOT_FOUND, UNAVAILABLE]);
    json!({ "parameters": [in_path("id", "WebhookDeliveryId")], "get": read.value() })
}

fn webhook_replays(conventions: &Conventions) -> Value {
    let replay = Operation::new(
        conventions,
        ("replayWebhookDelivery", "Replay a failed delivery"),
        WRITE,
        &[Takes::IdempotencyKey],
    )
    .answers(
        (
            StatusCode::ACCEPTED,
            "The delivery is queued; poll the URL in Location.",
        ),
        &to("WebhookDelivery"),
        &["Location", "Idempotency-Replayed"],
        &json!({ "poll": link("readWebhookDelivery", &json!({ "id": "$request.path.id" })) }),
    )
    .refuses(&[NOT_FOUND, CONFLICT]);
    json!({ "parameters": [in_path("id", "WebhookDeliveryId")], "post": replay.value() })
}
