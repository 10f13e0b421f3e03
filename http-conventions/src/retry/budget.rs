//! How many retries a client may add to what it sends.

/// Keeps retries a share of the requests, so that clients do not bury a service that is down under several times its load.
///
/// Every request pays a share of a retry in, every retry takes one out, and there is never more than the reserve in it.
///
/// ```
/// use http_conventions::retry::RetryBudget;
///
/// let mut budget = RetryBudget::new(20, 1);
/// assert!(budget.withdraw());
/// assert!(!budget.withdraw());
/// (0..5).for_each(|_| budget.deposit());
/// assert!(budget.withdraw());
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct RetryBudget {
    /// In hundredths of a retry.
    left: u64,
    reserve: u64,
    share: u64,
}

const ONE: u64 = 100;

impl RetryBudget {
    /// So many retries for a hundred requests, and so many in reserve, which it begins with.
    #[must_use]
    pub const fn new(percent: u32, reserve: u32) -> Self {
        let reserve = reserve as u64 * ONE;
        Self {
            left: reserve,
            reserve,
            share: percent as u64,
        }
    }

    /// A request was sent for the first time.
    pub fn deposit(&mut self) {
        self.left = self.left.saturating_add(self.share).min(self.reserve);
    }

    /// Whether a retry may be sent; it is taken out then.
    #[must_use]
    pub fn withdraw(&mut self) -> bool {
        let after = self.left.checked_sub(ONE);
        self.left = after.unwrap_or(self.left);
        after.is_some()
    }
}

impl Default for RetryBudget {
    /// Ten for a hundred requests, ten in reserve.
    fn default() -> Self {
        Self::new(10, 10)
    }
}
