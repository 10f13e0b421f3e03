//! One row of `graph`, repeated, for a profiler that counts instructions: the cost of a request is
//! the difference of two runs.
//!
//! Arguments: `CASE ENGINE TIMES`, for example `"one scalar" "ours, yielding" 2000`.
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

use mimalloc::MiMalloc;

// as in `graph`
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() {
    let mut words = std::env::args().skip(1).filter(|word| word != "--bench");
    let (Some(case), Some(engine), Some(times)) = (words.next(), words.next(), words.next()) else {
        return;
    };
    let times: usize = times.parse().expect("a number of times");
    let cases = data::cases();
    let case = cases.iter().find(|known| known.name == case).expect("a case");
    let engines = engines::measured(case);
    let engine = engines
        .iter()
        .find(|known| known.name == engine)
        .expect("an engine");
    for _ in 0..times {
        drop((engine.answer)(engines::request(case)));
    }
}
