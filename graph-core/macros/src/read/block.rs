//! `impl` block whose methods are fields.

use proc_macro2::TokenStream;
use syn::spanned::Spanned;
use syn::{Attribute, FnArg, Ident, ImplItem, ItemImpl, Signature, Type, TypePath};

use super::field::{self, Field, is_ignored, refuse_signature};
use super::graph::{Guard, Marks};
use super::item::{ItemWords, OBJECT, context, refuse_juniper};
use super::parameter::Parameter;
use super::rename::Rename;
use super::words::Word;

/// Object type of a block.
pub(crate) struct Block {
    /// GraphQL name.
    pub(crate) name: String,
    pub(crate) description: Option<String>,
    pub(crate) interfaces: Vec<Type>,
    /// `None`: the type is generic over the context.
    pub(crate) context: Option<Type>,
    /// Guards of the type.
    pub(crate) guards: Vec<Guard>,
    pub(crate) fields: Vec<Field>,
    pub(crate) look_ahead: bool,
}

impl Block {
    /// Parses `block` and the `arguments` of our attribute.
    pub(crate) fn read(arguments: &TokenStream, block: &ItemImpl) -> syn::Result<Self> {
        let words = ItemWords::read(arguments, &block.attrs, &OBJECT)?;
        let rename = words.rename.unwrap_or(Rename::CamelCase);
        let mut fields = Vec::new();
        for item in &block.items {
            if let ImplItem::Fn(method) = item {
                fields.extend(Field::of_method(&method.attrs, &method.sig, rename)?);
            }
        }
        let ident = type_ident(&block.self_ty)?;
        field::check(&fields, ident.span())?;
        let context = words
            .context
            .clone()
            .or_else(|| fields.iter().find_map(Field::context).cloned());
        let guarded = fields.iter().find(|field| field.marks.guarded());
        if let (None, Some(span)) = (&context, guarded.and_then(|field| field.marks.at)) {
            return Err(syn::Error::new(
                span,
                "a guard needs the context: add `context = ..`",
            ));
        }
        Ok(Self {
            name: words.name(ident)?,
            description: words.description,
            interfaces: words.interfaces,
            context,
            guards: Marks::of_type(&block.attrs)?,
            fields,
            look_ahead: words.look_ahead,
        })
    }
}

impl Block {
    /// The type of a block with a mistake, without fields, so that its uses compile.
    pub(crate) fn stub(arguments: &TokenStream, block: &ItemImpl) -> Option<Self> {
        let context = context(arguments, &block.attrs).or_else(|| {
            block.items.iter().find_map(|item| match item {
                ImplItem::Fn(method) => method.sig.inputs.iter().find_map(parameter),
                _ => None,
            })
        });
        Some(Self {
            name: type_ident(&block.self_ty).ok()?.to_string(),
            description: None,
            interfaces: Vec::new(),
            context,
            guards: Vec::new(),
            look_ahead: Word::list(arguments.clone())
                .is_ok_and(|words| words.iter().any(|word| word.is("look_ahead"))),
            fields: Vec::new(),
        })
    }
}

/// Type of a parameter that is the context.
fn parameter(input: &FnArg) -> Option<Type> {
    let FnArg::Typed(parameter) = input else {
        return None;
    };
    match Parameter::read(parameter, Rename::None) {
        Ok(Parameter::Context(ty)) => Some(*ty),
        _ => None,
    }
}

/// Refuses blocks that cannot be an object type; `attribute` is juniper's attribute for them.
pub(crate) fn refuse_shape(block: &ItemImpl, attribute: &str) -> syn::Result<()> {
    if let Some((path, _)) = &block.trait_ {
        return Err(syn::Error::new(
            path.span(),
            "methods of a trait cannot be fields: write an `impl` block of the type itself",
        ));
    }
    refuse_juniper(&block.attrs, attribute)?;
    block.items.iter().try_for_each(|item| match item {
        ImplItem::Fn(method) if !is_ignored(&method.attrs)? => refuse_signature(&method.sig),
        _ => Ok(()),
    })
}

/// Name of the Rust type of a block.
fn type_ident(ty: &Type) -> syn::Result<&Ident> {
    let last = match ty {
        Type::Path(TypePath { path, .. }) => path.segments.last(),
        Type::Paren(inner) => return type_ident(&inner.elem),
        Type::Group(inner) => return type_ident(&inner.elem),
        _ => None,
    };
    last.map(|last| &last.ident)
        .ok_or_else(|| syn::Error::new(ty.span(), "an object type is a named type: write `impl Charge`"))
}

/// Removes the attributes that only the outer macro understands.
pub(crate) fn strip_block(block: &mut ItemImpl) {
    remove(&mut block.attrs, "graph");
    remove(&mut block.attrs, "graphql");
    for item in &mut block.items {
        if let ImplItem::Fn(method) = item {
            strip_method(&mut method.attrs, &mut method.sig);
        }
    }
}

/// Removes the attributes of a method that only the outer macro understands.
pub(crate) fn strip_method(attributes: &mut Vec<Attribute>, signature: &mut Signature) {
    remove(attributes, "graph");
    remove(attributes, "graphql");
    for input in &mut signature.inputs {
        if let FnArg::Typed(parameter) = input {
            remove(&mut parameter.attrs, "graph");
            remove(&mut parameter.attrs, "graphql");
            remove(&mut parameter.attrs, "deprecated");
        }
    }
}

/// Removes the attributes `name`.
pub(crate) fn remove(attributes: &mut Vec<Attribute>, name: &str) {
    attributes.retain(|attribute| !super::words::is(attribute, name));
}

/// Removes the attributes whose path ends with `name`.
pub(crate) fn remove_last(attributes: &mut Vec<Attribute>, name: &str) {
    attributes.retain(|attribute| {
        let last = attribute.path().segments.last();
        last.is_none_or(|last| last.ident != name)
    });
}

#[cfg(test)]
mod tests {
    use quote::quote;
    use syn::parse_quote;

    use super::*;

    #[expect(clippy::needless_pass_by_value, reason = "`parse_quote!` makes values")]
    fn read(block: ItemImpl) -> Block {
        Block::read(&TokenStream::new(), &block).unwrap()
    }

    #[test]
    fn fields_are_methods_by_their_names_in_the_schema() {
        let block = read(parse_quote! {
            #[graphql(rename_all = "snake_case")]
            impl<'a> shop::Item<'a> {
                const WORD: &'static str = "";
                fn first_name(&self) -> &str { "" }
                #[graphql(name = "id")]
                async fn key(&self, #[graphql(name = "in")] place: Option<String>, ctx: &Context) -> Result<ID, Error> { x() }
                #[graphql(ignore)]
                fn helper(self) {}
            }
        });
        assert_eq!(block.name, "Item");
        let context = block.context.unwrap();
        assert_eq!(quote!(#context).to_string(), "Context");
        let [first, key] = &block.fields[..] else {
            panic!("two fields")
        };
        assert_eq!(
            (first.name.as_str(), first.is_async, first.arguments().count()),
            ("first_name", false, 0)
        );
        assert_eq!((key.name.as_str(), key.is_async), ("id", true));
        assert_eq!(key.arguments().next().unwrap().name, "in");
    }

    #[test]
    fn a_type_without_a_context_has_none() {
        assert!(
            read(parse_quote!(impl Item { fn id(&self) -> i32 { 1 } }))
                .context
                .is_none()
        );
    }

    #[test]
    fn what_no_field_can_be_is_refused() {
        let refused: [ItemImpl; 5] = [
            parse_quote!(impl Shop for Item { fn id(&self) -> i32 { 1 } }),
            parse_quote!(impl Item { fn id(self) -> i32 { 1 } }),
            parse_quote!(impl Item { fn id(self: &Self) -> i32 { 1 } }),
            parse_quote!(impl Item { fn id(&self) -> impl Sized { 1 } }),
            parse_quote!(
                #[juniper::graphql_object]
                impl Item {
                    fn id(&self) -> i32 {
                        1
                    }
                }
            ),
        ];
        for block in refused {
            assert!(
                refuse_shape(&block, "graphql_object").is_err(),
                "{}",
                quote!(#block)
            );
        }
        let taken: ItemImpl = parse_quote!(impl Item { #[graphql(skip)] fn id(self) -> impl Sized { 1 } });
        assert!(refuse_shape(&taken, "graphql_object").is_ok());
    }

    #[test]
    fn executor_parameters_and_misplaced_guards_are_refused() {
        let refused: [ItemImpl; 3] = [
            parse_quote!(impl Item { fn id(&self, executor: &Executor) -> i32 { 1 } }),
            parse_quote!(impl Item { #[graph(authenticated)] #[graphql(ignore)] fn id(&self) -> i32 { 1 } }),
            parse_quote!(impl Item { #[graph(authenticated)] fn id(&self) -> i32 { 1 } }),
        ];
        for block in refused {
            assert!(
                Block::read(&TokenStream::new(), &block).is_err(),
                "{}",
                quote!(#block)
            );
        }
    }
}
