//! The webhooks that the shop sends, signed by Standard Webhooks.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use base64::prelude::{BASE64_STANDARD, Engine as _};
use serde::Deserialize;
use serde_json::{Value, json};
use standardwebhooks::{
    HEADER_WEBHOOK_ID, HEADER_WEBHOOK_SIGNATURE, HEADER_WEBHOOK_TIMESTAMP, Webhook, WebhookError,
};
use url::Url;

use crate::App;

/// Time for which a replaced secret signs beside the new one.
const OVERLAP: Duration = Duration::from_secs(86_400);

/// Waits before the attempts of a message.
const ATTEMPTS: [Duration; 3] = [Duration::ZERO, Duration::from_millis(200), Duration::from_secs(2)];

#[derive(Default)]
pub(crate) struct Sender {
    client: reqwest::Client,
    subscribers: Mutex<BTreeMap<String, Subscriber>>,
}

#[derive(Clone)]
struct Subscriber {
    url: Url,
    secret: Arc<Webhook>,
    replaced: Option<(Arc<Webhook>, SystemTime)>,
}

impl Subscriber {
    /// Headers of one attempt.
    fn sign(&self, id: &str, body: &str) -> Result<[(&'static str, String); 3], WebhookError> {
        let now = SystemTime::now();
        let timestamp = now.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs() as i64;
        let mut signature = self.secret.sign(id, timestamp, body.as_bytes())?;
        if let Some((replaced, until)) = &self.replaced
            && now < *until
        {
            signature = format!("{signature} {}", replaced.sign(id, timestamp, body.as_bytes())?);
        }
        Ok([
            (HEADER_WEBHOOK_ID, id.to_owned()),
            (HEADER_WEBHOOK_TIMESTAMP, timestamp.to_string()),
            (HEADER_WEBHOOK_SIGNATURE, signature),
        ])
    }
}

impl Sender {
    /// Sends an event to all subscribers, without waiting.
    pub(crate) fn send(&self, kind: &str, order: &str) {
        let id = format!("msg_{:032x}", rand::random::<u128>());
        let body = json!({ "type": kind, "data": { "order": order } }).to_string();
        let subscribers = self.subscribers.lock().unwrap_or_else(PoisonError::into_inner);
        for subscriber in subscribers.values().cloned() {
            let (client, id, body) = (self.client.clone(), id.clone(), body.clone());
            tokio::spawn(async move {
                for wait in ATTEMPTS {
                    tokio::time::sleep(wait).await;
                    match attempt(&client, &subscriber, &id, &body).await {
                        Ok(true) => return,
                        Ok(false) => {}
                        Err(error) => eprintln!("{id}: {error}"),
                    }
                }
                eprintln!("{id}: not delivered to {}", subscriber.url);
            });
        }
    }
}

/// Returns `true` if the subscriber acknowledged the message.
async fn attempt(
    client: &reqwest::Client,
    subscriber: &Subscriber,
    id: &str,
    body: &str,
) -> Result<bool, Box<dyn std::error::Error + Send + Sync>> {
    let mut request = client
        .post(subscriber.url.clone())
        .header("content-type", "application/json");
    for (name, value) in subscriber.sign(id, body)? {
        request = request.header(name, value);
    }
    let response = request.body(body.to_owned()).send().await?;
    Ok(response.status().is_success())
}

/// Creates a secret, and its text for the subscriber.
fn generate() -> Result<(Arc<Webhook>, String), StatusCode> {
    let text = format!("whsec_{}", BASE64_STANDARD.encode(rand::random::<[u8; 24]>()));
    let webhook = Webhook::new(&text).map_err(|_| StatusCode::INTERNAL_SERVER_ERROR)?;
    Ok((Arc::new(webhook), text))
}

#[derive(Deserialize)]
pub(crate) struct Subscription {
    id: String,
    url: Url,
}

pub(crate) async fn subscribe(
    State(app): State<Arc<App>>,
    Json(subscription): Json<Subscription>,
) -> Result<(StatusCode, Json<Value>), StatusCode> {
    let (secret, text) = generate()?;
    let subscriber = Subscriber {
        url: subscription.url,
        secret,
        replaced: None,
    };
    let mut subscribers = app
        .sender
        .subscribers
        .lock()
        .unwrap_or_else(PoisonError::into_inner);
    subscribers.insert(subscription.id, subscriber);
    Ok((StatusCode::CREATED, Json(json!({ "secret": text }))))
}

/// Replaces the secret of a subscriber.
pub(crate) async fn rotate(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
) -> Result<Json<Value>, StatusCode> {
    let mut subscribers = app
        .sender
        .subscribers
        .lock()
        .unwrap_or_else(PoisonError::into_inner);
    let subscriber = subscribers.get_mut(&id).ok_or(StatusCode::NOT_FOUND)?;
    let (secret, text) = generate()?;
    let replaced = std::mem::replace(&mut subscriber.secret, secret);
    subscriber.replaced = Some((replaced, SystemTime::now() + OVERLAP));
    Ok(Json(json!({ "secret": text })))
}
