//! The webhooks that the shop receives: payments by Standard Webhooks, members by Svix.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use serde::Deserialize;
use serde_json::Value;

use crate::App;

pub(crate) struct Verifiers {
    payments: standardwebhooks::Webhook,
    members: svix::webhooks::Webhook,
}

impl Verifiers {
    pub(crate) fn new(payments: &str, members: &str) -> Result<Self, Box<dyn std::error::Error>> {
        Ok(Self {
            payments: standardwebhooks::Webhook::new(payments)?,
            members: svix::webhooks::Webhook::new(members)?,
        })
    }
}

type Refusal = (StatusCode, String);

#[derive(Deserialize)]
struct Event {
    r#type: String,
    data: Value,
}

#[derive(Deserialize)]
struct Payment {
    order: String,
    amount: u64,
}

pub(crate) async fn payments(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<StatusCode, Refusal> {
    app.verifiers
        .payments
        .verify(&body, &headers)
        .map_err(bad_request)?;
    let event: Event = serde_json::from_slice(&body).map_err(bad_request)?;
    if event.r#type == "payment.succeeded" {
        let payment: Payment = serde_json::from_value(event.data).map_err(bad_request)?;
        let order = app.shop.pay(&payment.order, payment.amount);
        // the sender repeats an event that arrives before its order
        let order = order.ok_or((StatusCode::NOT_FOUND, "no such order".to_owned()))?;
        if order.is_paid() {
            app.sender.send("order.paid", &payment.order);
        }
    }
    Ok(StatusCode::NO_CONTENT)
}

#[derive(Deserialize)]
struct Member {
    id: String,
    mail: Option<String>,
}

pub(crate) async fn members(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<StatusCode, Refusal> {
    app.verifiers
        .members
        .verify(&body, &headers)
        .map_err(bad_request)?;
    let event: Event = serde_json::from_slice(&body).map_err(bad_request)?;
    if let "user.created" | "user.updated" | "user.deleted" = event.r#type.as_str() {
        let member: Member = serde_json::from_value(event.data).map_err(bad_request)?;
        app.shop.set_member(member.id, member.mail);
    }
    Ok(StatusCode::NO_CONTENT)
}

fn bad_request(error: impl std::error::Error) -> Refusal {
    (StatusCode::BAD_REQUEST, error.to_string())
}
