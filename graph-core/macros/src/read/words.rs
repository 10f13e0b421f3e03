//! The words of an attribute: `name = "User", context = Context, async`.

use proc_macro2::{Delimiter, Group, Ident, Punct, Spacing, TokenStream, TokenTree};
use quote::ToTokens;
use syn::parse::Parse;
use syn::{Attribute, Meta};

/// A word with what stands behind its `=`.
///
/// juniper's attributes take keywords (`impl = ..`, `for = ..`), so [`Meta`] does not know them.
#[derive(Clone)]
pub(crate) struct Word {
    pub(crate) name: Ident,
    value: Option<TokenStream>,
}

impl Word {
    /// The words in `tokens`, commas between them.
    pub(crate) fn list(tokens: TokenStream) -> syn::Result<Vec<Self>> {
        split(tokens).into_iter().map(Self::new).collect()
    }

    /// The words of the attributes called `name`, such as `graphql`.
    pub(crate) fn of(attributes: &[Attribute], name: &str) -> syn::Result<Vec<Self>> {
        let mut words = Vec::new();
        for attribute in attributes.iter().filter(|attribute| is(attribute, name)) {
            if let Meta::List(list) = &attribute.meta {
                words.extend(Self::list(list.tokens.clone())?);
            }
        }
        Ok(words)
    }

    fn new(tokens: Vec<TokenTree>) -> syn::Result<Self> {
        let mut tokens = tokens.into_iter();
        let name = match tokens.next() {
            Some(TokenTree::Ident(name)) => name,
            Some(other) => return Err(syn::Error::new(other.span(), "expected a word")),
            None => return Err(syn::Error::new(proc_macro2::Span::call_site(), "expected a word")),
        };
        let value = match tokens.next() {
            None => None,
            Some(TokenTree::Punct(equals)) if equals.as_char() == '=' => Some(tokens.collect()),
            // `on Type = function` of a union, and what juniper may refuse
            Some(first) => Some(std::iter::once(first).chain(tokens).collect()),
        };
        Ok(Self { name, value })
    }

    pub(crate) fn is(&self, name: &str) -> bool {
        self.name == name
    }

    pub(crate) fn has_value(&self) -> bool {
        self.value.is_some()
    }

    /// The value as a `T`; `like` shows how the word is written.
    pub(crate) fn value<T: Parse>(&self, like: &str) -> syn::Result<T> {
        let mistake = || syn::Error::new(self.name.span(), format!("write `{like}`"));
        syn::parse2(self.value.clone().ok_or_else(mistake)?).map_err(|_| mistake())
    }

    /// The value as a list: `[A, B]`, or a single `A`.
    pub(crate) fn values<T: Parse>(&self, like: &str) -> syn::Result<Vec<T>> {
        let value = self.value.clone().unwrap_or_default();
        let mut tokens = value.clone().into_iter();
        let tokens = match (tokens.next(), tokens.next()) {
            (Some(TokenTree::Group(list)), None) if list.delimiter() == Delimiter::Bracket => list.stream(),
            _ => value,
        };
        let parse = |tokens: Vec<TokenTree>| {
            let mistake = |_| syn::Error::new(self.name.span(), format!("write `{like}`"));
            syn::parse2(tokens.into_iter().collect()).map_err(mistake)
        };
        split(tokens).into_iter().map(parse).collect()
    }

    /// The word as it was written.
    pub(crate) fn written(&self) -> TokenStream {
        let name = &self.name;
        match &self.value {
            Some(value) => quote::quote!(#name = #value),
            None => name.to_token_stream(),
        }
    }
}

/// Whether `attribute` is `#[name]`, with or without arguments.
pub(crate) fn is(attribute: &Attribute, name: &str) -> bool {
    attribute.path().is_ident(name)
}

/// The tokens between commas that stand in no `<..>`.
fn split(tokens: TokenStream) -> Vec<Vec<TokenTree>> {
    let mut parts = vec![Vec::new()];
    let (mut depth, mut arrow) = (0_u32, false);
    for token in tokens {
        if let TokenTree::Punct(punct) = &token {
            match punct.as_char() {
                '<' => depth += 1,
                '>' if !arrow => depth = depth.saturating_sub(1),
                ',' if depth == 0 => {
                    parts.push(Vec::new());
                    continue;
                }
                _ => {}
            }
        }
        arrow = starts_arrow(&token);
        if let Some(part) = parts.last_mut() {
            part.push(token);
        }
    }
    parts.retain(|part| !part.is_empty());
    parts
}

/// Whether `token` makes an arrow of a `>` behind it.
fn starts_arrow(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Punct(punct) if is_joint(punct) && matches!(punct.as_char(), '-' | '='))
}

fn is_joint(punct: &Punct) -> bool {
    punct.spacing() == Spacing::Joint
}

/// `tokens` in parentheses, as an attribute holds them.
pub(crate) fn in_parentheses(tokens: TokenStream) -> Group {
    Group::new(Delimiter::Parenthesis, tokens)
}

#[cfg(test)]
mod tests {
    use quote::quote;
    use syn::{LitStr, Type, TypePath, parse_quote};

    use super::*;

    fn words(tokens: TokenStream) -> Vec<String> {
        let words = Word::list(tokens).unwrap();
        words.iter().map(|word| word.written().to_string()).collect()
    }

    #[test]
    fn a_comma_in_angle_brackets_separates_nothing() {
        let written = words(quote!(context = RequestContext<fn(i32) -> A, B>, impl = [C, D<E, F>], async));
        assert_eq!(
            written,
            [
                "context = RequestContext < fn (i32) -> A , B >",
                "impl = [C , D < E , F >]",
                "async"
            ]
        );
    }

    #[test]
    fn a_value_is_read_as_what_it_should_be() {
        let list = Word::list(quote!(name = "User", for = [Human, Droid], impl = Node)).unwrap();
        let [name, implementers, single] = &list[..] else {
            panic!("three words")
        };
        assert_eq!(name.value::<LitStr>("name = \"..\"").unwrap().value(), "User");
        assert_eq!(implementers.values::<TypePath>("for = [..]").unwrap().len(), 2);
        assert_eq!(single.values::<Type>("impl = ..").unwrap().len(), 1);
        let mistake = name.value::<TypePath>("context = Type").err().unwrap();
        assert_eq!(mistake.to_string(), "write `context = Type`");
    }

    #[test]
    fn the_words_of_several_attributes_are_one_list() {
        let attributes = [
            parse_quote!(#[graphql(name = "a")]),
            parse_quote!(#[doc = "b"]),
            parse_quote!(#[graphql(default)]),
        ];
        let words = Word::of(&attributes, "graphql").unwrap();
        assert_eq!(words.len(), 2);
        assert!(words[1].is("default") && !words[1].has_value());
    }

    #[test]
    fn what_is_no_word_is_refused() {
        assert!(Word::list(quote!("text")).is_err());
    }
}
