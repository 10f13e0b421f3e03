//! Locations in a document, [RFC 6901](https://www.rfc-editor.org/rfc/rfc6901).

/// Location of a value: a list from the value to the root.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Path<'p> {
    Root,
    Member(&'p Self, &'p str),
    Item(&'p Self, usize),
}

impl Path<'_> {
    /// JSON pointer of the location.
    pub(crate) fn pointer(&self) -> String {
        match self {
            Self::Root => String::new(),
            Self::Member(parent, name) => {
                let mut pointer = parent.pointer();
                push_token(&mut pointer, name);
                pointer
            }
            Self::Item(parent, index) => {
                let mut pointer = parent.pointer();
                push_token(&mut pointer, &index.to_string());
                pointer
            }
        }
    }
}

/// Appends a reference token with its escapes.
pub(super) fn push_token(pointer: &mut String, token: &str) {
    pointer.push('/');
    for character in token.chars() {
        match character {
            '~' => pointer.push_str("~0"),
            '/' => pointer.push_str("~1"),
            _ => pointer.push(character),
        }
    }
}

/// Pointer of the parent; `None` for the root.
pub(super) fn parent_of(pointer: &str) -> Option<&str> {
    pointer.rsplit_once('/').map(|(parent, _)| parent)
}

/// Returns `true` if `inner` is `outer` or lies below it.
pub(crate) fn is_within(inner: &str, outer: &str) -> bool {
    let below = inner.strip_prefix(outer);
    below.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}
