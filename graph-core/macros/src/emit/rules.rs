//! Checks of the rules of a value.

use proc_macro2::TokenStream;
use quote::{format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Ident, Type};

use crate::read::rules::Rules;
use crate::read::scalar::{first_argument, is_scalar};

/// Statement that validates `value`, a reference to a `ty` called `name` in the schema.
///
/// The statement uses the variable `faults`.
pub(crate) fn checks(name: &str, ty: &Type, value: &TokenStream, rules: &Rules) -> TokenStream {
    if rules.at.is_none() && is_scalar(ty) {
        return TokenStream::new();
    }
    let bounds = rules.bounds.iter().map(|bound| {
        let (rule, limit) = (format_ident!("{}", bound.name), &bound.value);
        let limit = match bound.name {
            "min" | "max" => quote_spanned!(limit.span()=> &(#limit)),
            _ => quote!(#limit),
        };
        let value = quote!(__value);
        // spanned at the type, so that the compiler reports an unsuitable type there
        let value = quote_spanned!(ty.span()=> ::core::convert::identity(#value));
        let rule = quote_spanned!(ty.span()=> __rules::#rule);
        quote!(#rule(#value, #limit, faults);)
    });
    let custom = rules.custom.as_ref().map(|function| {
        // the span of a function that a host's macro wrote would hide the variable
        let value = quote!(__value);
        let faults = quote!(faults);
        let call = quote_spanned!(function.span()=> __rules::custom(#function(#value), #faults));
        match wrapper(ty).map(Ident::to_string).as_deref() {
            Some("Option") => quote! {
                if let ::core::option::Option::Some(__value) = __value {
                    #call;
                }
            },
            Some("Nullable") => quote! {
                if let ::juniper::Nullable::Some(__value) = __value {
                    #call;
                }
            },
            _ => quote!(#call;),
        }
    });
    let value_of = quote!(__value);
    // spanned at the type, so that the compiler reports there that it is not validated
    let probe = quote_spanned!(ty.span()=> (&&&__graph::Probe(#value_of)).check(faults););
    // juniper has no output for `Nullable`, by which leaves are known
    let probe = match wrapper(ty).is_some_and(|name| name == "Nullable") {
        true => quote!(if let ::juniper::Nullable::Some(__value) = __value { #probe }),
        false => probe,
    };
    quote! {
        faults.field(#name, |faults| {
            let __value = #value;
            #(#bounds)*
            #custom
            #probe
        });
    }
}

/// The type `T` of `Nullable<T>`, else the type itself.
pub(crate) fn without_nullable(ty: &Type) -> &Type {
    match ty {
        Type::Path(path) => path.path.segments.last().filter(|last| last.ident == "Nullable"),
        _ => None,
    }
    .and_then(|last| first_argument(&last.arguments))
    .unwrap_or(ty)
}

/// Name of the outermost generic type.
fn wrapper(ty: &Type) -> Option<&Ident> {
    match ty {
        Type::Path(path) => path.path.segments.last().map(|last| &last.ident),
        Type::Paren(inner) => wrapper(&inner.elem),
        Type::Group(inner) => wrapper(&inner.elem),
        _ => None,
    }
}
