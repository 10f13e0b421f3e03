//! Attempt log: a bounded record of each exchange, for people to read.

use std::{
    error::Error,
    time::{Duration, SystemTime},
};

use bytes::Bytes;
use http::{Response, StatusCode};

use crate::{
    ports::{TransportError, TransportErrorKind},
    sender::DeliveryId,
};

/// Maximum size of a response body in the attempt log, in bytes: 4 KiB.
pub const KEPT_ANSWER: usize = 4 * 1024;

/// Maximum size of an error text in the attempt log, in bytes: 1 KiB.
const KEPT_MESSAGE: usize = 1024;

/// Row of the attempt log. Delivery and fencing token identify it: a lease makes at most one
/// attempt.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Attempt {
    /// Delivery that was attempted.
    pub delivery: DeliveryId,
    /// Fencing token of the lease.
    pub fence: u64,
    /// Time at which the request was sent; also its signed timestamp.
    pub started_at: SystemTime,
    /// Duration of the whole exchange.
    pub duration: Duration,
    /// Result of the exchange.
    pub result: AttemptResult,
}

/// Result of an attempt, as the log stores it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum AttemptResult {
    /// The receiver responded.
    Answered {
        /// Status of the response.
        status: StatusCode,
        /// First 4 KiB of the body.
        ///
        /// Empty if the delivery is then [held](crate::sender::Disposition::Held), for example
        /// after a 429, because the schedule does not limit how often that happens.
        body: Bytes,
    },
    /// The receiver did not respond.
    Failed {
        /// Kind of the failure.
        kind: TransportErrorKind,
        /// Error and its causes, at most 1 KiB. Empty if the delivery is then held.
        message: String,
    },
}

impl AttemptResult {
    /// Summarizes an exchange for the log.
    #[must_use]
    pub fn from_exchange(exchange: &Result<Response<Bytes>, TransportError>) -> Self {
        match exchange {
            Ok(response) => Self::Answered {
                status: response.status(),
                body: kept_answer(response.body()),
            },
            Err(error) => Self::Failed {
                kind: error.kind(),
                message: chain(error),
            },
        }
    }

    /// Removes the response body, or the error text.
    pub(crate) fn without_text(self) -> Self {
        match self {
            Self::Answered { status, .. } => Self::Answered {
                status,
                body: Bytes::new(),
            },
            Self::Failed { kind, .. } => Self::Failed {
                kind,
                message: String::new(),
            },
        }
    }
}

/// Copies the first 4 KiB: a slice would keep the whole response in memory.
fn kept_answer(body: &Bytes) -> Bytes {
    match body.get(..KEPT_ANSWER) {
        Some(kept) => Bytes::copy_from_slice(kept),
        None => body.clone(),
    }
}

fn chain(error: &(dyn Error + 'static)) -> String {
    let causes: Vec<String> = std::iter::successors(Some(error), |error| (*error).source())
        .map(ToString::to_string)
        .collect();
    let mut text = causes.join(": ");
    let mut end = text.len().min(KEPT_MESSAGE);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.truncate(end);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// W18: the log keeps the first 4 KiB of a response and at most 1 KiB of an error text.
    #[test]
    fn the_log_keeps_a_bounded_part() {
        let body = Bytes::from(vec![b'x'; KEPT_ANSWER + 1]);
        let AttemptResult::Answered { body, .. } = AttemptResult::from_exchange(&Ok(Response::new(body)))
        else {
            panic!("an answer is kept as one");
        };
        assert_eq!(body.len(), KEPT_ANSWER);
        let error = TransportError::connect("ü".repeat(2_000));
        let AttemptResult::Failed { kind, message } = AttemptResult::from_exchange(&Err(error)) else {
            panic!("a failure is kept as one");
        };
        assert_eq!(kind, TransportErrorKind::Connect);
        assert!(message.contains(": ü") && message.len() <= KEPT_MESSAGE);
    }
}
