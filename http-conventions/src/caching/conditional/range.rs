//! `If-Range`, [RFC 9110 §13.1.5](https://www.rfc-editor.org/rfc/rfc9110#section-13.1.5): the rest of what one has, or the whole of
//! what is new.

use http::{
    Method,
    header::{IF_RANGE, RANGE},
};

use super::{EntityTag, Preconditions, Validators};
use crate::{http_date, single_value};

impl Preconditions<'_> {
    /// Whether the `Range` of this request counts: it is a GET, it has one, and its `If-Range`, where there is one, names the
    /// current state. Where it does not, answer as if there were no `Range`.
    ///
    /// To be asked after [`evaluate`](Self::evaluate) said to proceed. `If-Range` names a state by a strong tag, or by a time
    /// that [`Validators::with_strong_last_modified`] vouches for; one that is repeated or malformed names none.
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
    /// let tagged = |tag| EntityTag::strong(tag).map(|tag| Validators::default().with_entity_tag(tag));
    /// assert!(preconditions.takes_range(&tagged("v7")?));
    /// assert!(!preconditions.takes_range(&tagged("v8")?));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn takes_range(&self, current: &Validators) -> bool {
        let asks_for_one = *self.method == Method::GET && self.headers.contains_key(RANGE);
        asks_for_one && (!self.headers.contains_key(IF_RANGE) || self.names_current(current))
    }

    fn names_current(&self, current: &Validators) -> bool {
        let Some(value) = single_value(self.headers, &IF_RANGE) else {
            return false;
        };
        match EntityTag::parse(value.as_bytes()) {
            Ok(named) => current.entity_tag().is_some_and(|tag| tag.strong_eq(&named)),
            Err(_) => {
                let named = http_date::parse(value.as_bytes(), self.now);
                named.is_some() && named == current.strong_last_modified()
            }
        }
    }
}
