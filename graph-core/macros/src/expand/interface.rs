//! `#[graph_interface]`.

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote};
use syn::spanned::Spanned;
use syn::{Attribute, FnArg, Generics, Ident, Item, Signature, TraitItem, Type, TypePath};

use crate::emit::variants::{Variant, variants};
use crate::emit::{Target, in_scope};
use crate::read::deprecated;
use crate::read::graph::Marks;
use crate::read::item::{ItemWords, refuse_juniper};
use crate::read::parameter::Parameter;
use crate::read::rename::Rename;

/// Expands to juniper's trait and the executor's interface value.
pub(crate) fn interface(arguments: &TokenStream, mut item: Item) -> TokenStream {
    let made = translate(&mut item).and_then(|()| read(arguments, &item));
    let mut tokens = quote!(#[::juniper::graphql_interface(#arguments)] #item);
    match made {
        Ok(made) => tokens.extend(made),
        // omits juniper's attribute, which does not know ours
        Err(mistake) => tokens = mistake.into_compile_error(),
    }
    tokens
}

fn read(arguments: &TokenStream, item: &Item) -> syn::Result<TokenStream> {
    let (attributes, ident, generics) = match item {
        Item::Trait(item) => (&item.attrs, &item.ident, &item.generics),
        Item::Struct(item) => (&item.attrs, &item.ident, &item.generics),
        other => {
            return Err(syn::Error::new(
                other.span(),
                "an interface must be a trait or a struct",
            ));
        }
    };
    refuse_juniper(attributes, "graphql_interface")?;
    unmarked(attributes, OBJECTS)?;
    let mut words = ItemWords::read(arguments, attributes)?;
    if words.implementers.is_empty() {
        return Err(syn::Error::new(
            Span::call_site(),
            "name the objects of the interface: `for = [Human, Droid]`",
        ));
    }
    if let Some(context) = methods(item)? {
        words.context.get_or_insert(context);
    }
    let alias = words
        .alias
        .clone()
        .unwrap_or_else(|| format_ident!("{ident}Value"));
    Ok(emit(&words, &alias, generics))
}

fn emit(words: &ItemWords, alias: &Ident, generics: &Generics) -> TokenStream {
    let of = |ty: &'_ TypePath| ty.path.segments.last().map(|last| last.ident.clone());
    let idents: Vec<_> = words.implementers.iter().filter_map(of).collect();
    let of = |(ident, ty)| Variant { ident, ty };
    let types = words.implementers.iter().map(|ty| ty as &dyn quote::ToTokens);
    let listed: Vec<_> = idents.iter().zip(types).map(of).collect();
    let (_, parameters, _) = generics.split_for_impl();
    let ty = quote!(#alias #parameters);
    let target = Target::new(&ty, generics, words.context.as_ref());
    // juniper adds a variant that holds the type parameters
    in_scope(&variants(&target, &listed, !generics.params.is_empty()))
}

/// Context of the methods, if they take one; methods with our attribute are refused.
fn methods(item: &Item) -> syn::Result<Option<Type>> {
    let mut context = None;
    match item {
        Item::Trait(item) => {
            for method in &item.items {
                if let TraitItem::Fn(method) = method {
                    unmarked(&method.attrs, FIELDS)?;
                    context = context.or(context_of(&method.sig)?);
                }
            }
        }
        Item::Struct(item) => item
            .fields
            .iter()
            .try_for_each(|field| unmarked(&field.attrs, FIELDS))?,
        _ => {}
    }
    Ok(context)
}

fn translate(item: &mut Item) -> syn::Result<()> {
    match item {
        Item::Trait(item) => item.items.iter_mut().try_for_each(|item| match item {
            TraitItem::Fn(method) => deprecated::translate(&mut method.attrs),
            _ => Ok(()),
        }),
        Item::Struct(item) => {
            let mut fields = item.fields.iter_mut();
            fields.try_for_each(|field| deprecated::translate(&mut field.attrs))
        }
        _ => Ok(()),
    }
}

fn context_of(signature: &Signature) -> syn::Result<Option<Type>> {
    for input in &signature.inputs {
        if let FnArg::Typed(parameter) = input
            && let Parameter::Context(ty) = Parameter::read(parameter, Rename::None)?
        {
            return Ok(Some(*ty));
        }
    }
    Ok(None)
}

const OBJECTS: &str = "mark the object types instead: an interface has no resolvers";
const FIELDS: &str = "mark the field of each object type instead: an interface has no resolvers";

/// Refuses our attributes and suggests `instead`.
pub(super) fn unmarked(attributes: &[Attribute], instead: &str) -> syn::Result<()> {
    match Marks::read(attributes)?.at {
        None => Ok(()),
        Some(span) => Err(syn::Error::new(span, instead)),
    }
}
