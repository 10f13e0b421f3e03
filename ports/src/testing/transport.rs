use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use async_trait::async_trait;
use bytes::Bytes;
use http::{Request, Response};

use crate::{Transport, TransportError};

/// A [`Transport`] that returns scripted responses in order and records the requests. Clones share
/// the script.
///
/// After the last response every exchange fails with
/// [`TransportErrorKind::Other`](crate::TransportErrorKind::Other).
#[derive(Clone, Debug, Default)]
pub struct ScriptedTransport(Arc<Mutex<Script>>);

#[derive(Debug, Default)]
struct Script {
    responses: VecDeque<Result<Response<Bytes>, TransportError>>,
    requests: Vec<Request<Bytes>>,
}

impl ScriptedTransport {
    /// Creates a transport with these responses.
    #[must_use]
    pub fn new(responses: impl IntoIterator<Item = Result<Response<Bytes>, TransportError>>) -> Self {
        Self(Arc::new(Mutex::new(Script {
            responses: responses.into_iter().collect(),
            requests: Vec::new(),
        })))
    }

    /// Appends a response to the script.
    pub fn push(&self, response: Result<Response<Bytes>, TransportError>) {
        self.lock().responses.push_back(response);
    }

    /// Requests so far, in order.
    #[must_use]
    pub fn requests(&self) -> Vec<Request<Bytes>> {
        self.lock().requests.clone()
    }

    fn lock(&self) -> MutexGuard<'_, Script> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Transport for ScriptedTransport {
    async fn send(&self, request: Request<Bytes>) -> Result<Response<Bytes>, TransportError> {
        let mut script = self.lock();
        script.requests.push(request);
        script
            .responses
            .pop_front()
            .unwrap_or_else(|| Err(TransportError::other("the script is over")))
    }
}
