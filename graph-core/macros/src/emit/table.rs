//! `INFO`: what a type says about its fields.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::Type;
use syn::spanned::Spanned;

use crate::read::field::Field;
use crate::read::graph::Guard;
use crate::read::lifetimes::inferred;

/// The table of the type called `name`; `behind` is the type whose objects are registered for a field.
pub(crate) fn table(
    name: &str,
    guards: &[Guard],
    fields: &[Field],
    context: &TokenStream,
    behind: fn(&Type) -> TokenStream,
) -> TokenStream {
    let entries = fields.iter().map(|field| entry(field, context, behind));
    quote! {
        const INFO: &'static __graph::TypeInfo = &__graph::TypeInfo {
            name: #name,
            guards: &[#(#guards),*],
            fields: &[#(#entries),*],
        };
    }
}

fn entry(field: &Field, context: &TokenStream, behind: fn(&Type) -> TokenStream) -> TokenStream {
    let (name, is_async, plain) = (&field.name, field.is_async, field.marks.plain);
    let guards = &field.marks.guards;
    let rest = (!plain).then(|| {
        let arguments = arguments(field);
        let ty = behind(&inferred(&field.ty));
        // where the type is written: here the compiler tells that it is none of the graph's
        let register =
            quote_spanned!(field.ty.span()=> (&&&&&__graph::Tag::<#ty, #context>::NEW).register(registry));
        quote! {
            #arguments
            register: |registry| #register,
        }
    });
    quote! {
        __graph::FieldInfo {
            name: #name,
            is_async: #is_async,
            plain: #plain,
            guards: &[#(#guards),*],
            #rest
            ..__graph::FieldInfo::EMPTY
        }
    }
}

/// The names of the arguments, and how their tuple is made.
fn arguments(field: &Field) -> Option<TokenStream> {
    let (names, types): (Vec<_>, Vec<_>) = field.arguments().unzip();
    let places = 0..names.len();
    (!names.is_empty()).then(|| {
        quote! {
            args: &[#(#names),*],
            coerce: ::core::option::Option::Some(|values| {
                let arguments: (#(#types,)*) = (#(__graph::argument(values, #places)?,)*);
                ::core::result::Result::Ok(::std::sync::Arc::new(arguments))
            }),
        }
    })
}

/// The type that a resolver returns.
pub(crate) fn returned(ty: &Type) -> TokenStream {
    quote!(#ty)
}

/// The type of the events of a stream that a resolver returns.
pub(crate) fn streamed(ty: &Type) -> TokenStream {
    quote!(<#ty as ::juniper::ExtractTypeFromStream<_, ::juniper::DefaultScalarValue>>::Item)
}
