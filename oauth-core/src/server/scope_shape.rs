//! The shape `<verb>:<noun>` of scopes.

use crate::vocabulary::Scope;

/// Scopes of [OpenID Connect Core
/// §5.4](https://openid.net/specs/openid-connect-core-1_0.html#ScopeClaims) and §11.
const OF_OPENID_CONNECT: [&str; 6] = ["openid", "profile", "email", "address", "phone", "offline_access"];

/// Returns `true` for `<verb>:<noun>` and for a scope of OpenID Connect.
pub(super) fn is_verb_noun(scope: &Scope) -> bool {
    let scope = scope.as_str();
    let is_word = |word: &str| {
        let is_inner =
            |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-_.".contains(&byte);
        word.starts_with(|first: char| first.is_ascii_lowercase()) && word.bytes().all(is_inner)
    };
    let is_pair = |(verb, noun)| is_word(verb) && is_word(noun);
    OF_OPENID_CONNECT.contains(&scope) || scope.split_once(':').is_some_and(is_pair)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// O46: one verb and one noun, in lower case.
    #[test]
    fn only_verb_and_noun_have_the_shape() {
        let is_fit = |scope: &str| is_verb_noun(&scope.parse().unwrap());
        for scope in ["read:charges", "write:web-hooks_2.x", "openid", "offline_access"] {
            assert!(is_fit(scope), "{scope}");
        }
        for scope in [
            "charges",
            "read:",
            ":charges",
            "read:charges:all",
            "Read:charges",
            "read:Charges",
            "1read:charges",
            "read:-charges",
            "read/charges",
            "OpenID",
        ] {
            assert!(!is_fit(scope), "{scope}");
        }
    }
}
