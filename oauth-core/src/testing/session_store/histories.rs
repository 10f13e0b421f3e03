use crate::store::SessionStore;
use crate::testing::history::{Cast, play};

/// How often three callers play.
const PLAYS: u64 = 24;

/// O10, S3: what three callers at once are answered is what single steps in some order would have been, with a session that is used,
/// renewed and ended, a password reset and signing out everywhere among them.
pub async fn every_history_of_sessions_has_an_order(store: &dyn SessionStore) {
    check(store, |seed| Cast::new(seed).with_sessions());
}

/// O10, S3: the same where calls and answers are lost, lookups lag behind and clocks jump.
pub async fn every_history_of_sessions_has_an_order_whatever_fails(store: &dyn SessionStore) {
    check(store, |seed| Cast::new(seed).with_sessions().with_faults());
}

fn check(store: &dyn SessionStore, cast: impl Fn(u64) -> Cast) {
    for seed in 0..PLAYS {
        let history = play(store, cast(seed));
        if let Err(violation) = history.check() {
            panic!("seed {seed}: {violation}\n{history:?}");
        }
    }
}
