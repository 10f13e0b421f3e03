//! Users who are signed in in a browser, for requests with `prompt=none`.

use async_trait::async_trait;
use oauth_core::Sessions;
use oauth_core::ports::StoreError;
use oauth_core::server::{SessionLookup, SessionLookupOutcome, SessionQuery};

use super::authentication;
use crate::desk::Desk;

/// Lookup by the session cookie.
pub(in crate::app) struct SignedInUsers {
    sessions: Sessions,
    desk: Desk,
}

impl SignedInUsers {
    pub(in crate::app) fn new(sessions: &Sessions, desk: &Desk) -> Self {
        Self {
            sessions: sessions.clone(),
            desk: desk.clone(),
        }
    }
}

#[async_trait]
impl SessionLookup for SignedInUsers {
    async fn find_users(&self, query: SessionQuery<'_>) -> Result<SessionLookupOutcome, StoreError> {
        let Ok(session) = self.sessions.authenticate(query.headers).await? else {
            return Ok(SessionLookupOutcome::Users(Vec::new()));
        };
        let user = self.desk.user_by_subject(session.record.subject.as_str()).await;
        let user = user.map_err(StoreError::unavailable)?;
        let authentication = user.map(|user| authentication(&user, &session.record));
        Ok(SessionLookupOutcome::Users(authentication.into_iter().collect()))
    }
}
