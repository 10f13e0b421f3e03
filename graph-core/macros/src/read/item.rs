//! juniper's attributes on a type.

use proc_macro2::{Span, TokenStream};
use syn::spanned::Spanned;
use syn::{Attribute, Ident, LitStr, Type, TypePath};

use super::rename::Rename;
use super::words::{Word, is};

/// Arguments of juniper's attribute that our macros need.
pub(crate) struct ItemWords {
    pub(crate) name: Option<LitStr>,
    pub(crate) context: Option<Type>,
    pub(crate) rename: Option<Rename>,
    /// `for = [..]` of an interface.
    pub(crate) implementers: Vec<TypePath>,
    /// `enum = ..` of an interface.
    pub(crate) alias: Option<Ident>,
    /// Position of a union argument that takes a function.
    pub(crate) resolvers: Option<Span>,
}

impl ItemWords {
    /// Parses the arguments of our attribute and the `#[graphql(..)]` beside it.
    pub(crate) fn read(arguments: &TokenStream, attributes: &[Attribute]) -> syn::Result<Self> {
        let mut read = Self {
            name: None,
            context: None,
            rename: None,
            implementers: Vec::new(),
            alias: None,
            resolvers: None,
        };
        let words = Word::list(arguments.clone())?.into_iter();
        for word in words.chain(Word::of(attributes, "graphql")?) {
            read.take(&word)?;
        }
        Ok(read)
    }

    fn take(&mut self, word: &Word) -> syn::Result<()> {
        match word.name.to_string().as_str() {
            "name" => self.name = Some(word.value("name = \"..\"")?),
            "context" | "ctx" | "Context" => self.context = Some(word.value("context = Type")?),
            "rename_all" => self.rename = Some(Rename::parse(&word.value("rename_all = \"camelCase\"")?)?),
            "for" | "implementers" => self.implementers.extend(word.values("for = [Type, ..]")?),
            "enum" => self.alias = Some(word.value("enum = Name")?),
            "on" => self.resolvers = Some(word.name.span()),
            "scalar" | "Scalar" | "ScalarValue" => only_default(word)?,
            // `impl`, `description`, and arguments that juniper refuses
            _ => {}
        }
        Ok(())
    }
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
            format!("remove `{name}`: the attribute of graph-core writes it"),
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

#[cfg(test)]
mod tests {
    use quote::quote;
    use syn::parse_quote;

    use super::*;

    #[test]
    fn the_words_of_the_attribute_and_those_beside_it_are_read() {
        let attributes = [parse_quote!(#[graphql(name = "Person", rename_all = "snake_case")])];
        let arguments = quote!(context = RequestContext<A, B>, for = [Human, Droid], enum = Any, impl = Node);
        let read = ItemWords::read(&arguments, &attributes).unwrap();
        let context = read.context.unwrap();
        assert_eq!(quote!(#context).to_string(), "RequestContext < A , B >");
        assert_eq!(read.name.unwrap().value(), "Person");
        assert_eq!(read.rename, Some(Rename::SnakeCase));
        assert_eq!(read.implementers.len(), 2);
        assert_eq!(read.alias.unwrap(), "Any");
    }

    #[test]
    fn another_scalar_value_is_refused() {
        assert!(ItemWords::read(&quote!(scalar = juniper::DefaultScalarValue), &[]).is_ok());
        assert!(ItemWords::read(&quote!(scalar = S), &[]).is_err());
        assert!(ItemWords::read(&quote!(scalar = S: ScalarValue + Clone), &[]).is_err());
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
