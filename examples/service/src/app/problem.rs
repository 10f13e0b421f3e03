//! Problem details ([RFC 9457](https://www.rfc-editor.org/rfc/rfc9457)) of the desk.

use std::time::Duration;

use http_conventions::content::{self, Faults};
use http_conventions::errors::{ErrorStatus, Problem, ProblemBase, ProblemType, types};
use http_conventions::limits::RetryAfter;

use crate::desk::DeskError;
use crate::domain::Fault;

pub(super) const REFUND_EXCEEDS_CHARGE: ProblemType = ProblemType::new(
    "refund-exceeds-charge",
    ErrorStatus::CONFLICT,
    "The refund exceeds the charge",
    "The refund exceeds the rest of the charge; `refundable` is that rest in the currency's smallest unit.",
);

pub(super) const ADDRESS_REFUSED: ProblemType = ProblemType::new(
    "webhook-address-refused",
    ErrorStatus::UNPROCESSABLE_CONTENT,
    "The webhook address is refused",
    "Webhooks go to public https addresses only; a service that listens on loopback also delivers to loopback.",
);

pub(super) const NOT_REPLAYABLE: ProblemType = ProblemType::new(
    "delivery-not-replayable",
    ErrorStatus::CONFLICT,
    "The delivery has not failed",
    "Only a delivery that failed for good or ended in the dead letter can be replayed.",
);

/// Problem types of the desk, in addition to those of the conventions.
pub(super) const OWN: [ProblemType; 3] = [REFUND_EXCEEDS_CHARGE, ADDRESS_REFUSED, NOT_REPLAYABLE];

/// The 422 for faults that the desk finds, in the format of the faults of a body.
fn invalid_content(faults: &[Fault], base: &ProblemBase) -> Problem {
    let fault = |fault: &Fault| content::Fault::new(fault.pointer, "invalid-value", fault.detail);
    let mut faults = faults.iter().map(fault);
    match faults.next() {
        Some(first) => faults.fold(Faults::from(first), Faults::with).problem(base),
        None => types::INVALID_CONTENT.problem(base),
    }
}

/// The 503 for a store that fails.
pub(super) fn unavailable() -> Problem {
    Problem::service_unavailable(RetryAfter::new(Duration::from_secs(1)))
}

/// The 503 of `/readyz`; `failing` names the parts.
pub(super) fn not_ready(failing: Vec<&'static str>) -> Problem {
    unavailable()
        .with_detail("the service is stopping, or a store does not respond")
        .with_extension("failing", failing)
}

/// Converts a failure of the desk to a problem.
pub(super) fn from_desk(error: DeskError, base: &ProblemBase) -> Problem {
    match error {
        DeskError::Faulty(faults) => invalid_content(&faults, base),
        DeskError::ExceedsCharge { left } => REFUND_EXCEEDS_CHARGE
            .problem(base)
            .with_extension("refundable", left),
        DeskError::NotFound => Problem::new(ErrorStatus::NOT_FOUND),
        DeskError::Changed => Problem::new(ErrorStatus::PRECONDITION_FAILED),
        DeskError::TakenOver(_) | DeskError::Store(_) | DeskError::Hashing(_) => unavailable(),
    }
}
