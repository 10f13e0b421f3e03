//! Cases that check recorded histories of codes and tokens.

/// The cases of histories in `token_store!`.
#[host_ports_conformance::kit(token_store_histories)]
mod cases {
    use std::sync::Arc;

    use crate::history::{Workload, record};
    use oauth_core::store::TokenStore;

    /// Number of recorded histories per case.
    const HISTORIES: u64 = 24;

    /// O6, O10: some sequential order explains the responses to three concurrent callers. A code is
    /// redeemed for one family, a family has at most one active refresh token, a revoked family
    /// yields nothing, and every reuse ends in a revocation.
    pub async fn every_history_of_tokens_has_an_order(store: &Arc<dyn TokenStore>) {
        check(store, Workload::new).await;
    }

    /// O6, O10: the same with lost calls, lost responses, stale lookups and clock jumps.
    pub async fn every_faulty_history_of_tokens_has_an_order(store: &Arc<dyn TokenStore>) {
        check(store, |seed| Workload::new(seed).with_faults()).await;
    }

    /// O10, 51, 53: the same with a retry window: a retry writes nothing, and every reuse outside
    /// the window ends in a revocation.
    pub async fn every_faulty_history_of_retries_has_an_order(store: &Arc<dyn TokenStore>) {
        check(store, |seed| Workload::new(seed).with_faults().with_retries()).await;
    }

    async fn check(store: &Arc<dyn TokenStore>, workload: impl Fn(u64) -> Workload) {
        for seed in 0..HISTORIES {
            let history = record(Arc::clone(store), workload(seed)).await;
            if let Err(violation) = history.check() {
                panic!("seed {seed}: {violation}\n{history:?}");
            }
        }
    }
}

pub use cases::*;
