//! Time of one durable write among many.

use std::time::{Duration, Instant};

use criterion::Bencher;
use futures_util::future::join_all;
use tokio::runtime::Runtime;

/// Measures one write with a constant number in flight: each lane begins its next one when its last
/// is durable.
pub fn keep_in_flight<S>(
    bencher: &mut Bencher<'_>,
    runtime: &Runtime,
    lanes: &[S],
    lane: &impl AsyncFn(&S, u64),
) {
    bencher.iter_custom(|writes| {
        let each = writes.div_ceil(lanes.len() as u64);
        let start = Instant::now();
        runtime.block_on(join_all(lanes.iter().map(|state| lane(state, each))));
        per_write(start.elapsed(), each * lanes.len() as u64, writes)
    });
}

/// Share of `elapsed` for `writes` of all writes, of which there is at least one per lane.
fn per_write(elapsed: Duration, made: u64, writes: u64) -> Duration {
    let nanoseconds = elapsed.as_nanos() * u128::from(writes) / u128::from(made);
    Duration::from_nanos(u64::try_from(nanoseconds).unwrap_or(u64::MAX))
}
