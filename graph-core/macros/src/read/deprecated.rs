//! `#[deprecated]` in all forms of Rust.
//!
//! juniper reads only `#[deprecated]` and `#[deprecated(note = "..")]`: it ignores `#[deprecated =
//! ".."]` and refuses `since` before a note.

use syn::spanned::Spanned;
use syn::{Attribute, Expr, ExprLit, Lit, LitStr, Meta, parse_quote};

use super::field::is_ignored;
use super::words::{Word, is};

/// Converts Rust's `#[deprecated]` to juniper's attribute.
pub(crate) fn translate(attributes: &mut Vec<Attribute>) -> syn::Result<()> {
    let words = Word::of(attributes, "graphql")?;
    if is_ignored(attributes)? || words.iter().any(|word| word.is("deprecated")) {
        return Ok(());
    }
    let Some(written) = attributes.iter().find(|attribute| is(attribute, "deprecated")) else {
        return Ok(());
    };
    let translated = match (&written.meta, reason(&written.meta)?) {
        (Meta::Path(_), _) => return Ok(()),
        (_, Some(reason)) => parse_quote!(#[graphql(deprecated = #reason)]),
        (_, None) => parse_quote!(#[graphql(deprecated)]),
    };
    attributes.push(translated);
    Ok(())
}

/// Refuses the form that juniper's derives ignore; a derive cannot rewrite another derive's input.
pub(crate) fn refuse_unread(attributes: &[Attribute]) -> syn::Result<()> {
    let unread =
        |attribute: &&Attribute| is(attribute, "deprecated") && matches!(attribute.meta, Meta::NameValue(_));
    match attributes.iter().find(unread) {
        Some(attribute) => Err(syn::Error::new(
            attribute.span(),
            "juniper's derive does not read this form: write `#[deprecated(note = \"..\")]`",
        )),
        None => Ok(()),
    }
}

/// Reason in a `deprecated` attribute, if any.
fn reason(attribute: &Meta) -> syn::Result<Option<LitStr>> {
    match attribute {
        Meta::Path(_) => Ok(None),
        Meta::NameValue(value) => match &value.value {
            Expr::Lit(ExprLit {
                lit: Lit::Str(reason),
                ..
            }) => Ok(Some(reason.clone())),
            other => Err(syn::Error::new(other.span(), "write `#[deprecated = \"..\"]`")),
        },
        Meta::List(list) => {
            let words = Word::list(list.tokens.clone())?;
            let note = words.iter().find(|word| word.is("note"));
            note.map(|note| note.value("note = \"..\"")).transpose()
        }
    }
}

#[cfg(test)]
mod tests {
    use quote::quote;

    use super::*;

    fn translated(mut attributes: Vec<Attribute>) -> String {
        translate(&mut attributes).unwrap();
        quote!(#(#attributes)*).to_string()
    }

    #[test]
    fn a_reason_is_said_in_the_words_of_juniper() {
        let added = quote!(#[graphql(deprecated = "old")]).to_string();
        let forms: [Attribute; 4] = [
            parse_quote!(#[deprecated = "old"]),
            parse_quote!(#[deprecated(note = "old")]),
            parse_quote!(#[deprecated(since = "1.2", note = "old")]),
            parse_quote!(#[deprecated(note = "old", since = "1.2")]),
        ];
        for form in forms {
            let written = quote!(#form).to_string();
            assert_eq!(translated(vec![form]), format!("{written} {added}"));
        }
        let bare = translated(vec![parse_quote!(#[deprecated(since = "1.2")])]);
        assert!(
            bare.ends_with(&quote!(#[graphql(deprecated)]).to_string()),
            "{bare}"
        );
    }

    #[test]
    fn attributes_that_juniper_reads_are_unchanged() {
        let kept: [Vec<Attribute>; 3] = [
            vec![parse_quote!(#[deprecated])],
            vec![
                parse_quote!(#[deprecated = "old"]),
                parse_quote!(#[graphql(deprecated = "older")]),
            ],
            vec![
                parse_quote!(#[deprecated = "old"]),
                parse_quote!(#[graphql(ignore)]),
            ],
        ];
        for attributes in kept {
            let written = quote!(#(#attributes)*).to_string();
            assert_eq!(translated(attributes), written);
        }
    }
}
