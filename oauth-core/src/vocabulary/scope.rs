//! Scope tokens and sets of them.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use super::word;

/// Most scope tokens that one set may be read from: more than the longest token has room for. A longer list is an attack on
/// the reader's time.
const MAX_TOKENS: usize = 1000;

/// The scope that makes an authorization a sign-in,
/// [OpenID Connect Core §3.1.2.1](https://openid.net/specs/openid-connect-core-1_0.html#AuthRequest).
pub(crate) const OPENID: &str = "openid";

/// The text is no [`Scope`], or no list of them.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("not a scope")]
pub struct InvalidScope;

word! {
    /// One scope token, [RFC 6749 §3.3](https://www.rfc-editor.org/rfc/rfc6749#section-3.3).
    ///
    /// # ABNF
    ///
    /// ```text
    /// scope-token = 1*( %x21 / %x23-5B / %x5D-7E )
    /// ```
    ///
    /// Scopes of an API are written `<verb>:<noun>`: `read:charges`.
    Scope, InvalidScope, |text| {
        (1..=255).contains(&text.len()) && text.bytes().all(|byte| matches!(byte, 0x21 | 0x23..=0x5b | 0x5d..=0x7e))
    }
}

/// A set of scopes; printed and parsed as tokens separated by one space, of which a thousand are read at most.
///
/// Whether a scope is in it is a matter of the whole token: `read:charges` neither holds nor is held by
/// `read`.
///
/// ```
/// use oauth_core::vocabulary::Scopes;
///
/// let granted: Scopes = "read:charges write:charges".parse()?;
/// let wanted: Scopes = "write:charges".parse()?;
/// assert!(wanted.is_subset(&granted));
/// assert_eq!(granted.to_string(), "read:charges write:charges");
/// # Ok::<(), oauth_core::vocabulary::InvalidScope>(())
/// ```
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
pub struct Scopes(BTreeSet<Scope>);

impl Scopes {
    /// Whether the set holds `scope`.
    #[must_use]
    pub fn contains(&self, scope: &Scope) -> bool {
        self.0.contains(scope)
    }

    /// Whether the set holds the scope written `token`.
    #[must_use]
    pub fn contains_str(&self, token: &str) -> bool {
        self.0.iter().any(|scope| scope.as_str() == token)
    }

    /// Whether `other` holds every scope of this set.
    #[must_use]
    pub fn is_subset(&self, other: &Self) -> bool {
        self.0.is_subset(&other.0)
    }

    /// The scopes that are in both sets.
    #[must_use]
    pub fn intersection(&self, other: &Self) -> Self {
        Self(self.0.intersection(&other.0).cloned().collect())
    }

    /// Adds a scope.
    pub fn insert(&mut self, scope: Scope) {
        self.0.insert(scope);
    }

    /// Every scope, in the order of their bytes.
    pub fn iter(&self) -> impl Iterator<Item = &Scope> {
        self.0.iter()
    }

    /// How many scopes there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl FromStr for Scopes {
    type Err = InvalidScope;

    fn from_str(text: &str) -> Result<Self, InvalidScope> {
        // counted first, and no further than that: a list that is too long costs no allocation
        if text.split(' ').nth(MAX_TOKENS).is_some() {
            return Err(InvalidScope);
        }
        text.split(' ').map(str::parse).collect()
    }
}

// as on the wire, but for the empty set, which a parameter cannot say: it is an empty string
impl serde::Serialize for Scopes {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> serde::Deserialize<'de> for Scopes {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<str>::deserialize(deserializer)?;
        // no limit: what is read back was limited when it came in
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
    fn containment_is_by_token_never_by_substring() {
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
    fn the_grammar_is_that_of_rfc_6749() {
        for text in [
            "", " ", "a ", " a", "a  b", "a\tb", "a\"b", "a\\b", "a\nb", "\u{e9}",
        ] {
            assert_eq!(text.parse::<Scopes>(), Err(InvalidScope), "{text:?}");
        }
        assert_eq!(scopes("b a b").to_string(), "a b");
        assert_eq!(scopes("b a"), scopes("a b"));
    }

    /// 4: before anything is made of it.
    #[test]
    fn a_list_of_half_a_million_tokens_is_refused_at_once() {
        let tokens = |count| "a ".repeat(count).trim_end().parse::<Scopes>();
        assert_eq!(tokens(500_000), Err(InvalidScope));
        assert_eq!(tokens(1001), Err(InvalidScope));
        assert_eq!(tokens(1000), Ok(scopes("a")));
    }

    proptest! {
        #[test]
        fn what_is_printed_parses_to_the_same_set(text in "[!#-\\[\\]-~]{1,8}( [!#-\\[\\]-~]{1,8}){0,6}") {
            let set = scopes(&text);
            prop_assert_eq!(scopes(&set.to_string()), set);
        }

        #[test]
        fn any_text_parses_or_fails_without_panic(text in ".*") {
            drop(text.parse::<Scopes>());
        }
    }
}
