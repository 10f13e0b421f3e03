//! The webhooks that the shop sends, signed by Standard Webhooks.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use axum::Json;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use serde::Deserialize;
use serde_json::{Value, json};
use url::Url;
use webhook_core::ports::OsEntropy;
use webhook_core::{EventId, Signer, Signers, SigningSecret};

use crate::App;

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
    signers: Signers,
}

impl Sender {
    /// Sends an event to all subscribers, without waiting.
    pub(crate) fn send(&self, kind: &str, order: &str) {
        let id = EventId::generate(&OsEntropy);
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
    id: &EventId,
    body: &str,
) -> Result<bool, reqwest::Error> {
    let mut headers = HeaderMap::new();
    let signed = subscriber.signers.sign(id, SystemTime::now(), body.as_bytes());
    signed.insert_into(&mut headers);
    let request = client
        .post(subscriber.url.clone())
        .header("content-type", "application/json");
    let response = request.headers(headers).body(body.to_owned()).send().await?;
    Ok(response.status().is_success())
}

/// Creates a signer, and the text of its secret for the subscriber.
fn generate() -> (Signer, String) {
    let signer = Signer::standard_webhooks(&SigningSecret::generate(&OsEntropy));
    let text = signer.expose_text();
    (signer, text)
}

#[derive(Deserialize)]
pub(crate) struct Subscription {
    id: String,
    url: Url,
}

pub(crate) async fn subscribe(
    State(app): State<Arc<App>>,
    Json(subscription): Json<Subscription>,
) -> (StatusCode, Json<Value>) {
    let (signer, text) = generate();
    let subscriber = Subscriber {
        url: subscription.url,
        signers: Signers::from(signer),
    };
    let mut subscribers = app
        .sender
        .subscribers
        .lock()
        .unwrap_or_else(PoisonError::into_inner);
    subscribers.insert(subscription.id, subscriber);
    (StatusCode::CREATED, Json(json!({ "secret": text })))
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
    let (signer, text) = generate();
    let signers = subscriber.signers.clone();
    let rotated = signers.rotate(signer, SystemTime::now(), Signers::OVERLAP);
    // the replaced secrets of a day are at most seven
    subscriber.signers = rotated.map_err(|_| StatusCode::CONFLICT)?;
    Ok(Json(json!({ "secret": text })))
}
