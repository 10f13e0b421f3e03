//! Our own attribute: `#[graph(scope = "read:email")]`.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote};
use syn::{Attribute, ExprPath, LitStr};

use super::words::{Word, is};

/// Guard on the principal.
#[derive(Clone)]
pub(crate) enum Guard {
    Principal,
    Scope(LitStr),
    Role(LitStr),
}

impl ToTokens for Guard {
    /// Constant in the table of the type.
    fn to_tokens(&self, tokens: &mut TokenStream) {
        tokens.extend(match self {
            Self::Principal => quote!(::graph_core::executor::Guard::Principal),
            Self::Scope(scope) => quote!(::graph_core::executor::Guard::Scope(#scope)),
            Self::Role(role) => quote!(::graph_core::executor::Guard::Role(#role)),
        });
    }
}

/// Parsed `#[graph(..)]` of a field.
#[derive(Clone, Default)]
pub(crate) struct Marks {
    /// Guards on the principal.
    pub(crate) guards: Vec<Guard>,
    /// Guard function.
    pub(crate) predicate: Option<ExprPath>,
    /// Position of an attribute, for items that accept none.
    pub(crate) at: Option<Span>,
}

impl Marks {
    /// Parses the `graph` attributes among `attributes`.
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
            marks.take(&word)?;
        }
        Ok(marks)
    }

    /// Parses the `graph` attributes of a type.
    pub(crate) fn of_type(attributes: &[Attribute]) -> syn::Result<Vec<Guard>> {
        let marks = Self::read(attributes)?;
        match marks.at {
            Some(span) if marks.predicate.is_some() => Err(syn::Error::new(
                span,
                "only `scope`, `role` and `authenticated` can guard a type: mark its fields with the others",
            )),
            _ => Ok(marks.guards),
        }
    }

    /// Returns `true` if the field has a guard.
    pub(crate) fn guarded(&self) -> bool {
        self.predicate.is_some() || !self.guards.is_empty()
    }

    fn take(&mut self, word: &Word) -> syn::Result<()> {
        let span = word.name.span();
        self.at.get_or_insert(span);
        match word.name.to_string().as_str() {
            "authenticated" if !word.has_value() => self.guards.push(Guard::Principal),
            "scope" => self
                .guards
                .push(Guard::Scope(text(word, "scope = \"read:charges\"")?)),
            "role" => self.guards.push(Guard::Role(text(word, "role = \"owner\"")?)),
            "guard" if self.predicate.is_none() => {
                self.predicate = Some(word.value("guard = Self::is_visible_to")?);
            }
            "guard" => {
                return Err(syn::Error::new(
                    span,
                    "a field has at most one guard function: call the other one from it",
                ));
            }
            "validate" => {
                let message =
                    "a field has no rules: write `#[graph(validate(..))]` in front of its arguments";
                return Err(syn::Error::new(span, message));
            }
            _ => return Err(unknown(span)),
        }
        Ok(())
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
        "write `#[graph(scope = \"..\")]`, `#[graph(role = \"..\")]`, `#[graph(authenticated)]` or `#[graph(guard = Self::..)]`; \
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
        let marks = read(parse_quote!(#[graph(scope = "read:email", role = "owner")])).unwrap();
        assert!(
            matches!(&marks.guards[..], [Guard::Scope(scope), Guard::Role(role)] if scope.value() == "read:email" && role.value() == "owner")
        );
        let marks = read(parse_quote!(#[graph(guard = Self::is_own)])).unwrap();
        assert!(marks.guards.is_empty() && marks.guarded());
        let marks = read(parse_quote!(#[graph(authenticated)])).unwrap();
        assert!(matches!(&marks.guards[..], [Guard::Principal]));
    }

    #[test]
    fn an_empty_guard_and_another_word_are_refused() {
        let refused: [Attribute; 8] = [
            parse_quote!(#[graph(scope = "")]),
            parse_quote!(#[graph(scope)]),
            parse_quote!(#[graph(name = "x")]),
            parse_quote!(#[graph(plain)]),
            parse_quote!(#[graph(guard)]),
            parse_quote!(#[graph(guard = "Self::is_own")]),
            parse_quote!(#[graph(guard = a, guard = b)]),
            parse_quote!(#[graph]),
        ];
        for attribute in refused {
            assert!(read(attribute.clone()).is_err(), "{}", quote!(#attribute));
        }
    }

    #[test]
    fn a_type_has_guards_only() {
        assert_eq!(
            Marks::of_type(&[parse_quote!(#[graph(role = "owner")])])
                .unwrap()
                .len(),
            1
        );
        assert!(Marks::of_type(&[parse_quote!(#[graph(guard = Self::is_own)])]).is_err());
    }

    #[test]
    fn no_mark_is_none() {
        let marks = read(parse_quote!(#[graphql(name = "x")])).unwrap();
        assert!(!marks.guarded() && marks.at.is_none());
    }
}
