//! An `Arc` of a port implements the port, so that a host can share one store between constructors.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use oauth_core::attempts::{Admission, AttemptKey, AttemptPolicy};
use oauth_core::client::TokenSink;
use oauth_core::jose::Signer;
use oauth_core::memory::{MemoryAttempts, MemoryClients, MemoryInteractions, MemoryReplays, MemoryTokens};
use oauth_core::pkce::CodeChallenge;
use oauth_core::secret::TokenHash;
use oauth_core::session::SessionTimeouts;
use oauth_core::store::{
    AttemptStore, AuthorizationRequest, ClientStore, ConsentStore, Insertion, InteractionRecord,
    InteractionStore, RegisteredClient, ReplayStore, RevocationReason, SessionId, SessionOutcome,
    SessionRecord, SessionStore, SpendOutcome, TakeOutcome, TokenStore,
};

fn now() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000)
}

#[test]
fn constructors_take_shared_trait_objects() {
    fn is_client_store<T: ClientStore>() {}
    fn is_consent_store<T: ConsentStore>() {}
    fn is_interaction_store<T: InteractionStore>() {}
    fn is_token_store<T: TokenStore>() {}
    fn is_session_store<T: SessionStore>() {}
    fn is_replay_store<T: ReplayStore>() {}
    fn is_attempt_store<T: AttemptStore>() {}
    fn is_token_sink<T: TokenSink>() {}
    fn is_signer<T: Signer>() {}
    is_client_store::<Arc<dyn ClientStore>>();
    is_consent_store::<Arc<dyn ConsentStore>>();
    is_interaction_store::<Arc<dyn InteractionStore>>();
    is_token_store::<Arc<dyn TokenStore>>();
    is_token_store::<Arc<dyn SessionStore>>();
    is_session_store::<Arc<dyn SessionStore>>();
    is_replay_store::<Arc<dyn ReplayStore>>();
    is_attempt_store::<Arc<dyn AttemptStore>>();
    is_token_sink::<Arc<dyn TokenSink>>();
    is_signer::<Arc<dyn Signer>>();
}

/// Inserts through one handle and reads through another.
#[tokio::test]
async fn arc_of_store_is_the_same_store() {
    let client = RegisteredClient::public("app".parse().unwrap());
    let clients = Arc::new(MemoryClients::new());
    ClientStore::put_client(&clients, client.clone()).await.unwrap();
    assert_eq!((*clients).client(&client.id).await.unwrap(), Some(client));

    let (id, browser) = (TokenHash::new("id"), TokenHash::new("browser"));
    let request = AuthorizationRequest::new(
        "app".parse().unwrap(),
        "com.example.app:/callback".parse().unwrap(),
        "state".parse().unwrap(),
        CodeChallenge::from_bytes([1; 32]),
    );
    let record = InteractionRecord::new(id, browser, request, now());
    let interactions = Arc::new(MemoryInteractions::new());
    let inserted = (*interactions).insert_interaction(record.clone()).await;
    assert_eq!(inserted.unwrap(), Insertion::Inserted);
    let taken = InteractionStore::take_interaction(&interactions, &id, &browser, now()).await;
    assert_eq!(taken.unwrap(), TakeOutcome::Taken(Box::new(record)));

    let replays = Arc::new(MemoryReplays::new());
    for (handle, expected) in [
        (&replays as &dyn ReplayStore, SpendOutcome::Fresh),
        (&*replays, SpendOutcome::Seen),
    ] {
        let spent = handle
            .insert_once(id, now() + Duration::from_secs(1), now())
            .await;
        assert_eq!(spent.unwrap(), expected);
    }
}

/// Changes through one handle and reads through another.
#[tokio::test]
async fn arc_of_session_store_is_the_same_store() {
    let cookie = TokenHash::new("cookie");
    let id = SessionId::from_bytes([7; 16]);
    let session = SessionRecord::new(
        cookie,
        id,
        "ada".parse().unwrap(),
        SessionTimeouts::default(),
        now(),
    );
    let plain = Arc::new(MemoryTokens::new());
    let shared: Arc<dyn SessionStore> = Arc::clone(&plain) as _;
    let shared = Arc::new(shared);
    let inserted = SessionStore::insert_session(&shared, session).await;
    assert_eq!(inserted.unwrap(), Insertion::Inserted);
    let touched = SessionStore::touch_session(&shared, &cookie, now()).await;
    assert_eq!(touched.unwrap(), SessionOutcome::Done);
    let ended = SessionStore::end_session(&shared, &id, RevocationReason::SignedOut, now()).await;
    assert_eq!(ended.unwrap().sessions, 1);
    let read = plain.session(&cookie).await.unwrap();
    assert!(read.is_some_and(|session| session.ended.is_some()));

    let attempts = Arc::new(MemoryAttempts::new());
    let (key, policy) = (AttemptKey::subject("ada"), AttemptPolicy::PASSWORDS);
    for _ in 0..policy.attempts().get() {
        let admitted = AttemptStore::admit(&attempts, &key, &policy, now()).await;
        assert_eq!(admitted.unwrap(), Admission::Admitted);
    }
    assert!(!attempts.standing(&key, now()).await.unwrap().is_admitted());
}
