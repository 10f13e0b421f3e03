//! Which signatures were verified: what an answer costs, without a stopwatch.

use std::cell::RefCell;

use crate::jose::Algorithm;

thread_local! {
    static VERIFIED: RefCell<Vec<Algorithm>> = const { RefCell::new(Vec::new()) };
}

pub(crate) fn note(algorithm: Algorithm) {
    VERIFIED.with_borrow_mut(|verified| verified.push(algorithm));
}

/// The algorithms of the signatures that this thread has verified since it was asked last, valid or not.
#[must_use]
pub fn take() -> Vec<Algorithm> {
    VERIFIED.take()
}
