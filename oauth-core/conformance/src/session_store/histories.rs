//! Cases that check recorded histories with sessions.

/// The cases of histories in `session_store!`.
#[host_ports_conformance::kit(session_store_histories)]
mod cases {
    use std::sync::Arc;

    use crate::history::{Workload, record};
    use oauth_core::store::SessionStore;

    /// Number of recorded histories per case.
    const HISTORIES: u64 = 24;

    /// O10, S3: some sequential order explains the responses to three concurrent callers that use,
    /// renew and end a session, reset a password and sign out everywhere.
    pub async fn every_history_of_sessions_has_an_order(store: &Arc<dyn SessionStore>) {
        check(store, |seed| Workload::new(seed).with_sessions()).await;
    }

    /// O10, S3: the same with lost calls, lost responses, stale lookups and clock jumps.
    pub async fn every_faulty_history_of_sessions_has_an_order(store: &Arc<dyn SessionStore>) {
        check(store, |seed| Workload::new(seed).with_sessions().with_faults()).await;
    }

    async fn check(store: &Arc<dyn SessionStore>, workload: impl Fn(u64) -> Workload) {
        for seed in 0..HISTORIES {
            let history = record(Arc::clone(store), workload(seed)).await;
            if let Err(violation) = history.check() {
                panic!("seed {seed}: {violation}\n{history:?}");
            }
        }
    }
}

pub use cases::*;
