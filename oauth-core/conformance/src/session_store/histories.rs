//! Cases that check recorded histories with sessions.

/// The cases.
#[host_ports_conformance::kit(session_store_histories)]
mod cases {
    use std::sync::Arc;

    use crate::history::{Cast, play};
    use oauth_core::store::SessionStore;

    /// How often three callers play.
    const PLAYS: u64 = 24;

    /// O10, S3: what three callers at once are answered is what single steps in some order would have been, with a session that is used,
    /// renewed and ended, a password reset and signing out everywhere among them.
    pub async fn every_history_of_sessions_has_an_order(store: &Arc<dyn SessionStore>) {
        check(store, |seed| Cast::new(seed).with_sessions()).await;
    }

    /// O10, S3: the same where calls and answers are lost, lookups lag behind and clocks jump.
    pub async fn every_history_of_sessions_has_an_order_whatever_fails(store: &Arc<dyn SessionStore>) {
        check(store, |seed| Cast::new(seed).with_sessions().with_faults()).await;
    }

    async fn check(store: &Arc<dyn SessionStore>, cast: impl Fn(u64) -> Cast) {
        for seed in 0..PLAYS {
            let history = play(Arc::clone(store), cast(seed)).await;
            if let Err(violation) = history.check() {
                panic!("seed {seed}: {violation}\n{history:?}");
            }
        }
    }
}

pub use cases::*;
