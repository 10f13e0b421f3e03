//! `ReplayStore`: 32 concurrent calls, and the exact instant of an end.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use host_ports_conformance::race;
use oauth_core::secret::TokenHash;
use oauth_core::store::{ReplayStore, SpendOutcome};

use crate::server::store;

const NOW: SystemTime = SystemTime::UNIX_EPOCH;
const END: Duration = Duration::from_secs(60);

#[tokio::test]
async fn one_of_32_spends_of_a_name_is_fresh() {
    let store = Arc::new(store!());
    let key = TokenHash::of("jti");
    let spent = race(&store, async move |store, _| {
        store.insert_once(key, NOW + END, NOW).await.unwrap()
    })
    .await;
    assert_eq!(
        spent
            .iter()
            .filter(|&&spent| spent == SpendOutcome::Fresh)
            .count(),
        1
    );
    let at_end = store.insert_once(key, NOW + END * 2, NOW + END).await.unwrap();
    assert_eq!(at_end, SpendOutcome::Fresh);
}
