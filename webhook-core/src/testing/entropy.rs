//! Randomness that repeats itself.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use crate::ports::Entropy;

const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// An [`Entropy`] that gives the same bytes for the same seed. Clones go on in one sequence.
///
/// # Security
///
/// Predictable: for tests only. The generator is SplitMix64.
#[derive(Clone, Debug)]
pub struct SeededEntropy(Arc<AtomicU64>);

impl SeededEntropy {
    /// The sequence that belongs to `seed`.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(Arc::new(AtomicU64::new(seed)))
    }

    fn next(&self) -> u64 {
        let state = self.0.fetch_add(STEP, Ordering::Relaxed).wrapping_add(STEP);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

impl Entropy for SeededEntropy {
    fn fill(&self, bytes: &mut [u8]) {
        for chunk in bytes.chunks_mut(8) {
            for (byte, random) in chunk.iter_mut().zip(self.next().to_le_bytes()) {
                *byte = random;
            }
        }
    }
}
