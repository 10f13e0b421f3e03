//! Common parts of the benches: measurement of a row, sender and receiver, servers in own
//! processes.
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
pub use sender::Sender;
pub use served::{ProcessorTime, Served, on_first_core};
pub use sink::Sink;

/// Criterion with 0.5 s of warm-up and 1.5 s of measurement per row; the command line can override
/// both.
#[must_use]
pub fn criterion() -> Criterion {
    Criterion::default()
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_millis(1500))
        .without_plots()
        .configure_from_args()
}

/// Creates a runtime on the calling thread.
///
/// # Errors
///
/// The operating system refuses a resource of the runtime.
pub fn runtime() -> io::Result<Runtime> {
    Builder::new_current_thread().enable_all().build()
}

/// Creates a runtime with two worker threads, as a service on two cores has it.
///
/// # Errors
///
/// The operating system refuses a resource of the runtime.
pub fn service_runtime() -> io::Result<Runtime> {
    Builder::new_multi_thread().worker_threads(2).enable_all().build()
}

/// Median of the measurements; the upper one of two.
///
/// # Panics
///
/// There is no measurement.
#[must_use]
pub fn median(mut measured: Vec<f64>) -> f64 {
    measured.sort_by(f64::total_cmp);
    *measured.get(measured.len() / 2).expect("a measurement")
}
