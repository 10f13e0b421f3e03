//! Remembered consent of users to clients.

use super::AuthorizationServer;
use super::interaction::InteractionDetails;
use crate::event::{AuthEvent, AuthEventKind};
use crate::grant::narrow;
use crate::ports::StoreError;
use crate::store::{AuthorizationRequest, ConsentRecord, Grant, Prompt, RegisteredClient, RevocationReason};
use crate::vocabulary::{Audience, ClientId, RedirectUri, Scopes, Subject};

/// Scopes, resource servers and redirect URI of a request, to compare with a stored consent.
pub(super) struct RequestedAccess<'a> {
    scopes: &'a Scopes,
    resources: &'a [Audience],
    redirect_uri: &'a RedirectUri,
}

impl<'a> From<&'a AuthorizationRequest> for RequestedAccess<'a> {
    fn from(request: &'a AuthorizationRequest) -> Self {
        Self {
            scopes: &request.scopes,
            resources: &request.resources,
            redirect_uri: &request.redirect_uri,
        }
    }
}

impl AuthorizationServer {
    /// Returns `true` if the host must ask `subject` for consent to the request of `details`.
    ///
    /// The host must ask if the request has `prompt=consent`, or if neither the registration of the
    /// client [implies the consent](RegisteredClient::with_implied_consent) nor a stored consent
    /// covers all requested scopes and resource servers. Without a [consent
    /// store](super::AuthorizationServerBuilder::with_consents), no consent is stored.
    ///
    /// # Security
    ///
    /// A stored consent does not cover a public client whose redirect URI is not `https`, because
    /// another application on the device can pretend to be this client ([RFC 8252
    /// §8.6](https://www.rfc-editor.org/rfc/rfc8252#section-8.6)). A registration [can relax
    /// this](RegisteredClient::danger_remember_consent_without_https).
    ///
    /// # Errors
    ///
    /// [`StoreError`] when a store cannot answer.
    pub async fn needs_consent(
        &self,
        details: &InteractionDetails,
        subject: &Subject,
    ) -> Result<bool, StoreError> {
        if details.prompts.contains(&Prompt::Consent) {
            return Ok(true);
        }
        let Some(client) = self.inner.clients.client(&details.client_id).await? else {
            return Ok(true);
        };
        let asked = RequestedAccess {
            scopes: &details.scopes,
            resources: &details.resources,
            redirect_uri: &details.redirect_uri,
        };
        Ok(!self.is_consent_covered(&client, subject, &asked).await?)
    }

    /// Returns `true` if the client needs no consent, or a stored consent covers the request.
    pub(super) async fn is_consent_covered(
        &self,
        client: &RegisteredClient,
        subject: &Subject,
        asked: &RequestedAccess<'_>,
    ) -> Result<bool, StoreError> {
        if client.is_consent_implied() {
            return Ok(true);
        }
        let Some(consents) = &self.inner.options.consents else {
            return Ok(false);
        };
        if !client.may_remember_consent(asked.redirect_uri) {
            return Ok(false);
        }
        let Some(audience) = narrow(&self.inner.audience, asked.resources) else {
            return Ok(false);
        };
        let consent = consents.consent(subject, &client.id).await?;
        Ok(consent.is_some_and(|consent| consent.covers(asked.scopes, &audience)))
    }

    /// Stores the consent of a user who was asked, if there is a consent store.
    pub(super) async fn store_consent(&self, grant: &Grant) -> Result<(), StoreError> {
        let Some(consents) = &self.inner.options.consents else {
            return Ok(());
        };
        let now = self.inner.clock.now();
        let (subject, client_id) = (grant.subject.clone(), grant.client_id.clone());
        let consent = ConsentRecord::new(subject, client_id, &grant.scopes, &grant.audience, now);
        consents.add_consent(consent).await
    }

    /// Returns `true` if the stored consent does not cover the grant. `false` if the client needs
    /// no consent, or there is no consent store.
    pub(super) async fn is_consent_withdrawn(
        &self,
        client: &RegisteredClient,
        grant: &Grant,
    ) -> Result<bool, StoreError> {
        let Some(consents) = &self.inner.options.consents else {
            return Ok(false);
        };
        if client.is_consent_implied() {
            return Ok(false);
        }
        let consent = consents.consent(&grant.subject, &grant.client_id).await?;
        Ok(!consent.is_some_and(|consent| consent.covers(&grant.scopes, &grant.audience)))
    }

    /// Withdraws the consent of `subject` to a client, revokes the client's token families and
    /// codes of this user, and queues its logouts. Call it from the host's page of connected
    /// applications. Returns the event for the audit log.
    ///
    /// Afterwards, the client gets no code for the user without a new consent, even if its request
    /// began before. Exception: a client with [implied
    /// consent](RegisteredClient::with_implied_consent) can get a new code at once.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when a store cannot answer. Retrying is safe.
    pub async fn withdraw_consent(
        &self,
        subject: &Subject,
        client_id: &ClientId,
    ) -> Result<AuthEvent, StoreError> {
        // first the consent, so that a silent request cannot renew the grants in between
        if let Some(consents) = &self.inner.options.consents {
            consents.remove_consent(subject, client_id).await?;
        }
        let (kind, reason) = (
            AuthEventKind::ConsentWithdrawn,
            RevocationReason::ConsentWithdrawn,
        );
        self.end_grants(subject, client_id, kind, reason).await
    }

    /// Signs `subject` out of a client in all sessions: revokes the client's token families and
    /// codes of this user, and queues its logouts
    /// ([`with_backchannel_logout`](super::AuthorizationServerBuilder::with_backchannel_logout)).
    /// The sessions of the user and the consent stay. Returns the event for the audit log.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when the store cannot answer. Retrying is safe.
    pub async fn sign_out_of_client(
        &self,
        subject: &Subject,
        client_id: &ClientId,
    ) -> Result<AuthEvent, StoreError> {
        let (kind, reason) = (AuthEventKind::SignedOutOfClient, RevocationReason::SignedOut);
        self.end_grants(subject, client_id, kind, reason).await
    }

    async fn end_grants(
        &self,
        subject: &Subject,
        client_id: &ClientId,
        kind: AuthEventKind,
        reason: RevocationReason,
    ) -> Result<AuthEvent, StoreError> {
        let now = self.inner.clock.now();
        let revoked = self.inner.tokens.revoke_grants(subject, client_id, reason, now);
        let _counts = revoked.await?;
        let event = AuthEvent::new(kind).ended_by(reason).at(now);
        Ok(event.by(client_id).about(subject))
    }
}
