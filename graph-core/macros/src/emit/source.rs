//! `Source` of a subscription root.

use proc_macro2::TokenStream;
use quote::quote;

use super::Target;
use super::anchor::anchor;
use super::call::{From, call, predicate};
use super::object::arms;
use super::schema::{Kind, schema};
use super::table::{self, Table};
use crate::read::block::Block;

/// Implementations for the subscription root in `block`.
pub(crate) fn source(target: &Target<'_>, block: &Block) -> TokenStream {
    let context = &target.context;
    let table = Table::of_block(block);
    let info = table.info(target, table::streamed);
    let arms = arms(&block.fields, |field| {
        let call = call(field, From::Method, context, table::anchored);
        let asked = predicate(&block.name, field).map(|allowed| {
            quote! {
                if let ::core::result::Result::Err(refused) = cx.apply_guard(#allowed) {
                    return ::core::result::Result::Err(__graph::record_refusal(refused, field, cx));
                }
            }
        });
        Some(quote! {
            ::std::boxed::Box::pin(async move {
                #asked
                #call
                let events = (&&&__graph::Tag::of(&value, cx)).stream(value, field, cx)?;
                let events = __graph::StreamExt::then(events, move |value| {
                    cx.begin_event();
                    async move {
                        (&&&&&__graph::Tag::of(&value, cx)).emit_async(value, field, cx, __graph::ListIndices::ROOT).await
                    }
                });
                ::core::result::Result::Ok(__graph::StreamExt::boxed(events))
            })
        })
    });
    let body = quote! {
        #info

        fn open<'p>(
            &'p self,
            field: &'p __graph::Field,
            cx: &'p __graph::Execution<'p, #context>,
        ) -> __graph::BoxFuture<'p, __graph::Opened<'p>> {
            match field.index() {
                #(#arms)*
                _ => __graph::no_such_stream(field, cx),
            }
        }
    };
    let source = target.implement(&quote!(Source), &body);
    let schema = schema(target, &block.name, Kind::Subscription);
    let anchor = anchor(target, &table, table::anchored, &TokenStream::new());
    quote!(#source #schema #anchor)
}
