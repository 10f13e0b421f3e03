//! Operations that a client names by a hash instead of sending their text.
//!
//! Two things share the wire form and differ in trust:
//!
//! - **Automatic persisted queries** save bytes: [`AutomaticPersistedQueries`]. A client sends the SHA-256 of a text; when it is
//!   unknown the client is told so, sends text and hash once, and the text is kept in a [`PersistedStore`].
//! - **Trusted documents** are an allow-list: [`TrustedDocuments`]. The texts of the host's own clients are known before the
//!   engine starts, from the [`Manifest`]s that their build wrote. Each is parsed, validated and priced when the engine is
//!   built, and the engine is not built when one of them does not fit. Under [`TrustedMode::Enforce`] nothing else runs.
//!
//! A request names a document by `extensions.persistedQuery` (`{"version": 1, "sha256Hash": …}`), or by `documentId` as in the
//! [appendix of GraphQL over HTTP](https://github.com/graphql/graphql-over-http/pull/264), where a SHA-256 is written
//! `sha256:` and 64 hexadecimal digits; `doc_id` and `id`, as the documentation of Relay has it, mean the same. All of them
//! work by POST and, for queries, by GET.
//!
//! | request | answer |
//! |---|---|
//! | a hash that is known | the operation runs, its text is neither sent, hashed nor parsed |
//! | a hash that is unknown | `PersistedQueryNotFound`, `PERSISTED_QUERY_NOT_FOUND`, 200, never cached |
//! | a text with its hash | the operation runs, and its text is kept when it fits the schema and the limits |
//! | a text with another hash, where texts are kept or the hash is listed | `PERSISTED_QUERY_MISMATCH`, 400 |
//! | a text with any hash, where neither is so | the text runs, and nobody looks at the hash |
//! | a hash, where nothing is persisted | `PersistedQueryNotSupported`, `PERSISTED_QUERY_NOT_SUPPORTED`, 200 |
//! | an id outside the list, under enforcement | `PERSISTED_QUERY_NOT_IN_LIST` |
//! | a text without an id, under enforcement | `PERSISTED_QUERY_ID_REQUIRED` |
//!
//! The two messages are compared letter by letter by the persisted-query link of Apollo Client and the persisted exchange of
//! urql. A client that misses in an enforced list is not told `PersistedQueryNotFound`: it would send a text that may not run.

mod automatic;
mod id;
mod manifest;
mod store;
mod trusted;

pub use self::automatic::AutomaticPersistedQueries;
pub use self::id::{DocumentHash, DocumentId, InvalidDocumentHash};
pub use self::manifest::{InvalidManifest, Manifest};
pub use self::store::{KeepOutcome, PersistedDocument, PersistedStore};
pub use self::trusted::{TrustedDocuments, TrustedMode, Untrusted, UntrustedLog};
