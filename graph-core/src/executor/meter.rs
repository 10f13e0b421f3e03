//! Limits of the bytes of one response, checked while it is written.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Bytes that one execution has written.
#[derive(Debug)]
pub(crate) struct Meter {
    /// Maximum bytes.
    limit: usize,
    /// Bytes of the parts that futures have completed.
    completed: AtomicUsize,
    /// Bytes of the errors, which have the same limit of their own: otherwise nothing would fit
    /// behind them.
    errors: AtomicUsize,
    is_exceeded: AtomicBool,
}

impl Meter {
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            limit,
            completed: AtomicUsize::new(0),
            errors: AtomicUsize::new(0),
            is_exceeded: AtomicBool::new(false),
        }
    }

    /// Returns `true` if a part of `length` bytes still fits.
    #[inline]
    pub(crate) fn has_room(&self, length: usize) -> bool {
        length.saturating_add(self.completed.load(Ordering::Relaxed)) <= self.limit
    }

    /// Adds the bytes of a completed part.
    #[inline]
    pub(crate) fn complete(&self, length: usize) {
        self.completed.fetch_add(length, Ordering::Relaxed);
    }

    /// Counts an error of `length` bytes; returns `true` if it fits.
    pub(crate) fn admits_error(&self, length: usize) -> bool {
        let before = self.errors.fetch_add(length, Ordering::Relaxed);
        before.saturating_add(length) <= self.limit
    }

    /// Returns `true` after the limit was exceeded: further lists are null.
    #[inline]
    pub(crate) fn is_exceeded(&self) -> bool {
        self.is_exceeded.load(Ordering::Relaxed)
    }

    /// Marks the limit as exceeded; returns `true` the first time.
    #[cold]
    pub(crate) fn exceed(&self) -> bool {
        !self.is_exceeded.swap(true, Ordering::Relaxed)
    }

    pub(crate) fn limit(&self) -> usize {
        self.limit
    }

    /// Starts the next response of the same execution: an event of a subscription.
    pub(crate) fn reset(&self) {
        self.completed.store(0, Ordering::Relaxed);
        self.errors.store(0, Ordering::Relaxed);
        self.is_exceeded.store(false, Ordering::Relaxed);
    }
}
