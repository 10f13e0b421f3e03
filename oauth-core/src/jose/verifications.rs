//! Count of verified signatures, a measure of work for tests.

use std::cell::RefCell;

use super::Algorithm;

thread_local! {
    static VERIFIED: RefCell<Vec<Algorithm>> = const { RefCell::new(Vec::new()) };
}

pub(super) fn record(algorithm: Algorithm) {
    VERIFIED.with_borrow_mut(|verified| verified.push(algorithm));
}

/// Returns the algorithms of the signatures that this thread verified since the last call, valid or
/// not.
#[must_use]
pub fn take() -> Vec<Algorithm> {
    VERIFIED.take()
}
