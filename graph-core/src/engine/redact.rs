//! Removes the names of hidden types from error messages.

use juniper::GraphQLType;

use super::Inner;
use crate::guard::RequestContext;
use crate::response::GraphResponse;

/// Replacement of a hidden name.
const HIDDEN: &str = "(hidden)";

impl<Q: GraphQLType, M: GraphQLType, S: GraphQLType> Inner<Q, M, S> {
    /// Replaces the types that are hidden from the principal of `context` in the messages of
    /// `refused`.
    ///
    /// Names that the document itself contains are also replaced, so that a guess is not confirmed.
    pub(super) fn redacted<H>(&self, refused: GraphResponse, context: &RequestContext<H>) -> GraphResponse {
        let view = self.seen(context);
        if view.is_whole() {
            return refused;
        }
        let is_secret = |word: &str| view.hides(word);
        refused.map_messages(|message| match words(message).any(is_secret) {
            true => replaced(message, is_secret),
            false => message.to_owned(),
        })
    }
}

fn is_name(character: char) -> bool {
    character.is_ascii_alphanumeric() || character == '_'
}

/// Possible names in `text`.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|character| !is_name(character))
        .filter(|word| !word.is_empty())
}

fn replaced(message: &str, is_secret: impl Fn(&str) -> bool) -> String {
    let mut out = String::with_capacity(message.len());
    let mut rest = message;
    while !rest.is_empty() {
        let name = rest.find(|character| !is_name(character)).unwrap_or(rest.len());
        let (word, behind) = rest.split_at(name);
        out.push_str(if is_secret(word) { HIDDEN } else { word });
        let between = behind.find(is_name).unwrap_or(behind.len());
        let (between, behind) = behind.split_at(between);
        out.push_str(between);
        rest = behind;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_names_are_replaced_and_nothing_else() {
        for (message, expected) in [
            ("", ""),
            ("Key", "(hidden)"),
            (
                "\"[Key!]!\" of Keys, é Key_ and Key",
                "\"[(hidden)!]!\" of Keys, é Key_ and (hidden)",
            ),
        ] {
            assert_eq!(replaced(message, |word| word == "Key"), expected);
        }
    }
}
