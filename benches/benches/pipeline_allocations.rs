//! Allocations of the pipeline and its peers for one request: a table of numbers and bytes.
//!
//! A program of its own, since a counter would slow down the stack that allocates most.
#![expect(
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a bench reports on the terminal, and ends where something is not as it was set up"
)]

#[path = "conventions/stacks.rs"]
mod stacks;

use allocation_counter::measure;

fn main() {
    for (name, mut stack) in stacks::stacks() {
        let request = stacks::request();
        let counted = measure(|| drop(stack(request)));
        println!(
            "{name:<44}{:>5} allocations{:>8} bytes",
            counted.count_total, counted.bytes_total
        );
    }
}
