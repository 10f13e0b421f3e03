//! The extractor of verified webhooks.
#![expect(clippy::unwrap_used, reason = "a failure ends the test")]

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, SystemTime};

use actix_web::{App, HttpResponse, body, test, web};
use bytes::Bytes;
use host_adapter_actix::Webhook;
use host_ports::testing::ManualClock;
use http::Request;
use webhook_core::memory::MemoryClaims;
use webhook_core::ports::Clock;
use webhook_core::receiver::{Intake, Provider, providers};

const SECRET: &str = "whsec_a_secret_of_the_dashboard";
const BODY: &str = r#"{"id":"evt_1","type":"charge.succeeded"}"#;

/// Handler that does not finish an event whose body ends with `fail`.
async fn handle(event: Webhook, handled: web::Data<AtomicU32>) -> HttpResponse {
    handled.fetch_add(1, Ordering::Relaxed);
    if event.body().ends_with(b"fail") {
        return HttpResponse::InternalServerError().finish();
    }
    event.finish().await
}

struct Ends {
    clock: ManualClock,
    intake: Option<Intake>,
    handled: Arc<AtomicU32>,
    provider: Provider,
}

impl Ends {
    fn new(provider: Provider) -> Self {
        let clock = ManualClock::new(SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000));
        let verifier = provider.verifier([SECRET]).unwrap();
        let intake = Intake::builder("sender", verifier, MemoryClaims::default(), clock.clone());
        Self {
            clock,
            intake: Some(intake.with_body_limit(100).build().unwrap()),
            handled: Arc::default(),
            provider,
        }
    }

    fn signed(&self, body: &str) -> Request<Bytes> {
        let request = Request::post("/hooks").body(Bytes::from(body.to_owned()));
        let mut request = request.unwrap();
        let signer = self.provider.signer(SECRET).unwrap();
        signer.sign(&mut request, None, self.clock.now()).unwrap();
        request
    }

    async fn send(&self, request: Request<Bytes>) -> (u16, Bytes) {
        let mut app = App::new()
            .app_data(web::Data::from(Arc::clone(&self.handled)))
            .route("/hooks", web::to(handle));
        if let Some(intake) = &self.intake {
            app = app.app_data(web::Data::new(intake.clone()));
        }
        let service = test::init_service(app).await;
        let (parts, content) = request.into_parts();
        let method = parts.method.as_str().parse().unwrap();
        let mut call = test::TestRequest::with_uri(&parts.uri.to_string()).method(method);
        for (name, value) in &parts.headers {
            call = call.append_header((name.as_str(), value.as_bytes()));
        }
        let response = test::call_service(&service, call.set_payload(content).to_request()).await;
        let status = response.status().as_u16();
        (status, body::to_bytes(response.into_body()).await.unwrap())
    }
}

/// W19, W7: a verified event reaches the handler once; forged and large requests never do.
#[actix_web::test]
async fn verified_event_reaches_the_handler_once() {
    let ends = Ends::new(providers::STRIPE);
    for _ in 0..2 {
        assert_eq!(ends.send(ends.signed(BODY)).await, (200, Bytes::new()));
    }
    let mut forged = ends.signed(BODY);
    *forged.body_mut() = BODY.replace("evt_1", "evt_2").into();
    assert_eq!(ends.send(forged).await.0, 400);
    assert_eq!(ends.send(ends.signed(&"x".repeat(101))).await.0, 413);
    let get = Request::get("/hooks").body(Bytes::new()).unwrap();
    assert_eq!(ends.send(get).await.0, 405);
    assert_eq!(ends.handled.load(Ordering::Relaxed), 1);
}

/// W7: an event whose handler failed is handled again after its lease.
#[actix_web::test]
async fn failed_event_is_handled_again() {
    let ends = Ends::new(providers::GITHUB);
    assert_eq!(ends.send(ends.signed("fail")).await.0, 500);
    assert_eq!(ends.send(ends.signed("fail")).await.0, 503);
    ends.clock.advance(Duration::from_secs(30));
    assert_eq!(ends.send(ends.signed("fail")).await.0, 500);
    assert_eq!(ends.handled.load(Ordering::Relaxed), 2);
}

/// W21: a handshake of the sender is answered by the extractor.
#[actix_web::test]
async fn handshake_is_answered() {
    let ends = Ends::new(providers::DROPBOX);
    let get = Request::get("/hooks?challenge=c1").body(Bytes::new()).unwrap();
    assert_eq!(ends.send(get).await, (200, Bytes::from("c1")));
    assert_eq!(ends.handled.load(Ordering::Relaxed), 0);
}

/// W19: an app without an intake handles nothing.
#[actix_web::test]
async fn app_without_intake_answers_500() {
    let mut ends = Ends::new(providers::STRIPE);
    ends.intake = None;
    assert_eq!(ends.send(ends.signed(BODY)).await.0, 500);
    assert_eq!(ends.handled.load(Ordering::Relaxed), 0);
}
