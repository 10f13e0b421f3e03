//! Compile errors for types that the executor cannot run; each message names the alternative.

/// `TRYBUILD=overwrite` updates the expected messages.
#[test]
fn foreign_types_do_not_compile_with_a_helpful_message() {
    trybuild::TestCases::new().compile_fail("tests/messages/*.rs");
}
