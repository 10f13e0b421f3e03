//! Back-channel logout: the server tells clients that a session has ended, [OpenID Connect
//! Back-Channel Logout](https://openid.net/specs/openid-connect-backchannel-1_0.html).

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::join_all;
use http::Request;
use http::header::CONTENT_TYPE;

use super::AuthorizationServer;
use crate::error::Reason;
use crate::event::{AuthEvent, AuthEventKind};
use crate::exchange::contained;
use crate::jose::{LogoutToken, SigningError};
use crate::params;
use crate::ports::{ExchangeLimits, StoreError, Transport};
use crate::store::{LogoutRecord, LogoutStore, RegisteredClient};
use crate::vocabulary::Endpoint;

/// Number of logouts that one call leases and sends concurrently.
const BATCH: usize = 64;
/// Limits of an exchange. Only the status of the response matters.
const LIMITS: ExchangeLimits = ExchangeLimits {
    timeout: Duration::from_secs(10),
    max_response_body: 1024,
    body_timeout: Some(Duration::from_secs(1)),
};

/// Outbox and transport of back-channel logout.
pub(super) struct BackchannelLogout {
    pub(super) store: Arc<dyn LogoutStore>,
    pub(super) transport: Arc<dyn Transport>,
}

impl AuthorizationServer {
    /// Sends the back-channel logouts that are due: up to 64, concurrently. Returns the events for
    /// the audit log, one per attempt: `logout_sent`, `logout_failed` if a later attempt follows,
    /// or `logout_abandoned` if none follows. A client that is not registered or has no
    /// `backchannel_logout_uri` gets no attempt and no event. Without
    /// [`with_backchannel_logout`](super::AuthorizationServerBuilder::with_backchannel_logout)
    /// there are none.
    ///
    /// The host calls it every second, and need not await the previous call: concurrent calls, also
    /// of several processes, send different logouts. A call takes as long as its slowest client: at
    /// most ten seconds, plus the time of the stores.
    ///
    /// A 2xx status means that the client ended its sessions. Otherwise the server tries again
    /// after 5 s, 15 s, 45 s and so on, and gives up after one hour. A logout that expires between
    /// two attempts, for example while no process calls this method, is deleted without an event.
    /// At one call per second a process begins at most 230,000 attempts per hour. Each attempt has
    /// a new token, which expires after two minutes. A client may get a logout twice, for example
    /// if the response was lost.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when the due logouts cannot be leased. If only the settlement of a logout
    /// fails, it is sent again after a minute.
    pub async fn send_logouts(&self) -> Result<Vec<AuthEvent>, StoreError> {
        let Some(logouts) = &self.inner.options.backchannel_logout else {
            return Ok(Vec::new());
        };
        let leased = logouts.store.lease_logouts(BATCH, self.inner.clock.now()).await?;
        let sent = leased.into_iter().map(|logout| self.send_logout(logouts, logout));
        Ok(join_all(sent).await.into_iter().flatten().collect())
    }

    /// Sends one logout and settles it. Returns `None` if the client has no URL for logout tokens.
    async fn send_logout(&self, logouts: &BackchannelLogout, logout: LogoutRecord) -> Option<AuthEvent> {
        let attempt = self.attempt_logout(logouts, &logout).await;
        let now = self.inner.clock.now();
        let retry_at = match attempt {
            Attempt::Delivered | Attempt::NotRegistered => None,
            Attempt::Failed(_) => logout.retry_at(now),
        };
        // an unsettled logout is due again after its lease, or was queued again
        let settled = logouts.store.settle_logout(&logout, retry_at).await;
        let is_retried = retry_at.is_some() || !matches!(settled, Ok(true));
        let event = |kind| {
            AuthEvent::new(kind)
                .by(&logout.client_id)
                .about(&logout.subject)
                .of_session(Some(logout.session))
                .at(now)
        };
        match attempt {
            Attempt::NotRegistered => None,
            Attempt::Delivered => Some(event(AuthEventKind::LogoutSent)),
            Attempt::Failed(reason) => Some(match is_retried {
                true => event(AuthEventKind::LogoutFailed).because(reason),
                false => event(AuthEventKind::LogoutAbandoned).because(reason),
            }),
        }
    }

    async fn attempt_logout(&self, logouts: &BackchannelLogout, logout: &LogoutRecord) -> Attempt {
        let Ok(client) = self.inner.clients.client(&logout.client_id).await else {
            return Attempt::Failed(Reason::StoreUnavailable);
        };
        let Some((client, uri)) = client.and_then(|client| {
            let uri = client.backchannel_logout_uri.clone()?;
            Some((client, uri))
        }) else {
            return Attempt::NotRegistered;
        };
        let Ok(request) = self.logout_request(&client, &uri, logout) else {
            return Attempt::Failed(Reason::SigningFailed);
        };
        match contained(logouts.transport.send(request)).await {
            Ok(Ok(response)) if response.status().is_success() => Attempt::Delivered,
            Ok(Ok(_)) => Attempt::Failed(Reason::LogoutRefused),
            Ok(Err(_)) | Err(_) => Attempt::Failed(Reason::LogoutEndpointUnreachable),
        }
    }

    /// Builds the request of [OpenID Connect Back-Channel Logout
    /// §2.5](https://openid.net/specs/openid-connect-backchannel-1_0.html#BCRequest) with a new
    /// token, signed as the ID tokens of the client.
    fn logout_request(
        &self,
        client: &RegisteredClient,
        uri: &Endpoint,
        logout: &LogoutRecord,
    ) -> Result<Request<Bytes>, SigningError> {
        let (issuer, now) = (self.inner.issuer.clone(), self.inner.clock.now());
        let token = LogoutToken {
            subject: Some(logout.subject.clone()),
            session: Some(logout.session.to_string()),
            ..LogoutToken::new(issuer, client.id.clone(), &*self.inner.entropy, now)
        };
        let key = self.inner.signing_keys.id_token_key(client.id_token_algorithm);
        let key = key.ok_or_else(|| SigningError::new("no key of the registered ID token algorithm"))?;
        let form = params::encode([("logout_token", token.sign(key)?.as_str())]);
        Request::post(uri.uri().clone())
            .header(CONTENT_TYPE, "application/x-www-form-urlencoded")
            .extension(LIMITS)
            .body(form.into())
            .map_err(SigningError::new)
    }
}

/// Outcome of one attempt to tell a client.
enum Attempt {
    /// The client responded with a 2xx status.
    Delivered,
    /// The client is no longer registered, or has no URL for logout tokens.
    NotRegistered,
    /// The logout was not delivered, for this reason.
    Failed(Reason),
}
