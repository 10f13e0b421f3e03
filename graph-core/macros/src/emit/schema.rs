//! Registry side of a type: the traits by which juniper's schema knows it.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use super::Target;

/// Kind of a type with its table.
#[derive(Clone, Copy)]
pub(crate) enum Kind {
    Object,
    Subscription,
    Interface,
    Union,
}

/// Implements `GraphQLType` from the table of the type `name`. juniper calls no resolver.
pub(crate) fn schema(target: &Target<'_>, name: &str, kind: Kind) -> TokenStream {
    let (table, declare) = match kind {
        Kind::Object => ("Object", "declare_object"),
        Kind::Subscription => ("Source", "declare_object"),
        Kind::Interface => ("Abstract", "declare_interface"),
        Kind::Union => ("Abstract", "declare_union"),
    };
    let (table, declare) = (format_ident!("{table}"), format_ident!("{declare}"));
    let ty = target.ty;
    let (generics, _, wheres) = target.own_generics.split_for_impl();
    let context = match target.has_context {
        true => target.context.clone(),
        false => quote!(()),
    };
    quote! {
        #[automatically_derived]
        impl #generics ::juniper::GraphQLValue<::juniper::DefaultScalarValue> for #ty #wheres {
            type Context = #context;
            type TypeInfo = ();

            fn type_name(&self, info: &()) -> ::core::option::Option<::juniper::ArcStr> {
                <Self as ::juniper::GraphQLType<::juniper::DefaultScalarValue>>::name(info)
            }
        }

        #[automatically_derived]
        impl #generics ::juniper::GraphQLType<::juniper::DefaultScalarValue> for #ty #wheres {
            fn name(_: &()) -> ::core::option::Option<::juniper::ArcStr> {
                ::core::option::Option::Some(::juniper::arcstr::literal!(#name))
            }

            fn meta(
                _: &(),
                registry: &mut ::juniper::Registry<::juniper::DefaultScalarValue>,
            ) -> ::juniper::meta::MetaType<::juniper::DefaultScalarValue> {
                __graph::name_anchor(__graph::Nothing::<Self>::NEW, __graph::Anchor::<#context>::anchor);
                __graph::#declare(<Self as __graph::#table<#context>>::INFO, registry)
            }
        }
    }
}
