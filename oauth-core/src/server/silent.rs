//! Authorization requests with `prompt=none`, which are answered without a page.

use http::{HeaderMap, Method};

use super::AuthorizationServer;
use super::authorize::{Checked, Refusal};
use super::endpoint_response::{Broken, EndpointResponse};
use super::interaction::Interaction;
use super::resume::Authentication;
use super::session_lookup::{SessionLookupOutcome, SessionQuery};
use crate::error::{AuthorizationErrorCode as Error, Reason};
use crate::store::AuthorizationRequest;

impl AuthorizationServer {
    /// Answers a request with `prompt=none` from the session of the browser and the stored consent.
    pub(super) async fn answer_silently(
        &self,
        checked: Checked,
        headers: &HeaderMap,
        method: &Method,
    ) -> Result<EndpointResponse, Refusal> {
        let user = self.silent_user(&checked.request, headers).await?;
        let now = self.inner.clock.now();
        self.check_consent(&checked, &user).await?;
        let (request, asked_at) = match checked.pushed {
            // the interaction completes the pushed request, which can be used once
            Some(_) => {
                let Interaction { id, browser, .. } = self.begin(checked.clone()).await?;
                match self.take(&id, browser.expose(), now).await? {
                    Ok((request, asked_at, _)) => (request, asked_at),
                    Err(reason) => return Err(Refusal::Page(reason, Some(checked.client.id))),
                }
            }
            None => (checked.request.clone(), now),
        };
        let grant = match self.check_grant(&request, asked_at, user.clone()).await? {
            Ok(grant) => grant,
            Err((error, reason)) => return Err(Refusal::of(&request, error, reason)),
        };
        let outcome = self.issue_code(request, grant, now).await?;
        // a concurrent withdrawal may have missed this code
        self.check_consent(&checked, &user).await?;
        Ok(self.send_back(outcome, method, None))
    }

    /// Refuses a request to which the user has not consented.
    async fn check_consent(&self, checked: &Checked, user: &Authentication) -> Result<(), Refusal> {
        let request = &checked.request;
        let asked = request.into();
        let covered = self.is_consent_covered(&checked.client, &user.subject, &asked);
        if covered.await.map_err(Broken::from)? {
            return Ok(());
        }
        Err(Refusal::of(
            request,
            Error::ConsentRequired,
            Reason::ConsentRequired,
        ))
    }

    /// Selects the user of a silent request.
    async fn silent_user(
        &self,
        request: &AuthorizationRequest,
        headers: &HeaderMap,
    ) -> Result<Authentication, Refusal> {
        let refused = |error, reason| Err(Refusal::of(request, error, reason));
        let Some(lookup) = &self.inner.options.session_lookup else {
            return refused(Error::LoginRequired, Reason::LoginRequired);
        };
        let query = SessionQuery {
            headers,
            client_id: &request.client_id,
            login_hint: request.login_hint.as_deref(),
        };
        let users = match lookup.find_users(query).await.map_err(Broken::from)? {
            SessionLookupOutcome::Users(users) => users,
            SessionLookupOutcome::InteractionRequired => {
                return refused(Error::InteractionRequired, Reason::InteractionRequired);
            }
        };
        let expected = |user: &Authentication| {
            let expected = request.expected_subject.as_ref();
            expected.is_none_or(|expected| *expected == user.subject)
        };
        let mut users = users.into_iter().filter(expected);
        match (users.next(), users.next()) {
            (Some(user), None) => Ok(user),
            (Some(_), Some(_)) => refused(Error::AccountSelectionRequired, Reason::AccountSelectionRequired),
            (None, _) => refused(Error::LoginRequired, Reason::LoginRequired),
        }
    }
}
