use crate::store::TokenStore;
use crate::testing::history::{Cast, play};

/// How often three callers play.
const PLAYS: u64 = 24;

/// O6, O10: what three callers at once are answered is what single steps in some order would have been: one code buys one family, one
/// leaf of it is alive at any moment, what was revoked yields nothing, and whatever is presented twice ends in a revocation.
pub async fn every_history_of_tokens_has_an_order(store: &dyn TokenStore) {
    check(store, Cast::new);
}

/// O6, O10: the same where calls and answers are lost, lookups lag behind and clocks jump.
pub async fn every_history_of_tokens_has_an_order_whatever_fails(store: &dyn TokenStore) {
    check(store, |seed| Cast::new(seed).with_faults());
}

/// O10, 51, 53: the same where a refresh may be repeated: a retry writes nothing, so that one leaf is alive as before, and whatever comes back
/// outside the window ends in a revocation.
pub async fn every_history_of_retries_has_an_order_whatever_fails(store: &dyn TokenStore) {
    check(store, |seed| Cast::new(seed).with_faults().with_retries());
}

fn check(store: &dyn TokenStore, cast: impl Fn(u64) -> Cast) {
    for seed in 0..PLAYS {
        let history = play(store, cast(seed));
        if let Err(violation) = history.check() {
            panic!("seed {seed}: {violation}\n{history:?}");
        }
    }
}
