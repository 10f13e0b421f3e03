//! `Selectable` and `Selects`: typed references to the fields of an object type.

use proc_macro2::{Literal, TokenStream};
use quote::{format_ident, quote};
use syn::Type;

use super::Target;
use super::table::Table;
use crate::read::field::Field;
use crate::read::lifetimes::{owned, unreferenced};
use crate::read::scalar::is_scalar;

/// Implements `Selectable` and `Selects` for the object type of `table`.
///
/// The struct of the references is generic over their types, because only the implementation knows
/// `Self` and the parameters of the object type.
pub(crate) fn selectable(target: &Target<'_>, table: &Table<'_>) -> TokenStream {
    let (ty, name) = (target.ty, table.name);
    let (generics, _, wheres) = target.own_generics.split_for_impl();
    let idents: Vec<_> = table.fields.iter().map(|field| &field.ident).collect();
    let names = table.fields.iter().map(|field| &field.name);
    let parameters: Vec<_> = (0..idents.len()).map(|at| format_ident!("__F{at}")).collect();
    let references = table.fields.iter().map(reference);
    let places = (0..).map(Literal::u16_unsuffixed).take(idents.len());
    let innermost = innermost(target);
    quote! {
        #[allow(unnameable_types, unreachable_pub, missing_docs, missing_debug_implementations, dead_code, reason = "generated")]
        pub struct __Fields<#(#parameters),*> {
            #(pub #idents: #parameters,)*
        }

        #[automatically_derived]
        #[allow(clippy::all, clippy::pedantic, deprecated, reason = "generated")]
        impl #generics ::graph_core::look_ahead::Selectable for #ty #wheres {
            type Fields = __Fields<#(#references),*>;
            const FIELDS: Self::Fields = __Fields {
                #(#idents: ::graph_core::look_ahead::FieldRef::new(#places),)*
            };
            const NAME: &'static ::core::primitive::str = #name;
            const NAMES: &'static [&'static ::core::primitive::str] = &[#(#names),*];
        }

        #innermost
    }
}

/// Implements `Selects` and `AbstractType` for an interface or a union.
pub(crate) fn abstract_type(target: &Target<'_>) -> TokenStream {
    let ty = target.ty;
    let (generics, _, wheres) = target.own_generics.split_for_impl();
    let innermost = innermost(target);
    quote! {
        #[automatically_derived]
        impl #generics ::graph_core::look_ahead::AbstractType for #ty #wheres {}

        #innermost
    }
}

/// Implements `Selects` for a type that is no wrapper.
fn innermost(target: &Target<'_>) -> TokenStream {
    let ty = target.ty;
    let (generics, _, wheres) = target.own_generics.split_for_impl();
    quote! {
        #[automatically_derived]
        impl #generics ::graph_core::look_ahead::Selects for #ty #wheres {
            type Type = Self;
        }
    }
}

/// Type of the reference to `field`.
fn reference(field: &Field) -> TokenStream {
    let arguments = field.arguments().map(|argument| owned(&argument.ty));
    let value: Type = if is_scalar(&field.ty) {
        syn::parse_quote!(())
    } else {
        owned(&unreferenced(&field.ty))
    };
    quote!(::graph_core::look_ahead::FieldRef<Self, (#(#arguments,)*), #value>)
}
