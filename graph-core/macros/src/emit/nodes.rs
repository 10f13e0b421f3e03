//! `Nodes` of the interface `Node`.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::TypePath;
use syn::spanned::Spanned;

use super::Target;

/// Implements `graph_core::node::Nodes`, which finds an object of one of `types`.
pub(crate) fn nodes(target: &Target<'_>, types: &[TypePath]) -> TokenStream {
    let (ty, context) = (target.ty, &target.context);
    let (generics, _, wheres) = target.own_generics.split_for_impl();
    let arms = types.iter().map(|ty| {
        // spanned at the type, so that the compiler reports there that it is not refetchable
        let by_key = quote_spanned!(ty.span()=> <#ty as ::graph_core::node::Refetchable>::by_key);
        quote! {
            if name == <#ty as __graph::Object<#context>>::INFO.name {
                let key = match ::graph_core::node::parse_key(key) {
                    ::core::result::Result::Ok(key) => key,
                    ::core::result::Result::Err(refused) => {
                        return ::core::option::Option::Some(::core::result::Result::Err(refused));
                    }
                };
                let found = #by_key(context, key).await;
                return ::core::option::Option::Some(found.map(|found| found.map(::core::convert::Into::into)));
            }
        }
    });
    quote! {
        #[automatically_derived]
        impl #generics ::graph_core::node::Nodes for #ty #wheres {
            type Context = #context;

            async fn load(
                context: &#context,
                name: &::core::primitive::str,
                key: &::core::primitive::str,
            ) -> ::core::option::Option<
                ::core::result::Result<::core::option::Option<Self>, ::graph_core::GraphError>,
            > {
                #(#arms)*
                ::core::option::Option::None
            }
        }
    }
}
