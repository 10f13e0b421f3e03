//! `#[graph_object]` and `#[graph_subscription]`.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{ImplItem, ItemImpl};

use super::or_mistake;
use crate::emit::call::From;
use crate::emit::{Target, in_scope, object, source};
use crate::read::block::{Block, bare, refuse_shape, without_marks};
use crate::read::deprecated;

/// Expands to juniper's block and the executor's object.
pub(crate) fn object(arguments: &TokenStream, item: ItemImpl) -> TokenStream {
    expand(arguments, item, "graphql_object", |target, block| {
        object::object(target, &block.name, &block.guards, &block.fields, From::Method)
    })
}

/// Expands to juniper's block and the executor's subscription root.
pub(crate) fn subscription(arguments: &TokenStream, item: ItemImpl) -> TokenStream {
    expand(arguments, item, "graphql_subscription", source::source)
}

fn expand(
    arguments: &TokenStream,
    mut item: ItemImpl,
    attribute: &str,
    emit: fn(&Target<'_>, &Block) -> TokenStream,
) -> TokenStream {
    if let Err(mistake) = refuse_shape(&item, attribute) {
        bare(&mut item);
        let mistake = mistake.into_compile_error();
        return quote!(#item #mistake);
    }
    let juniper = format_ident!("{attribute}");
    let translated = translate(&mut item);
    let made = Block::read(arguments, &item).map(|block| {
        let target = Target::new(&item.self_ty, &item.generics, block.context.as_ref());
        in_scope(&emit(&target, &block))
    });
    let made = or_mistake(translated.and(made));
    without_marks(&mut item);
    quote! {
        #[::juniper::#juniper(#arguments)]
        #item
        #made
    }
}

fn translate(block: &mut ItemImpl) -> syn::Result<()> {
    block.items.iter_mut().try_for_each(|item| match item {
        ImplItem::Fn(method) => deprecated::translate(&mut method.attrs),
        _ => Ok(()),
    })
}
