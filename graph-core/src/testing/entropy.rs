//! Entropy that repeats.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::ports::Entropy;

/// Bytes that look random and are the same in every run.
#[derive(Debug)]
pub struct SeededEntropy {
    state: AtomicU64,
}

impl SeededEntropy {
    /// The sequence of `seed`.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self {
            state: AtomicU64::new(seed),
        }
    }
}

/// SplitMix64.
impl Entropy for SeededEntropy {
    fn fill(&self, buffer: &mut [u8]) {
        const STEP: u64 = 0x9e37_79b9_7f4a_7c15;
        for chunk in buffer.chunks_mut(8) {
            let state = self.state.fetch_add(STEP, Ordering::Relaxed).wrapping_add(STEP);
            let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            let bytes = (mixed ^ (mixed >> 31)).to_le_bytes();
            for (to, from) in chunk.iter_mut().zip(bytes) {
                *to = from;
            }
        }
    }
}
