//! Every Rust block of `docs/one-host.md` is quoted from the files of this package.

const PAGE: &str = include_str!("../../../one-host.md");
const FILES: [&str; 4] = [
    include_str!("../../src/error.rs"),
    include_str!("../../src/ports.rs"),
    include_str!("../../src/store.rs"),
    include_str!("kits.rs"),
];

/// X11: the page shows code that compiles.
#[test]
fn page_quotes_compiled_code() {
    let blocks: Vec<&str> = PAGE
        .split("```rust\n")
        .skip(1)
        .map(|rest| rest.split("```").next().unwrap())
        .collect();
    assert_eq!(blocks.len(), 4);
    for block in blocks {
        assert!(FILES.iter().any(|file| file.contains(block)), "{block}");
    }
}
