//! Requests on one schema and the same data, from the bytes of the body to the bytes of the
//! response: ours, juniper 0.18, async-graphql 7, and the response written without an engine.
#![expect(
    clippy::expect_used,
    reason = "a bench ends where something is not as it was set up"
)]

#[path = "graph/data.rs"]
mod data;
#[path = "graph/direct.rs"]
#[macro_use]
mod direct;
#[path = "graph/engines.rs"]
mod engines;
#[path = "graph/floor.rs"]
mod floor;
#[path = "graph/pause.rs"]
mod pause;
#[path = "graph/peer.rs"]
mod peer;
#[path = "graph/yielding.rs"]
mod yielding;

use criterion::{BatchSize, Throughput};
use mimalloc::MiMalloc;

// the allocator under which the goals were set; it helps most the engine that allocates most
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() {
    let mut criterion = benches::criterion();
    for case in data::cases() {
        let mut group = criterion.benchmark_group(format!("graph/{}", case.name));
        let length = floor::by_hand(&case.data).len();
        group.throughput(Throughput::Bytes(length as u64));
        // enough requests to measure, few enough to stay in the cache
        let batch = BatchSize::NumIterations((20_000 / length as u64).clamp(1, 64));
        for engines::Measured { name, answer } in engines::measured(&case) {
            let request = || engines::request(&case);
            let asked = |request| drop(answer(request));
            group.bench_function(name, |b| b.iter_batched(request, asked, batch));
        }
        group.finish();
    }
    criterion.final_summary();
}
