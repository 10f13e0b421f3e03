use std::error::Error;
use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use http::{Request, Response};

use super::AuthorizationServer;
use crate::error::{ErrorCode, ErrorResponse, Reason};
use crate::event::{AuthEvent, AuthEventKind, RequestContext};
use crate::jose::SigningError;
use crate::ports::{StoreError, StoreErrorKind};
use crate::time::AFTER_A_FAULT;
use crate::vocabulary::ClientId;

/// Response of an endpoint, with events and the cause of a server failure for the host.
///
/// `Debug` shows only the status of the response, because its headers and body may hold codes and
/// tokens.
#[non_exhaustive]
#[must_use]
pub struct EndpointResponse {
    /// Response to send to the client.
    pub response: Response<Bytes>,
    /// Events in the order in which they happened, for the audit log.
    pub events: Vec<AuthEvent>,
    /// Cause of a server failure (status 500 or 503), for the log. The response does not reveal the
    /// cause. `None` if the server did not fail.
    pub fault: Option<Arc<dyn Error + Send + Sync>>,
}

impl EndpointResponse {
    pub(super) const fn new(response: Response<Bytes>, events: Vec<AuthEvent>) -> Self {
        Self {
            response,
            events,
            fault: None,
        }
    }
}

impl fmt::Debug for EndpointResponse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EndpointResponse")
            .field("status", &self.response.status())
            .field("events", &self.events)
            .field("fault", &self.fault)
            .finish_non_exhaustive()
    }
}

impl AuthorizationServer {
    /// Sets the instant and the context of the events of a request.
    pub(super) fn stamp(&self, request: &Request<Bytes>, events: &mut [AuthEvent]) {
        let context = request.extensions().get::<RequestContext>();
        RequestContext::stamp(context, events, self.inner.clock.now());
    }

    /// Returns the response with the instant and the context of its events.
    pub(super) fn stamped(
        &self,
        request: &Request<Bytes>,
        mut response: EndpointResponse,
    ) -> EndpointResponse {
        self.stamp(request, &mut response.events);
        response
    }
}

/// Reason why an endpoint does not serve a request.
#[derive(Debug)]
pub(super) enum Failure {
    /// The request was refused.
    Refused(Refused),
    /// A store or another dependency failed.
    Broken(Broken),
}

/// A refusal: the response for the client and the reason for the host.
#[derive(Debug)]
pub(super) struct Refused {
    pub(super) response: Box<Response<Bytes>>,
    pub(super) kind: AuthEventKind,
    pub(super) reason: Reason,
    pub(super) client_id: Option<ClientId>,
}

/// A failure of a dependency: the error code for the client, the reason for events and the cause
/// for the log.
#[derive(Debug)]
pub(super) struct Broken {
    pub(super) error: ErrorCode,
    pub(super) reason: Reason,
    pub(super) cause: Arc<dyn Error + Send + Sync>,
}

impl Failure {
    /// Refuses with an OAuth error.
    pub(super) fn refused(error: ErrorCode, reason: Reason) -> Self {
        Self::with_response(ErrorResponse::new(error).into_response(), reason)
    }

    /// Refuses with an OAuth error and an `error_description` for the developer of the client.
    pub(super) fn described(error: ErrorCode, reason: Reason, description: &'static str) -> Self {
        Self::with_response(
            ErrorResponse::new(error)
                .with_description(description)
                .into_response(),
            reason,
        )
    }

    /// Refuses with any response.
    pub(super) fn with_response(response: Response<Bytes>, reason: Reason) -> Self {
        Self::Refused(Refused {
            response: Box::new(response),
            kind: AuthEventKind::RequestRefused,
            reason,
            client_id: None,
        })
    }

    /// Sets the client of a refusal, for its event.
    pub(super) fn by(self, client_id: &ClientId) -> Self {
        match self {
            Self::Refused(refused) => Self::Refused(Refused {
                client_id: Some(client_id.clone()),
                ..refused
            }),
            broken @ Self::Broken(_) => broken,
        }
    }

    /// Builds the response of the endpoint, and appends the event of the refusal or failure to
    /// `events`.
    pub(super) fn into_response(self, mut events: Vec<AuthEvent>) -> EndpointResponse {
        match self {
            Self::Refused(refused) => {
                let event = AuthEvent::new(refused.kind).because(refused.reason);
                events.push(AuthEvent {
                    client_id: refused.client_id,
                    ..event
                });
                EndpointResponse::new(*refused.response, events)
            }
            Self::Broken(broken) => {
                events.push(broken.event());
                let mut response = ErrorResponse::new(broken.error);
                if broken.error == ErrorCode::TemporarilyUnavailable {
                    response = response.with_retry_after(AFTER_A_FAULT);
                }
                EndpointResponse {
                    response: response.into_response(),
                    events,
                    fault: Some(broken.cause),
                }
            }
        }
    }
}

impl Broken {
    pub(super) const fn event(&self) -> AuthEvent {
        AuthEvent::new(AuthEventKind::ServerFailed).because(self.reason)
    }
}

impl From<StoreError> for Broken {
    fn from(error: StoreError) -> Self {
        let (code, reason) = match error.kind() {
            StoreErrorKind::Unavailable => (ErrorCode::TemporarilyUnavailable, Reason::StoreUnavailable),
            _ => (ErrorCode::ServerError, Reason::StoreCorrupt),
        };
        Self {
            error: code,
            reason,
            cause: Arc::new(error),
        }
    }
}

impl From<SigningError> for Broken {
    fn from(error: SigningError) -> Self {
        Self {
            error: ErrorCode::ServerError,
            reason: Reason::SigningFailed,
            cause: Arc::new(error),
        }
    }
}

/// The store already has a key that was generated now from 256 random bits.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("the entropy source repeats itself")]
struct EntropyRepeats;

impl Broken {
    /// Creates the failure for a generated key that the store already has. The server issues
    /// nothing then.
    pub(super) fn entropy_repeats() -> Self {
        Self {
            error: ErrorCode::ServerError,
            reason: Reason::EntropyRepeats,
            cause: Arc::new(EntropyRepeats),
        }
    }
}

impl From<Broken> for Failure {
    fn from(broken: Broken) -> Self {
        Self::Broken(broken)
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Self::Broken(error.into())
    }
}

impl From<SigningError> for Failure {
    fn from(error: SigningError) -> Self {
        Self::Broken(error.into())
    }
}
