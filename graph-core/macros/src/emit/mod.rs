//! The code that graph-core's executor runs.
//!
//! Every path is absolute or starts with `__graph`, and traits come into scope without their names: a type of the host's may be
//! called as it likes.

pub(crate) mod call;
pub(crate) mod enumeration;
pub(crate) mod object;
pub(crate) mod shadow;
pub(crate) mod source;
pub(crate) mod table;
pub(crate) mod variants;

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{Generics, Type, parse_quote};

/// What an implementation is for.
pub(crate) struct Target<'a> {
    pub(crate) ty: &'a dyn ToTokens,
    generics: Generics,
    /// The context of the schema.
    pub(crate) context: TokenStream,
}

impl<'a> Target<'a> {
    /// The type `ty` with the generics of its block, in schemas with `context`, or with any when there is none.
    pub(crate) fn new(ty: &'a dyn ToTokens, generics: &Generics, context: Option<&Type>) -> Self {
        let mut generics = generics.clone();
        let context = match context {
            Some(context) => quote!(#context),
            None => {
                generics
                    .params
                    .push(parse_quote!(__Context: ::core::marker::Sync));
                quote!(__Context)
            }
        };
        Self {
            ty,
            generics,
            context,
        }
    }

    /// `impl interface<Context> for Type { body }`.
    pub(crate) fn implement(&self, interface: &TokenStream, body: &TokenStream) -> TokenStream {
        let (ty, context) = (self.ty, &self.context);
        let (generics, _, wheres) = self.generics.split_for_impl();
        quote! {
            #[automatically_derived]
            #[allow(clippy::all, clippy::pedantic, deprecated, unused_variables, reason = "generated")]
            impl #generics __graph::#interface<#context> for #ty #wheres {
                #body
            }
        }
    }
}

/// `items` where `__graph` is the executor, and the ways to treat a return type are in scope.
pub(crate) fn in_scope(items: &TokenStream) -> TokenStream {
    quote! {
        const _: () = {
            use ::graph_core::executor as __graph;
            #[allow(unused_imports, reason = "generated")]
            use ::graph_core::executor::via::{
                Fallible as _, FallibleLeaf as _, FallibleStream as _, Plain as _, PlainLeaf as _, PlainStream as _,
                Unknown as _,
            };

            #items
        };
    }
}

/// The parameters of `Output::write`.
pub(crate) fn write_parameters(context: &TokenStream) -> TokenStream {
    quote! {
        &self,
        field: &__graph::Field,
        cx: &__graph::Cx<'_, #context>,
        path: &__graph::Path<'_>,
        out: &mut ::std::vec::Vec<u8>,
    }
}

/// The parameters of `Output::write_async`.
pub(crate) fn write_async_parameters(context: &TokenStream) -> TokenStream {
    quote! {
        &'p self,
        field: &'p __graph::Field,
        cx: &'p __graph::Cx<'p, #context>,
        path: &__graph::Path<'_>,
        seg: &mut __graph::Seg,
        pend: &mut __graph::Pend<'p>,
    }
}
