//! `Anchor` of a type: see `graph_core::executor::anchor`.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;

use super::Target;
use super::table::{Table, TagOf};
use crate::read::lifetimes::inferred;

/// Implements `Anchor`: names the anchors of the fields and members in `table`, then `own`.
pub(crate) fn anchor(target: &Target<'_>, table: &Table<'_>, value: TagOf, own: &TokenStream) -> TokenStream {
    let context = &target.context;
    let fields = table.fields.iter().map(|field| {
        let tag = value(&inferred(&field.ty), context);
        (tag, field.ty.span())
    });
    let members = table.members.iter().map(|ty| {
        let tag = quote_spanned!(ty.span()=> __graph::Tag::<#ty, #context>::NEW);
        (tag, ty.span())
    });
    let nothing = fields
        .chain(members)
        .map(|(tag, span)| quote_spanned!(span=> (&&&&&#tag).nothing()));
    let body = quote! {
        fn anchor(_: __graph::Nothing<Self>) {
            #(__graph::name_anchor(#nothing, __graph::Anchor::<#context>::anchor);)*
            #own
        }
    };
    target.implement(&quote!(Anchor), &body)
}

/// Names the functions that declare and register the type.
pub(crate) fn declaration(context: &TokenStream) -> TokenStream {
    quote! {
        __graph::name_declaration(
            <Self as ::juniper::GraphQLType<::juniper::DefaultScalarValue>>::meta,
            <Self as __graph::Output<#context>>::register,
        );
    }
}
