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
//! | request | response |
//! |---|---|
//! | known hash | result of the operation |
//! | unknown hash | `PersistedQueryNotFound`, `PERSISTED_QUERY_NOT_FOUND`, 200, not cacheable |
//! | text with its hash | result of the operation; the text is stored if it passes validation and the limits |
//! | text with another hash, if texts are stored or the hash is trusted | `PERSISTED_QUERY_MISMATCH`, 400 |
//! | text with another hash, otherwise | result of the text; the hash is ignored |
//! | hash, if neither kind is enabled | `PersistedQueryNotSupported`, `PERSISTED_QUERY_NOT_SUPPORTED`, 200 |
//! | id that is not trusted, if enforced; also without enforcement, if the request has no text and automatic persisted queries are disabled | `PERSISTED_QUERY_NOT_IN_LIST` |
//! | text without an id, if enforced | `PERSISTED_QUERY_ID_REQUIRED` |
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
