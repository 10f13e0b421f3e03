//! Code for graph-core's executor.
//!
//! Every path is absolute or starts with `__graph`, and traits are imported without a name, so that
//! the host's types may have any name.

pub(crate) mod anchor;
pub(crate) mod call;
pub(crate) mod enumeration;
pub(crate) mod interface_value;
pub(crate) mod nodes;
pub(crate) mod object;
pub(crate) mod rules;
pub(crate) mod schema;
pub(crate) mod selectable;
pub(crate) mod source;
pub(crate) mod table;
pub(crate) mod variants;

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{Generics, Type, parse_quote};

/// Type of an implementation, with its generics and context.
pub(crate) struct Target<'a> {
    pub(crate) ty: &'a dyn ToTokens,
    generics: Generics,
    /// Generics of the type itself, without the parameter for the context.
    pub(crate) own_generics: &'a Generics,
    /// The context of the schema.
    pub(crate) context: TokenStream,
    /// `false` if the type is generic over the context.
    pub(crate) has_context: bool,
}

impl<'a> Target<'a> {
    /// Target for the type `ty` with the generics of its block; generic over the context if there
    /// is none.
    pub(crate) fn new(ty: &'a dyn ToTokens, own_generics: &'a Generics, context: Option<&Type>) -> Self {
        let mut generics = own_generics.clone();
        let has_context = context.is_some();
        let context = match context {
            Some(context) => quote!(#context),
            None => {
                generics
                    .params
                    .push(parse_quote!(__AnyContext: ::core::marker::Sync));
                quote!(__AnyContext)
            }
        };
        Self {
            ty,
            generics,
            own_generics,
            context,
            has_context,
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

/// Puts `items` into a scope with `__graph` as the executor and the dispatch traits.
pub(crate) fn in_scope(items: &TokenStream) -> TokenStream {
    scope(
        items,
        &quote!(
            use ::graph_core::validate::Unvalidated as _;
        ),
    )
}

/// Like [`in_scope`], for an input object: the type of each field must be validated.
pub(crate) fn in_strict_scope(items: &TokenStream) -> TokenStream {
    scope(
        items,
        &quote!(
            use ::graph_core::validate::strict::Refused as _;
        ),
    )
}

fn scope(items: &TokenStream, unvalidated: &TokenStream) -> TokenStream {
    let unvalidated = quote!(#[allow(unused_imports, reason = "generated")] #unvalidated);
    quote! {
        const _: () = {
            use ::graph_core::executor as __graph;
            #[allow(unused_imports, reason = "generated")]
            use ::graph_core::validate::{Leaf as _, Validated as _, rules as __rules};
            #unvalidated
            #[allow(unused_imports, reason = "generated")]
            use ::graph_core::executor::via::{
                Fallible as _, FallibleLeaf as _, FallibleStream as _, NoStream as _, Plain as _, PlainLeaf as _,
                PlainStream as _, Unknown as _,
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
        cx: &__graph::Execution<'_, #context>,
        path: &__graph::Path<'_>,
        out: &mut ::std::vec::Vec<u8>,
    }
}

/// The parameters of `Output::write_async`.
pub(crate) fn write_async_parameters(context: &TokenStream) -> TokenStream {
    quote! {
        &'p self,
        field: &'p __graph::Field,
        cx: &'p __graph::Execution<'p, #context>,
        path: &__graph::Path<'_>,
        seg: &mut __graph::Segment,
        pend: &mut __graph::PendingFields<'p>,
    }
}
