//! A patch in one of the two formats.

use host_ports::ContentType;
use http::{HeaderMap, HeaderName, HeaderValue};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use super::{
    PatchRefusal, PatchRules, apply, merge,
    operation::{self, Operation},
};
use crate::content::{UnsupportedContent, checks, json::Document};

/// Response field that announces the formats of patches, [RFC 5789
/// §3.1](https://www.rfc-editor.org/rfc/rfc5789#section-3.1).
pub const ACCEPT_PATCH: HeaderName = HeaderName::from_static("accept-patch");

pub(crate) const MERGE_PATCH: &str = "application/merge-patch+json";
pub(crate) const JSON_PATCH: &str = "application/json-patch+json";

/// Value of `Accept-Patch`: both formats.
#[must_use]
pub const fn accept_patch() -> HeaderValue {
    HeaderValue::from_static("application/merge-patch+json, application/json-patch+json")
}

/// A JSON Merge Patch or a JSON Patch.
///
/// | limit | value |
/// |---|---|
/// | operations | 1,000 |
/// | nesting of the patch, and of values that it places | 64 |
/// | values copied by all `copy` operations, in bytes of memory | about 1 MiB |
///
/// Limit the size of the content by [`SizeLimits`](crate::content::SizeLimits).
///
/// # Performance
///
/// An operation takes time in proportion to the array that it shifts, or to the value that it
/// moves: 1,000 operations on a resource of 3 MiB take up to 0.5 s.
///
/// # Security
///
/// A `test` operation tells the client whether a value is equal to its guess. Apply patches only to
/// a representation of which the client may read every member.
#[derive(Clone, Debug)]
pub struct Patch(Format);

#[derive(Clone, Debug)]
enum Format {
    Merge(Value),
    Operations(Vec<Operation>),
}

impl Patch {
    /// Parses the content of a PATCH.
    ///
    /// Parameters of the media type are ignored, except a `charset` other than UTF-8. Unknown
    /// members of operations are ignored ([RFC 6902
    /// §4](https://www.rfc-editor.org/rfc/rfc6902#section-4)).
    ///
    /// # Errors
    ///
    /// - [`PatchRefusal::Unsupported`] for another media type, or a content coding.
    /// - [`PatchRefusal::Malformed`] for content that is not JSON.
    /// - [`PatchRefusal::NotAPatch`] for JSON that is not a JSON Patch. Each fault has a pointer
    ///   into the patch.
    pub fn parse(headers: &HeaderMap, content: &[u8]) -> Result<Self, PatchRefusal> {
        let sent = ContentType::from_headers(headers).filter(|sent| sent.is_utf8());
        let is = |media_type| sent.is_some_and(|sent| sent.is(media_type));
        if !is(MERGE_PATCH) && !is(JSON_PATCH) {
            return Err(UnsupportedContent::new(ACCEPT_PATCH, [MERGE_PATCH, JSON_PATCH]).into());
        }
        checks::coding(headers, &[])?;
        let document = Document::parse(content)?.root;
        Ok(Self(match is(MERGE_PATCH) {
            true => Format::Merge(document),
            false => Format::Operations(operation::parse(document).map_err(PatchRefusal::NotAPatch)?),
        }))
    }

    /// Applies the patch to a document, and returns the changed document.
    ///
    /// Numbers are equal in a `test` if they have the same value, so `1` equals `1.0`.
    ///
    /// ```
    /// use http::{HeaderMap, header};
    /// use http_conventions::patching::Patch;
    /// use serde_json::json;
    ///
    /// let mut headers = HeaderMap::new();
    /// headers.insert(header::CONTENT_TYPE, "application/json-patch+json".parse()?);
    /// let patch = Patch::parse(
    ///     &headers,
    ///     br#"[{"op": "test", "path": "/state", "value": "open"},
    ///          {"op": "add", "path": "/tags/-", "value": "late"}]"#,
    /// )?;
    ///
    /// let changed = patch.apply(&json!({"state": "open", "tags": []}))?;
    /// assert_eq!(changed, json!({"state": "open", "tags": ["late"]}));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// A merge patch always applies. For a JSON Patch:
    ///
    /// - [`PatchRefusal::Conflict`] if a `test` fails or a location does not exist, with the
    ///   pointer of the operation in the patch.
    /// - [`PatchRefusal::Faulty`] if a limit is exceeded, or if the patch removes the whole
    ///   document.
    pub fn apply(&self, document: &Value) -> Result<Value, PatchRefusal> {
        let mut document = document.clone();
        match &self.0 {
            Format::Merge(patch) => merge::merge(&mut document, patch),
            Format::Operations(operations) => apply::apply(&mut document, operations)?,
        }
        Ok(document)
    }

    /// Applies the patch to the JSON form of a resource, and reads the result.
    ///
    /// A member outside of the writable locations must keep its value. A patch may contain such a
    /// member unchanged.
    ///
    /// # Contract
    ///
    /// `T` serializes every member that it reads. A member that is skipped, such as a secret with
    /// `skip_serializing`, is absent from the JSON form, and the result has its default instead.
    /// Patch a type that contains only the members that clients may read.
    ///
    /// ```
    /// use http::{HeaderMap, header};
    /// use http_conventions::patching::{Patch, PatchRefusal, PatchRules};
    /// use serde::{Deserialize, Serialize};
    ///
    /// #[derive(Debug, Serialize, Deserialize)]
    /// struct Charge {
    ///     id: String,
    ///     description: Option<String>,
    /// }
    ///
    /// const RULES: PatchRules = PatchRules::new(&["/description"]);
    ///
    /// let mut headers = HeaderMap::new();
    /// headers.insert(header::CONTENT_TYPE, "application/merge-patch+json".parse()?);
    /// let patch = Patch::parse(&headers, br#"{"id": "ch_2", "description": 7}"#)?;
    ///
    /// let charge = Charge { id: "ch_1".to_owned(), description: None };
    /// let Err(PatchRefusal::Faulty(faults)) = patch.apply_to(&charge, &RULES) else {
    ///     panic!("two faults")
    /// };
    /// let codes = faults.all().iter().map(|fault| (fault.pointer(), fault.code()));
    /// assert!(codes.eq([("/id", "read-only"), ("/description", "wrong-type")]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// - The errors of [`apply`](Self::apply).
    /// - [`PatchRefusal::Faulty`] with the pointers, in the resource, of all members that cannot be
    ///   written or have invalid values.
    /// - [`PatchRefusal::Unserializable`] if the resource has no JSON form.
    pub fn apply_to<T>(&self, resource: &T, rules: &PatchRules) -> Result<T, PatchRefusal>
    where
        T: Serialize + DeserializeOwned,
    {
        let before = serde_json::to_value(resource).map_err(|_| PatchRefusal::Unserializable)?;
        let after = self.apply(&before)?;
        let read = rules.reader().read_value(&after);
        match (rules.read_only(&before, &after), read) {
            (None, read) => Ok(read?),
            (Some(faults), Ok(_)) => Err(faults.into()),
            (Some(mut faults), Err(others)) => {
                faults.extend(others);
                Err(faults.into())
            }
        }
    }
}
