//! Attributes on a type.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Attribute, Ident, LitStr, Path, Token, Type, TypePath, parse_quote};

use super::description::description;
use super::name;
use super::rename::Rename;
use super::words::{Word, is, refuse_unknown};

/// Arguments of the attribute on an object type.
pub(crate) const OBJECT: [&str; 14] = [
    "name",
    "description",
    "desc",
    "context",
    "ctx",
    "Context",
    "impl",
    "implements",
    "interfaces",
    "look_ahead",
    "rename_all",
    "scalar",
    "Scalar",
    "ScalarValue",
];

/// Arguments of the attribute on an interface.
pub(crate) const INTERFACE: [&str; 17] = [
    "name",
    "description",
    "desc",
    "context",
    "ctx",
    "Context",
    "for",
    "implementers",
    "node",
    "impl",
    "implements",
    "enum",
    "rename_all",
    "async",
    "scalar",
    "Scalar",
    "ScalarValue",
];

/// Arguments of the attribute on a union.
pub(crate) const UNION: [&str; 10] = [
    "name",
    "description",
    "desc",
    "context",
    "ctx",
    "Context",
    "on",
    "scalar",
    "Scalar",
    "ScalarValue",
];

/// Arguments of the attribute on a type.
pub(crate) struct ItemWords {
    pub(crate) name: Option<LitStr>,
    pub(crate) description: Option<String>,
    pub(crate) context: Option<Type>,
    pub(crate) rename: Option<Rename>,
    /// `impl = [..]`, sorted.
    pub(crate) interfaces: Vec<Type>,
    /// `for = [..]` of an interface.
    pub(crate) implementers: Vec<TypePath>,
    /// `node` or `node = [..]` of an interface: types that are found by a global id.
    pub(crate) nodes: Option<Vec<TypePath>>,
    /// `enum = ..` of an interface.
    pub(crate) alias: Option<Ident>,
    /// Position of a union argument that takes a function.
    pub(crate) resolvers: Option<Span>,
    /// `look_ahead`: the selection on the object type can be read.
    pub(crate) look_ahead: bool,
}

impl ItemWords {
    /// Parses the arguments of our attribute and the `#[graphql(..)]` beside it; `known` lists the
    /// valid arguments.
    pub(crate) fn read(
        arguments: &TokenStream,
        attributes: &[Attribute],
        known: &[&str],
    ) -> syn::Result<Self> {
        let mut words = Word::list(arguments.clone())?;
        words.extend(Word::of(attributes, "graphql")?);
        refuse_unknown(&words, known)?;
        let mut read = Self {
            name: None,
            description: description(&words, attributes)?,
            context: None,
            rename: None,
            interfaces: Vec::new(),
            implementers: Vec::new(),
            nodes: None,
            alias: None,
            resolvers: None,
            look_ahead: false,
        };
        for word in words {
            read.take(&word)?;
        }
        // the order in which juniper declares them
        read.interfaces.sort_by_key(|ty| quote!(#ty).to_string());
        unrepeated(&read.interfaces)?;
        unrepeated(&read.implementers)?;
        unrepeated(read.nodes.as_deref().unwrap_or_default())?;
        Ok(read)
    }

    /// GraphQL name: the given one, or that of the Rust type.
    pub(crate) fn name(&self, ident: &Ident) -> syn::Result<String> {
        let (name, span) = match &self.name {
            Some(name) => (name.value(), name.span()),
            None => (Rename::None.apply(ident), ident.span()),
        };
        name::check(&name, span)?;
        Ok(name)
    }

    fn take(&mut self, word: &Word) -> syn::Result<()> {
        match word.name.to_string().as_str() {
            "impl" | "implements" | "interfaces" => self.interfaces.extend(word.values("impl = [Type, ..]")?),
            "name" => self.name = Some(word.value("name = \"..\"")?),
            "context" | "ctx" | "Context" => self.context = Some(word.value("context = Type")?),
            "rename_all" => self.rename = Some(Rename::parse(&word.value("rename_all = \"camelCase\"")?)?),
            "for" | "implementers" => self.implementers.extend(word.values("for = [Type, ..]")?),
            "node" => self.nodes = Some(word.values("node = [Type, ..]")?),
            "enum" => self.alias = Some(word.value("enum = Name")?),
            "on" => self.resolvers = Some(word.name.span()),
            "look_ahead" => self.look_ahead = true,
            "scalar" | "Scalar" | "ScalarValue" => only_default(word)?,
            // `description`, and `async`, which has no effect
            _ => {}
        }
        Ok(())
    }
}

/// Context of a type with a mistake, also if the argument is misspelled.
pub(crate) fn context(arguments: &TokenStream, attributes: &[Attribute]) -> Option<Type> {
    let mut words = Word::list(arguments.clone()).unwrap_or_default();
    words.extend(Word::of(attributes, "graphql").unwrap_or_default());
    let mut words = words
        .iter()
        .filter(|word| word.is("ctx") || word.is_similar("context"));
    words.find_map(|word| word.value("context = Type").ok())
}

/// Refuses a type that is listed twice.
fn unrepeated<T: ToTokens>(types: &[T]) -> syn::Result<()> {
    let mut seen = Vec::new();
    for ty in types {
        let written = quote!(#ty).to_string();
        if seen.contains(&written) {
            let message = format!("`{written}` is listed twice");
            return Err(syn::Error::new(ty.span(), message));
        }
        seen.push(written);
    }
    Ok(())
}

/// Refuses a scalar value other than juniper's default.
fn only_default(word: &Word) -> syn::Result<()> {
    let scalar: Option<TypePath> = word.value("scalar = juniper::DefaultScalarValue").ok();
    let last = scalar.as_ref().and_then(|scalar| scalar.path.segments.last());
    if last.is_some_and(|last| last.ident == "DefaultScalarValue") {
        return Ok(());
    }
    Err(syn::Error::new(
        word.name.span(),
        "the engine executes schemas of `juniper::DefaultScalarValue`: remove `scalar`",
    ))
}

/// Refuses an item that also has juniper's attribute `name` or derive.
pub(crate) fn refuse_juniper(attributes: &[Attribute], name: &str) -> syn::Result<()> {
    let mut paths = attributes.iter().map(Attribute::path);
    match paths.find(|path| path.segments.last().is_some_and(|last| last.ident == name)) {
        Some(path) => Err(syn::Error::new(
            path.span(),
            format!("remove `{name}`: the attribute of graph-core replaces it"),
        )),
        None => Ok(()),
    }
}

/// Position of the derive `name` among `attributes`.
pub(crate) fn derives(attributes: &[Attribute], name: &str) -> Option<Span> {
    let derives = attributes.iter().filter(|attribute| is(attribute, "derive"));
    derives
        .filter_map(|attribute| {
            let mut found = None;
            let read = attribute.parse_nested_meta(|derive| {
                if derive.path.segments.last().is_some_and(|last| last.ident == name) {
                    found = Some(derive.path.span());
                }
                Ok(())
            });
            // a syntax error that the compiler reports
            read.ok().and(found)
        })
        .next()
}

/// Removes the derive `name`.
pub(crate) fn underive(attributes: &mut [Attribute], name: &str) {
    for attribute in attributes.iter_mut().filter(|attribute| is(attribute, "derive")) {
        let paths = attribute.parse_args_with(Punctuated::<Path, Token![,]>::parse_terminated);
        let Ok(paths) = paths else { continue };
        let named = |path: &&Path| path.segments.last().is_some_and(|last| last.ident == name);
        if paths.iter().any(|path| named(&path)) {
            let others = paths.iter().filter(|path| !named(path));
            *attribute = parse_quote!(#[derive(#(#others),*)]);
        }
    }
}

#[cfg(test)]
mod tests {
    use syn::parse_quote;

    use super::*;

    #[test]
    fn the_words_of_the_attribute_and_those_beside_it_are_read() {
        let attributes = [parse_quote!(#[graphql(name = "Person", rename_all = "snake_case")])];
        let arguments = quote!(context = RequestContext<A, B>, for = [Human, Droid], enum = Any, impl = Node, node = Human);
        let read = ItemWords::read(&arguments, &attributes, &INTERFACE).unwrap();
        let context = read.context.as_ref().unwrap();
        assert_eq!(quote!(#context).to_string(), "RequestContext < A , B >");
        assert_eq!(read.name.as_ref().unwrap().value(), "Person");
        assert_eq!(read.rename, Some(Rename::SnakeCase));
        assert_eq!(read.implementers.len(), 2);
        assert_eq!(read.nodes.unwrap().len(), 1);
        assert_eq!(read.alias.as_ref().unwrap(), "Any");
    }

    #[test]
    fn refuses_types_listed_twice_and_unknown_arguments() {
        let read = |arguments, known: &[&str]| ItemWords::read(&arguments, &[], known).is_ok();
        assert!(read(quote!(for = [A, B], impl = [A]), &INTERFACE));
        assert!(!read(quote!(for = [A, B, A]), &INTERFACE));
        assert!(!read(quote!(impl = A, impl = A), &OBJECT));
        assert!(!read(quote!(for = [A, B], node = [A, A]), &INTERFACE));
        assert!(!read(quote!(for = A), &OBJECT));
    }

    #[test]
    fn another_scalar_value_is_refused() {
        assert!(ItemWords::read(&quote!(scalar = juniper::DefaultScalarValue), &[], &OBJECT).is_ok());
        assert!(ItemWords::read(&quote!(scalar = S), &[], &OBJECT).is_err());
        assert!(ItemWords::read(&quote!(scalar = S: ScalarValue + Clone), &[], &OBJECT).is_err());
    }

    #[test]
    fn what_juniper_would_do_twice_is_found() {
        let attributes = [parse_quote!(#[derive(Clone, juniper::GraphQLUnion)])];
        assert!(derives(&attributes, "GraphQLUnion").is_some());
        assert!(derives(&attributes, "GraphQLEnum").is_none());
        let attributes = [parse_quote!(#[juniper::graphql_object(context = A)])];
        assert!(refuse_juniper(&attributes, "graphql_object").is_err());
        assert!(refuse_juniper(&attributes, "graphql_interface").is_ok());
    }
}
