use std::fmt;

use async_trait::async_trait;

use super::verbs::{Reply, Respond, Verb, VerbStore};
use oauth_core::ports::StoreError;

/// A slow store: it pauses before each verb and before each response.
///
/// The test supplies the pause as a future, because this crate has no timer. Between a read and the
/// write after it, other callers always run.
pub struct Delayed<R, P> {
    store: R,
    pause: P,
}

impl<R, P> Delayed<R, P> {
    /// Wraps `store`; `pause` makes each pause, for example `||
    /// tokio::time::sleep(Duration::from_millis(5))`.
    #[must_use]
    pub const fn new(store: R, pause: P) -> VerbStore<Self> {
        VerbStore(Self { store, pause })
    }
}

impl<R: fmt::Debug, P> fmt::Debug for Delayed<R, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Delayed")
            .field("store", &self.store)
            .finish_non_exhaustive()
    }
}

#[async_trait]
impl<R, P, F> Respond for Delayed<R, P>
where
    R: Respond,
    P: Fn() -> F + Send + Sync,
    F: Future<Output = ()> + Send,
{
    async fn respond(&self, verb: Verb) -> Result<Reply, StoreError> {
        (self.pause)().await;
        let reply = self.store.respond(verb).await;
        (self.pause)().await;
        reply
    }
}
