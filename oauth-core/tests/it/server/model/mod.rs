//! Exhaustive models of a code, its token family and its session.
//!
//! They cover every state that three callers can reach, every short history, and every interleaving
//! of three requests at the granularity of store verbs; the last two also within a retry window.

mod actors;
mod histories;
mod interleavings;
mod retries;
mod schedule;
mod state;

use oauth_core::secret::TokenHash;

use super::fixture::Fixture;

/// Number of active refresh tokens.
pub(super) async fn live(fixture: &Fixture, issued: &[String]) -> usize {
    let mut live = 0;
    for token in issued {
        let state = fixture
            .tokens
            .refresh_token(&TokenHash::new(token))
            .await
            .unwrap();
        live += usize::from(state.is_some_and(|state| state.is_active(fixture.now())));
    }
    live
}
