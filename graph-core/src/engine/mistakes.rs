//! What can be wrong with the description of an engine.

use std::fmt;

/// An engine cannot be built as it was described.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ConfigError {
    pub(super) mistakes: Vec<ConfigMistake>,
}

impl ConfigError {
    /// Every mistake.
    #[must_use]
    pub fn mistakes(&self) -> &[ConfigMistake] {
        &self.mistakes
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the engine cannot be built")?;
        for (at, mistake) in self.mistakes.iter().enumerate() {
            write!(f, "{} {mistake}", if at == 0 { ":" } else { "," })?;
        }
        Ok(())
    }
}

impl std::error::Error for ConfigError {}

/// One mistake in the description of an engine.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigMistake {
    /// A price for a field that the schema does not have.
    #[error("the schema has no field `{0}`")]
    UnknownField(String),
    /// A limit that lets nothing through.
    #[error("the limit of {0} allows nothing")]
    NothingAllowed(&'static str),
    /// A field of the schema that its type has no table entry for: the type was not made by an attribute of this crate.
    #[error("nothing of this crate resolves the field `{0}`")]
    NoResolver(String),
    /// Two types of different fields have one name.
    #[error("two types are named `{0}`")]
    TwoTypes(String),
    /// A trusted document does not fit the schema or the limits, or its id is not the hash of its text.
    #[error("the trusted document `{id}` does not fit: {why}")]
    TrustedDocument {
        /// Its id.
        id: String,
        /// What is wrong with it.
        why: String,
    },
    /// Two trusted documents of different texts have one id.
    #[error("two trusted documents are known by `{0}`")]
    TwoDocuments(String),
    /// The feature `os` is off and no entropy was given.
    #[error("no entropy was given")]
    NoEntropy,
}
