//! Checks of GraphQL names.

use proc_macro2::Span;

/// Refuses a name that the specification does not allow for an item of a schema.
pub(crate) fn check(name: &str, span: Span) -> syn::Result<()> {
    if name.starts_with("__") {
        let message = format!("`{name}` is reserved for introspection: names cannot begin with `__`");
        return Err(syn::Error::new(span, message));
    }
    let mut letters = name.chars();
    let is_start = |letter: char| letter == '_' || letter.is_ascii_alphabetic();
    let is_rest = |letter: char| letter == '_' || letter.is_ascii_alphanumeric();
    if letters.next().is_some_and(is_start) && letters.all(is_rest) {
        return Ok(());
    }
    let message = format!("`{name}` is not a name of GraphQL: write letters, digits and `_`");
    Err(syn::Error::new(span, message))
}

/// Refuses the second of two equal names in `names`, the fields or arguments of one item; `remedy`
/// says what to write.
pub(crate) fn check_unique<'n>(
    names: impl Iterator<Item = (&'n str, Span)>,
    remedy: &str,
) -> syn::Result<()> {
    let mut seen = Vec::new();
    for (name, span) in names {
        if seen.contains(&name) {
            return Err(syn::Error::new(
                span,
                format!("`{name}` is declared twice: {remedy}"),
            ));
        }
        seen.push(name);
    }
    Ok(())
}

/// Remedy for two fields or arguments.
pub(crate) const RENAME: &str = "rename one with `#[graphql(name = \"..\")]`";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_follow_the_grammar() {
        for name in ["a", "_", "_a", "aB1_", "A"] {
            assert!(check(name, Span::call_site()).is_ok(), "{name}");
        }
        for name in ["", "1a", "a-b", "é", "__a", "a b"] {
            assert!(check(name, Span::call_site()).is_err(), "{name}");
        }
    }

    #[test]
    fn equal_names_are_refused() {
        let unique = |names: &[&'static str]| {
            let names = names.iter().map(|name| (*name, Span::call_site()));
            check_unique(names, RENAME).is_ok()
        };
        assert!(unique(&["a", "b", "A"]));
        assert!(!unique(&["a", "b", "a"]));
    }
}
