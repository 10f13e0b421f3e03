//! Cases that check recorded histories of codes and tokens.

/// The cases.
#[host_ports_conformance::kit(token_store_histories)]
mod cases {
    use std::sync::Arc;

    use crate::history::{Cast, play};
    use oauth_core::store::TokenStore;

    /// How often three callers play.
    const PLAYS: u64 = 24;

    /// O6, O10: what three callers at once are answered is what single steps in some order would have been: one code buys one family, one
    /// leaf of it is alive at any moment, what was revoked yields nothing, and whatever is presented twice ends in a revocation.
    pub async fn every_history_of_tokens_has_an_order(store: &Arc<dyn TokenStore>) {
        check(store, Cast::new).await;
    }

    /// O6, O10: the same where calls and answers are lost, lookups lag behind and clocks jump.
    pub async fn every_history_of_tokens_has_an_order_whatever_fails(store: &Arc<dyn TokenStore>) {
        check(store, |seed| Cast::new(seed).with_faults()).await;
    }

    /// O10, 51, 53: the same where a refresh may be repeated: a retry writes nothing, so that one leaf is alive as before, and whatever comes back
    /// outside the window ends in a revocation.
    pub async fn every_history_of_retries_has_an_order_whatever_fails(store: &Arc<dyn TokenStore>) {
        check(store, |seed| Cast::new(seed).with_faults().with_retries()).await;
    }

    async fn check(store: &Arc<dyn TokenStore>, cast: impl Fn(u64) -> Cast) {
        for seed in 0..PLAYS {
            let history = play(Arc::clone(store), cast(seed)).await;
            if let Err(violation) = history.check() {
                panic!("seed {seed}: {violation}\n{history:?}");
            }
        }
    }
}

pub use cases::*;
