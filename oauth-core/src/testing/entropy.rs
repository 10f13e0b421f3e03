use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use sha2::{Digest, Sha256};

use crate::ports::Entropy;

/// Bytes that look random and are the same in every run of the seed. Clones draw from the same stream.
///
/// # Security
///
/// For tests only: who knows the seed knows every token.
///
/// ```
/// use oauth_core::ports::Entropy;
/// use oauth_core::testing::SeededEntropy;
///
/// let (mut first, mut second) = ([0; 32], [0; 32]);
/// let entropy = SeededEntropy::new(7);
/// entropy.fill(&mut first);
/// entropy.fill(&mut second);
/// assert_ne!(first, second);
/// ```
#[derive(Clone, Debug)]
pub struct SeededEntropy {
    seed: u64,
    draws: Arc<AtomicU64>,
}

impl SeededEntropy {
    /// The stream of `seed`, from its beginning.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self {
            seed,
            draws: Arc::default(),
        }
    }
}

impl Entropy for SeededEntropy {
    fn fill(&self, bytes: &mut [u8]) {
        for chunk in bytes.chunks_mut(32) {
            let draw = self.draws.fetch_add(1, Ordering::Relaxed);
            let block = Sha256::new()
                .chain_update(self.seed.to_be_bytes())
                .chain_update(draw.to_be_bytes())
                .finalize();
            chunk
                .iter_mut()
                .zip(block)
                .for_each(|(byte, random)| *byte = random);
        }
    }
}
