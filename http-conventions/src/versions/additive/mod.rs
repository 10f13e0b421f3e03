//! Whether a schema changed in additions only: within a version fields are added, never removed, renamed, retyped or bound more
//! tightly. A check for the tests of a host, on its resources and its events alike.
//!
//! Compares two JSON Schemas, or two OpenAPI documents with their schemas, parameters, bodies and answers, and names each change
//! with its place and whether it breaks those who rely on the old one.
//!
//! ```
//! use http_conventions::versions::additive::{changes, Role};
//!
//! let old = br#"{"type": "object", "required": ["id"], "properties": {"id": {"type": "string"}, "amount": {"type": "integer"}}}"#;
//! let new = br#"{"type": "object", "required": ["id"], "properties": {"id": {"type": "string"}, "total": {"type": "integer"}}}"#;
//!
//! let changes = changes(old, new, Role::Output)?;
//! let shown: Vec<String> = changes.iter().map(ToString::to_string).collect();
//! assert_eq!(shown, ["breaking: /properties/amount was removed", "/properties/total was added"]);
//! # Ok::<(), http_conventions::versions::additive::InvalidSchema>(())
//! ```

use std::fmt;

mod compare;
mod operations;
mod rules;

pub use self::compare::changes;

/// Who sends what the schema describes.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[expect(clippy::exhaustive_enums, reason = "there are two ends")]
pub enum Role {
    /// Clients do: a request. To demand more than before breaks.
    Input,
    /// The server does: a resource in an answer, an event. To promise less than before breaks.
    Output,
    /// Both: a resource that is read and written back. Either breaks.
    Both,
}

/// What happened to a part of a schema.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum ChangeKind {
    /// It is new.
    Added,
    /// It is gone.
    Removed,
    /// It means something else: another type, format, constant or resource.
    Replaced,
    /// Less is allowed than before, or more is demanded.
    Tightened,
    /// More is allowed than before, or less is promised.
    Loosened,
}

/// One change.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Change {
    /// Where, as a JSON pointer ([RFC 6901](https://www.rfc-editor.org/rfc/rfc6901)) by the way it was come to.
    pub pointer: String,
    /// What.
    pub kind: ChangeKind,
    /// Whether it needs a new version.
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

/// One of the two is not JSON.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("invalid schema")]
pub struct InvalidSchema;
