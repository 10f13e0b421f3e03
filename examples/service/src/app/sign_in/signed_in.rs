//! Users who are signed in in a browser, for requests with `prompt=none`.

use async_trait::async_trait;
use oauth_core::Sessions;
use oauth_core::ports::StoreError;
use oauth_core::server::{SessionLookup, SessionQuery, SignedIn};

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
    async fn signed_in(&self, query: SessionQuery<'_>) -> Result<SignedIn, StoreError> {
        let Ok(session) = self.sessions.authenticate(query.headers).await? else {
            return Ok(SignedIn::Users(Vec::new()));
        };
        let user = self.desk.user_by_subject(session.record.subject.as_str()).await;
        let user = user.map_err(StoreError::unavailable)?;
        let authentication = user.map(|user| authentication(&user, &session.record));
        Ok(SignedIn::Users(authentication.into_iter().collect()))
    }
}
