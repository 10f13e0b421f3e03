//! Record of signature verifications, with which tests measure the work of a request.

use std::cell::RefCell;

use super::Algorithm;

thread_local! {
    static VERIFIED: RefCell<Vec<Algorithm>> = const { RefCell::new(Vec::new()) };
}

pub(super) fn record(algorithm: Algorithm) {
    VERIFIED.with_borrow_mut(|verified| verified.push(algorithm));
}

/// Returns the algorithm of each signature that this thread checked since the last call, whether
/// the signature was valid or not.
#[must_use]
pub fn take() -> Vec<Algorithm> {
    VERIFIED.take()
}
