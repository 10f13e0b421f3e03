//! What identifies the current state of a resource.

use std::time::SystemTime;

use http::{
    HeaderMap,
    header::{ETAG, LAST_MODIFIED},
};

use super::{EntityTag, entity_tag::CurrentTag};
use crate::{content::ContentCoding, http_date};

/// The entity tag and modification time of a representation that exists; either may be unknown.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Validators {
    entity_tag: Option<EntityTag>,
    last_modified: Option<SystemTime>,
    is_strong_time: bool,
    codings: &'static [ContentCoding],
}

impl Validators {
    /// With this entity tag.
    #[must_use]
    pub fn with_entity_tag(mut self, entity_tag: EntityTag) -> Self {
        self.entity_tag = Some(entity_tag);
        self
    }

    /// With this time of the last change; its fraction of a second is cut off, as HTTP cannot say it.
    ///
    /// # Security
    ///
    /// Two changes in one second look the same by time. Guard writes with an entity tag.
    #[must_use]
    pub fn with_last_modified(mut self, last_modified: SystemTime) -> Self {
        self.last_modified = Some(http_date::whole_seconds(last_modified));
        self
    }

    /// With this time of the last change, of a resource that never changes twice in one second: the time alone then tells two
    /// states apart, and `If-Range` may name it ([RFC 9110 §8.8.2.2](https://www.rfc-editor.org/rfc/rfc9110#section-8.8.2.2)).
    #[must_use]
    pub fn with_strong_last_modified(self, last_modified: SystemTime) -> Self {
        Self {
            is_strong_time: true,
            ..self.with_last_modified(last_modified)
        }
    }

    /// The resource is also sent in these codings, each under the tag that [`EntityTag::in_coding`] makes: a precondition that
    /// names one of those names this state. For writes; what a read is answered with is [`in_coding`](Self::in_coding).
    #[must_use]
    pub const fn with_codings(mut self, codings: &'static [ContentCoding]) -> Self {
        self.codings = codings;
        self
    }

    /// The validators of the same state in this coding: what an answer that is sent so has, and its preconditions are compared
    /// with. A cache that holds the state in another coding does not hold this answer.
    #[must_use]
    pub fn in_coding(&self, coding: &ContentCoding) -> Self {
        Self {
            entity_tag: self.entity_tag.as_ref().map(|tag| tag.in_coding(coding)),
            last_modified: self.last_modified,
            // two codings may be made in one second of one state
            is_strong_time: self.is_strong_time && coding.is_identity(),
            codings: &[],
        }
    }

    /// The entity tag, if there is one.
    #[must_use]
    pub fn entity_tag(&self) -> Option<&EntityTag> {
        self.entity_tag.as_ref()
    }

    /// The time of the last change in whole seconds, if it is known.
    #[must_use]
    pub fn last_modified(&self) -> Option<SystemTime> {
        self.last_modified
    }

    pub(super) fn current_tag(&self) -> Option<CurrentTag<'_>> {
        let tag = self.entity_tag.as_ref()?.borrow();
        let codings = self.codings;
        Some(CurrentTag { tag, codings })
    }

    /// The time of the last change, where no two states can have the same.
    pub(super) fn strong_last_modified(&self) -> Option<SystemTime> {
        self.last_modified.filter(|_| self.is_strong_time)
    }

    /// Sets `ETag` and `Last-Modified`, as far as they are known.
    pub fn apply(&self, headers: &mut HeaderMap) {
        if let Some(entity_tag) = &self.entity_tag {
            headers.insert(ETAG, entity_tag.header_value());
        }
        if let Some(last_modified) = self.last_modified.and_then(http_date::header_value) {
            headers.insert(LAST_MODIFIED, last_modified);
        }
    }
}
