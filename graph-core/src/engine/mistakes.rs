//! Configuration errors of an engine.

use std::fmt;

/// Error of [`EngineBuilder::build`](super::EngineBuilder::build) with every configuration mistake.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ConfigError {
    pub(super) mistakes: Vec<ConfigMistake>,
}

impl ConfigError {
    /// Returns every mistake.
    #[must_use]
    pub fn mistakes(&self) -> &[ConfigMistake] {
        &self.mistakes
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("cannot build the engine")?;
        for (at, mistake) in self.mistakes.iter().enumerate() {
            write!(f, "{} {mistake}", if at == 0 { ":" } else { "," })?;
        }
        Ok(())
    }
}

impl std::error::Error for ConfigError {}

/// Configuration mistake.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigMistake {
    /// A cost for a field that the schema does not have, as `Type.field`.
    #[error("the schema has no field `{0}`")]
    UnknownField(String),
    /// A slicing argument that the schema does not have, as `Type.field(argument)`.
    #[error("the schema has no argument `{0}`")]
    UnknownArgument(String),
    /// A limit of 0, with its name.
    #[error("the limit of {0} is 0")]
    NothingAllowed(&'static str),
    /// A field without a resolver, as `Type.field`: its type was not declared with a macro of this
    /// crate.
    #[error("the field `{0}` has no resolver: declare its type with a macro of graph-core")]
    NoResolver(String),
    /// Two types with different fields or members have this GraphQL name.
    #[error("two types are named `{0}`")]
    TwoTypes(String),
    /// A type that does not implement its interfaces, or lists a member or an interface wrongly.
    #[error("the type `{name}` is invalid: {why}")]
    InvalidType {
        /// GraphQL name.
        name: String,
        /// Violated rule.
        why: String,
    },
    /// An argument, as `Type.field(argument)`, whose input object does not derive
    /// [`GraphInput`](macro@crate::GraphInput), while that of another argument does.
    #[error("the argument `{0}` is not validated: derive `GraphInput` for its input object")]
    Unvalidated(String),
    /// A trusted document that is not valid for the schema or the limits, or whose id is not its
    /// hash.
    #[error("the trusted document `{id}` is invalid: {why}")]
    TrustedDocument {
        /// Id of the document.
        id: String,
        /// Reason.
        why: String,
    },
    /// Two trusted documents with different texts have this id.
    #[error("two trusted documents have the id `{0}`")]
    TwoDocuments(String),
    /// The feature `os` is off and no entropy was configured.
    #[error("no source of entropy: enable the feature `os` or call `with_entropy`")]
    NoEntropy,
}
