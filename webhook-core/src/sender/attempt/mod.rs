//! Attempts: their outcomes, and the classification of outcomes.
//!
//! [`Classification::classify`] maps every [`AttemptOutcome`] to an [`AttemptClass`]. Each
//! [`Endpoint`](super::Endpoint) has a [`Classification`]. A host can replace both with
//! [`DeliveryPolicy::with_classification`](super::DeliveryPolicy::with_classification).
//!
//! | response | `strict`, the default | `patient` |
//! |---|---|---|
//! | 2xx | acknowledged | acknowledged |
//! | 5xx, 3xx (redirects are not followed), 408, 425, no response | retried later | retried later |
//! | 429 | the whole endpoint is held; no attempt is counted | the same |
//! | 410 | permanent failure, and the endpoint is disabled | the same |
//! | 401, 403, 404 | permanent failure | retried later |
//! | other 4xx, refused address | permanent failure | permanent failure |
//!
//! ```
//! use http::StatusCode;
//! use webhook_core::sender::{AttemptClass, AttemptOutcome, Classification};
//!
//! let answered = |status| AttemptOutcome::Answered { status, retry_after: None };
//! let strict = Classification::Strict;
//! assert_eq!(strict.classify(&answered(StatusCode::NO_CONTENT)), AttemptClass::Acked);
//! assert_eq!(strict.classify(&answered(StatusCode::BAD_GATEWAY)), AttemptClass::Retry);
//! assert_eq!(strict.classify(&answered(StatusCode::GONE)), AttemptClass::Disable);
//! assert_eq!(strict.classify(&answered(StatusCode::NOT_FOUND)), AttemptClass::PermanentFailure);
//! let patient = Classification::Patient;
//! assert_eq!(patient.classify(&answered(StatusCode::NOT_FOUND)), AttemptClass::Retry);
//! ```

mod log;

use std::time::{Duration, SystemTime};

use bytes::Bytes;
use http::{HeaderMap, Response, StatusCode};
use http_conventions::limits::RetryAfter;

pub use log::{Attempt, AttemptResult, KEPT_ANSWER};

use crate::ports::{TransportError, TransportErrorKind};
use crate::sender::term::terms;

/// Maximum `Retry-After` of a receiver.
const LONGEST_RETRY_AFTER: Duration = Duration::from_secs(24 * 60 * 60);

/// Outcome of an attempt.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum AttemptOutcome {
    /// The receiver responded.
    Answered {
        /// Status of the response.
        status: StatusCode,
        /// `Retry-After` of the response, at most 24 hours.
        retry_after: Option<Duration>,
    },
    /// The receiver did not respond.
    Failed(TransportErrorKind),
}

/// Class of an outcome: its meaning for the delivery.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum AttemptClass {
    /// The receiver has the event.
    Acked,
    /// A retry may succeed. One attempt is counted.
    Retry,
    /// The receiver is overloaded. Its whole endpoint is held, and no attempt is counted.
    Throttled,
    /// No retry can succeed.
    PermanentFailure,
    /// No retry can succeed, and the endpoint wants no more events.
    Disable,
}

impl AttemptOutcome {
    /// Reads the outcome of an exchange that ended at `now`.
    ///
    /// - `Retry-After` is accepted in seconds or as a date.
    /// - A date is compared with the `Date` of the same response, so that wrong clocks do not
    ///   matter.
    /// - If the header is repeated, the longest wait counts. Invalid values are ignored.
    #[must_use]
    pub fn from_exchange(exchange: &Result<Response<Bytes>, TransportError>, now: SystemTime) -> Self {
        match exchange {
            Ok(response) => Self::Answered {
                status: response.status(),
                retry_after: retry_after(response.headers(), now),
            },
            Err(error) => Self::Failed(error.kind()),
        }
    }

    /// `Retry-After` of the response.
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Answered { retry_after, .. } => *retry_after,
            Self::Failed(_) => None,
        }
    }
}

/// Named classification of outcomes, chosen per endpoint.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum Classification {
    /// A 4xx response is a permanent failure, except 408, 425 and 429.
    #[default]
    Strict,
    /// Also 401, 403 and 404 are retried: the receiver may be deployed or configured later.
    Patient,
}

terms!(Classification {
    Strict => "strict",
    Patient => "patient",
});

impl Classification {
    /// Class of an outcome.
    #[must_use]
    pub fn classify(self, outcome: &AttemptOutcome) -> AttemptClass {
        match outcome {
            AttemptOutcome::Answered {
                status: StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN | StatusCode::NOT_FOUND,
                ..
            } if self == Self::Patient => AttemptClass::Retry,
            AttemptOutcome::Answered { status, .. } => classify_status(*status),
            // a retry would be refused too, and two days of retries would only hide the mistake
            AttemptOutcome::Failed(TransportErrorKind::RefusedAddress) => AttemptClass::PermanentFailure,
            AttemptOutcome::Failed(_) => AttemptClass::Retry,
        }
    }
}

fn classify_status(status: StatusCode) -> AttemptClass {
    match status {
        StatusCode::GONE => AttemptClass::Disable,
        StatusCode::TOO_MANY_REQUESTS => AttemptClass::Throttled,
        StatusCode::REQUEST_TIMEOUT | StatusCode::TOO_EARLY => AttemptClass::Retry,
        status if status.is_success() => AttemptClass::Acked,
        status if status.is_client_error() => AttemptClass::PermanentFailure,
        // 5xx, 3xx, 1xx, and codes above 599
        _ => AttemptClass::Retry,
    }
}

fn retry_after(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    RetryAfter::from_headers(headers, now).map(|wait| wait.min(LONGEST_RETRY_AFTER))
}

#[cfg(test)]
mod tests {
    use http::{HeaderValue, header};
    use proptest::prelude::*;

    use super::*;

    fn answered(status: StatusCode) -> AttemptOutcome {
        AttemptOutcome::Answered {
            status,
            retry_after: None,
        }
    }

    fn classify(outcome: &AttemptOutcome) -> AttemptClass {
        Classification::Strict.classify(outcome)
    }

    /// W33: `patient` retries 401, 403 and 404, and equals `strict` for all other outcomes.
    #[test]
    fn patient_retries_three_statuses_more() {
        let patient = Classification::Patient;
        for code in 100..=999 {
            let outcome = answered(StatusCode::from_u16(code).unwrap());
            let expected = match code {
                401 | 403 | 404 => AttemptClass::Retry,
                _ => classify(&outcome),
            };
            assert_eq!(patient.classify(&outcome), expected, "{code}");
        }
        for kind in TransportErrorKind::ALL {
            let outcome = AttemptOutcome::Failed(kind);
            assert_eq!(patient.classify(&outcome), classify(&outcome), "{kind}");
        }
    }

    /// W11: each status has one class, as in the table.
    #[test]
    fn every_status_has_its_class() {
        for code in 100..=999 {
            let expected = match code {
                200..=299 => AttemptClass::Acked,
                408 | 425 => AttemptClass::Retry,
                410 => AttemptClass::Disable,
                429 => AttemptClass::Throttled,
                400..=499 => AttemptClass::PermanentFailure,
                _ => AttemptClass::Retry,
            };
            let status = StatusCode::from_u16(code).unwrap();
            assert_eq!(classify(&answered(status)), expected, "{code}");
        }
    }

    /// W11: an attempt without a response is retried, except if the address is refused (W10).
    #[test]
    fn no_answer_is_retried_unless_the_address_is_refused() {
        for kind in TransportErrorKind::ALL {
            let expected = match kind {
                TransportErrorKind::RefusedAddress => AttemptClass::PermanentFailure,
                _ => AttemptClass::Retry,
            };
            assert_eq!(classify(&AttemptOutcome::Failed(kind)), expected, "{kind}");
        }
    }

    fn asked(now_seconds: u64, fields: &[(&'static str, &str)]) -> Option<u64> {
        let mut headers = HeaderMap::new();
        for (name, value) in fields {
            headers.append(*name, HeaderValue::from_str(value).unwrap());
        }
        retry_after(
            &headers,
            SystemTime::UNIX_EPOCH + Duration::from_secs(now_seconds),
        )
        .map(|wait| wait.as_secs())
    }

    /// W14: `Retry-After` is parsed in both forms, never as a fraction, and bounded.
    #[test]
    fn retry_after_is_read_strictly() {
        let check = |value: &str, expected: Option<u64>| {
            assert_eq!(asked(0, &[("retry-after", value)]), expected, "{value}");
        };
        check("120", Some(120));
        check("0", Some(0));
        check("86400", Some(86_400));
        check("86401", Some(86_400));
        check("9223372036854775807", Some(86_400));
        check("99999999999999999999999999", Some(86_400));
        check("Thu, 01 Jan 1970 00:01:00 GMT", Some(60));
        check("Thursday, 01-Jan-70 00:01:00 GMT", Some(60));
        check("Thu Jan  1 00:01:00 1970", Some(60));
        for ignored in ["1.5", "inf", "NaN", "1e300", "-1", "+1", "soon", "", "1 2"] {
            check(ignored, None);
        }
        assert_eq!(asked(0, &[]), None);
        assert_eq!(
            asked(
                0,
                &[("retry-after", "5"), ("retry-after", "50"), ("retry-after", "x")]
            ),
            Some(50)
        );
    }

    /// W14: a date is compared with the `Date` of the response, not with the local clock.
    #[test]
    fn a_retry_date_is_measured_against_the_answers_own_date() {
        let fields = [
            ("date", "Sat, 21 Nov 2026 10:00:00 GMT"),
            ("retry-after", "Sat, 21 Nov 2026 10:02:00 GMT"),
        ];
        assert_eq!(asked(0, &fields), Some(120));
        let past = [
            ("date", "Sat, 21 Nov 2026 10:02:00 GMT"),
            ("retry-after", "Sat, 21 Nov 2026 10:00:00 GMT"),
        ];
        assert_eq!(asked(0, &past), Some(0));
        let unreadable = [
            ("date", "today"),
            ("retry-after", "Thu, 01 Jan 1970 00:01:00 GMT"),
        ];
        assert_eq!(asked(30, &unreadable), Some(30));
    }

    proptest! {
        /// W14: no `Retry-After` causes a panic or a wait of more than a day.
        #[test]
        fn any_retry_after_is_bounded(value in proptest::collection::vec(any::<u8>(), 0..40), date in "[ -~]{0,40}", seconds in 0_u64..4_000_000_000) {
            let mut headers = HeaderMap::new();
            if let Ok(value) = HeaderValue::from_bytes(&value) {
                headers.insert(header::RETRY_AFTER, value);
            }
            headers.insert(header::DATE, HeaderValue::from_str(&date).unwrap());
            let asked = retry_after(&headers, SystemTime::UNIX_EPOCH + Duration::from_secs(seconds));
            prop_assert!(asked.is_none_or(|wait| wait <= LONGEST_RETRY_AFTER));
        }
    }
}
