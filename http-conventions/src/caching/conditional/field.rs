//! `If-Match` and `If-None-Match`: `*` or a list of entity tags over all field lines, parsed
//! without allocating.

use http::{HeaderMap, HeaderName};

use super::entity_tag::{CurrentTag, EntityTagRef};

/// Result of comparing a list of entity tags with the current representation.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum TagField {
    /// The field is absent.
    Absent,
    /// `*`: any representation that exists.
    Any,
    /// One of the tags is the current tag.
    Listed,
    /// None of the tags is the current tag.
    Unlisted,
    /// No member is a tag, or `*` is one of several members.
    Malformed,
}

/// Comparison of two entity tags.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Comparison {
    /// The same bytes.
    Strong,
    /// Equivalent content.
    Weak,
}

impl TagField {
    /// Parses the field and compares its tags with the current tag.
    ///
    /// A member that is not a tag is ignored. A field in which no member is a tag is malformed.
    pub(super) fn read(
        headers: &HeaderMap,
        name: &HeaderName,
        current: Option<CurrentTag<'_>>,
        comparison: Comparison,
    ) -> Self {
        let mut seen = Seen::default();
        let mut lines = headers.get_all(name).iter().peekable();
        if lines.peek().is_none() {
            return Self::Absent;
        }
        for line in lines {
            seen.line(line.as_bytes(), |tag| match (current, comparison) {
                (Some(current), Comparison::Strong) => current.strong_eq(tag),
                (Some(current), Comparison::Weak) => current.weak_eq(tag),
                (None, _) => false,
            });
        }
        seen.field()
    }
}

#[derive(Debug, Default)]
struct Seen {
    stars: usize,
    tags: usize,
    others: usize,
    is_listed: bool,
}

impl Seen {
    fn line(&mut self, line: &[u8], is_current: impl Fn(EntityTagRef<'_>) -> bool) {
        let mut rest = line;
        loop {
            rest = skip(rest, |byte| matches!(byte, b' ' | b'\t' | b','));
            if rest.is_empty() {
                return;
            }
            rest = match EntityTagRef::split(rest) {
                Some((tag, after)) if ends_member(after) => {
                    self.tags += 1;
                    self.is_listed |= is_current(tag);
                    after
                }
                _ => self.other_member(rest),
            };
        }
    }

    fn other_member<'a>(&mut self, rest: &'a [u8]) -> &'a [u8] {
        match rest.strip_prefix(b"*") {
            Some(after) if ends_member(after) => {
                self.stars += 1;
                after
            }
            _ => {
                self.others += 1;
                skip(rest, |byte| byte != b',')
            }
        }
    }

    fn field(&self) -> TagField {
        match (self.stars, self.tags, self.others) {
            (1, 0, 0) => TagField::Any,
            (0, 1.., _) if self.is_listed => TagField::Listed,
            (0, 1.., _) | (0, 0, 0) => TagField::Unlisted,
            _ => TagField::Malformed,
        }
    }
}

fn ends_member(rest: &[u8]) -> bool {
    skip(rest, |byte| matches!(byte, b' ' | b'\t'))
        .first()
        .is_none_or(|byte| *byte == b',')
}

fn skip(bytes: &[u8], unwanted: impl Fn(u8) -> bool) -> &[u8] {
    let wanted = bytes
        .iter()
        .position(|byte| !unwanted(*byte))
        .unwrap_or(bytes.len());
    bytes.get(wanted..).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use http::{HeaderValue, header::IF_MATCH};

    use super::*;
    use crate::caching::EntityTag;

    fn read(lines: &[&[u8]], comparison: Comparison) -> TagField {
        let mut headers = HeaderMap::new();
        for line in lines {
            headers.append(IF_MATCH, HeaderValue::from_bytes(line).unwrap());
        }
        TagField::read(
            &headers,
            &IF_MATCH,
            Some(CurrentTag::from(&EntityTag::strong("a").unwrap())),
            comparison,
        )
    }

    fn check(lines: &[&[u8]], strong: TagField, weak: TagField) {
        assert_eq!(read(lines, Comparison::Strong), strong, "{lines:?}");
        assert_eq!(read(lines, Comparison::Weak), weak, "{lines:?}");
    }

    /// H7: lists and `*` over several field lines; a malformed member does not affect the others,
    /// and obs-text is valid.
    #[test]
    fn a_list_is_read_over_all_its_field_lines() {
        use TagField::{Absent, Any, Listed, Malformed, Unlisted};
        check(&[], Absent, Absent);
        check(&[b"*"], Any, Any);
        check(&[b" * "], Any, Any);
        check(&[b"\"a\""], Listed, Listed);
        check(&[b"W/\"a\""], Unlisted, Listed);
        check(&[b"\"b\"", b"\"c\", \"a\""], Listed, Listed);
        check(&[b",, \"b\"\t ,,\"a\","], Listed, Listed);
        check(&[b"\"b\",\"c\""], Unlisted, Unlisted);
        check(&[b""], Unlisted, Unlisted);
        check(&[b"\"caf\xe9, x\", \"a\""], Listed, Listed);
        check(&[b"\"x,\\\", \"a\""], Listed, Listed);
        check(&[b"nonsense, \"a\""], Listed, Listed);
        check(&[b"w/\"a\", \"b\""], Unlisted, Unlisted);
        check(&[b"\"a\"x"], Malformed, Malformed);
        check(&[b"\"a"], Malformed, Malformed);
        check(&[b"a"], Malformed, Malformed);
        check(&[b"*, \"a\""], Malformed, Malformed);
        check(&[b"*, a"], Malformed, Malformed);
        check(&[b"\"a\"", b"*"], Malformed, Malformed);
        check(&[b"*", b"*"], Malformed, Malformed);
        check(&[b"**"], Malformed, Malformed);
    }

    #[test]
    fn nothing_is_listed_where_there_is_no_current_tag() {
        let mut headers = HeaderMap::new();
        headers.insert(IF_MATCH, HeaderValue::from_static("\"a\""));
        assert_eq!(
            TagField::read(&headers, &IF_MATCH, None, Comparison::Weak),
            TagField::Unlisted
        );
    }

    proptest::proptest! {
        #[test]
        fn reading_never_panics_and_always_ends(line: Vec<u8>) {
            Seen::default().line(&line, |_| true);
        }
    }
}
