//! Generates fencing tokens without reading entropy for each request.

use std::{
    fmt,
    sync::atomic::{AtomicU64, Ordering},
};

use super::Fence;
use crate::ports::Entropy;

/// A counter from a random 128-bit start: two sources practically never produce the same token.
pub(super) struct Fences {
    start: u128,
    used: AtomicU64,
}

impl Fences {
    pub(super) fn new(entropy: &dyn Entropy) -> Self {
        let mut start = [0; 16];
        entropy.fill(&mut start);
        Self {
            start: u128::from_be_bytes(start),
            used: AtomicU64::new(0),
        }
    }

    pub(super) fn next(&self) -> Fence {
        let used = self.used.fetch_add(1, Ordering::Relaxed);
        Fence::from_bytes(self.start.wrapping_add(used.into()).to_be_bytes())
    }
}

impl fmt::Debug for Fences {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fences").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::ports::entropy_fn;

    /// H6: no two runs have the same fencing token, also after the counter wraps.
    #[test]
    fn no_fence_is_given_twice() {
        let fences = Fences::new(&entropy_fn(|buffer: &mut [u8]| buffer.fill(0xFF)));
        let given: HashSet<_> = (0..1000).map(|_| fences.next()).collect();
        assert_eq!(given.len(), 1000);
    }
}
