//! Ids of documents: SHA-256 hashes and custom ids.

use std::fmt;
use std::str::FromStr;

use sha2::{Digest as _, Sha256};

/// Prefix of a SHA-256 in `documentId`.
const PREFIX: &str = "sha256:";

/// SHA-256 of a document's UTF-8 text.
///
/// ```
/// use graph_core::persisted::DocumentHash;
///
/// let hash = DocumentHash::digest("query($id:ID!){user(id:$id){name}}");
/// let hex = "71f7dc5758652baac68e4a10c50be732b741c892ade2883a99358f52b555286b";
/// assert_eq!(hash.to_string(), hex);
/// assert_eq!(hex.parse(), Ok(hash));
/// ```
#[derive(Clone, Copy, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct DocumentHash([u8; 32]);

impl DocumentHash {
    /// Computes the hash of `text`.
    #[must_use]
    pub fn digest(text: &str) -> Self {
        Self(Sha256::digest(text).into())
    }

    /// Creates the hash from its 32 bytes.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Returns the 32 bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

/// Formats the hash as 64 lower-case hexadecimal digits.
impl fmt::Display for DocumentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for DocumentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DocumentHash({self})")
    }
}

impl FromStr for DocumentHash {
    type Err = InvalidDocumentHash;

    fn from_str(text: &str) -> Result<Self, InvalidDocumentHash> {
        let (pairs, []) = text.as_bytes().as_chunks::<2>() else {
            return Err(InvalidDocumentHash);
        };
        let mut bytes = [0; 32];
        if pairs.len() != bytes.len() {
            return Err(InvalidDocumentHash);
        }
        for (byte, [high, low]) in bytes.iter_mut().zip(pairs) {
            *byte = (digit(*high)? << 4) | digit(*low)?;
        }
        Ok(Self(bytes))
    }
}

fn digit(character: u8) -> Result<u8, InvalidDocumentHash> {
    match character {
        b'0'..=b'9' => Ok(character - b'0'),
        b'a'..=b'f' => Ok(character - b'a' + 10),
        _ => Err(InvalidDocumentHash),
    }
}

/// Error of a [`DocumentHash`] text that does not have 64 lower-case hexadecimal digits.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("not 64 lower-case hexadecimal digits")]
pub struct InvalidDocumentHash;

/// Id of a document in a request.
///
/// A hash with and without its prefix is the same id. Any other text is a custom id, which a
/// [`Manifest`](super::Manifest) defines.
///
/// ```
/// use graph_core::persisted::{DocumentHash, DocumentId};
///
/// let hash = DocumentHash::digest("{ ping }");
/// assert_eq!(DocumentId::from(hash.to_string()), DocumentId::Sha256(hash));
/// assert_eq!(DocumentId::from(format!("sha256:{hash}")), DocumentId::Sha256(hash));
/// assert_eq!(DocumentId::from("ping-1"), DocumentId::Custom("ping-1".into()));
/// ```
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
#[expect(clippy::exhaustive_enums, reason = "an id is a hash or it is not")]
pub enum DocumentId {
    /// SHA-256 of the document.
    Sha256(DocumentHash),
    /// Custom id.
    Custom(Box<str>),
}

impl From<&str> for DocumentId {
    fn from(text: &str) -> Self {
        let payload = text.strip_prefix(PREFIX).unwrap_or(text);
        match payload.parse() {
            Ok(hash) => Self::Sha256(hash),
            Err(InvalidDocumentHash) => Self::Custom(text.into()),
        }
    }
}

impl From<String> for DocumentId {
    fn from(text: String) -> Self {
        Self::from(text.as_str())
    }
}

impl From<DocumentHash> for DocumentId {
    fn from(hash: DocumentHash) -> Self {
        Self::Sha256(hash)
    }
}

/// Formats the id as in the request parameter `documentId`: a hash has the prefix `sha256:`.
impl fmt::Display for DocumentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sha256(hash) => write!(f, "{PREFIX}{hash}"),
            Self::Custom(id) => f.write_str(id),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_is_64_lower_case_digits() {
        let hex = "7dba4bd717b41f10434822356a93c32b1fb4907b983e854300ad839f84cdcd6e";
        let text = "query ($id: ID!) {\n  user(id: $id) {\n    name\n  }\n}";
        assert_eq!(hex.parse(), Ok(DocumentHash::digest(text)));
        let short = hex.strip_prefix("7").unwrap();
        let faulty = [
            String::new(),
            short.to_owned(),
            format!("{hex}0"),
            format!("{hex}00"),
            hex.to_uppercase(),
            format!("{short}g"),
            format!("{}é", short.strip_prefix("d").unwrap()),
            format!(" {short}"),
        ];
        for text in faulty {
            assert_eq!(text.parse::<DocumentHash>(), Err(InvalidDocumentHash), "{text}");
            assert_eq!(DocumentId::from(text.as_str()), DocumentId::Custom(text.into()));
        }
    }
}
