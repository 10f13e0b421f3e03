//! HTTP endpoint of the receiver.

mod intake;
mod queueing;
mod refusals;
mod settings;
mod store;
mod two_phase;
mod worker;

use std::{
    sync::Arc,
    time::{Duration, SystemTime},
};

use bytes::Bytes;
use host_ports::testing::ManualClock;
use http::{Request, Response, StatusCode, header};
use webhook_core::{
    memory::MemoryInbox,
    ports::Clock,
    receiver::{Inbox, Queued, ReceiveOutcome, Receiver, ReceiverBuilder, Verifier},
    signature::{Signer, Signers},
};

use crate::ends::secret;

const DAY: Duration = Duration::from_secs(86_400);

fn body(id: &str) -> String {
    format!(r#"{{"id":"{id}","type":"charge.created","created":1700000000,"data":{{"object":{{}}}}}}"#)
}

struct Fixture {
    clock: ManualClock,
    inbox: Arc<MemoryInbox>,
    signers: Signers,
    receiver: Receiver,
}

impl Fixture {
    fn new() -> Self {
        Self::with(|builder| builder)
    }

    /// Scheme of the example service: `timestamp.body` in hexadecimal.
    fn with(configure: impl FnOnce(ReceiverBuilder) -> ReceiverBuilder) -> Self {
        let clock = ManualClock::new(SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000));
        let inbox = Arc::new(MemoryInbox::default());
        let verifier = Verifier::timestamp_body_hex(secret(1));
        let builder = Receiver::builder("payments", verifier, inbox.clone(), clock.clone());
        let receiver = configure(builder).build().unwrap();
        Self {
            clock,
            inbox,
            signers: Signer::timestamp_body_hex(&secret(1)).into(),
            receiver,
        }
    }

    fn now(&self) -> SystemTime {
        self.clock.now()
    }

    /// A correctly signed delivery.
    fn request(&self, id: &str, body: impl Into<Bytes>) -> Request<Bytes> {
        let mut request = Request::post("/webhooks")
            .header("content-type", "application/json")
            .body(body.into())
            .unwrap();
        self.signers
            .sign(&id.parse().unwrap(), self.now(), request.body())
            .insert_into(request.headers_mut());
        request
    }

    async fn deliver(&self, id: &str) -> Response<Bytes> {
        self.receiver.receive(self.request(id, body(id))).await
    }

    async fn queued(&self) -> Vec<Queued> {
        self.inbox
            .take(100, self.now(), Duration::from_secs(60))
            .await
            .unwrap()
    }
}

fn outcome(response: &Response<Bytes>) -> ReceiveOutcome {
    *response.extensions().get().unwrap()
}

/// Checks the common properties of all error responses.
fn assert_problem(response: &Response<Bytes>, status: StatusCode) {
    assert_eq!(response.status(), status);
    assert_eq!(
        response.headers()[header::CONTENT_TYPE],
        "application/problem+json"
    );
    let problem: serde_json::Value = serde_json::from_slice(response.body()).unwrap();
    assert_eq!(problem["status"], status.as_u16());
    assert!(problem["title"].is_string());
}
