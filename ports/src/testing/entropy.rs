use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::Entropy;

/// An [`Entropy`] that returns the same bytes for the same seed (SplitMix64). Clones share one
/// sequence.
///
/// # Security
///
/// Predictable: for tests only.
#[derive(Clone, Debug)]
pub struct SeededEntropy(Arc<AtomicU64>);

impl SeededEntropy {
    /// Creates the sequence of `seed` from its start.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(Arc::new(AtomicU64::new(seed)))
    }

    fn next(&self) -> u64 {
        const STEP: u64 = 0x9e37_79b9_7f4a_7c15;
        let state = self.0.fetch_add(STEP, Ordering::Relaxed).wrapping_add(STEP);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

impl Entropy for SeededEntropy {
    fn fill(&self, buffer: &mut [u8]) {
        for chunk in buffer.chunks_mut(8) {
            for (byte, random) in chunk.iter_mut().zip(self.next().to_le_bytes()) {
                *byte = random;
            }
        }
    }
}
