//! `If-Range`, [RFC 9110 §13.1.5](https://www.rfc-editor.org/rfc/rfc9110#section-13.1.5).

use http::{
    Method,
    header::{IF_MATCH, IF_RANGE, RANGE},
};

use super::{
    EntityTag, Preconditions, Validators,
    entity_tag::CurrentTag,
    field::{Comparison, TagField},
};
use crate::{http_date, single_value};

impl Preconditions<'_> {
    /// Returns `true` if the requested `Range` applies. If `false`, ignore it.
    ///
    /// # Contract
    ///
    /// - Call it after [`evaluate`](Self::evaluate) returned
    ///   [`Proceed`](super::PreconditionDecision::Proceed).
    /// - Returns `false` unless the request is a GET with `Range`.
    /// - If `If-Range` is present, it must name the current state: by a strong tag, or by a time of
    ///   [`Validators::with_strong_last_modified`]. A repeated or malformed `If-Range` names no
    ///   state.
    /// - The client of a compressed response has other bytes. Therefore a tag of a content coding
    ///   does not count, in `If-Range` or `If-Match`, and a time does not count if there are
    ///   codings.
    ///
    /// ```
    /// use std::time::SystemTime;
    ///
    /// use http::{HeaderMap, Method, header};
    /// use http_conventions::caching::{EntityTag, Preconditions, Validators};
    ///
    /// let mut request = HeaderMap::new();
    /// request.insert(header::RANGE, "bytes=1000-".parse()?);
    /// request.insert(header::IF_RANGE, "\"v7\"".parse()?);
    /// let preconditions = Preconditions::new(&Method::GET, &request, SystemTime::UNIX_EPOCH);
    ///
    /// let tagged =
    ///     |tag| EntityTag::strong(tag).map(|tag| Validators::default().with_entity_tag(tag));
    /// assert!(preconditions.takes_range(&tagged("v7")?));
    /// assert!(!preconditions.takes_range(&tagged("v8")?));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn takes_range(&self, current: &Validators) -> bool {
        let asks_for_one = *self.method == Method::GET && self.headers.contains_key(RANGE);
        asks_for_one
            && !self.matches_in_coding(current)
            && (!self.headers.contains_key(IF_RANGE) || self.names_current(current))
    }

    /// Returns `true` if `If-Match` holds, but lists only tags of content codings.
    fn matches_in_coding(&self, current: &Validators) -> bool {
        let plain = current.entity_tag().map(CurrentTag::from);
        TagField::read(self.headers, &IF_MATCH, plain, Comparison::Strong) == TagField::Unlisted
    }

    fn names_current(&self, current: &Validators) -> bool {
        let Some(value) = single_value(self.headers, &IF_RANGE) else {
            return false;
        };
        match EntityTag::parse(value.as_bytes()) {
            Ok(named) => current.entity_tag().is_some_and(|tag| tag.strong_eq(&named)),
            // the plain and the compressed content have the same time
            Err(_) if !current.codings_or(self.codings).is_empty() => false,
            Err(_) => {
                let named = http_date::parse(value.as_bytes(), self.now);
                named.is_some() && named == current.strong_last_modified()
            }
        }
    }
}
