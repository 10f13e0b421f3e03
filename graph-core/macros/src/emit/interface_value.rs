//! Enum of the types that implement an interface, as juniper's attribute declares it.

use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident, quote};
use syn::punctuated::Punctuated;
use syn::{GenericParam, Generics, Ident, Token, TypePath, Visibility};

/// Enum `{alias}Enum`, its alias with the types, and a conversion from each type.
///
/// The enum is generic over the types of its variants, so that `Clone`, `Copy` and `Debug` are
/// derived only if all of them implement the trait.
pub(crate) fn interface_value(
    visibility: &Visibility,
    alias: &Ident,
    generics: &Generics,
    types: &[TypePath],
) -> TokenStream {
    let value = format_ident!("{alias}Enum");
    let idents: Vec<_> = types.iter().filter_map(variant).collect();
    let parameters: Vec<_> = (0..types.len()).map(|at| format_ident!("__I{at}")).collect();
    let (lifetimes, others): (Params, Params) = generics
        .params
        .clone()
        .into_iter()
        .partition(|parameter| matches!(parameter, GenericParam::Lifetime(_)));
    let (lifetime_names, other_names) = (names(&lifetimes), names(&others));
    let phantom = (!generics.params.is_empty()).then(|| phantom(generics));
    let (impl_generics, ty_generics, wheres) = generics.split_for_impl();
    let documentation = format!(
        "Value of the interface: an object of one of {} types.",
        types.len()
    );
    let lifetimes = lifetimes.iter();
    let others = others.iter();
    let alias_generics = names_only(generics);
    quote! {
        #[derive(::core::clone::Clone, ::core::marker::Copy, ::core::fmt::Debug)]
        #[doc = #documentation]
        #visibility enum #value<#(#lifetimes,)* #(#parameters,)* #(#others,)*> #wheres {
            #(#[doc(hidden)] #idents(#parameters),)*
            #phantom
        }

        #[doc = #documentation]
        #visibility type #alias #alias_generics =
            #value<#(#lifetime_names,)* #(#types,)* #(#other_names,)*>;

        #(
            #[automatically_derived]
            impl #impl_generics ::core::convert::From<#types> for #alias #ty_generics #wheres {
                fn from(value: #types) -> Self {
                    Self::#idents(value)
                }
            }
        )*
    }
}

type Params = Punctuated<GenericParam, Token![,]>;

/// Name of the variant for a type.
pub(crate) fn variant(ty: &TypePath) -> Option<&Ident> {
    ty.path.segments.last().map(|last| &last.ident)
}

/// Parameters without their bounds, which a type alias cannot have.
fn names_only(generics: &Generics) -> Option<TokenStream> {
    let parameters = generics.params.iter().map(|parameter| match parameter {
        GenericParam::Lifetime(lifetime) => lifetime.lifetime.to_token_stream(),
        GenericParam::Type(ty) => ty.ident.to_token_stream(),
        GenericParam::Const(constant) => {
            let (ident, ty) = (&constant.ident, &constant.ty);
            quote!(const #ident: #ty)
        }
    });
    (!generics.params.is_empty()).then(|| quote!(<#(#parameters),*>))
}

fn names(parameters: &Params) -> Vec<TokenStream> {
    let name = |parameter: &GenericParam| match parameter {
        GenericParam::Lifetime(lifetime) => lifetime.lifetime.to_token_stream(),
        GenericParam::Type(ty) => ty.ident.to_token_stream(),
        GenericParam::Const(constant) => constant.ident.to_token_stream(),
    };
    parameters.iter().map(name).collect()
}

/// Variant that uses the parameters of the interface.
fn phantom(generics: &Generics) -> TokenStream {
    let parameters = generics.params.iter().filter_map(|parameter| match parameter {
        GenericParam::Type(ty) => Some(ty.ident.to_token_stream()),
        GenericParam::Lifetime(lifetime) => {
            let lifetime = &lifetime.lifetime;
            Some(quote!(&#lifetime ()))
        }
        GenericParam::Const(_) => None,
    });
    quote! {
        #[doc(hidden)]
        __Phantom(#(
            ::core::marker::PhantomData<::core::sync::atomic::AtomicPtr<::std::boxed::Box<#parameters>>>
        ),*),
    }
}
