//! Handshakes, and the attacks on them.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use host_ports::testing::ManualClock;
use http::{Method, Request, Response, StatusCode, header};
use webhook_core::{
    memory::MemoryInbox,
    ports::OsEntropy,
    receiver::{
        Inbox, Provider, ReceiveOutcome, Receiver, Registration, Verifier,
        providers::{ASANA, DROPBOX, META, MICROSOFT_GRAPH, NOTION, SLACK, TWITCH, WOOCOMMERCE, XERO, ZOOM},
    },
    secret::SigningSecret,
};

use super::{now, secret, verifier};

struct Fixture {
    receiver: Receiver,
    inbox: Arc<MemoryInbox>,
}

impl Fixture {
    fn new(provider: &Provider) -> Self {
        Self::with(verifier(provider, &[1]))
    }

    fn with(verifier: Verifier) -> Self {
        let inbox = Arc::new(MemoryInbox::default());
        let clock = ManualClock::new(now());
        let receiver = Receiver::builder("sender", verifier, inbox.clone(), clock);
        Self {
            receiver: receiver.build().unwrap(),
            inbox,
        }
    }

    async fn send(&self, request: Request<Bytes>) -> (StatusCode, String, ReceiveOutcome) {
        let response = self.receiver.receive(request).await;
        let outcome = *response.extensions().get().unwrap();
        if response.status() == StatusCode::OK && !response.body().is_empty() {
            assert_inert(&response);
        }
        let body = String::from_utf8(response.body().to_vec()).unwrap();
        (response.status(), body, outcome)
    }

    async fn queued(&self) -> usize {
        self.inbox
            .take(9, now(), Duration::from_secs(1))
            .await
            .unwrap()
            .len()
    }
}

/// A browser runs nothing of the response.
fn assert_inert(response: &Response<Bytes>) {
    assert_eq!(response.headers()[header::X_CONTENT_TYPE_OPTIONS], "nosniff");
    let content_type = response.headers()[header::CONTENT_TYPE].to_str().unwrap();
    assert!(["text/plain; charset=utf-8", "application/json"].contains(&content_type));
}

fn post(body: &str) -> Request<Bytes> {
    Request::post("/hooks")
        .body(Bytes::from(body.to_owned()))
        .unwrap()
}

fn signed(provider: &Provider, number: u8, body: &str) -> Request<Bytes> {
    let mut request = post(body);
    let signer = provider.signer(&secret(provider, number)).unwrap();
    signer.sign(&mut request, Some("evt_1"), now()).unwrap();
    request
}

fn get(query: &str) -> Request<Bytes> {
    let request = Request::get(format!("/hooks?{query}"));
    request.body(Bytes::new()).unwrap()
}

fn ok(body: &str) -> (StatusCode, String, ReceiveOutcome) {
    (StatusCode::OK, body.to_owned(), ReceiveOutcome::HandshakeAnswered)
}

/// W21: Slack and Twitch get their challenge back, if it is signed; nothing is queued.
#[tokio::test]
async fn signed_challenges_are_echoed() {
    for (provider, body) in [
        (SLACK, r#"{"type":"url_verification","challenge":"c_1"}"#),
        (TWITCH, r#"{"challenge":"c_1","subscription":{}}"#),
    ] {
        let fixture = Fixture::new(&provider);
        assert_eq!(fixture.send(signed(&provider, 1, body)).await, ok("c_1"));
        let (status, text, _) = fixture.send(signed(&provider, 0, body)).await;
        assert_eq!(status, StatusCode::BAD_REQUEST, "{text}");
        assert!(
            !text.contains("c_1"),
            "an unsigned challenge is not reflected: {text}"
        );
        let long = body.replace("c_1", &"x".repeat(257));
        let (status, _, outcome) = fixture.send(signed(&provider, 1, &long)).await;
        assert_eq!(
            (status, outcome),
            (StatusCode::BAD_REQUEST, ReceiveOutcome::HandshakeRefused)
        );
        assert_eq!(fixture.queued().await, 0);
    }
}

/// W21: Zoom's token is signed, if the request is; a text of a webhook is never signed.
#[tokio::test]
async fn zoom_signs_plain_tokens_only() {
    let fixture = Fixture::new(&ZOOM);
    let validation = |token: &str| {
        format!(r#"{{"event":"endpoint.url_validation","payload":{{"plainToken":"{token}"}}}}"#)
    };
    let (status, text, _) = fixture
        .send(signed(&ZOOM, 1, &validation("qgg8vlvZRS6UYooatFL8Aw")))
        .await;
    assert_eq!(status, StatusCode::OK);
    assert!(
        text.starts_with(r#"{"plainToken":"qgg8vlvZRS6UYooatFL8Aw","encryptedToken":""#),
        "{text}"
    );
    let (status, text, _) = fixture
        .send(signed(&ZOOM, 0, &validation("qgg8vlvZRS6UYooatFL8Aw")))
        .await;
    assert_eq!(status, StatusCode::BAD_REQUEST);
    assert!(!text.contains("encryptedToken"));
    let oracle = [
        "v0:1700000000:{}".to_owned(),
        "v0:1700000000:{\\\"event\\\":\\\"x\\\"}".to_owned(),
        "a b".to_owned(),
        "a.b".to_owned(),
        String::new(),
        "x".repeat(65),
    ];
    for token in oracle {
        let (status, text, outcome) = fixture.send(signed(&ZOOM, 1, &validation(&token))).await;
        assert_eq!(
            (status, outcome),
            (StatusCode::BAD_REQUEST, ReceiveOutcome::HandshakeRefused),
            "{token}"
        );
        assert!(!text.contains("encryptedToken"));
    }
    assert_eq!(fixture.queued().await, 0);
}

/// W21: Meta's challenge is echoed for the host's token only, and without one never.
#[tokio::test]
async fn meta_needs_its_verify_token() {
    let query = |token: &str| format!("hub.mode=subscribe&hub.verify_token={token}&hub.challenge=115");
    let fixture = Fixture::with(verifier(&META, &[1]).with_verify_token("tok"));
    assert_eq!(fixture.send(get(&query("tok"))).await, ok("115"));
    let wrong = ["tox", "", "tok&hub.verify_token=tok"].map(query);
    let others = [
        "hub.challenge=115",
        "hub.mode=unsubscribe&hub.verify_token=tok&hub.challenge=115",
    ]
    .map(str::to_owned);
    for query in wrong.into_iter().chain(others) {
        let (status, text, _) = fixture.send(get(&query)).await;
        assert_eq!(status, StatusCode::BAD_REQUEST, "{query}");
        assert!(!text.contains("115"));
    }
    for token in ["", "tok"] {
        let fixture = Fixture::with(verifier(&META, &[1]).with_verify_token(""));
        assert_eq!(fixture.send(get(&query(token))).await.0, StatusCode::BAD_REQUEST);
        let fixture = Fixture::new(&META);
        assert_eq!(fixture.send(get(&query(token))).await.0, StatusCode::BAD_REQUEST);
    }
}

/// W21: the unsigned echoes of Dropbox and Microsoft Graph are short and plain text.
#[tokio::test]
async fn unsigned_echoes_are_short() {
    let dropbox = Fixture::new(&DROPBOX);
    let page = "%3Cscript%3Ealert(1)%3C/script%3E";
    assert_eq!(
        dropbox.send(get(&format!("challenge={page}"))).await,
        ok("<script>alert(1)</script>")
    );
    for query in [
        String::new(),
        "challenge=".to_owned(),
        format!("challenge={}", "x".repeat(257)),
    ] {
        assert_eq!(
            dropbox.send(get(&query)).await.0,
            StatusCode::BAD_REQUEST,
            "{query}"
        );
    }
    let graph = Fixture::new(&MICROSOFT_GRAPH);
    let mut validation = post("");
    *validation.uri_mut() = "/hooks?validationToken=Validation%3a+Testing".parse().unwrap();
    assert_eq!(graph.send(validation.clone()).await, ok("Validation: Testing"));
    *validation.uri_mut() = format!("/hooks?validationToken={}", "x".repeat(257))
        .parse()
        .unwrap();
    assert_eq!(graph.send(validation).await.0, StatusCode::BAD_REQUEST);
}

/// W21: Asana's secret is taken once, while the host has a registration open; it verifies all later
/// webhooks.
#[tokio::test]
async fn asana_registers_once() {
    let registration = Registration::default();
    let verifier = ASANA.verifier_by_registration(registration.clone()).unwrap();
    let fixture = Fixture::with(verifier);
    let offer = |secret: &str| {
        let mut request = post("");
        request
            .headers_mut()
            .insert("x-hook-secret", secret.parse().unwrap());
        request
    };
    let event = |secret: &str| {
        let mut request = post(r#"{"events":[]}"#);
        ASANA
            .signer(secret)
            .unwrap()
            .sign(&mut request, None, now())
            .unwrap();
        request
    };
    assert_eq!(fixture.send(offer("attacker")).await.0, StatusCode::BAD_REQUEST);
    assert_eq!(fixture.send(event("attacker")).await.0, StatusCode::BAD_REQUEST);
    registration.open(now());
    assert_eq!(
        fixture.send(offer("late")).await.0,
        StatusCode::BAD_REQUEST,
        "it is over at its end"
    );
    registration.open(now() + Duration::from_secs(1));
    let response = fixture.receiver.receive(offer("asana")).await;
    assert_eq!(response.status(), StatusCode::OK);
    assert_eq!(response.headers()["x-hook-secret"], "asana");
    assert_eq!(
        fixture.send(offer("attacker")).await.0,
        StatusCode::BAD_REQUEST,
        "once"
    );
    assert_eq!(registration.secret().as_deref(), Some("asana"));
    assert_eq!(fixture.send(event("asana")).await.0, StatusCode::OK);
    assert_eq!(fixture.send(event("attacker")).await.0, StatusCode::BAD_REQUEST);
    let restarted = Registration::with_secret("asana");
    let fixture = Fixture::with(ASANA.verifier_by_registration(restarted).unwrap());
    assert_eq!(fixture.send(event("asana")).await.0, StatusCode::OK);
}

/// W21: Notion's token is taken while the host has a registration open; it verifies all later
/// webhooks.
#[tokio::test]
async fn notion_registers_once() {
    let registration = Registration::default();
    let fixture = Fixture::with(NOTION.verifier_by_registration(registration.clone()).unwrap());
    let offer = |token: &str| post(&format!(r#"{{"verification_token":"{token}"}}"#));
    let event = |secret: &str| {
        let mut request = post(r#"{"id":"evt_1"}"#);
        let signer = NOTION.signer(secret).unwrap();
        signer.sign(&mut request, None, now()).unwrap();
        request
    };
    assert_eq!(fixture.send(offer("attacker")).await.0, StatusCode::BAD_REQUEST);
    registration.open(now() + Duration::from_secs(1));
    assert_eq!(fixture.send(offer("secret_1")).await, ok(""));
    assert_eq!(
        fixture.send(offer("attacker")).await.0,
        StatusCode::BAD_REQUEST,
        "once"
    );
    assert_eq!(registration.secret().as_deref(), Some("secret_1"));
    assert_eq!(fixture.send(event("attacker")).await.0, StatusCode::BAD_REQUEST);
    assert_eq!(fixture.send(event("secret_1")).await.0, StatusCode::OK);
    let mut signed = event("secret_1");
    *signed.body_mut() = offer("attacker").into_body();
    registration.open(now() + Duration::from_secs(1));
    assert_eq!(
        fixture.send(signed).await.0,
        StatusCode::BAD_REQUEST,
        "a request with a signature is verified"
    );
}

/// W21: Intercom and Trello get 200 for a `HEAD`, and others 405.
#[cfg(feature = "sha1")]
#[tokio::test]
async fn head_is_answered_where_the_sender_asks_for_it() {
    use webhook_core::receiver::providers::{INTERCOM, TRELLO};

    let mut head = get("x=1");
    *head.method_mut() = Method::HEAD;
    for provider in [INTERCOM, TRELLO] {
        assert_eq!(Fixture::new(&provider).send(head.clone()).await, ok(""));
        let (status, _, _) = Fixture::new(&provider).send(get("x=1")).await;
        assert_eq!(status, StatusCode::METHOD_NOT_ALLOWED);
    }
    assert_eq!(
        Fixture::new(&SLACK).send(head).await.0,
        StatusCode::METHOD_NOT_ALLOWED
    );
}

/// W21: WooCommerce's unsigned ping gets 200 and is not queued; no other unsigned body does.
#[tokio::test]
async fn woocommerce_ping_is_answered() {
    let fixture = Fixture::new(&WOOCOMMERCE);
    assert_eq!(fixture.send(post("webhook_id=17")).await, ok(""));
    let long = format!("webhook_id={}", "1".repeat(21));
    for body in ["webhook_id=", "webhook_id=1x", "webhook_id=1&a=b", "{}", &long] {
        let (status, _, _) = fixture.send(post(body)).await;
        assert_eq!(status, StatusCode::BAD_REQUEST, "{body}");
    }
    let mut forged = post("webhook_id=17");
    let signature = "x".parse().unwrap();
    forged.headers_mut().insert("x-wc-webhook-signature", signature);
    assert_eq!(fixture.send(forged).await.0, StatusCode::BAD_REQUEST);
    assert_eq!(fixture.queued().await, 0);
}

/// W21: a sender that expects other status codes gets them: 401 without a body for Xero.
#[tokio::test]
async fn sender_gets_the_status_codes_that_it_expects() {
    let fixture = Fixture::new(&XERO);
    let body = r#"{"events":[]}"#;
    let (status, text, _) = fixture.send(signed(&XERO, 1, body)).await;
    assert_eq!((status, text.as_str()), (StatusCode::OK, ""));
    let (status, text, _) = fixture.send(signed(&XERO, 0, body)).await;
    assert_eq!((status, text.as_str()), (StatusCode::UNAUTHORIZED, ""));
    let own = Verifier::standard_webhooks(SigningSecret::generate(&OsEntropy));
    let (status, text, _) = Fixture::with(own).send(post(body)).await;
    assert_eq!(status, StatusCode::BAD_REQUEST);
    assert!(text.contains("could not be verified"), "{text}");
}

/// W21: Discord's pings are answered if they are signed; its events are queued.
#[cfg(feature = "ed25519")]
#[tokio::test]
async fn discord_pings_are_answered_and_events_queued() {
    use ed25519_dalek::{Signer as _, SigningKey};
    use webhook_core::receiver::providers::DISCORD;

    let key = SigningKey::from_bytes(&[7; 32]);
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let fixture = Fixture::with(DISCORD.verifier([hex(key.verifying_key().as_bytes())]).unwrap());
    let signed = |body: &str| {
        let mut request = post(body);
        let signature = key.sign(format!("1700000000{body}").as_bytes());
        let headers = request.headers_mut();
        headers.insert("x-signature-timestamp", "1700000000".parse().unwrap());
        headers.insert("x-signature-ed25519", hex(&signature.to_bytes()).parse().unwrap());
        request
    };
    assert_eq!(
        fixture.send(signed(r#"{"type":1,"id":"1"}"#)).await,
        ok(r#"{"type":1}"#)
    );
    let (status, text, outcome) = fixture.send(signed(r#"{"type":0}"#)).await;
    let expected = (StatusCode::NO_CONTENT, ReceiveOutcome::HandshakeAnswered);
    assert_eq!(((status, outcome), text.as_str()), (expected, ""));
    for body in [
        r#"{"type":1,"event":{"type":"APPLICATION_AUTHORIZED"}}"#,
        r#"{"type":2,"id":"2"}"#,
    ] {
        let (status, _, outcome) = fixture.send(signed(body)).await;
        let expected = (StatusCode::NO_CONTENT, ReceiveOutcome::Enqueued);
        assert_eq!((status, outcome), expected, "{body}");
    }
    let mut forged = signed(r#"{"type":1}"#);
    *forged.body_mut() = r#"{"type":0}"#.into();
    assert_eq!(fixture.send(forged).await.0, StatusCode::UNAUTHORIZED);
    assert_eq!(fixture.queued().await, 2);
}

/// W21: a method that the handshake does not use stays a 405.
#[tokio::test]
async fn other_methods_stay_refused() {
    for provider in [SLACK, ZOOM, TWITCH, MICROSOFT_GRAPH] {
        let (status, _, outcome) = Fixture::new(&provider)
            .send(get("challenge=x&validationToken=x"))
            .await;
        assert_eq!(
            (status, outcome),
            (StatusCode::METHOD_NOT_ALLOWED, ReceiveOutcome::MethodNotAllowed)
        );
    }
    for provider in [META, DROPBOX] {
        let mut request = get("challenge=x");
        *request.method_mut() = Method::PUT;
        assert_eq!(
            Fixture::new(&provider).send(request).await.0,
            StatusCode::METHOD_NOT_ALLOWED
        );
    }
}
