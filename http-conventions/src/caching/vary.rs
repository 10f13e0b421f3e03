//! The `Vary` field of responses.

use http::{
    HeaderMap, HeaderName, HeaderValue,
    header::{ACCEPT, ACCEPT_ENCODING, ACCEPT_LANGUAGE, ORIGIN, VARY},
};

use crate::field;

const USUAL_COUNT: usize = 4;

/// Common names, kept as one bit each, so that collecting them does not allocate.
static USUAL: [HeaderName; USUAL_COUNT] = [ACCEPT, ACCEPT_ENCODING, ACCEPT_LANGUAGE, ORIGIN];

/// Set of request fields that a response depends on.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Vary {
    is_any: bool,
    usual: [bool; USUAL_COUNT],
    others: Vec<HeaderName>,
}

impl Vary {
    /// `*`: the response depends on more than the request fields, so a cache must not reuse it.
    #[must_use]
    pub fn any() -> Self {
        Self {
            is_any: true,
            ..Self::default()
        }
    }

    /// Adds a request field.
    pub fn add(&mut self, name: HeaderName) {
        let usual = USUAL.iter().position(|usual| *usual == name);
        match usual.and_then(|index| self.usual.get_mut(index)) {
            Some(said) => *said = true,
            None if self.others.contains(&name) => {}
            None => self.others.push(name),
        }
    }

    /// Adds all fields of another set.
    pub fn extend(&mut self, other: &Self) {
        self.is_any |= other.is_any;
        other.names().for_each(|name| self.add(name.clone()));
    }

    /// Returns `true` if the set is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        !self.is_any && self.names().next().is_none()
    }

    /// Value of the `Vary` field; `None` if the set is empty.
    #[must_use]
    pub fn header_value(&self) -> Option<HeaderValue> {
        let mut headers = HeaderMap::new();
        self.apply(&mut headers);
        headers.remove(VARY)
    }

    /// Merges the names into the existing `Vary` field, as one line with each name once. `*`
    /// replaces all names.
    pub fn apply(&self, headers: &mut HeaderMap) {
        if self.is_empty() {
            return;
        }
        let has_star = field::members(headers, &VARY).any(|member| member == b"*");
        if self.is_any || has_star {
            headers.insert(VARY, HeaderValue::from_static("*"));
            return;
        }
        let mut names = self.names();
        if let (Some(name), None, false) = (names.next(), names.next(), headers.contains_key(VARY)) {
            // a common name alone is static, so this does not allocate
            headers.insert(VARY, HeaderValue::from(name.clone()));
            return;
        }
        let mut line = Vec::with_capacity(64);
        for member in field::members(headers, &VARY) {
            append(&mut line, member);
        }
        for name in self.names() {
            append(&mut line, name.as_str().as_bytes());
        }
        if let Ok(value) = HeaderValue::try_from(line) {
            headers.insert(VARY, value);
        }
    }

    fn names(&self) -> impl Iterator<Item = &HeaderName> {
        let usual = USUAL.iter().zip(self.usual);
        let usual = usual.filter_map(|(name, said)| said.then_some(name));
        usual.chain(&self.others)
    }
}

/// Appends a name unless the line already contains it.
fn append(line: &mut Vec<u8>, name: &[u8]) {
    let is_there = field::split(line, b',').any(|there| there.eq_ignore_ascii_case(name));
    if !is_there {
        if !line.is_empty() {
            line.extend_from_slice(b", ");
        }
        line.extend_from_slice(name);
    }
}
