//! What the benches share: how a row is measured, the two ends of a delivery, and servers in processes of their own.
#![expect(
    clippy::expect_used,
    reason = "a bench ends where something is not as it was set up"
)]

mod in_flight;
mod postgres;
mod sender;
mod served;
mod sink;

use std::io;
use std::time::Duration;

use criterion::Criterion;
use tokio::runtime::{Builder, Runtime};

pub use in_flight::keep_in_flight;
pub use postgres::Schema;
pub use sender::{Sender, loopback};
pub use served::{ProcessorTime, Served, on_first_core};
pub use sink::Sink;

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
    Builder::new_current_thread().enable_all().build()
}

/// The one in the middle of a few measurements, the upper one of two.
///
/// # Panics
///
/// When there is none.
#[must_use]
pub fn median(mut measured: Vec<f64>) -> f64 {
    measured.sort_by(f64::total_cmp);
    *measured.get(measured.len() / 2).expect("a measurement")
}
