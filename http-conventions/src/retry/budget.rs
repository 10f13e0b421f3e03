//! Retry budget of a client.

/// Limits retries to a share of the requests, so that clients do not overload a failing service.
///
/// Each request adds a share of one retry to the balance, and each retry subtracts one. The balance
/// never exceeds the reserve. At 20 percent, five requests allow one retry:
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
    /// Balance in hundredths of a retry.
    left: u64,
    reserve: u64,
    share: u64,
}

const ONE: u64 = 100;

impl RetryBudget {
    /// Allows `percent` retries per 100 requests. The budget starts with `reserve` retries and
    /// never holds more.
    #[must_use]
    pub const fn new(percent: u32, reserve: u32) -> Self {
        let reserve = reserve as u64 * ONE;
        Self {
            left: reserve,
            reserve,
            share: percent as u64,
        }
    }

    /// Records the first attempt of a request, which adds its share to the balance.
    pub fn deposit(&mut self) {
        self.left = self.left.saturating_add(self.share).min(self.reserve);
    }

    /// Withdraws one retry; returns `false` if the budget is exhausted.
    #[must_use]
    pub fn withdraw(&mut self) -> bool {
        let after = self.left.checked_sub(ONE);
        self.left = after.unwrap_or(self.left);
        after.is_some()
    }
}

impl Default for RetryBudget {
    /// Defaults: 10 retries per 100 requests, and 10 retries in reserve.
    fn default() -> Self {
        Self::new(10, 10)
    }
}
