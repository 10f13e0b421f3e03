//! What the benches share: how long a row is measured, and what runs futures that wait.

use std::io;
use std::time::Duration;

use criterion::Criterion;
use tokio::runtime::{Builder, Runtime};

/// Half a second of warming up and a second and a half of measuring a row; options of the command line go before.
#[must_use]
pub fn criterion() -> Criterion {
    Criterion::default()
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_millis(1500))
        .without_plots()
        .configure_from_args()
}

/// A runtime of one thread, the one that calls it.
///
/// # Errors
///
/// The operating system refuses what a runtime needs.
pub fn runtime() -> io::Result<Runtime> {
    Builder::new_current_thread().build()
}
