//! Hashes several fields so that different lists of fields have different inputs.

use sha2::{Digest as _, Sha256};

/// Prefixes a field with its length.
pub(crate) trait LengthPrefixed {
    /// Adds the length as 64 bits, then the field.
    fn chain_field(self, field: &[u8]) -> Self;
}

impl LengthPrefixed for Sha256 {
    fn chain_field(self, field: &[u8]) -> Self {
        self.chain_update((field.len() as u64).to_be_bytes())
            .chain_update(field)
    }
}
