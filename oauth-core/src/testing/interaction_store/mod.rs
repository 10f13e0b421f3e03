//! What any [`InteractionStore`] must do.
#![expect(clippy::expect_used, reason = "a case fails by panicking")]

mod pushed;

use std::time::Duration;

pub use pushed::*;

use super::race::{RACERS, race};
use super::records::{NANOSECOND, answer, grant, hash, start, thumbprint};
use crate::pkce::CodeChallenge;
use crate::secret::TokenHash;
use crate::store::{
    AuthorizationRequest, Insertion, InteractionRecord, InteractionStore, Prompt, TakeOutcome,
};

/// Makes a test of each case: `interaction_store!(#[tokio::test] expression)`.
#[macro_export]
macro_rules! interaction_store {
    (#[$attribute:meta] $($store:tt)+) => {
        $crate::__kit_cases! { interaction_store [#[$attribute]] [$($store)+]:
            an_interaction_is_read_back_as_it_was_stored
            an_unknown_interaction_is_absent
            an_insert_never_overwrites_an_interaction
            an_interaction_is_taken_once
            another_browser_takes_nothing_and_spends_nothing
            an_interaction_expires_at_the_exact_instant
            one_of_32_takers_gets_it
            one_of_32_inserts_is_stored
            purging_drops_what_has_expired_and_nothing_else
            a_pushed_request_is_read_back_as_it_was_stored
            an_insert_never_overwrites_a_pushed_request
            a_pushed_request_is_spent_with_the_first_of_its_interactions
            an_interaction_is_not_taken_without_its_pushed_request
            who_takes_nothing_spends_no_pushed_request
            one_of_32_interactions_spends_their_pushed_request
            one_of_32_pushes_is_stored
            a_pushed_request_is_purged_when_nothing_it_began_can_be_answered
        }
    };
}

/// Every field comes back, as often as it is asked for.
pub async fn an_interaction_is_read_back_as_it_was_stored(store: &dyn InteractionStore) {
    for key in [
        TokenHash::from_bytes([0; 32]),
        TokenHash::from_bytes([0xff; 32]),
        hash("'\0"),
    ] {
        let record = InteractionRecord {
            id: key,
            ..interaction("whole")
        };
        assert_eq!(
            answer(store.insert_interaction(record.clone()).await),
            Insertion::Inserted
        );
        assert_eq!(answer(store.interaction(&key).await), Some(record.clone()));
        assert_eq!(answer(store.interaction(&key).await), Some(record));
    }
}

/// What was never stored is not there.
pub async fn an_unknown_interaction_is_absent(store: &dyn InteractionStore) {
    assert_eq!(answer(store.interaction(&hash("nothing")).await), None);
    let taken = answer(
        store
            .take_interaction(&hash("nothing"), &hash("browser"), start())
            .await,
    );
    assert_eq!(taken, TakeOutcome::NotFound);
}

/// The first one stays.
pub async fn an_insert_never_overwrites_an_interaction(store: &dyn InteractionStore) {
    let first = interaction("a");
    let second = InteractionRecord {
        browser: hash("thief"),
        ..first.clone()
    };
    assert_eq!(
        answer(store.insert_interaction(first.clone()).await),
        Insertion::Inserted
    );
    assert_eq!(answer(store.insert_interaction(second).await), Insertion::Exists);
    assert_eq!(answer(store.interaction(&first.id).await), Some(first));
}

/// The second taker finds nothing.
pub async fn an_interaction_is_taken_once(store: &dyn InteractionStore) {
    let record = stored(store, "a").await;
    let take = || store.take_interaction(&record.id, &record.browser, start());
    assert_eq!(answer(take().await), TakeOutcome::Taken(Box::new(record.clone())));
    assert_eq!(answer(take().await), TakeOutcome::NotFound);
    assert_eq!(answer(store.interaction(&record.id).await), None);
}

/// O24: the id alone opens nothing.
pub async fn another_browser_takes_nothing_and_spends_nothing(store: &dyn InteractionStore) {
    let record = stored(store, "a").await;
    for now in [start(), record.expires_at] {
        let taken = answer(store.take_interaction(&record.id, &hash("thief"), now).await);
        assert_eq!(taken, TakeOutcome::NotFound);
    }
    let taken = answer(store.take_interaction(&record.id, &record.browser, start()).await);
    assert_eq!(taken, TakeOutcome::Taken(Box::new(record)));
}

/// Alive a nanosecond before, dead at the instant, and still there for whoever has an earlier clock.
pub async fn an_interaction_expires_at_the_exact_instant(store: &dyn InteractionStore) {
    let record = stored(store, "a").await;
    let at = |now| store.take_interaction(&record.id, &record.browser, now);
    assert_eq!(answer(at(record.expires_at).await), TakeOutcome::Expired);
    assert_eq!(
        answer(at(record.expires_at - NANOSECOND).await),
        TakeOutcome::Taken(Box::new(record.clone()))
    );
}

/// However many try.
pub async fn one_of_32_takers_gets_it(store: &dyn InteractionStore) {
    let record = stored(store, "a").await;
    let outcomes = race(|_| store.take_interaction(&record.id, &record.browser, start()));
    assert_eq!(
        outcomes
            .iter()
            .filter(|outcome| matches!(outcome, TakeOutcome::Taken(_)))
            .count(),
        1
    );
    assert_eq!(
        outcomes
            .iter()
            .filter(|outcome| **outcome == TakeOutcome::NotFound)
            .count(),
        RACERS - 1
    );
}

/// However many try, and the one that was told so is the one that is kept.
pub async fn one_of_32_inserts_is_stored(store: &dyn InteractionStore) {
    let record = |index: usize| InteractionRecord {
        browser: hash(&index.to_string()),
        ..interaction("a")
    };
    let winners: Vec<_> = race(|index| store.insert_interaction(record(index)))
        .into_iter()
        .enumerate()
        .filter(|(_, outcome)| *outcome == Insertion::Inserted)
        .collect();
    assert_eq!(winners.len(), 1);
    let kept = answer(store.interaction(&hash("a")).await).map(|kept| kept.browser);
    assert_eq!(kept, winners.first().map(|(index, _)| hash(&index.to_string())));
}

/// At the exact instant, counted.
pub async fn purging_drops_what_has_expired_and_nothing_else(store: &dyn InteractionStore) {
    let early = stored(store, "early").await;
    let late = InteractionRecord {
        expires_at: early.expires_at + NANOSECOND,
        ..interaction("late")
    };
    assert_eq!(
        answer(store.insert_interaction(late.clone()).await),
        Insertion::Inserted
    );
    assert_eq!(
        answer(store.purge_interactions(early.expires_at - NANOSECOND).await),
        0
    );
    assert_eq!(answer(store.purge_interactions(early.expires_at).await), 1);
    assert_eq!(answer(store.interaction(&early.id).await), None);
    assert_eq!(answer(store.interaction(&late.id).await), Some(late));
}

async fn stored(store: &dyn InteractionStore, label: &str) -> InteractionRecord {
    let record = interaction(label);
    assert_eq!(
        answer(store.insert_interaction(record.clone()).await),
        Insertion::Inserted
    );
    record
}

fn interaction(label: &str) -> InteractionRecord {
    InteractionRecord {
        id: hash(label),
        browser: hash("browser"),
        request: request(),
        pushed: None,
        created_at: start(),
        expires_at: start() + Duration::from_secs(600),
    }
}

fn request() -> AuthorizationRequest {
    let grant = grant();
    AuthorizationRequest {
        client_id: grant.client_id,
        redirect_uri: "https://app.example/callback?a=%27"
            .parse()
            .expect("a redirect uri"),
        scopes: grant.scopes,
        resources: grant.audience,
        state: "'\"\\ ; state".parse().expect("printable"),
        nonce: grant.nonce,
        code_challenge: CodeChallenge::from_bytes(*hash("challenge").as_bytes()),
        dpop_jkt: Some(thumbprint("key")),
        prompts: [Prompt::Login, Prompt::SelectAccount].into(),
        silent: true,
        max_age: Some(Duration::from_secs(u64::MAX)),
        login_hint: grant.name,
        ui_locales: Some("se en-GB".to_owned()),
    }
}
