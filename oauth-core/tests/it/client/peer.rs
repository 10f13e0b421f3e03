//! A test server with scripted responses.

use host_ports::testing::ManualClock;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use futures_util::FutureExt;
use oauth_core::client::{CallError, Ports};
use oauth_core::ports::{Transport, TransportError};

use super::*;

/// A transport that returns these responses in order and repeats the last one; without any it
/// fails.
#[derive(Clone)]
pub(super) struct Peer {
    answers: Arc<Mutex<VecDeque<Response<Bytes>>>>,
    asked: Arc<Mutex<Vec<Request<Bytes>>>>,
}

impl Peer {
    pub(super) fn new(answers: impl IntoIterator<Item = Response<Bytes>>) -> Self {
        Self {
            answers: Arc::new(Mutex::new(answers.into_iter().collect())),
            asked: Arc::default(),
        }
    }

    pub(super) fn ports(&self) -> Ports {
        Ports::new(self.clone(), OsEntropy, ManualClock::new(now()))
    }

    /// Sends the call at once.
    pub(super) fn ask<A: CallResponse>(&self, call: Call<A>) -> Result<A, CallError<A::Error>> {
        call.send(&self.ports()).now_or_never().unwrap()
    }

    pub(super) fn asked(&self) -> Vec<Request<Bytes>> {
        self.asked.lock().unwrap().clone()
    }
}

#[async_trait]
impl Transport for Peer {
    async fn send(&self, request: Request<Bytes>) -> Result<Response<Bytes>, TransportError> {
        self.asked.lock().unwrap().push(request);
        let mut answers = self.answers.lock().unwrap();
        let answer = if answers.len() > 1 {
            answers.pop_front()
        } else {
            answers.front().cloned()
        };
        answer.ok_or_else(|| TransportError::other("out of reach"))
    }
}

/// The error of an unusable response.
pub(super) fn unusable<A: std::fmt::Debug, E: std::error::Error>(sent: Result<A, CallError<E>>) -> E {
    match sent.unwrap_err() {
        CallError::Response(error) => error,
        other => unreachable!("{other:?}"),
    }
}

pub(super) fn with(name: &'static str, value: &str, mut response: Response<Bytes>) -> Response<Bytes> {
    response.headers_mut().append(name, value.parse().unwrap());
    response
}
