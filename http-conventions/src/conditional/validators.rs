//! What identifies the current state of a resource.

use std::time::SystemTime;

use http::{
    HeaderMap,
    header::{ETAG, LAST_MODIFIED},
};

use super::EntityTag;
use crate::http_date;

/// The entity tag and modification time of a representation that exists; either may be unknown.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Validators {
    entity_tag: Option<EntityTag>,
    last_modified: Option<SystemTime>,
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
