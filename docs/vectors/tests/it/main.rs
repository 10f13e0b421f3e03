//! The files of `docs/vectors`: each says what the crate concerned decides, and agrees with the
//! known answers of RFCs and of other libraries.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

mod cursor_file;
mod dpop_file;
mod dpop_proofs;
mod file;
mod idempotency_file;
mod limit_files;
mod oauth_files;
mod precondition_file;
mod problem_file;
mod scheme;
mod webhook_cases;
mod webhook_files;
mod webhook_known;
mod webhook_variants;
