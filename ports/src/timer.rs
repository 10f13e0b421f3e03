use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

/// Future of a [`Timer`]. Completes after its duration.
pub type Sleep = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Waits for a duration.
///
/// # Contract
///
/// - The future completes after `duration` and wakes its task then.
/// - Dropping the future cancels the timer.
///
/// ```
/// use host_ports::timer_fn;
///
/// let timer = timer_fn(tokio::time::sleep);
/// # let _ = timer;
/// ```
pub trait Timer: Send + Sync {
    /// Completes after `duration`.
    fn sleep(&self, duration: Duration) -> Sleep;
}

impl<T: Timer + ?Sized> Timer for Arc<T> {
    fn sleep(&self, duration: Duration) -> Sleep {
        (**self).sleep(duration)
    }
}

/// Makes a [`Timer`] from a function such as `tokio::time::sleep`.
pub fn timer_fn<F, T>(sleep: F) -> TimerFn<F>
where
    F: Fn(Duration) -> T + Send + Sync,
    T: Future<Output = ()> + Send + 'static,
{
    TimerFn(sleep)
}

/// A [`Timer`] made by [`timer_fn`].
#[derive(Clone, Copy)]
pub struct TimerFn<F>(F);

impl<F> fmt::Debug for TimerFn<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TimerFn")
    }
}

impl<F, T> Timer for TimerFn<F>
where
    F: Fn(Duration) -> T + Send + Sync,
    T: Future<Output = ()> + Send + 'static,
{
    fn sleep(&self, duration: Duration) -> Sleep {
        Box::pin((self.0)(duration))
    }
}
