//! The partners and their keys. A service has hashes of the keys in its database.

use std::collections::HashMap;

/// Header of a partner's key.
pub(crate) const KEY: &str = "x-api-key";

pub(crate) struct Partners(HashMap<String, String>);

impl Partners {
    /// Reads `name:key,name:key`.
    pub(crate) fn parse(text: &str) -> Self {
        let pairs = text.split(',').filter_map(|pair| pair.split_once(':'));
        Self(
            pairs
                .map(|(name, key)| (key.to_owned(), name.to_owned()))
                .collect(),
        )
    }

    pub(crate) fn name_of(&self, key: &str) -> Option<&str> {
        self.0.get(key).map(String::as_str)
    }
}
