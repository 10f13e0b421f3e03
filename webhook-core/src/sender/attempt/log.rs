//! The row of the attempt log: what one exchange brought back, for a person to read.

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

/// How much of an answer the attempt log keeps.
pub const KEPT_ANSWER: usize = 4 * 1024;

/// How much of an error text the attempt log keeps.
const KEPT_MESSAGE: usize = 1024;

/// One row of the attempt log, identified by its delivery and fence: a lease makes at most one attempt.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Attempt {
    /// Which delivery was attempted.
    pub delivery: DeliveryId,
    /// The number of the lease it was attempted under.
    pub fence: u64,
    /// When the request was sent; also the timestamp it was signed with.
    pub started_at: SystemTime,
    /// How long the whole exchange took.
    pub duration: Duration,
    /// What came back.
    pub result: AttemptResult,
}

/// What an attempt brought back, as the log keeps it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum AttemptResult {
    /// The receiver answered.
    Answered {
        /// With this status.
        status: StatusCode,
        /// The first 4 KiB of the body; nothing of it where the delivery is [held](crate::sender::Disposition::Held) thereupon, as
        /// after 429: that spends no attempt, and may happen thousands of times.
        body: Bytes,
    },
    /// No answer came.
    Failed {
        /// How far the exchange got.
        kind: TransportErrorKind,
        /// The error and its causes, for a person to read; at most 1 KiB, and nothing where the delivery is held thereupon.
        message: String,
    },
}

impl AttemptResult {
    /// Keeps what the log needs of an exchange.
    #[must_use]
    pub fn of(exchange: &Result<Response<Bytes>, TransportError>) -> Self {
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

    /// The same without what the receiver, or the error, had to say.
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

/// Copied, because a slice would keep the whole answer in memory.
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

    /// W18: the log keeps the first 4 KiB of an answer and a bounded text of an error.
    #[test]
    fn the_log_keeps_a_bounded_part() {
        let body = Bytes::from(vec![b'x'; KEPT_ANSWER + 1]);
        let AttemptResult::Answered { body, .. } = AttemptResult::of(&Ok(Response::new(body))) else {
            panic!("an answer is kept as one");
        };
        assert_eq!(body.len(), KEPT_ANSWER);
        let error = TransportError::connect("ü".repeat(2_000));
        let AttemptResult::Failed { kind, message } = AttemptResult::of(&Err(error)) else {
            panic!("a failure is kept as one");
        };
        assert_eq!(kind, TransportErrorKind::Connect);
        assert!(message.contains(": ü") && message.len() <= KEPT_MESSAGE);
    }
}
