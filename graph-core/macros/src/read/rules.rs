//! Rules of a value: `#[graph(validate(min = 1, custom = is_odd))]`.

use proc_macro2::{Group, Span};
use syn::spanned::Spanned;
use syn::{Attribute, Expr, ExprPath};

use super::words::{Word, is, refuse_unknown};

/// Rules of an argument, of a field of an input object, or of an input object.
#[derive(Default)]
pub(crate) struct Rules {
    pub(crate) bounds: Vec<Bound>,
    /// `custom = function`.
    pub(crate) custom: Option<ExprPath>,
    /// Position of the attribute.
    pub(crate) at: Option<Span>,
}

/// Rule with a bound, such as `min = 1`.
pub(crate) struct Bound {
    pub(crate) name: &'static str,
    pub(crate) value: Expr,
}

const BOUNDS: [&str; 6] = ["min", "max", "min_length", "max_length", "min_items", "max_items"];
const RULES: [&str; 7] = [
    "min",
    "max",
    "min_length",
    "max_length",
    "min_items",
    "max_items",
    "custom",
];

impl Rules {
    /// Parses the `graph` attributes of a value.
    pub(crate) fn read(attributes: &[Attribute]) -> syn::Result<Self> {
        let mut rules = Self::default();
        for attribute in attributes.iter().filter(|attribute| is(attribute, "graph")) {
            let words = match attribute.meta.require_list() {
                Ok(list) => Word::list(list.tokens.clone())?,
                Err(_) => Vec::new(),
            };
            if words.is_empty() {
                return Err(unknown(attribute.path().span()));
            }
            for word in words {
                rules.take(&word)?;
            }
        }
        Ok(rules)
    }

    /// Parses the `graph` attributes of an input object, which has `custom` only.
    pub(crate) fn of_type(attributes: &[Attribute]) -> syn::Result<Self> {
        let rules = Self::read(attributes)?;
        match rules.at {
            Some(span) if !rules.bounds.is_empty() => Err(syn::Error::new(
                span,
                "an input object has the rule `custom` only: mark its fields with the others",
            )),
            _ => Ok(rules),
        }
    }

    fn take(&mut self, word: &Word) -> syn::Result<()> {
        let span = word.name.span();
        if !word.is("validate") {
            return Err(unknown(span));
        }
        if self.at.replace(span).is_some() {
            return Err(syn::Error::new(span, "`validate` is written twice"));
        }
        let list: Group = word.value("validate(min = 1, max = 100)")?;
        let words = Word::list(list.stream())?;
        refuse_unknown(&words, &RULES)?;
        if words.is_empty() {
            let message = "write a rule: `validate(min = 1, max = 100)`; a type with rules of its own needs no attribute";
            return Err(syn::Error::new(span, message));
        }
        for word in words {
            if word.is("custom") {
                self.custom = Some(word.value("custom = path::to::function")?);
            } else if let Some(name) = BOUNDS.into_iter().find(|name| word.is(name)) {
                let value = word.value(&format!("{name} = 1"))?;
                self.bounds.push(Bound { name, value });
            }
        }
        Ok(())
    }
}

fn unknown(span: Span) -> syn::Error {
    syn::Error::new(span, "write `#[graph(validate(min = 1, max = 100))]`")
}

#[cfg(test)]
mod tests {
    use quote::quote;
    use syn::parse_quote;

    use super::*;

    #[test]
    fn rules_are_read() {
        let attribute =
            parse_quote!(#[graph(validate(min = -1, max_length = LONGEST, custom = a::b::<C, D>))]);
        let rules = Rules::read(&[attribute]).unwrap();
        let bounds = rules
            .bounds
            .iter()
            .map(|Bound { name, value }| format!("{name} {}", quote!(#value)));
        assert_eq!(bounds.collect::<Vec<_>>(), ["min - 1", "max_length LONGEST"]);
        assert!(rules.custom.is_some());
    }

    #[test]
    fn refuses_unknown_empty_and_repeated_rules() {
        let refused: [Attribute; 9] = [
            parse_quote!(#[graph]),
            parse_quote!(#[graph()]),
            parse_quote!(#[graph(validate)]),
            parse_quote!(#[graph(validate())]),
            parse_quote!(#[graph(scope = "x")]),
            parse_quote!(#[graph(validate(least = 1))]),
            parse_quote!(#[graph(validate(min = 1, min = 2))]),
            parse_quote!(#[graph(validate(custom = "f"))]),
            parse_quote!(#[graph(validate(min = 1), validate(max = 1))]),
        ];
        for attribute in refused {
            assert!(
                Rules::read(std::slice::from_ref(&attribute)).is_err(),
                "{}",
                quote!(#attribute)
            );
        }
        assert!(Rules::of_type(&[parse_quote!(#[graph(validate(min = 1))])]).is_err());
        assert!(Rules::of_type(&[parse_quote!(#[graph(validate(custom = f))])]).is_ok());
    }
}
