//! Random choices of a simulation, derived from its seed.

use std::{cell::Cell, time::Duration};

/// Sequence of choices that is the same for the same seed, by SplitMix64.
#[derive(Debug)]
pub(super) struct Choices(Cell<u64>);

impl Choices {
    pub(super) fn new(seed: u64) -> Self {
        Self(Cell::new(seed))
    }

    /// A separate sequence for additions to the simulation, so that they do not change the runs of
    /// existing seeds.
    pub(super) fn apart(&self) -> Self {
        Self::new(self.0.get() ^ 0x5851_f42d_4c95_7f2d)
    }

    pub(super) fn number(&self) -> u64 {
        let state = self.0.get().wrapping_add(0x9e37_79b9_7f4a_7c15);
        self.0.set(state);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `bound`; 0 if `bound` is 0.
    pub(super) fn below(&self, bound: u64) -> u64 {
        self.number().checked_rem(bound).unwrap_or_default()
    }

    pub(super) fn index(&self, length: usize) -> usize {
        let bound = u64::try_from(length).unwrap_or(u64::MAX);
        usize::try_from(self.below(bound)).unwrap_or_default()
    }

    /// True with this probability, in permille.
    pub(super) fn happens(&self, permille: u64) -> bool {
        permille > 0 && self.below(1_000) < permille
    }

    /// One of the values.
    pub(super) fn one_of<T: Copy, const N: usize>(&self, values: [T; N], otherwise: T) -> T {
        values.get(self.index(N)).copied().unwrap_or(otherwise)
    }

    /// A time below `bound`, a multiple of 10 ms so that events often coincide.
    pub(super) fn time(&self, bound: Duration) -> Duration {
        let tens = u64::try_from(bound.as_millis() / 10).unwrap_or(u64::MAX);
        Duration::from_millis(self.below(tens) * 10)
    }
}
