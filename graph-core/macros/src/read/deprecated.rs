//! `#[deprecated]` in all forms of Rust, and `#[graphql(deprecated = "..")]`.

use syn::spanned::Spanned;
use syn::{Attribute, Expr, ExprLit, Lit, LitStr, Meta};

use super::words::{Word, is};

/// `Some` for a deprecated item, with the reason if there is one.
pub(crate) type Deprecation = Option<Option<String>>;

/// Deprecation in `words`, or else in Rust's attribute among `attributes`.
pub(crate) fn deprecation(words: &[Word], attributes: &[Attribute]) -> syn::Result<Deprecation> {
    if let Some(word) = words.iter().find(|word| word.is("deprecated")) {
        return Ok(Some(match word.has_value() {
            true => Some(word.value::<LitStr>("deprecated = \"..\"")?.value()),
            false => None,
        }));
    }
    let written = attributes.iter().find(|attribute| is(attribute, "deprecated"));
    written.map(|written| reason(&written.meta)).transpose()
}

/// Refuses the form that juniper's derives ignore.
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
fn reason(attribute: &Meta) -> syn::Result<Option<String>> {
    match attribute {
        Meta::Path(_) => Ok(None),
        Meta::NameValue(value) => match &value.value {
            Expr::Lit(ExprLit {
                lit: Lit::Str(reason),
                ..
            }) => Ok(Some(reason.value())),
            other => Err(syn::Error::new(other.span(), "write `#[deprecated = \"..\"]`")),
        },
        Meta::List(list) => {
            let words = Word::list(list.tokens.clone())?;
            let note = words.iter().find(|word| word.is("note"));
            let text = note
                .map(|note| note.value::<LitStr>("note = \"..\""))
                .transpose()?;
            Ok(text.map(|text| text.value()))
        }
    }
}

#[cfg(test)]
mod tests {
    use syn::parse_quote;

    use super::*;

    #[test]
    fn every_form_has_its_reason() {
        let cases: [(Vec<Attribute>, Option<Option<&str>>); 9] = [
            (vec![parse_quote!(#[deprecated = "old"])], Some(Some("old"))),
            (vec![parse_quote!(#[deprecated(note = "old")])], Some(Some("old"))),
            (
                vec![parse_quote!(#[deprecated(since = "1.2", note = "old")])],
                Some(Some("old")),
            ),
            (
                vec![parse_quote!(#[deprecated(note = "old", since = "1.2")])],
                Some(Some("old")),
            ),
            (vec![parse_quote!(#[deprecated(since = "1.2")])], Some(None)),
            (vec![parse_quote!(#[deprecated])], Some(None)),
            (vec![parse_quote!(#[graphql(deprecated)])], Some(None)),
            (
                vec![
                    parse_quote!(#[deprecated = "old"]),
                    parse_quote!(#[graphql(deprecated = "older")]),
                ],
                Some(Some("older")),
            ),
            (vec![parse_quote!(#[doc = "old"])], None),
        ];
        for (attributes, expected) in cases {
            let words = Word::of(&attributes, "graphql").unwrap();
            let read = deprecation(&words, &attributes).unwrap();
            assert_eq!(read.as_ref().map(Option::as_deref), expected);
        }
    }
}
