//! Webhooks to a receiver on another port: verification, deduplication, retries, dead letter and
//! replay.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use http::{Method, StatusCode};
use serde_json::{Value, json};
use tokio::time::{Instant, timeout_at};
use webhook_core::receiver::ReceiveOutcome;

use super::Tour;
use super::http::{FullResponse, send};
use super::receiver::{Behaviour, TourReceiver};
use super::report::{Mismatch, Step, Stopped, expect, found, mismatch, passed};
use crate::demo::SERVICE_SECRET;

/// Time limit for one piece of background work.
const PATIENCE: Duration = Duration::from_secs(6);

pub(super) async fn chapter(tour: &mut Tour<'_>) -> Result<(), Stopped> {
    tour.report.chapter("Webhooks, and a clock that can be advanced");

    let step = client_credentials(tour).await;
    tour.report.step("a service gets a token by itself", step)?;
    let step = register(tour).await;
    let registered = tour.report.step("register a receiver on another port", step)?;

    let step = delivered(tour, &registered).await;
    tour.report
        .step("charge.created: signed, verified, queued", step)?;
    let step = deduplicated(tour, &registered).await;
    tour.report
        .step("the 2xx is lost: redelivered, queued once", step)?;
    let step = retried(tour, &registered).await;
    tour.report.step("the receiver fails with 500: retried", step)?;
    let step = refunded(tour, &registered).await;
    tour.report.step("a refund: 202, poll, charge.refunded", step)?;
    let step = dead(tour, &registered).await;
    let delivery = tour.report.step("a receiver that never recovers", step)?;
    let step = listed(tour, &delivery).await;
    tour.report.step("the dead letter lists the delivery", step)?;
    let step = replayed(tour, &registered, &delivery).await;
    tour.report.step("the receiver recovers: replay", step)
}

/// The endpoint that the tour registered, and its receiver.
struct Registered {
    id: String,
    receiver: Arc<TourReceiver>,
}

async fn ask_for_token(tour: &Tour<'_>) -> Result<FullResponse, Mismatch> {
    let fields = [
        ("grant_type", "client_credentials"),
        ("scope", "read:charges write:charges write:refunds"),
    ];
    send(tour.form("/token", Some(("demo-service", SERVICE_SECRET)), &fields)?).await
}

async fn client_credentials(tour: &Tour<'_>) -> Step {
    let answer = ask_for_token(tour).await?;
    answer
        .expect(StatusCode::OK)?
        .expect_at("/token_type", "Bearer")?;
    expect(
        &answer.sent,
        "refresh token",
        answer.json()?.pointer("/refresh_token"),
        None,
    )?;
    passed(
        "POST /token client_credentials",
        "200, an access token, no refresh token",
    )
}

/// Calls the API with a new token, since the clock outruns every token in this chapter.
async fn call(
    tour: &Tour<'_>,
    method: Method,
    path: &str,
    body: Option<&Value>,
) -> Result<FullResponse, Mismatch> {
    let token = ask_for_token(tour).await?.string_at("/access_token")?;
    let request = match body {
        Some(body) => tour.sending(method, path, &token, body)?,
        None => tour.bearing(method, path, &token)?,
    };
    send(request).await
}

async fn register(tour: &Tour<'_>) -> Step<Registered> {
    let (listener, url) = super::receiver::listen()?;
    let answer = call(
        tour,
        Method::POST,
        "/v1/webhook-endpoints",
        Some(&json!({ "url": url })),
    )
    .await?;
    answer.expect(StatusCode::CREATED)?;
    let secret = answer.string_at("/secret")?;
    let receiver = TourReceiver::serve(listener, &secret, &tour.desk)?;
    let got = format!(
        "201, the secret, shown once: {}…",
        secret.get(..10).unwrap_or_default()
    );
    found(
        "POST /v1/webhook-endpoints",
        got,
        Registered {
            id: answer.string_at("/id")?,
            receiver,
        },
    )
}

/// Creates a charge; returns its id.
async fn charge(tour: &Tour<'_>, amount: u32) -> Result<String, Mismatch> {
    let body = json!({ "amount": amount, "currency": "eur" });
    let answer = call(tour, Method::POST, "/v1/charges", Some(&body)).await?;
    answer.expect(StatusCode::CREATED)?.string_at("/id")
}

async fn delivered(tour: &Tour<'_>, registered: &Registered) -> Step {
    let charge = charge(tour, 1000).await?;
    let event = registered.receiver.queued().await?;
    expect("the event", "type", event.event_type().as_str(), "charge.created")?;
    expect("the event", "charge", object_id(event.object()), Some(charge))?;
    let delivery = format!("{}.{}", event.id(), registered.id);
    wait_for(tour, &delivery, "acked").await?;
    passed("POST to the receiver", "204; signature verified, event queued")
}

fn object_id(object: &[u8]) -> Option<String> {
    let object: Value = serde_json::from_slice(object).ok()?;
    object.pointer("/id")?.as_str().map(str::to_owned)
}

async fn deduplicated(tour: &Tour<'_>, registered: &Registered) -> Step {
    registered.receiver.behave(Behaviour::LoseAcknowledgement);
    charge(tour, 1100).await?;
    let event = registered.receiver.queued().await?;
    let delivery = format!("{}.{}", event.id(), registered.id);
    let due = wait_for(tour, &delivery, "retry_scheduled").await?;
    registered.receiver.behave(Behaviour::Accept);
    let waited = advance_to(tour, &due)?;
    wait_for(tour, &delivery, "acked").await?;
    expect(
        &delivery,
        "outcome",
        registered.receiver.last_outcome(),
        Some(ReceiveOutcome::Duplicate),
    )?;
    passed(
        "the same event again",
        format_args!("after {waited}: 204 as a duplicate, not queued again"),
    )
}

async fn retried(tour: &Tour<'_>, registered: &Registered) -> Step {
    let sent = "POST to the receiver";
    let delivery = fail_once(tour, registered, 1200).await?;
    let due = wait_for(tour, &delivery, "retry_scheduled").await?;
    registered.receiver.behave(Behaviour::Accept);
    let waited = advance_to(tour, &due)?;
    registered.receiver.queued().await?;
    wait_for(tour, &delivery, "acked").await?;
    passed(sent, format_args!("500, then after {waited}: 204"))
}

/// Creates a charge whose event the receiver fails on; returns the id of the delivery.
async fn fail_once(tour: &Tour<'_>, registered: &Registered, amount: u32) -> Result<String, Mismatch> {
    registered.receiver.behave(Behaviour::Fail);
    charge(tour, amount).await?;
    let event = registered.receiver.failed_on().await?;
    Ok(format!("{event}.{}", registered.id))
}

async fn refunded(tour: &Tour<'_>, registered: &Registered) -> Step {
    let charge = charge(tour, 1300).await?;
    registered.receiver.queued().await?;
    let path = format!("/v1/charges/{charge}/refunds");
    let answer = call(tour, Method::POST, &path, Some(&json!({ "amount": 300 }))).await?;
    answer.expect(StatusCode::ACCEPTED)?;
    let poll = answer.expect_header("location")?.to_owned();
    until(tour, &poll, "/status", "succeeded").await?;
    let event = registered.receiver.queued().await?;
    expect(
        "the event",
        "type",
        event.event_type().as_str(),
        "charge.refunded",
    )?;
    expect("the event", "charge", object_id(event.object()), Some(charge))?;
    passed(
        "POST …/refunds, GET its Location",
        "202, then succeeded, and the event",
    )
}

async fn dead(tour: &Tour<'_>, registered: &Registered) -> Step<String> {
    let start = tour.desk.now();
    let delivery = fail_once(tour, registered, 1400).await?;
    let path = format!("/v1/webhook-deliveries/{delivery}");
    for attempts in 1..7 {
        until(tour, &path, "/attempts", attempts).await?;
        let due = wait_for(tour, &delivery, "retry_scheduled").await?;
        advance_to(tour, &due)?;
    }
    let dead = wait_for(tour, &delivery, "dead_letter").await?;
    dead.expect_at("/attempts", 7)?.expect_at("/log/6/status", 500)?;
    let span = tour.desk.now().duration_since(start).unwrap_or_default();
    found(
        "POST to the receiver",
        format!("500 seven times in {}, then dead letter", words(span)),
        delivery,
    )
}

async fn listed(tour: &Tour<'_>, delivery: &str) -> Step {
    let answer = call(
        tour,
        Method::GET,
        "/v1/webhook-deliveries?state=dead_letter",
        None,
    )
    .await?;
    answer
        .expect(StatusCode::OK)?
        .expect_at("/data/0/id", delivery)?
        .expect_at("/data/0/reason", "attempts_exhausted")?;
    passed(
        "GET /v1/webhook-deliveries?state=dead_letter",
        "200, one delivery, attempts_exhausted",
    )
}

async fn replayed(tour: &Tour<'_>, registered: &Registered, delivery: &str) -> Step {
    registered.receiver.behave(Behaviour::Accept);
    // the circuit breaker opens for at most one hour
    tour.desk.advance(Duration::from_secs(3600));
    let answer = call(
        tour,
        Method::POST,
        &format!("/v1/webhook-deliveries/{delivery}/replays"),
        Some(&json!({})),
    )
    .await?;
    answer.expect(StatusCode::ACCEPTED)?;
    let event = registered.receiver.queued().await?;
    expect(
        "the event",
        "id",
        Some(event.id().as_str()),
        delivery.split('.').next(),
    )?;
    wait_for(tour, delivery, "acked").await?;
    passed("POST …/replays", "202, then 204 from the receiver: acked")
}

/// Waits until the delivery has this state.
async fn wait_for(tour: &Tour<'_>, delivery: &str, state: &str) -> Result<FullResponse, Mismatch> {
    until(
        tour,
        &format!("/v1/webhook-deliveries/{delivery}"),
        "/state",
        state,
    )
    .await
}

/// Waits until the resource has this value at this JSON pointer. Reads it each time the desk
/// reports progress.
async fn until(
    tour: &Tour<'_>,
    path: &str,
    pointer: &str,
    value: impl Into<Value>,
) -> Result<FullResponse, Mismatch> {
    let value = value.into();
    let deadline = Instant::now() + PATIENCE;
    // subscribe before the first read, so that no progress is missed
    let mut progress = tour.desk.progress();
    loop {
        let answer = call(tour, Method::GET, path, None).await?;
        answer.expect(StatusCode::OK)?;
        if answer.json()?.pointer(pointer) == Some(&value) {
            return Ok(answer);
        }
        if !matches!(timeout_at(deadline, progress.changed()).await, Ok(Ok(()))) {
            return Err(mismatch(path, format_args!("{pointer} {value}"), answer.text()));
        }
    }
}

/// Advances the clock of the desk to the due time of the delivery; returns the wait as text.
fn advance_to(tour: &Tour<'_>, delivery: &FullResponse) -> Result<String, Mismatch> {
    let json = delivery.json()?;
    let due = json.pointer("/due").and_then(Value::as_u64);
    let due = due.ok_or_else(|| mismatch(&delivery.sent, "a due time", &json))?;
    let due = SystemTime::UNIX_EPOCH + Duration::from_secs(due);
    let wait = due.duration_since(tour.desk.now()).unwrap_or_default();
    tour.desk.advance(wait);
    Ok(words(wait))
}

/// A duration as text, rounded down to one unit.
fn words(span: Duration) -> String {
    match span.as_secs() {
        seconds @ 0..60 => format!("{seconds} s"),
        seconds @ 60..3600 => format!("{} min", seconds / 60),
        seconds => format!("{} h", seconds / 3600),
    }
}
