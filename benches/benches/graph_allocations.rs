//! Allocations of the engines of `graph` for one request: a table of numbers and bytes.
//!
//! A program of its own, since a counter would slow down the engine that allocates most.
#![expect(
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a bench reports on the terminal, and ends where something is not as it was set up"
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

use allocation_counter::measure;

fn main() {
    for case in data::cases() {
        println!("{}", case.name);
        for engines::Measured { name, answer } in engines::measured(&case) {
            let request = engines::request(&case);
            let counted = measure(|| drop(answer(request)));
            println!(
                "  {name:<26}{:>9} allocations{:>12} bytes",
                counted.count_total, counted.bytes_total
            );
        }
    }
}
