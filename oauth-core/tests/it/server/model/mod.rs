//! Exhaustive models of a code, the family it buys and the session it was granted in: every state that three callers can reach, every
//! short history, and every interleaving of three requests at the granularity of store verbs; the last two within a retry window, too.

mod actors;
mod histories;
mod interleavings;
mod retries;
mod schedule;
mod state;

use oauth_core::secret::TokenHash;

use super::fixture::Fixture;

/// How many of the refresh tokens open something.
pub(super) async fn live(fixture: &Fixture, issued: &[String]) -> usize {
    let mut live = 0;
    for token in issued {
        let state = fixture.tokens.refresh_token(&TokenHash::of(token)).await.unwrap();
        live += usize::from(state.is_some_and(|state| state.is_active(fixture.now())));
    }
    live
}
