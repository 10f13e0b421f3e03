//! `#[graph_object]` and `#[graph_subscription]`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::spanned::Spanned;
use syn::{ImplItem, ItemImpl};

use super::or_mistake;
use crate::emit::call::From;
use crate::emit::selectable::selectable;
use crate::emit::table::Table;
use crate::emit::{Target, in_scope, object, source};
use crate::read::block::{Block, refuse_shape, strip_block};
use crate::read::field::is_ignored;

/// Expands to the block and the implementations of the object type.
pub(crate) fn object(arguments: &TokenStream, item: ItemImpl) -> TokenStream {
    expand(arguments, item, "graphql_object", |target, block| {
        let table = Table::of_block(block);
        let selectable = block.look_ahead.then(|| selectable(target, &table));
        let object = object::object(target, &table, From::Method);
        quote!(#object #selectable)
    })
}

/// Expands to the block and the implementations of the subscription root.
pub(crate) fn subscription(arguments: &TokenStream, item: ItemImpl) -> TokenStream {
    if let Some(mistake) = synchronous(&item) {
        return refused(item, &mistake);
    }
    expand(arguments, item, "graphql_subscription", source::source)
}

fn expand(
    arguments: &TokenStream,
    mut item: ItemImpl,
    attribute: &str,
    emit: fn(&Target<'_>, &Block) -> TokenStream,
) -> TokenStream {
    if let Err(mistake) = refuse_shape(&item, attribute) {
        return refused(item, &mistake);
    }
    let made = or_mistake(Block::read(arguments, &item).map(|block| {
        let target = Target::new(&item.self_ty, &item.generics, block.context.as_ref());
        in_scope(&emit(&target, &block))
    }));
    strip_block(&mut item);
    quote! {
        // documentation comments are descriptions of the schema
        #[allow(clippy::missing_errors_doc, clippy::missing_panics_doc, reason = "generated")]
        #item
        #made
    }
}

/// The block without our attributes, and the mistake.
fn refused(mut item: ItemImpl, mistake: &syn::Error) -> TokenStream {
    strip_block(&mut item);
    let mistake = mistake.to_compile_error();
    quote!(#item #mistake)
}

/// Mistake of a subscription with a resolver that is not asynchronous.
fn synchronous(block: &ItemImpl) -> Option<syn::Error> {
    block.items.iter().find_map(|item| match item {
        ImplItem::Fn(method)
            if method.sig.asyncness.is_none() && !is_ignored(&method.attrs).unwrap_or_default() =>
        {
            let message = "a resolver of a subscription is asynchronous: write `async fn`";
            Some(syn::Error::new(method.sig.span(), message))
        }
        _ => None,
    })
}
