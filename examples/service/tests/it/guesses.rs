//! Limits on password guesses, on reset mails and on parallel password hashing.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::join_all;
use host_store_sqlite::Database;
use http::Response;
use service::app::{App, Config};
use service::clock::DemoClock;
use service::desk::{Desk, User};
use service::mail::Mailbox;

use crate::browser::{Browser, EMAIL, PASSWORD, text, where_to};
use crate::desk::{BASE, FORM, SERVICE, ask, header, json, request};

const OTHER: &str = "grace@example.com";
const OTHER_PASSWORD: &str = "another long password";

struct Fixture {
    app: Arc<App>,
    clock: DemoClock,
    letters: Mailbox,
}

/// A service with two users.
async fn fixture() -> Fixture {
    let (clock, letters) = (DemoClock::new(), Mailbox::default());
    let database = Database::open_in_memory().unwrap();
    let mut config = Config::new(BASE, database.clone());
    config.clock = clock.clone();
    config.mail = letters.as_mail();
    let app = Arc::new(App::open(config).await.unwrap());
    let desk = Desk::open(database, clock.clone()).await.unwrap();
    let grace = User::new("usr_grace", OTHER, "Grace Hopper");
    desk.register_user(grace, OTHER_PASSWORD.parse().unwrap())
        .await
        .unwrap();
    Fixture { app, clock, letters }
}

impl Fixture {
    /// A browser with the sign-in page open.
    async fn browser(&self) -> Browser {
        let mut browser = Browser::new(&self.app);
        assert_eq!(browser.get("/login").await.status(), 200);
        browser
    }

    async fn try_in(&self, email: &str, password: &str) -> Response<Bytes> {
        let mut browser = self.browser().await;
        browser
            .post("/login", &[("email", email), ("password", password)])
            .await
    }

    async fn close(&self, email: &str) {
        for _ in 0..5 {
            assert_eq!(self.try_in(email, "a guess").await.status(), 422);
        }
    }
}

fn assert_waits(answer: &Response<Bytes>, seconds: u64) {
    assert_eq!(answer.status(), 429, "{answer:?}");
    assert!(text(answer).contains("Too many attempts"));
    let told: u64 = header(answer.headers(), "retry-after").parse().unwrap();
    // the clock of the demo also advances in real time
    assert!(told <= seconds && told + 5 >= seconds, "{told}");
}

/// O27: of 32 parallel guesses five are verified. Then the right password waits too, but no other
/// user; after the wait it is accepted.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn five_of_32_password_guesses_are_verified() {
    let fixture = fixture().await;
    let browser = fixture.browser().await;
    let guesses = (0..32).map(|index| {
        let mut browser = browser.clone();
        tokio::spawn(async move {
            let guess = format!("guess {index}");
            let fields = [("email", EMAIL), ("password", guess.as_str())];
            browser.post("/login", &fields).await.status().as_u16()
        })
    });
    let statuses: Vec<_> = join_all(guesses).await.into_iter().map(Result::unwrap).collect();
    let of = |wanted| statuses.iter().filter(|status| **status == wanted).count();
    assert_eq!((of(422), of(429)), (5, 27), "{statuses:?}");

    assert_waits(&fixture.try_in(EMAIL, PASSWORD).await, 30);
    assert_eq!(where_to(&fixture.try_in(OTHER, OTHER_PASSWORD).await), "/account");
    fixture.clock.advance(Duration::from_secs(30));
    assert_eq!(where_to(&fixture.try_in(EMAIL, PASSWORD).await), "/account");
    // a correct password resets the counter
    fixture.close(EMAIL).await;
    assert_waits(&fixture.try_in(EMAIL, PASSWORD).await, 30);
}

/// O27: the wait does not reveal which addresses have an account.
#[tokio::test]
async fn unknown_address_is_limited_alike() {
    let fixture = fixture().await;
    let mut pages = Vec::new();
    for email in [EMAIL, "unknown@example.com"] {
        fixture.close(email).await;
        let refused = fixture.try_in(email, "a guess").await;
        assert_waits(&refused, 30);
        pages.push(text(&refused));
    }
    assert_eq!(pages[0], pages[1]);
}

/// O27: the form for a password change shares the limit of the sign-in page.
#[tokio::test]
async fn password_change_shares_the_sign_in_limit() {
    let fixture = fixture().await;
    let mut browser = Browser::new(&fixture.app);
    browser.sign_in().await;
    for _ in 0..5 {
        let fields = [("password", "a guess"), ("new_password", OTHER_PASSWORD)];
        assert_eq!(browser.post("/account/password", &fields).await.status(), 422);
    }
    let fields = [("password", PASSWORD), ("new_password", OTHER_PASSWORD)];
    assert_waits(&browser.post("/account/password", &fields).await, 30);
    assert_waits(&fixture.try_in(EMAIL, PASSWORD).await, 30);
    assert!(browser.is_signed_in().await);
    fixture.clock.advance(Duration::from_secs(30));
    let changed = browser.post("/account/password", &fields).await;
    assert_eq!(where_to(&changed), "/account?notice=password");
}

/// O27: a single attacker elsewhere does not lock the user out; a distributed attack does.
#[tokio::test]
async fn attacker_elsewhere_does_not_lock_user_out() {
    let fixture = fixture().await;
    let browser = fixture.browser().await;
    let from = async |host: u8, password: &str| {
        let mut browser = browser.clone();
        browser.peer = Some(SocketAddr::from(([192, 0, 2, host], 4711)));
        let fields = [("email", EMAIL), ("password", password)];
        browser.post("/login", &fields).await
    };
    for _ in 0..5 {
        assert_eq!(from(1, "a guess").await.status(), 422);
    }
    assert_waits(&from(1, PASSWORD).await, 30);
    assert_eq!(where_to(&from(2, PASSWORD).await), "/account");
    // fifty guesses from everywhere: ten hosts with five guesses each
    for host in 10..20 {
        for _ in 0..5 {
            assert_eq!(from(host, "a guess").await.status(), 422);
        }
    }
    assert_waits(&from(3, PASSWORD).await, 60);
}

/// O27: a refusal by the limit over all addresses does not count against the client's address.
#[tokio::test]
async fn refusal_by_global_limit_is_not_counted_by_address() {
    let fixture = fixture().await;
    let browser = fixture.browser().await;
    let from = async |host: u8, password: &str| {
        let mut browser = browser.clone();
        browser.peer = Some(SocketAddr::from(([192, 0, 2, host], 4711)));
        let fields = [("email", EMAIL), ("password", password)];
        browser.post("/login", &fields).await
    };
    for host in 10..20 {
        for _ in 0..5 {
            assert_eq!(from(host, "a guess").await.status(), 422);
        }
    }
    let half = Duration::from_secs(30);
    for wait in [60, 60, 60, 60, 60, 30] {
        if wait == 30 {
            fixture.clock.advance(half);
        }
        assert_waits(&from(3, PASSWORD).await, wait);
    }
    fixture.clock.advance(half);
    assert_eq!(where_to(&from(3, PASSWORD).await), "/account");
}

/// O27, S5: an address gets three reset mails; later requests, and unknown addresses, see the same
/// page.
#[tokio::test]
async fn reset_mails_are_limited_and_reveal_nothing() {
    let fixture = fixture().await;
    let mut pages = Vec::new();
    for (email, expected) in [(EMAIL, 3), ("unknown@example.com", 0), (OTHER, 3)] {
        let mut sent = 0;
        for _ in 0..10 {
            let mut browser = Browser::new(&fixture.app);
            browser.get("/password/forgotten").await;
            let page = browser.post("/password/forgotten", &[("email", email)]).await;
            assert_eq!(page.status(), 200);
            pages.push(text(&page).replace(email, "").replace(&browser.token, ""));
            sent += usize::from(fixture.letters.take().is_some());
        }
        assert_eq!(sent, expected, "{email}");
    }
    pages.dedup();
    assert_eq!(pages.len(), 1);
}

/// O27: a client with too many wrong secrets gets 429 with `Retry-After` at each endpoint.
#[tokio::test]
async fn client_with_too_many_wrong_secrets_gets_429() {
    let fixture = fixture().await;
    // demo-service:guess
    let wrong = "Basic ZGVtby1zZXJ2aWNlOmd1ZXNz";
    let send = async |path: &str, credentials: &str| {
        let headers = [FORM, ("authorization", credentials)];
        let body = "grant_type=client_credentials&token=at_x";
        ask(&fixture.app, request("POST", path, &headers, body)).await
    };
    for path in ["/token", "/oauth/introspect", "/oauth/revoke", "/par"].repeat(5) {
        assert_eq!(send(path, wrong).await.status(), 401);
    }
    for path in ["/token", "/oauth/introspect", "/oauth/revoke", "/par"] {
        let refused = send(path, SERVICE).await;
        assert_eq!(refused.status(), 429);
        assert_eq!(json(&refused)["error"], "temporarily_unavailable");
        assert_eq!(header(refused.headers(), "retry-after"), "1");
    }
    fixture.clock.advance(Duration::from_secs(1));
    assert_eq!(send("/token", SERVICE).await.status(), 200);
}

/// A flood of passwords fills the bounded hashing queue; the rest get 503 with `Retry-After`.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn flood_of_sign_ins_gets_retry_after() {
    let fixture = fixture().await;
    let browser = fixture.browser().await;
    let flood = (0..200).map(|index| {
        let mut browser = browser.clone();
        tokio::spawn(async move {
            let email = format!("unknown-{index}@example.com");
            let fields = [("email", email.as_str()), ("password", "a guess")];
            let answer = browser.post("/login", &fields).await;
            let retry_after = header(answer.headers(), "retry-after").to_owned();
            (answer.status().as_u16(), retry_after)
        })
    });
    let answers: Vec<_> = join_all(flood).await.into_iter().map(Result::unwrap).collect();
    let busy = answers
        .iter()
        .filter(|answer| **answer == (503, "1".to_owned()))
        .count();
    let looked_at = answers.iter().filter(|(status, _)| *status == 422).count();
    assert_eq!(busy + looked_at, 200, "{answers:?}");
    assert!(busy > 0 && looked_at >= 34, "{busy} {looked_at}");
    assert_eq!(where_to(&fixture.try_in(EMAIL, PASSWORD).await), "/account");
}
