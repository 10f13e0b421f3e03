//! Descriptions, from `description = ".."` or documentation comments.

use syn::spanned::Spanned;
use syn::{Attribute, Expr, ExprLit, Lit, LitStr, Meta};

use super::words::{Word, is};

/// Description in `words`, or else in the documentation comments of `attributes`.
pub(crate) fn description(words: &[Word], attributes: &[Attribute]) -> syn::Result<Option<String>> {
    let written = words
        .iter()
        .find(|word| word.is("description") || word.is("desc"));
    if let Some(word) = written {
        return Ok(Some(word.value::<LitStr>("description = \"..\"")?.value()));
    }
    let mut lines = Vec::new();
    for attribute in attributes.iter().filter(|attribute| is(attribute, "doc")) {
        match &attribute.meta {
            Meta::NameValue(line) => match &line.value {
                Expr::Lit(ExprLit {
                    lit: Lit::Str(line), ..
                }) => lines.push(line.value()),
                other => {
                    let message = "a description must be a string: add `description = \"..\"`";
                    return Err(syn::Error::new(other.span(), message));
                }
            },
            // `#[doc(hidden)]`
            Meta::List(_) | Meta::Path(_) => {}
        }
    }
    Ok(joined(&lines))
}

/// Joins the lines of a comment as juniper does: a backslash at the end continues the line.
fn joined(lines: &[String]) -> Option<String> {
    let (last, lines) = lines.split_last()?;
    let trimmed = |line: &str| {
        let line = line.trim_end();
        line.strip_prefix(' ').unwrap_or(line).to_owned()
    };
    let mut text = String::new();
    for line in lines {
        let line = trimmed(line);
        if line.ends_with('\\') {
            text.push_str(line.trim_end_matches('\\'));
            text.push(' ');
        } else {
            text.push_str(&line);
            text.push('\n');
        }
    }
    text.push_str(&trimmed(last));
    Some(text)
}

#[cfg(test)]
mod tests {
    use syn::parse_quote;

    use super::*;

    fn described(attributes: &[Attribute]) -> Option<String> {
        let words = Word::of(attributes, "graphql").unwrap();
        description(&words, attributes).unwrap()
    }

    /// Expected texts from juniper 0.18's tests.
    #[test]
    fn lines_are_joined_as_by_juniper() {
        for (lines, expected) in [
            (&["foo"][..], "foo"),
            (&[" foo ", " bar ", " baz"], "foo\nbar\nbaz"),
            (&["foo", "", "bar"], "foo\n\nbar"),
            (&["foo\\", "x\\", "y", "bar"], "foo x y\nbar"),
        ] {
            let lines: Vec<Attribute> = lines.iter().map(|line| parse_quote!(#[doc = #line])).collect();
            assert_eq!(described(&lines).as_deref(), Some(expected));
        }
    }

    #[test]
    fn written_description_takes_precedence() {
        let attributes = [
            parse_quote!(#[doc = "comment"]),
            parse_quote!(#[graphql(description = "written")]),
        ];
        assert_eq!(described(&attributes).as_deref(), Some("written"));
        assert_eq!(described(&[parse_quote!(#[doc(hidden)])]), None);
    }
}
