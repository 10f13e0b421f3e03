use std::borrow::{Borrow, Cow};
use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// Maximum number of tokens of a parsed list, which limits the work for a hostile list.
const MAX_TOKENS: usize = 1000;

/// Error for a text that is not a [`Scope`] or a list of scopes.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("not a scope")]
pub struct InvalidScope;

/// One scope token, [RFC 6749 section 3.3](https://www.rfc-editor.org/rfc/rfc6749#section-3.3), of
/// at most 255 bytes.
///
/// # ABNF
///
/// ```text
/// scope-token = 1*( %x21 / %x23-5B / %x5D-7E )
/// ```
///
/// By convention a scope is written `<verb>:<noun>`, such as `read:charges`. Scopes are compared
/// byte for byte, never normalized.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Scope(Arc<str>);

impl Scope {
    /// Token as on the wire.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Scope {
    type Err = InvalidScope;

    fn from_str(text: &str) -> Result<Self, InvalidScope> {
        let is_token = |text: &str| {
            text.bytes()
                .all(|byte| matches!(byte, 0x21 | 0x23..=0x5b | 0x5d..=0x7e))
        };
        if (1..=255).contains(&text.len()) && is_token(text) {
            Ok(Self(text.into()))
        } else {
            Err(InvalidScope)
        }
    }
}

impl Borrow<str> for Scope {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl serde::Serialize for Scope {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> serde::Deserialize<'de> for Scope {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

/// A set of scopes. Prints and parses as tokens separated by one space. A list of more than 1000
/// tokens does not parse.
///
/// Scopes are compared as whole tokens: a set with `read:charges` does not contain `read`.
///
/// ```
/// use host_ports::Scopes;
///
/// let granted: Scopes = "read:charges write:charges".parse()?;
/// let wanted: Scopes = "write:charges".parse()?;
/// assert!(wanted.is_subset(&granted));
/// assert_eq!(granted.to_string(), "read:charges write:charges");
/// # Ok::<(), host_ports::InvalidScope>(())
/// ```
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
pub struct Scopes(BTreeSet<Scope>);

impl Scopes {
    /// Returns `true` if the set contains `scope`.
    #[must_use]
    pub fn contains(&self, scope: &Scope) -> bool {
        self.0.contains(scope)
    }

    /// Returns `true` if the set contains a scope with the text `token`.
    #[must_use]
    pub fn contains_str(&self, token: &str) -> bool {
        self.0.contains(token)
    }

    /// Returns `true` if `other` contains every scope of this set.
    #[must_use]
    pub fn is_subset(&self, other: &Self) -> bool {
        self.0.is_subset(&other.0)
    }

    /// Scopes that both sets contain.
    #[must_use]
    pub fn intersection(&self, other: &Self) -> Self {
        Self(self.0.intersection(&other.0).cloned().collect())
    }

    /// Scopes that one of the sets contains, or both.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        Self(self.0.union(&other.0).cloned().collect())
    }

    /// This set without the scope with the text `token`.
    #[must_use]
    pub fn without(&self, token: &str) -> Self {
        let kept = self.0.iter().filter(|scope| scope.as_str() != token);
        Self(kept.cloned().collect())
    }

    /// Adds a scope.
    pub fn insert(&mut self, scope: Scope) {
        self.0.insert(scope);
    }

    /// Scopes in byte order.
    pub fn iter(&self) -> impl Iterator<Item = &Scope> {
        self.0.iter()
    }

    /// Number of scopes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns `true` if the set is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl FromStr for Scopes {
    type Err = InvalidScope;

    fn from_str(text: &str) -> Result<Self, InvalidScope> {
        // counts at most one token above the limit, so that a long list allocates nothing
        if text.split(' ').nth(MAX_TOKENS).is_some() {
            return Err(InvalidScope);
        }
        text.split(' ').map(str::parse).collect()
    }
}

// wire format; the empty string is the empty set
impl serde::Serialize for Scopes {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> serde::Deserialize<'de> for Scopes {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<str>::deserialize(deserializer)?;
        // no limit: stores deserialize only sets that were serialized before
        let tokens = text.split(' ').filter(|_| !text.is_empty());
        tokens
            .map(str::parse)
            .collect::<Result<_, _>>()
            .map_err(serde::de::Error::custom)
    }
}

impl FromIterator<Scope> for Scopes {
    fn from_iter<I: IntoIterator<Item = Scope>>(scopes: I) -> Self {
        Self(scopes.into_iter().collect())
    }
}

impl fmt::Display for Scopes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, scope) in self.0.iter().enumerate() {
            if index > 0 {
                f.write_str(" ")?;
            }
            f.write_str(scope.as_str())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn scopes(text: &str) -> Scopes {
        text.parse().unwrap()
    }

    /// O17, 101: a scope is contained as a whole token, never as a part of one.
    #[test]
    fn compares_whole_tokens() {
        let granted = scopes("read:charges write:refunds");
        for token in [
            "read",
            "charges",
            "read:charge",
            "read:chargesx",
            "READ:charges",
            "",
        ] {
            assert!(!granted.contains_str(token), "{token}");
        }
        assert!(granted.contains(&"write:refunds".parse().unwrap()));
        assert!(!scopes("read").is_subset(&granted));
        assert!(Scopes::default().is_subset(&granted));
    }

    /// O17, 23: the grammar of RFC 6749 §3.3 for tokens and lists.
    #[test]
    fn parses_the_grammar_of_rfc_6749() {
        for text in [
            "", " ", "a ", " a", "a  b", "a\tb", "a\"b", "a\\b", "a\nb", "\u{e9}",
        ] {
            assert_eq!(text.parse::<Scopes>(), Err(InvalidScope), "{text:?}");
        }
        assert_eq!(scopes("b a b").to_string(), "a b");
        assert_eq!(scopes("b a"), scopes("a b"));
    }

    /// 4: a list above the limit is refused before anything is allocated.
    #[test]
    fn refuses_half_a_million_tokens() {
        let tokens = |count| "a ".repeat(count).trim_end().parse::<Scopes>();
        assert_eq!(tokens(500_000), Err(InvalidScope));
        assert_eq!(tokens(1001), Err(InvalidScope));
        assert_eq!(tokens(1000), Ok(scopes("a")));
    }

    proptest! {
        #[test]
        fn printed_set_parses_to_the_same_set(text in "[!#-\\[\\]-~]{1,8}( [!#-\\[\\]-~]{1,8}){0,6}") {
            let set = scopes(&text);
            prop_assert_eq!(scopes(&set.to_string()), set);
        }

        #[test]
        fn any_text_parses_or_fails(text in ".*") {
            drop(text.parse::<Scopes>());
        }
    }
}
