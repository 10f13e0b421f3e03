//! The webhooks that the shop receives: payments by Standard Webhooks, members by Svix.

use std::sync::Arc;

use axum::extract::{FromRef, State};
use axum::http::StatusCode;
use axum::response::Response;
use host_adapter_axum::Webhook;
use serde::Deserialize;
use serde_json::Value;
use webhook_core::memory::MemoryClaims;
use webhook_core::ports::SystemClock;
use webhook_core::receiver::{Intake, Provider, ReceiveOutcome};

use crate::App;

/// State of the route of one sender.
#[derive(Clone, FromRef)]
pub(crate) struct Hook {
    app: Arc<App>,
    intake: Intake,
}

impl Hook {
    pub(crate) fn new(
        app: Arc<App>,
        provider: Provider,
        secret: &str,
    ) -> Result<Self, Box<dyn std::error::Error>> {
        let verifier = provider.verifier([secret])?;
        // the other stores of the shop are in memory too
        let claims = MemoryClaims::default();
        let intake = Intake::builder(provider.name(), verifier, claims, SystemClock).build()?;
        Ok(Self { app, intake })
    }
}

/// Logs the reason of a refusal, which the response does not contain.
pub(crate) async fn log_refusal(response: Response) -> Response {
    if let Some(ReceiveOutcome::Rejected(reason)) = response.extensions().get() {
        eprintln!("refused a webhook: {reason}");
    }
    response
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

pub(crate) async fn payments(State(app): State<Arc<App>>, webhook: Webhook) -> Result<Response, Refusal> {
    let event: Event = webhook.json().map_err(bad_request)?;
    if event.r#type == "payment.succeeded" {
        let payment: Payment = serde_json::from_value(event.data).map_err(bad_request)?;
        let order = app.shop.pay(&payment.order, payment.amount);
        // the sender repeats an event that arrives before its order
        let order = order.ok_or((StatusCode::NOT_FOUND, "no such order".to_owned()))?;
        if order.is_paid() {
            app.sender.send("order.paid", &payment.order);
        }
    }
    Ok(webhook.finish().await)
}

#[derive(Deserialize)]
struct Member {
    id: String,
    mail: Option<String>,
}

pub(crate) async fn members(State(app): State<Arc<App>>, webhook: Webhook) -> Result<Response, Refusal> {
    let event: Event = webhook.json().map_err(bad_request)?;
    if let "user.created" | "user.updated" | "user.deleted" = event.r#type.as_str() {
        let member: Member = serde_json::from_value(event.data).map_err(bad_request)?;
        app.shop.set_member(member.id, member.mail);
    }
    Ok(webhook.finish().await)
}

fn bad_request(error: impl std::error::Error) -> Refusal {
    (StatusCode::BAD_REQUEST, error.to_string())
}
