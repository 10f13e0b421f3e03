//! Detects incompatible changes of a JSON Schema or an OpenAPI document. Use it in a test of the
//! host.
//!
//! Within a version, fields may be added, but not removed, renamed, retyped or restricted.
//! [`changes`] compares two JSON Schemas, or two OpenAPI documents with their schemas, parameters,
//! bodies and responses. It lists each change with its location, and marks the changes that break
//! existing clients.
//!
//! ```
//! use http_conventions::versions::additive::{Role, changes};
//!
//! let old = br#"{
//!     "type": "object",
//!     "required": ["id"],
//!     "properties": {"id": {"type": "string"}, "amount": {"type": "integer"}}
//! }"#;
//! let new = br#"{
//!     "type": "object",
//!     "required": ["id"],
//!     "properties": {"id": {"type": "string"}, "total": {"type": "integer"}}
//! }"#;
//!
//! let changes = changes(old, new, Role::Output)?;
//! let shown: Vec<String> = changes.iter().map(ToString::to_string).collect();
//! assert_eq!(
//!     shown,
//!     [
//!         "breaking: /properties/amount was removed",
//!         "/properties/total was added"
//!     ]
//! );
//! # Ok::<(), http_conventions::versions::additive::InvalidSchema>(())
//! ```

use std::fmt;

mod compare;
mod operations;
mod rules;

pub use self::compare::changes;

/// Sender of the data that the schema describes.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[expect(clippy::exhaustive_enums, reason = "client and server are the only senders")]
pub enum Role {
    /// Clients send the data in a request. A stricter schema breaks clients.
    Input,
    /// The server sends the data in a response or an event. A looser schema breaks clients.
    Output,
    /// Clients and server send the data, for example a resource that clients read and write back. A
    /// stricter and a looser schema each break clients.
    Both,
}

/// Kind of a change.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum ChangeKind {
    /// A part was added.
    Added,
    /// A part was removed.
    Removed,
    /// A part has a different meaning: another type, format, constant or resource.
    Replaced,
    /// Less is allowed than before, or more is required.
    Tightened,
    /// More is allowed than before, or less is required.
    Loosened,
}

/// A change between two schemas.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Change {
    /// Location of the changed part as a JSON pointer ([RFC
    /// 6901](https://www.rfc-editor.org/rfc/rfc6901)). Within a referenced schema, the pointer
    /// continues from the place of the `$ref`.
    pub pointer: String,
    /// Kind of the change.
    pub kind: ChangeKind,
    /// `true` if the change needs a new version.
    pub is_breaking: bool,
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.kind {
            ChangeKind::Added => "added",
            ChangeKind::Removed => "removed",
            ChangeKind::Replaced => "replaced",
            ChangeKind::Tightened => "tightened",
            ChangeKind::Loosened => "loosened",
        };
        let mark = if self.is_breaking { "breaking: " } else { "" };
        write!(f, "{mark}{} was {what}", self.pointer)
    }
}

/// Error for a document that is not JSON.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("invalid schema")]
pub struct InvalidSchema;
