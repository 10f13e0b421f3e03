//! The extractor of verified webhooks.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, SystemTime};

use axum::body::{Body, Bytes};
use axum::extract::{FromRef, State};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, post};
use axum::{Extension, Router};
use host_adapter_axum::{Webhook, WebhookLayer};
use host_ports::testing::ManualClock;
use http::{Request, StatusCode};
use http_body_util::BodyExt;
use tower_service::Service;
use webhook_core::EventId;
use webhook_core::memory::MemoryClaims;
use webhook_core::ports::Clock;
use webhook_core::receiver::{Intake, Provider, providers};

const SECRET: &str = "whsec_a_secret_of_the_dashboard";
const BODY: &str = r#"{"id":"evt_1","type":"charge.succeeded"}"#;

/// State of the router: an event whose body has `fail` is not finished.
#[derive(Clone)]
struct Desk {
    intake: Intake,
    handled: Arc<AtomicU32>,
}

impl FromRef<Desk> for Intake {
    fn from_ref(desk: &Desk) -> Self {
        desk.intake.clone()
    }
}

async fn handle(State(desk): State<Desk>, event: Webhook) -> Response {
    desk.handled.fetch_add(1, Ordering::Relaxed);
    if event.body().ends_with(b"fail") {
        return StatusCode::INTERNAL_SERVER_ERROR.into_response();
    }
    event.finish().await
}

async fn handle_text(
    State(desk): State<Desk>,
    Extension(id): Extension<EventId>,
    text: String,
) -> (StatusCode, &'static str) {
    desk.handled.fetch_add(1, Ordering::Relaxed);
    assert_eq!(text.contains(id.as_str()), id.as_str() == "evt_1");
    match text.ends_with("fail") {
        true => (StatusCode::IM_A_TEAPOT, "failed"),
        false => (StatusCode::CREATED, "unread"),
    }
}

struct Ends {
    clock: ManualClock,
    desk: Desk,
    provider: Provider,
}

impl Ends {
    fn new(provider: Provider) -> Self {
        let clock = ManualClock::new(SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000));
        let verifier = provider.verifier([SECRET]).unwrap();
        let intake = Intake::builder("sender", verifier, MemoryClaims::default(), clock.clone());
        let intake = intake.with_body_limit(100).build().unwrap();
        let handled = Arc::default();
        Self {
            clock,
            desk: Desk { intake, handled },
            provider,
        }
    }

    fn signed(&self, body: &str) -> Request<Bytes> {
        let mut request = Request::post("/hooks/sender")
            .body(Bytes::from(body.to_owned()))
            .unwrap();
        let signer = self.provider.signer(SECRET).unwrap();
        signer.sign(&mut request, None, self.clock.now()).unwrap();
        request
    }

    async fn send(&self, request: Request<Bytes>) -> (u16, String) {
        self.send_to(Router::new().route("/sender", any(handle)), request)
            .await
    }

    /// Sends to a handler that knows nothing of webhooks.
    async fn send_through_layer(&self, request: Request<Bytes>) -> (u16, String) {
        let layer = WebhookLayer::new(self.desk.intake.clone());
        let hooks = Router::new().route("/sender", post(handle_text).layer(layer));
        self.send_to(hooks, request).await
    }

    async fn send_to(&self, hooks: Router<Desk>, request: Request<Bytes>) -> (u16, String) {
        let mut router = Router::new().nest("/hooks", hooks).with_state(self.desk.clone());
        let response = router.call(request.map(Body::from)).await.unwrap();
        let status = response.status().as_u16();
        let body = response.into_body().collect().await.unwrap().to_bytes();
        (status, String::from_utf8(body.to_vec()).unwrap())
    }

    fn handled(&self) -> u32 {
        self.desk.handled.load(Ordering::Relaxed)
    }
}

/// W19, W7: a verified event reaches the handler once; forged and large requests never do.
#[tokio::test]
async fn verified_event_reaches_the_handler_once() {
    let ends = Ends::new(providers::STRIPE);
    for _ in 0..2 {
        assert_eq!(ends.send(ends.signed(BODY)).await, (200, String::new()));
    }
    assert_eq!(ends.handled(), 1);
    let mut forged = ends.signed(BODY);
    *forged.body_mut() = BODY.replace("evt_1", "evt_2").into();
    let (status, text) = ends.send(forged).await;
    assert_eq!(status, 400);
    assert!(text.contains("could not be verified"), "{text}");
    assert_eq!(ends.send(ends.signed(&"x".repeat(101))).await.0, 413);
    let get = Request::get("/hooks/sender").body(Bytes::new()).unwrap();
    assert_eq!(ends.send(get).await.0, 405);
    assert_eq!(ends.handled(), 1);
}

/// W19, W7: an ordinary handler gets each verified event once, and the sender its own response.
#[tokio::test]
async fn layer_passes_verified_event_once() {
    let ends = Ends::new(providers::STRIPE);
    for _ in 0..2 {
        let answer = ends.send_through_layer(ends.signed(BODY)).await;
        assert_eq!((answer, ends.handled()), ((200, String::new()), 1));
    }
    let mut forged = ends.signed(BODY);
    *forged.body_mut() = BODY.replace("evt_1", "evt_2").into();
    assert_eq!(ends.send_through_layer(forged).await.0, 400);
    let old = ends.signed(&BODY.replace("evt_1", "evt_3"));
    ends.clock.advance(Duration::from_secs(301));
    assert_eq!(ends.send_through_layer(old).await.0, 400);
    let large = ends.signed(&"x".repeat(101));
    assert_eq!(ends.send_through_layer(large).await.0, 413);
    assert_eq!(ends.handled(), 1);
}

/// W7: an event whose handler returned no 2xx is handled again after its lease.
#[tokio::test]
async fn layer_passes_failed_event_again() {
    let ends = Ends::new(providers::GITHUB);
    let failed = (418, "failed".to_owned());
    assert_eq!(ends.send_through_layer(ends.signed("fail")).await, failed);
    assert_eq!(ends.send_through_layer(ends.signed("fail")).await.0, 503);
    assert_eq!(ends.handled(), 1);
    ends.clock.advance(Duration::from_secs(31));
    assert_eq!(ends.send_through_layer(ends.signed("fail")).await, failed);
    assert_eq!(ends.handled(), 2);
}

/// W7: an event whose handler failed is handled again after its lease.
#[tokio::test]
async fn failed_event_is_handled_again() {
    let ends = Ends::new(providers::GITHUB);
    assert_eq!(ends.send(ends.signed("fail")).await.0, 500);
    assert_eq!(ends.send(ends.signed("fail")).await.0, 503);
    assert_eq!(ends.handled(), 1);
    ends.clock.advance(Duration::from_secs(30));
    assert_eq!(ends.send(ends.signed("fail")).await.0, 500);
    assert_eq!(ends.handled(), 2);
}

/// W21: a handshake of the sender is answered by the extractor, also a `GET` with a query.
#[tokio::test]
async fn handshake_is_answered() {
    let ends = Ends::new(providers::DROPBOX);
    let get = Request::get("/hooks/sender?challenge=c1")
        .body(Bytes::new())
        .unwrap();
    assert_eq!(ends.send(get).await, (200, "c1".to_owned()));
    assert_eq!(ends.handled(), 0);
}
