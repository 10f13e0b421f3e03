//! Our own attribute on a field: `#[graph(scope = "read:email")]`, `#[graph(plain)]`.

use proc_macro2::Span;
use quote::quote;
use syn::{Attribute, LitStr};

use super::words::{Word, is};

/// Who may select a field.
#[derive(Clone)]
pub(crate) enum Guard {
    Principal,
    Scope(LitStr),
    Role(LitStr),
}

impl Guard {
    /// The constant in the table of the type.
    pub(crate) fn constant(&self) -> proc_macro2::TokenStream {
        match self {
            Self::Principal => quote!(__graph::Guard::Principal),
            Self::Scope(scope) => quote!(__graph::Guard::Scope(#scope)),
            Self::Role(role) => quote!(__graph::Guard::Role(#role)),
        }
    }

    /// The call on a `RequestContext` that refuses who may not.
    pub(crate) fn call(&self) -> proc_macro2::TokenStream {
        match self {
            Self::Principal => quote!(require_principal(__graph_context)),
            Self::Scope(scope) => quote!(require_scope(__graph_context, #scope)),
            Self::Role(role) => quote!(require_role(__graph_context, #role)),
        }
    }
}

/// What `#[graph(..)]` says about a field.
#[derive(Clone, Default)]
pub(crate) struct Marks {
    pub(crate) guard: Option<Guard>,
    /// Only juniper can execute what the field returns.
    pub(crate) plain: bool,
    /// Where a mark is, for what takes none.
    pub(crate) at: Option<Span>,
}

impl Marks {
    /// Reads the `graph` attributes among `attributes`.
    pub(crate) fn read(attributes: &[Attribute]) -> syn::Result<Self> {
        let mut marks = Self::default();
        for attribute in attributes.iter().filter(|attribute| is(attribute, "graph")) {
            if attribute.meta.require_list().is_err() {
                return Err(unknown(
                    attribute
                        .path()
                        .get_ident()
                        .map_or_else(Span::call_site, syn::Ident::span),
                ));
            }
        }
        for word in Word::of(attributes, "graph")? {
            let span = word.name.span();
            marks.at.get_or_insert(span);
            let guard = match word.name.to_string().as_str() {
                "plain" if !word.has_value() => {
                    marks.plain = true;
                    continue;
                }
                "authenticated" if !word.has_value() => Guard::Principal,
                "scope" => Guard::Scope(text(&word, "scope = \"read:charges\"")?),
                "role" => Guard::Role(text(&word, "role = \"owner\"")?),
                _ => return Err(unknown(span)),
            };
            if marks.guard.replace(guard).is_some() {
                return Err(syn::Error::new(
                    span,
                    "a field has one guard: ask for the rest in the resolver, with the context's `require_scope` or `require_role`",
                ));
            }
        }
        Ok(marks)
    }
}

fn text(word: &Word, like: &str) -> syn::Result<LitStr> {
    let text: LitStr = word.value(like)?;
    if text.value().is_empty() {
        return Err(syn::Error::new(text.span(), format!("write `{like}`")));
    }
    Ok(text)
}

fn unknown(span: Span) -> syn::Error {
    syn::Error::new(
        span,
        "write `#[graph(scope = \"..\")]`, `#[graph(role = \"..\")]`, `#[graph(authenticated)]` or `#[graph(plain)]`; \
         what juniper reads stands in `#[graphql(..)]`",
    )
}

#[cfg(test)]
mod tests {
    use syn::parse_quote;

    use super::*;

    fn read(attribute: Attribute) -> Result<Marks, String> {
        Marks::read(&[attribute]).map_err(|error| error.to_string())
    }

    #[test]
    fn the_marks_are_read() {
        let marks = read(parse_quote!(#[graph(scope = "read:email", plain)])).unwrap();
        assert!(marks.plain);
        assert!(matches!(marks.guard, Some(Guard::Scope(scope)) if scope.value() == "read:email"));
        let marks = read(parse_quote!(#[graph(role = "owner")])).unwrap();
        assert!(!marks.plain);
        assert!(matches!(marks.guard, Some(Guard::Role(role)) if role.value() == "owner"));
        let marks = read(parse_quote!(#[graph(authenticated)])).unwrap();
        assert!(matches!(marks.guard, Some(Guard::Principal)));
    }

    #[test]
    fn a_second_guard_an_empty_one_and_another_word_are_refused() {
        let refused: [Attribute; 6] = [
            parse_quote!(#[graph(scope = "a", role = "b")]),
            parse_quote!(#[graph(scope = "")]),
            parse_quote!(#[graph(scope)]),
            parse_quote!(#[graph(name = "x")]),
            parse_quote!(#[graph(plain = true)]),
            parse_quote!(#[graph]),
        ];
        for attribute in refused {
            assert!(read(attribute.clone()).is_err(), "{}", quote!(#attribute));
        }
    }

    #[test]
    fn no_mark_is_none() {
        let marks = read(parse_quote!(#[graphql(name = "x")])).unwrap();
        assert!(marks.guard.is_none() && !marks.plain && marks.at.is_none());
    }
}
