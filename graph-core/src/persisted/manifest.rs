//! Manifests of GraphQL documents, generated when a client is built.

use std::collections::HashSet;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error as _, MapAccess, Visitor};

use super::DocumentId;

const APOLLO: &str = "apollo-persisted-query-manifest";

/// Documents of a client with their ids, in file order.
///
/// Two formats are supported:
///
/// - [Apollo's
///   manifest](https://www.apollographql.com/docs/graphos/platform/security/persisted-queries#manifest-format):
///   `{"format": "apollo-persisted-query-manifest", "version": 1, "operations": [{"id", "body",
///   …}]}`
/// - A JSON object `{"id": "text"}`, as written by
///   [relay-compiler](https://relay.dev/docs/guides/persisted-queries/) and by the client preset of
///   GraphQL Code Generator.
///
/// ```
/// use graph_core::persisted::Manifest;
///
/// let relay = Manifest::from_json(br#"{"0a1b2c3d": "query Q { ping }"}"#)?;
/// let apollo = Manifest::from_json(br#"{
///     "format": "apollo-persisted-query-manifest", "version": 1,
///     "operations": [{"id": "0a1b2c3d", "name": "Q", "type": "query", "body": "query Q { ping }"}]
/// }"#)?;
/// assert_eq!(relay, apollo);
/// # Ok::<(), graph_core::persisted::InvalidManifest>(())
/// ```
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Manifest {
    documents: Vec<(DocumentId, Box<str>)>,
}

impl Manifest {
    /// Creates an empty manifest.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a document. The engine cannot be built if an id has two different texts.
    #[must_use]
    pub fn with_document(mut self, id: impl Into<DocumentId>, text: impl Into<Box<str>>) -> Self {
        self.documents.push((id.into(), text.into()));
        self
    }

    /// Parses a manifest file.
    ///
    /// # Errors
    ///
    /// [`InvalidManifest`] if `json` is in neither format, or if its outer object has a duplicate
    /// key.
    pub fn from_json(json: &[u8]) -> Result<Self, InvalidManifest> {
        let Entries(entries) = serde_json::from_slice(json)?;
        let documents = entries
            .into_iter()
            .map(|(id, text)| (DocumentId::from(id), text.into()));
        Ok(Self {
            documents: documents.collect(),
        })
    }

    pub(crate) fn into_documents(self) -> Vec<(DocumentId, Box<str>)> {
        self.documents
    }
}

/// Error for a file that is not a manifest in a supported format.
#[derive(Debug, thiserror::Error)]
#[error("cannot parse the manifest: expected Apollo's format, version 1, or an object of ids and texts")]
pub struct InvalidManifest(#[from] serde_json::Error);

/// Document ids and texts, parsed from either format.
struct Entries(Vec<(String, String)>);

impl<'de> Deserialize<'de> for Entries {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Shapes)
    }
}

struct Shapes;

impl<'de> Visitor<'de> for Shapes {
    type Value = Entries;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a manifest")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Entries, A::Error> {
        let (mut plain, mut keys) = (Vec::<(String, String)>::new(), HashSet::new());
        let (mut version, mut operations) = (None, None::<Vec<Operation>>);
        while let Some(key) = map.next_key::<String>()? {
            if !keys.insert(key.clone()) {
                return Err(A::Error::custom(format_args!("duplicate key `{key}`")));
            }
            match key.as_str() {
                "version" => version = Some(map.next_value::<u64>()?),
                "operations" => operations = Some(map.next_value()?),
                _ => plain.push((key, map.next_value()?)),
            }
        }
        let format = |(key, text): &(String, String)| key == "format" && text == APOLLO;
        match (version, operations) {
            (None, None) => Ok(Entries(plain)),
            (Some(1), Some(operations)) if plain.iter().all(format) && !plain.is_empty() => {
                let entries = operations.into_iter().map(|one| (one.id, one.body));
                Ok(Entries(entries.collect()))
            }
            _ => Err(A::Error::custom(
                "neither Apollo's format, version 1, nor ids and texts",
            )),
        }
    }
}

/// Operation of Apollo's manifest. Its name and type are ignored, because the text contains them.
#[derive(Deserialize)]
struct Operation {
    id: String,
    body: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Result<Manifest, InvalidManifest> {
        Manifest::from_json(json.as_bytes())
    }

    #[test]
    fn the_shapes_are_told_apart() {
        let two = Manifest::new()
            .with_document("a", "{ x }")
            .with_document("b", "{ y }");
        let apollo = r#"{"operations": [{"id": "a", "name": "A", "clientName": null, "type": "query", "body": "{ x }"},
            {"id": "b", "body": "{ y }"}], "version": 1, "format": "apollo-persisted-query-manifest"}"#;
        assert_eq!(read(apollo).unwrap(), two);
        assert_eq!(read(r#"{"a": "{ x }", "b": "{ y }"}"#).unwrap(), two);
        assert_eq!(read("{}").unwrap(), Manifest::new());
    }

    #[test]
    fn what_is_neither_is_refused() {
        for json in [
            "",
            "[]",
            "null",
            r#"{"a": 1}"#,
            r#"{"a": {"body": "{ x }"}}"#,
            r#"{"version": 1, "operations": []}"#,
            r#"{"format": "apollo-persisted-query-manifest", "version": 2, "operations": []}"#,
            r#"{"format": "apollo-persisted-query-manifest", "version": 1}"#,
            r#"{"format": "another", "version": 1, "operations": []}"#,
            r#"{"format": "apollo-persisted-query-manifest", "version": 1, "operations": [{"id": "a"}]}"#,
            r#"{"format": "apollo-persisted-query-manifest", "version": 1, "operations": [], "a": "{ x }"}"#,
            r#"{"a": "{ x }", "b": "{ y }", "a": "{ x }"}"#,
            r#"{"format": "apollo-persisted-query-manifest", "version": 1,
                "operations": [{"id": "a", "body": "{ x }"}], "operations": []}"#,
        ] {
            assert!(read(json).is_err(), "{json}");
        }
    }
}
