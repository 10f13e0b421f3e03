//! What the pipeline and its peers allocate for one request: a table of numbers of allocations and of bytes.
//!
//! It is a program of its own, since a counter would slow down whoever allocates most.
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
