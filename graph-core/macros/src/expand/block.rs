//! `#[graph_object]` and `#[graph_subscription]`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::spanned::Spanned;
use syn::{ImplItem, ItemImpl};

use crate::emit::call::From;
use crate::emit::selectable::selectable;
use crate::emit::table::Table;
use crate::emit::{Target, in_scope, object, source};
use crate::read::block::{Block, refuse_shape, remove_last, strip_block};
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
    let source: Emit = |target, block| source::source(target, block);
    if let Some(mistake) = synchronous(&item) {
        return refused(arguments, item, mistake, source);
    }
    expand(arguments, item, "graphql_subscription", source)
}

/// Generates the implementations of a type.
type Emit = fn(&Target<'_>, &Block) -> TokenStream;

fn expand(arguments: &TokenStream, mut item: ItemImpl, attribute: &str, emit: Emit) -> TokenStream {
    let block = match refuse_shape(&item, attribute).and_then(|()| Block::read(arguments, &item)) {
        Ok(block) => block,
        Err(mistake) => {
            remove_last(&mut item.attrs, attribute);
            return refused(arguments, item, mistake, emit);
        }
    };
    let made = implement(&item, &block, emit);
    strip_block(&mut item);
    quote! {
        // documentation comments are descriptions of the schema
        #[allow(clippy::missing_errors_doc, clippy::missing_panics_doc, reason = "generated")]
        #item
        #made
    }
}

fn implement(item: &ItemImpl, block: &Block, emit: Emit) -> TokenStream {
    let target = Target::new(&item.self_ty, &item.generics, block.context.as_ref());
    in_scope(&emit(&target, block))
}

/// The mistake, and the block as a type without fields: otherwise each use of the type would be an
/// error, too.
fn refused(arguments: &TokenStream, mut item: ItemImpl, mistake: syn::Error, emit: Emit) -> TokenStream {
    let mistake = mistake.into_compile_error();
    // the type of a trait's methods may have a block of its own
    let stub = match item.trait_ {
        None => Block::stub(arguments, &item).map(|block| implement(&item, &block, emit)),
        Some(_) => None,
    };
    strip_block(&mut item);
    quote!(#item #mistake #stub)
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
