use super::{Run, lock, put};
use crate::records;
use crate::verbs::{Respond, VerbStore};
use oauth_core::grant::refresh_token::{self, Request, RotationDecision};
use oauth_core::grant::{RetryWindow, TokenPolicy};
use oauth_core::ports::StoreError;
use oauth_core::store::{RefreshTokenState, RegisteredClient, RotateOutcome, TokenStore as _};

impl Run {
    /// Presents a refresh token: the server rotates it, retries the response, or revokes the
    /// family.
    pub(super) async fn refresh(
        &self,
        store: &VerbStore<impl Respond>,
        presented: &str,
        name: &str,
    ) -> Result<(), StoreError> {
        let hash = records::hash(presented);
        let Some(state) = store.refresh_token(&hash).await? else {
            return Ok(());
        };
        let family = state.family.id;
        if state.family.revoked.is_some() {
            return Ok(());
        }
        if !state.is_active(records::start()) {
            return self.repeat_or_revoke(store, &state).await;
        }
        let token = self.label(&format!("token {name}"));
        let mut rotation = records::rotation(presented, &token, "");
        rotation.successor.family = family;
        rotation.successor.generation = state.token.generation + 1;
        rotation.access.family = Some(family);
        match store.rotate(rotation, records::start()).await? {
            RotateOutcome::Rotated => put(&self.refresh_tokens, (token, family)),
            RotateOutcome::Superseded if self.workload.retries => {
                let state = store.refresh_token(&hash).await?;
                if let Some(state) = state.filter(|state| state.family.revoked.is_none()) {
                    self.repeat_or_revoke(store, &state).await?;
                }
            }
            RotateOutcome::Superseded => self.revoke(store, family).await?,
            // any other refusal stores nothing
            _ => {}
        }
        Ok(())
    }

    /// Repeats the response within the retry window, which writes nothing; otherwise revokes the
    /// family.
    async fn repeat_or_revoke(
        &self,
        store: &VerbStore<impl Respond>,
        state: &RefreshTokenState,
    ) -> Result<(), StoreError> {
        if self.is_retry(state) {
            lock(&self.repeated).insert(state.token.hash);
            return Ok(());
        }
        self.revoke(store, state.family.id).await
    }

    fn is_retry(&self, state: &RefreshTokenState) -> bool {
        let grant = &state.family.grant;
        let client = RegisteredClient::public(grant.client_id.clone()).with_scopes(grant.scopes.clone());
        let request = Request {
            client: &client,
            scopes: None,
            resources: &[],
            confirmation: state.family.confirmation,
        };
        let window = RetryWindow::new(RetryWindow::MAX).unwrap_or_default();
        let policy = TokenPolicy::default().with_retry_window(window);
        let decision = refresh_token::rotate(state, &request, &policy, records::start());
        self.workload.retries && matches!(decision, RotationDecision::Retry(_))
    }
}
