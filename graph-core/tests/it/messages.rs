//! What the compiler says about types that the executor cannot run: each message names what to write.

/// `TRYBUILD=overwrite` writes the messages down.
#[test]
fn what_is_not_ours_does_not_compile_and_is_told_what_to_do() {
    trybuild::TestCases::new().compile_fail("tests/messages/*.rs");
}
