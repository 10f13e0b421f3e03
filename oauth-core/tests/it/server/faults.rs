//! Failing stores.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use oauth_core::memory::MemoryTokens;
use oauth_core::ports::StoreError;
use oauth_core::server::Consent;
use oauth_core::store::SessionStore;
use oauth_core_conformance::faults::{Fault, Faulty};
use oauth_core_conformance::verbs::{Reply, Respond, Verb, VerbStore};

use super::fixture::{Fixture, Tokens, assert_error, basic, codes, post, reason, web_request, with_bearer};
use super::model::live;
use super::retry::windowed;

/// The memory store with a switch that makes it fail.
#[derive(Default)]
struct Switched {
    store: MemoryTokens,
    down: AtomicBool,
    garbled: AtomicBool,
}

#[async_trait::async_trait]
impl Respond for Switched {
    async fn respond(&self, verb: Verb) -> Result<Reply, StoreError> {
        if self.down.load(Ordering::Relaxed) {
            return Err(StoreError::unavailable("the disk is full of secrets"));
        }
        if self.garbled.load(Ordering::Relaxed) {
            return Err(StoreError::corrupt("a row of secrets"));
        }
        let store: &dyn SessionStore = &self.store;
        store.respond(verb).await
    }
}

/// O13, O26, 63: an unavailable store is a 503 with `Retry-After`; the cause goes to the host only,
/// and nothing is consumed.
#[tokio::test]
async fn a_store_that_is_down_is_a_503_and_consumes_nothing() {
    let store = Arc::new(VerbStore(Switched::default()));
    let fixture = Fixture::with(store.clone(), |builder| builder);
    let tokens = fixture.sign_in().await;
    let code = fixture.code().await;
    store.0.down.store(true, Ordering::Relaxed);
    let token = [("token", tokens.access.as_str())];
    for answer in [
        fixture.redeem(&code).await,
        fixture.refresh(&tokens.refresh).await,
        fixture
            .token_as("service", &vec![("grant_type", "client_credentials")])
            .await,
        fixture.server.introspect(post(basic("web"), &token)).await,
        fixture.revoke_as("web", &token).await,
        fixture.server.userinfo(with_bearer(&tokens.access)).await,
    ] {
        assert_error(&answer, 503, "temporarily_unavailable");
        assert!(answer.response.headers().contains_key("retry-after"));
        assert_eq!(codes(&answer.events), ["server_failed"]);
        assert_eq!(reason(&answer), "store_unavailable");
        assert!(!String::from_utf8_lossy(answer.response.body()).contains("disk"));
        assert!(answer.fault.is_some_and(|fault| {
            fault
                .source()
                .is_some_and(|cause| cause.to_string().contains("disk"))
        }));
    }
    store.0.down.store(false, Ordering::Relaxed);
    Tokens::of(&fixture.redeem(&code).await);
    Tokens::of(&fixture.refresh(&tokens.refresh).await);
}

/// O26: an unreadable row is a 500 without `Retry-After`, because a retry does not help.
#[tokio::test]
async fn a_store_that_cannot_read_its_rows_is_a_500() {
    let store = Arc::new(VerbStore(Switched::default()));
    let fixture = Fixture::with(store.clone(), |builder| builder);
    let tokens = fixture.sign_in().await;
    store.0.garbled.store(true, Ordering::Relaxed);
    let answer = fixture.refresh(&tokens.refresh).await;
    assert_error(&answer, 500, "server_error");
    assert!(!answer.response.headers().contains_key("retry-after"));
    assert_eq!(reason(&answer), "store_corrupt");
}

/// O24: at the front channel the user gets a page.
#[tokio::test]
async fn unavailable_store_is_a_page_in_the_browser() {
    let store = Arc::new(VerbStore(Switched::default()));
    let fixture = Fixture::with(store.clone(), |builder| builder);
    let interaction = fixture.interact(&web_request()).await;
    store.0.down.store(true, Ordering::Relaxed);
    let decision = Consent::Granted(fixture.ada());
    let answer = fixture
        .server
        .resume(
            &http::Request::post("/").body(()).unwrap(),
            &interaction.id,
            interaction.browser.expose(),
            decision,
        )
        .await;
    assert_eq!(answer.response.status(), 503);
    assert_eq!(
        answer.response.headers()["content-type"],
        "text/html; charset=utf-8"
    );
    assert!(answer.fault.is_some());
}

/// O6, O10: if a call or response of the store is lost, or a lookup is stale, a client that retries
/// has one active chain or none, and a reuse revokes the chain.
#[tokio::test]
async fn store_fault_neither_forks_chain_nor_hides_reuse() {
    for fault in [Fault::LostCall, Fault::LostAnswer, Fault::StaleRead] {
        for nth in 0..4 {
            for refresh in [false, true] {
                for used_before in [false, true] {
                    check(fault, nth, refresh, used_before).await;
                }
            }
        }
    }
}

/// Sends a redemption or a refresh, and retries without a response. The verb of that number after
/// the first attempt fails.
async fn check(fault: Fault, nth: usize, refresh: bool, used_before: bool) {
    let at = Arc::new(AtomicUsize::new(usize::MAX));
    let store: Arc<dyn SessionStore> = Arc::new(MemoryTokens::new());
    let faulty = {
        let at = Arc::clone(&at);
        Faulty::new(store, move |number, _: &Verb| {
            (number == at.load(Ordering::Relaxed)).then_some(fault)
        })
    };
    let faulty = Arc::new(faulty);
    let fixture = Fixture::with(faulty.clone(), |builder| builder);
    let code = fixture.code().await;
    let presented = if refresh {
        Tokens::of(&fixture.redeem(&code).await).refresh
    } else {
        code
    };
    let send = async || {
        if refresh {
            fixture.refresh(&presented).await
        } else {
            fixture.redeem(&presented).await
        }
    };
    let mut issued = Vec::new();
    if used_before {
        issued.push(Tokens::of(&send().await).refresh);
    }
    at.store(faulty.0.verbs() + nth, Ordering::Relaxed);
    let mut answer = send().await;
    if answer.response.status() == 503 {
        answer = send().await;
    }
    let said = format!("{fault:?} {nth} {refresh} {used_before} {answer:?}");
    let has_success = answer.response.status() == 200;
    if has_success {
        issued.push(Tokens::of(&answer).refresh);
    } else {
        assert_error(&answer, 400, "invalid_grant");
    }
    assert!(!(has_success && used_before), "{said}");
    issued.extend(refresh.then_some(presented));
    at.store(usize::MAX, Ordering::Relaxed);
    let expected = usize::from(has_success);
    assert_eq!(live(&fixture, &issued).await, expected, "{said}");
}

/// O10, 51, 53: within the retry window no lost call, lost response or stale lookup ends the chain:
/// the retry gets the only successor, which is active.
#[tokio::test]
async fn store_fault_ends_no_chain_within_window() {
    for fault in [Fault::LostCall, Fault::LostAnswer, Fault::StaleRead] {
        for nth in 0..4 {
            for used_before in [false, true] {
                check_retry(fault, nth, used_before).await;
            }
        }
    }
}

async fn check_retry(fault: Fault, nth: usize, used_before: bool) {
    let at = Arc::new(AtomicUsize::new(usize::MAX));
    let store: Arc<dyn SessionStore> = Arc::new(MemoryTokens::new());
    let faulty = {
        let at = Arc::clone(&at);
        Faulty::new(store, move |number, _: &Verb| {
            (number == at.load(Ordering::Relaxed)).then_some(fault)
        })
    };
    let faulty = Arc::new(faulty);
    let fixture = Fixture::with(faulty.clone(), |builder| windowed(builder, 7));
    let presented = fixture.sign_in().await.refresh;
    let before = if used_before {
        Some(fixture.refresh(&presented).await)
    } else {
        None
    };
    at.store(faulty.0.verbs() + nth, Ordering::Relaxed);
    let mut answer = fixture.refresh(&presented).await;
    if answer.response.status() == 503 {
        answer = fixture.refresh(&presented).await;
    }
    at.store(usize::MAX, Ordering::Relaxed);
    let said = format!("{fault:?} {nth} {used_before} {answer:?}");
    assert_eq!(answer.response.status(), 200, "{said}");
    let again = fixture.refresh(&presented).await;
    for other in before.iter().chain([&again]) {
        assert_eq!(other.response.body(), answer.response.body(), "{said}");
    }
    let successor = Tokens::of(&answer).refresh;
    let issued = [presented.clone(), successor.clone()];
    assert_eq!(live(&fixture, &issued).await, 1, "{said}");
    assert!(fixture.is_active(&successor).await, "{said}");
    // the first use of the successor ends the window
    let third = Tokens::of(&fixture.refresh(&successor).await).refresh;
    assert_error(&fixture.refresh(&presented).await, 400, "invalid_grant");
    assert!(!fixture.is_active(&third).await, "{said}");
}
