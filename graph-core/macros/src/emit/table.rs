//! `INFO`: the constant table of a type.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::Type;
use syn::spanned::Spanned;

use crate::read::field::Field;
use crate::read::graph::Guard;
use crate::read::lifetimes::inferred;

/// Table of the type `name`; `behind` maps a field's type to the type to register.
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
    let (name, is_async) = (&field.name, field.is_async);
    let guards = &field.marks.guards;
    let arguments = arguments(field);
    let ty = behind(&inferred(&field.ty));
    // spanned at the type, so that the compiler reports an unsuitable type there
    let register =
        quote_spanned!(field.ty.span()=> (&&&&&__graph::Tag::<#ty, #context>::NEW).register(registry));
    quote! {
        __graph::FieldInfo {
            name: #name,
            is_async: #is_async,
            guards: &[#(#guards),*],
            #arguments
            register: |registry| #register,
            ..__graph::FieldInfo::EMPTY
        }
    }
}

/// Names of the arguments, and the coercion to their tuple.
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

/// Return type of a resolver.
pub(crate) fn returned(ty: &Type) -> TokenStream {
    quote!(#ty)
}

/// Item type of the stream that a resolver returns.
pub(crate) fn streamed(ty: &Type) -> TokenStream {
    quote!(<#ty as ::juniper::ExtractTypeFromStream<_, ::juniper::DefaultScalarValue>>::Item)
}
