//! Validators of the current state of a resource.

use std::time::SystemTime;

use http::{
    HeaderMap,
    header::{ETAG, LAST_MODIFIED},
};

use super::{EntityTag, entity_tag::CurrentTag};
use crate::{content::ContentCoding, http_date};

/// Entity tag and modification time of an existing representation. Both are optional.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Validators {
    entity_tag: Option<EntityTag>,
    last_modified: Option<SystemTime>,
    is_strong_time: bool,
    codings: &'static [ContentCoding],
}

impl Validators {
    /// Sets the entity tag.
    #[must_use]
    pub fn with_entity_tag(mut self, entity_tag: EntityTag) -> Self {
        self.entity_tag = Some(entity_tag);
        self
    }

    /// Sets the time of the last change, truncated to whole seconds, the resolution of an
    /// HTTP-date.
    ///
    /// # Security
    ///
    /// Two changes in the same second have the same time. Guard writes with an entity tag.
    #[must_use]
    pub fn with_last_modified(mut self, last_modified: SystemTime) -> Self {
        self.last_modified = Some(http_date::whole_seconds(last_modified));
        self
    }

    /// Sets the time of the last change of a resource that never changes twice within one second.
    ///
    /// The time is then a strong validator ([RFC 9110
    /// §8.8.2.2](https://www.rfc-editor.org/rfc/rfc9110#section-8.8.2.2)), and `If-Range` can use
    /// it.
    #[must_use]
    pub fn with_strong_last_modified(self, last_modified: SystemTime) -> Self {
        Self {
            is_strong_time: true,
            ..self.with_last_modified(last_modified)
        }
    }

    /// Also accepts the entity tags that [`EntityTag::in_coding`] derives for these codings.
    ///
    /// Use it for the preconditions of writes. For the response to a read, use
    /// [`in_coding`](Self::in_coding).
    #[must_use]
    pub const fn with_codings(mut self, codings: &'static [ContentCoding]) -> Self {
        self.codings = codings;
        self
    }

    /// Returns the validators of the same state in a content coding. Use them for a read whose
    /// response has that coding.
    ///
    /// They do not match the validators of a cached response in another coding.
    #[must_use]
    pub fn in_coding(&self, coding: &ContentCoding) -> Self {
        Self {
            entity_tag: self.entity_tag.as_ref().map(|tag| tag.in_coding(coding)),
            last_modified: self.last_modified,
            // two codings of one state can be created within the same second
            is_strong_time: self.is_strong_time && coding.is_identity(),
            codings: &[],
        }
    }

    /// Entity tag, if set.
    #[must_use]
    pub fn entity_tag(&self) -> Option<&EntityTag> {
        self.entity_tag.as_ref()
    }

    /// Time of the last change in whole seconds, if set.
    #[must_use]
    pub fn last_modified(&self) -> Option<SystemTime> {
        self.last_modified
    }

    /// Tag to compare with; `codings` are those of the validators if they have none.
    pub(super) fn current_tag(&self, codings: &'static [ContentCoding]) -> Option<CurrentTag<'_>> {
        let tag = self.entity_tag.as_ref()?.borrow();
        let codings = self.codings_or(codings);
        Some(CurrentTag { tag, codings })
    }

    /// Codings of the validators, or `default` if they have none.
    pub(super) fn codings_or(&self, default: &'static [ContentCoding]) -> &'static [ContentCoding] {
        match self.codings {
            [] => default,
            codings => codings,
        }
    }

    /// Time of the last change, if it is a strong validator.
    pub(super) fn strong_last_modified(&self) -> Option<SystemTime> {
        self.last_modified.filter(|_| self.is_strong_time)
    }

    /// Sets `ETag` and `Last-Modified`, if known.
    pub fn apply(&self, headers: &mut HeaderMap) {
        if let Some(entity_tag) = &self.entity_tag {
            headers.insert(ETAG, entity_tag.header_value());
        }
        if let Some(last_modified) = self.last_modified.and_then(http_date::header_value) {
            headers.insert(LAST_MODIFIED, last_modified);
        }
    }
}
