//! Persisted queries: the client sends the id or the SHA-256 of a document instead of its text.
//!
//! There are two kinds, with the same wire format:
//!
//! - **Automatic persisted queries** ([`AutomaticPersistedQueries`]) reduce the size of requests.
//!   The client sends the SHA-256 of a document. If the hash is unknown, the client sends the
//!   document and the hash once, and the engine stores the document in a [`PersistedStore`].
//! - **Trusted documents** ([`TrustedDocuments`]) are an allow-list. The host loads the documents
//!   of its own clients from [`Manifest`]s when it builds the engine. The builder parses and
//!   validates every document and checks the limits; it fails if one document is invalid.
//!   [`TrustedMode::Enforce`] refuses all other documents.
//!
//! # Request format
//!
//! A request names the document in one of these parameters, by POST or, for queries, by GET:
//!
//! - `extensions.persistedQuery`: `{"version": 1, "sha256Hash": …}`
//! - `documentId`: `sha256:` and 64 hexadecimal digits, or a custom id; see the [appendix of
//!   GraphQL over HTTP](https://github.com/graphql/graphql-over-http/pull/264)
//! - `doc_id` or `id`, as in Relay's documentation; ignored if the request has `query`
//!
//! # Responses
//!
//! With a known hash or id, the engine executes the operation. If trusted documents are enforced,
//! all other requests are refused:
//!
//! | request | code |
//! |---|---|
//! | another text with a trusted id | `PERSISTED_QUERY_MISMATCH`, 400 |
//! | id that is not trusted | `PERSISTED_QUERY_NOT_IN_LIST` |
//! | text without an id | `PERSISTED_QUERY_ID_REQUIRED` |
//!
//! If automatic persisted queries are enabled and trusted documents are not enforced:
//!
//! | request | result or code |
//! |---|---|
//! | text with its hash | result; the text is stored if it is valid and within the limits |
//! | text with another hash or a custom id | `PERSISTED_QUERY_MISMATCH`, 400 |
//! | unknown hash or id | `PERSISTED_QUERY_NOT_FOUND`, 200, not cacheable |
//!
//! Otherwise:
//!
//! | request | result or code |
//! |---|---|
//! | another text with a trusted id | `PERSISTED_QUERY_MISMATCH`, 400 |
//! | text with any other hash or id | result of the text; the hash or id is ignored |
//! | unknown hash or id, with a list of trusted documents | `PERSISTED_QUERY_NOT_IN_LIST` |
//! | hash or id, without such a list | `PERSISTED_QUERY_NOT_SUPPORTED`, 200 |
//!
//! The statuses are those of the default [`StatusProfile`](crate::http::StatusProfile). Apollo
//! Client's persisted-query link and urql's persisted exchange compare the messages
//! `PersistedQueryNotFound` and `PersistedQueryNotSupported` literally. An enforced allow-list does
//! not send `PersistedQueryNotFound`: the client would reply with the text, which is refused.

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
