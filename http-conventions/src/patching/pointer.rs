//! JSON pointers of operations, [RFC 6901](https://www.rfc-editor.org/rfc/rfc6901).

use serde_json::Value;

/// A parsed JSON pointer: its reference tokens without escapes.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Pointer(Box<[String]>);

impl Pointer {
    /// Parses a pointer; `None` if it is malformed.
    pub(super) fn parse(text: &str) -> Option<Self> {
        if text.is_empty() {
            return Some(Self(Box::default()));
        }
        let tokens = text.strip_prefix('/')?.split('/');
        tokens.map(unescape).collect::<Option<Box<[String]>>>().map(Self)
    }

    /// Number of reference tokens.
    pub(super) const fn depth(&self) -> usize {
        self.0.len()
    }

    /// Returns `true` if the location contains `other`, and is not `other` itself.
    pub(super) fn contains(&self, other: &Self) -> bool {
        other.0.len() > self.0.len() && other.0.starts_with(&self.0)
    }

    /// Pointer of the parent, and the last token; `None` for the root.
    pub(super) fn split_last(&self) -> Option<(&[String], &str)> {
        let (last, parents) = self.0.split_last()?;
        Some((parents, last))
    }

    /// The value at this location.
    pub(super) fn find<'v>(&self, document: &'v Value) -> Option<&'v Value> {
        self.0.iter().try_fold(document, |value, token| match value {
            Value::Object(members) => members.get(token),
            Value::Array(items) => items.get(index(token)?),
            _ => None,
        })
    }
}

/// The value that these tokens lead to.
pub(super) fn find_mut<'v>(tokens: &[String], document: &'v mut Value) -> Option<&'v mut Value> {
    tokens.iter().try_fold(document, |value, token| match value {
        Value::Object(members) => members.get_mut(token),
        Value::Array(items) => items.get_mut(index(token)?),
        _ => None,
    })
}

/// Parses an array index: digits without a leading zero.
pub(super) fn index(token: &str) -> Option<usize> {
    let is_index = token == "0" || !token.starts_with('0') && token.bytes().all(|byte| byte.is_ascii_digit());
    token.parse().ok().filter(|_| is_index)
}

/// Replaces `~1` and `~0`; `None` for another `~`.
fn unescape(token: &str) -> Option<String> {
    let mut parts = token.split('~');
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (escaped, rest) = match (part.strip_prefix('0'), part.strip_prefix('1')) {
            (Some(rest), _) => ('~', rest),
            (_, Some(rest)) => ('/', rest),
            (None, None) => return None,
        };
        text.push(escaped);
        text.push_str(rest);
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// H27: `~01` is the member `~1`, and another `~` is malformed.
    #[test]
    fn pointer_has_the_grammar_of_the_rfc() {
        let check = |text: &str, expected: Option<&[&str]>| {
            let parsed = Pointer::parse(text);
            let tokens = parsed.map(|pointer| pointer.0.iter().map(String::clone).collect::<Vec<_>>());
            assert_eq!(
                tokens.as_deref(),
                expected
                    .map(|tokens| tokens.iter().map(ToString::to_string).collect::<Vec<_>>())
                    .as_deref(),
                "{text}"
            );
        };
        check("", Some(&[]));
        check("/", Some(&[""]));
        check("/a/b", Some(&["a", "b"]));
        check("/a//", Some(&["a", "", ""]));
        check("/~01~10", Some(&["~1/0"]));
        check("/%20 \"\\", Some(&["%20 \"\\"]));
        for malformed in ["a", "#/a", "/~", "/~2", "/a~", "/~~0"] {
            check(malformed, None);
        }
    }

    /// H27: an index has no sign and no leading zero, and fits the address space.
    #[test]
    fn index_is_decimal_without_leading_zero() {
        for (token, expected) in [
            ("0", Some(0)),
            ("10", Some(10)),
            ("00", None),
            ("01", None),
            ("-1", None),
            ("+1", None),
            ("-", None),
            ("", None),
            ("1e0", None),
            ("1 ", None),
            ("\u{661}", None),
            ("99999999999999999999999", None),
        ] {
            assert_eq!(index(token), expected, "{token}");
        }
    }
}
