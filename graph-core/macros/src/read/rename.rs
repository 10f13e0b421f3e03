//! GraphQL names of Rust identifiers, by juniper's policies.

use syn::ext::IdentExt;
use syn::{Ident, LitStr};

/// `rename_all` of juniper's attributes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Rename {
    None,
    CamelCase,
    SnakeCase,
    ScreamingSnakeCase,
}

impl Rename {
    /// Parses a policy.
    pub(crate) fn parse(word: &LitStr) -> syn::Result<Self> {
        match word.value().as_str() {
            "none" => Ok(Self::None),
            "camelCase" => Ok(Self::CamelCase),
            "snake_case" => Ok(Self::SnakeCase),
            "SCREAMING_SNAKE_CASE" => Ok(Self::ScreamingSnakeCase),
            _ => Err(syn::Error::new(
                word.span(),
                "write `none`, `camelCase`, `snake_case` or `SCREAMING_SNAKE_CASE`",
            )),
        }
    }

    /// GraphQL name of `name`.
    pub(crate) fn apply(self, name: &Ident) -> String {
        let name = name.unraw().to_string();
        match self {
            Self::None => name,
            Self::CamelCase => camel_case(&name),
            Self::SnakeCase => snake_case(&name).to_lowercase(),
            Self::ScreamingSnakeCase => snake_case(&name).to_uppercase(),
        }
    }

    /// GraphQL name of the variant `name`, which is a field of a `@oneOf` input object.
    pub(crate) fn apply_to_variant(self, name: &Ident) -> String {
        match self {
            Self::None => self.apply(name),
            _ => self.apply(&Ident::new(&Self::SnakeCase.apply(name), name.span())),
        }
    }
}

fn camel_case(name: &str) -> String {
    let (start, rest) = match name.strip_prefix("__") {
        Some(rest) => ("__", rest),
        None => ("", name.strip_prefix('_').unwrap_or(name)),
    };
    let mut words = rest.split('_');
    let first = words.next().unwrap_or_default();
    words.fold(format!("{start}{first}"), |mut made, word| {
        let mut letters = word.chars();
        made.extend(letters.next().into_iter().flat_map(char::to_uppercase));
        made.push_str(letters.as_str());
        made
    })
}

/// Inserts an underscore before each upper-case letter that follows a lower-case one.
fn snake_case(name: &str) -> String {
    let (mut made, mut after_lower) = (String::new(), false);
    for letter in name.chars() {
        if letter.is_uppercase() && after_lower {
            made.push('_');
        }
        if letter == '_' || letter.is_uppercase() {
            after_lower = false;
        } else if letter.is_lowercase() {
            after_lower = true;
        }
        made.push(letter);
    }
    made
}

#[cfg(test)]
mod tests {
    use proc_macro2::Span;

    use super::*;

    /// Expected names from juniper 0.18's tests and source.
    #[test]
    fn names_are_those_of_juniper() {
        let cases = [
            ("test", "test", "test", "TEST"),
            ("_test", "test", "_test", "_TEST"),
            ("__test", "__test", "__test", "__TEST"),
            ("first_name", "firstName", "first_name", "FIRST_NAME"),
            ("a_b_c1", "aBC1", "a_b_c1", "A_B_C1"),
            ("OneTwo", "OneTwo", "one_two", "ONE_TWO"),
            ("HTTPPort", "HTTPPort", "httpport", "HTTPPORT"),
            ("port2Go", "port2Go", "port2_go", "PORT2_GO"),
            ("trailing_", "trailing", "trailing_", "TRAILING_"),
        ];
        for (name, camel, snake, screaming) in cases {
            let ident = Ident::new(name, Span::call_site());
            assert_eq!(Rename::CamelCase.apply(&ident), camel);
            assert_eq!(Rename::SnakeCase.apply(&ident), snake);
            assert_eq!(Rename::ScreamingSnakeCase.apply(&ident), screaming);
            assert_eq!(Rename::None.apply(&ident), name);
        }
    }

    #[test]
    fn a_raw_name_loses_its_mark() {
        assert_eq!(
            Rename::CamelCase.apply(&Ident::new_raw("type", Span::call_site())),
            "type"
        );
    }
}
