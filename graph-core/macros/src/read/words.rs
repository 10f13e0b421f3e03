//! Arguments of an attribute: `name = "User", context = Context, async`.

use proc_macro2::{Delimiter, Ident, Spacing, TokenStream, TokenTree};
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream, Parser};
use syn::{Attribute, Expr, Lit, Meta, Token};

/// Argument of an attribute with its value.
///
/// juniper's attributes use keywords (`impl = ..`, `for = ..`), which [`Meta`] does not support.
#[derive(Clone)]
pub(crate) struct Word {
    pub(crate) name: Ident,
    value: Option<TokenStream>,
}

impl Word {
    /// Parses comma-separated arguments.
    pub(crate) fn list(tokens: TokenStream) -> syn::Result<Vec<Self>> {
        let words = |input: ParseStream<'_>| {
            let mut words = Vec::new();
            while !input.is_empty() {
                words.push(Self::parse(input)?);
                input.parse::<Option<Token![,]>>()?;
            }
            Ok(words)
        };
        words.parse2(tokens)
    }

    /// Arguments of the attributes `name`, such as `graphql`.
    pub(crate) fn of(attributes: &[Attribute], name: &str) -> syn::Result<Vec<Self>> {
        let mut words = Vec::new();
        for attribute in attributes.iter().filter(|attribute| is(attribute, name)) {
            if let Meta::List(list) = &attribute.meta {
                words.extend(Self::list(list.tokens.clone())?);
            }
        }
        Ok(words)
    }

    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let name = input.call(Ident::parse_any)?;
        let value = if input.parse::<Option<Token![=]>>()?.is_none() {
            // `on Type = function` of a union also has a value
            let rest = up_to_comma(input)?;
            (!rest.is_empty()).then_some(rest)
        } else if name == "default" {
            Some(input.parse::<Expr>()?.into_token_stream())
        } else if input.peek(Lit) {
            Some(input.parse::<Lit>()?.into_token_stream())
        } else {
            Some(up_to_comma(input)?)
        };
        Ok(Self { name, value })
    }

    pub(crate) fn is(&self, name: &str) -> bool {
        self.name == name
    }

    /// Returns `true` for `name`, also if it is misspelled.
    pub(crate) fn is_similar(&self, name: &str) -> bool {
        is_similar(&self.name.to_string().to_lowercase(), name)
    }

    pub(crate) fn has_value(&self) -> bool {
        self.value.is_some()
    }

    /// Parses the value as `T`; `like` is an example for the error message.
    pub(crate) fn value<T: Parse>(&self, like: &str) -> syn::Result<T> {
        let mistake = || syn::Error::new(self.name.span(), format!("write `{like}`"));
        syn::parse2(self.value.clone().ok_or_else(mistake)?).map_err(|_| mistake())
    }

    /// Parses the value as a list: `[A, B]`, or a single `A`.
    pub(crate) fn values<T: Parse>(&self, like: &str) -> syn::Result<Vec<T>> {
        let value = self.value.clone().unwrap_or_default();
        let mut tokens = value.clone().into_iter();
        let tokens = match (tokens.next(), tokens.next()) {
            (Some(TokenTree::Group(list)), None) if list.delimiter() == Delimiter::Bracket => list.stream(),
            _ => value,
        };
        let parse = |tokens: TokenStream| {
            let mistake = |_| syn::Error::new(self.name.span(), format!("write `{like}`"));
            syn::parse2(tokens).map_err(mistake)
        };
        let list = |input: ParseStream<'_>| {
            let mut list = Vec::new();
            while !input.is_empty() {
                list.push(up_to_comma(input)?);
                input.parse::<Option<Token![,]>>()?;
            }
            Ok(list)
        };
        list.parse2(tokens)?.into_iter().map(parse).collect()
    }
}

/// Arguments that may be repeated, because each takes a list.
const LISTS: [&str; 6] = ["impl", "implements", "interfaces", "for", "implementers", "on"];

/// Refuses arguments that are not in `known`, and repeated arguments.
pub(crate) fn refuse_unknown(words: &[Word], known: &[&str]) -> syn::Result<()> {
    for (at, word) in words.iter().enumerate() {
        let name = &word.name;
        if !known.iter().any(|known| word.is(known)) {
            let message = format!("unknown argument `{name}`: {}", remedy(&name.to_string(), known));
            return Err(syn::Error::new(name.span(), message));
        }
        let repeated = words.iter().take(at).any(|earlier| earlier.name == *name);
        if repeated && !LISTS.iter().any(|list| word.is(list)) {
            return Err(syn::Error::new(name.span(), format!("`{name}` is written twice")));
        }
    }
    Ok(())
}

/// Arguments of our own attribute on a field.
const OURS: [&str; 5] = ["authenticated", "scope", "role", "guard", "validate"];

/// Proposal for an unknown argument `name`.
fn remedy(name: &str, known: &[&str]) -> String {
    if OURS.contains(&name) {
        return format!("write `#[graph({name} ..)]`, not `#[graphql(..)]`");
    }
    match known.iter().find(|known| is_similar(name, known)) {
        Some(known) => format!("write `{known}`"),
        None => format!("the arguments here are `{}`", known.join("`, `")),
    }
}

/// Returns `true` if the words differ by one letter, or by the ends of longer words.
fn is_similar(word: &str, known: &str) -> bool {
    let start = word
        .chars()
        .zip(known.chars())
        .take_while(|(a, b)| a == b)
        .count();
    let (left, right) = (word.chars().rev(), known.chars().rev());
    let end = left.zip(right).take_while(|(a, b)| a == b).count();
    let longest = word.chars().count().max(known.chars().count());
    longest > 2 && (start + end + 1 >= longest || start > 3)
}

/// Returns `true` if `attribute` is `#[name]`, with or without arguments.
pub(crate) fn is(attribute: &Attribute, name: &str) -> bool {
    attribute.path().is_ident(name)
}

/// Tokens before the next comma outside `<..>`.
fn up_to_comma(input: ParseStream<'_>) -> syn::Result<TokenStream> {
    let mut tokens = TokenStream::new();
    let (mut depth, mut arrow) = (0_u32, false);
    while !(input.is_empty() || depth == 0 && input.peek(Token![,])) {
        let token: TokenTree = input.parse()?;
        if let TokenTree::Punct(punct) = &token {
            match punct.as_char() {
                '<' => depth += 1,
                '>' if !arrow => depth = depth.saturating_sub(1),
                _ => {}
            }
        }
        arrow = starts_arrow(&token);
        tokens.extend([token]);
    }
    Ok(tokens)
}

/// Returns `true` if a `>` after `token` is part of an arrow.
fn starts_arrow(token: &TokenTree) -> bool {
    let TokenTree::Punct(punct) = token else {
        return false;
    };
    punct.spacing() == Spacing::Joint && matches!(punct.as_char(), '-' | '=')
}

#[cfg(test)]
mod tests {
    use quote::quote;
    use syn::{LitStr, Type, TypePath, parse_quote};

    use super::*;

    fn words(tokens: TokenStream) -> Vec<String> {
        let words = Word::list(tokens).unwrap();
        let written = |word: &Word| match &word.value {
            Some(value) => format!("{} = {value}", word.name),
            None => word.name.to_string(),
        };
        words.iter().map(written).collect()
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
    fn a_default_is_an_expression() {
        let written = words(quote!(default = a < b, name = "x" deprecated, default));
        assert_eq!(
            written,
            ["default = a < b", "name = \"x\"", "deprecated", "default"]
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
    fn refuses_unknown_and_repeated_arguments() {
        let check = |tokens| refuse_unknown(&Word::list(tokens).unwrap(), &["name", "impl"]).is_ok();
        assert!(check(quote!(name = "x", impl = A, impl = B)));
        assert!(!check(quote!(name = "x", name = "y")));
        assert!(!check(quote!(nme = "x")));
    }

    #[test]
    fn what_is_no_word_is_refused() {
        assert!(Word::list(quote!("text")).is_err());
    }
}
