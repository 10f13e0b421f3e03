//! Rate limit of client authentication, by the counts of [`attempts`](crate::attempts).

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use http::Request;

use super::AuthorizationServer;
use super::client_authentication::Method;
use super::endpoint_response::{Failure, Refused};
use crate::attempts::{Admission, AttemptKey, AttemptPolicy, Source};
use crate::error::{ErrorCode, ErrorResponse, Reason};
use crate::event::AuthEventKind;
use crate::store::AttemptStore;
use crate::vocabulary::ClientId;

/// Store and policy of the rate limit.
pub(super) struct Guesses {
    pub(super) store: Arc<dyn AttemptStore>,
    pub(super) policy: AttemptPolicy,
}

impl AuthorizationServer {
    /// Checks the rate limit for a request with correct credentials, without counting the request.
    pub(super) async fn check_limit(
        &self,
        request: &Request<Bytes>,
        client_id: &ClientId,
        method: &Method<'_>,
        now: SystemTime,
    ) -> Result<(), Failure> {
        match self.counted(method) {
            Some(guesses) => admitted(
                guesses.store.standing(&key(request, client_id), now).await?,
                client_id,
            ),
            None => Ok(()),
        }
    }

    /// Counts a request with wrong credentials, and checks the rate limit.
    pub(super) async fn count_failure(
        &self,
        request: &Request<Bytes>,
        client_id: &ClientId,
        method: &Method<'_>,
        now: SystemTime,
    ) -> Result<(), Failure> {
        match self.counted(method) {
            Some(guesses) => {
                let key = key(request, client_id);
                admitted(guesses.store.admit(&key, &guesses.policy, now).await?, client_id)
            }
            None => Ok(()),
        }
    }

    fn counted(&self, method: &Method<'_>) -> Option<&Guesses> {
        self.inner
            .options
            .guesses
            .as_ref()
            .filter(|_| method.is_a_guess())
    }
}

/// Returns the key of the count: the client that the request names, registered or not, and the
/// source of the request, if the host sets it.
fn key(request: &Request<Bytes>, client_id: &ClientId) -> AttemptKey {
    let key = AttemptKey::client(client_id);
    match request.extensions().get::<Source>() {
        Some(source) => key.from_source(*source),
        None => key,
    }
}

fn admitted(admission: Admission, client_id: &ClientId) -> Result<(), Failure> {
    match admission {
        Admission::Admitted => Ok(()),
        Admission::Refused { retry_after } => Err(too_many(retry_after, client_id)),
    }
}

fn too_many(retry_after: Duration, client_id: &ClientId) -> Failure {
    let response = ErrorResponse::new(ErrorCode::TooManyAttempts)
        .with_retry_after(retry_after)
        .into_response();
    Failure::Refused(Refused {
        response: Box::new(response),
        kind: AuthEventKind::AttemptsExceeded,
        reason: Reason::TooManyAttempts,
        client_id: Some(client_id.clone()),
    })
}
