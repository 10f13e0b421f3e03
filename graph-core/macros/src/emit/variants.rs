//! `Output` of an enum with an object type in each variant: a union, or the value of an interface.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::Ident;

use super::{Target, write_async_parameters, write_parameters};

/// Variant with its name and the type of its only field.
pub(crate) struct Variant<'a> {
    pub(crate) ident: &'a Ident,
    pub(crate) ty: &'a dyn ToTokens,
}

/// Implements `Output`; `rest` if the enum has other variants.
pub(crate) fn variants(target: &Target<'_>, variants: &[Variant<'_>], rest: bool) -> TokenStream {
    let context = &target.context;
    let (write, write_async) = (write_parameters(context), write_async_parameters(context));
    let types = variants.iter().map(|variant| variant.ty);
    let written = arms(
        variants,
        context,
        &quote!(write(value, field, cx, path, out)),
        rest,
    );
    let pending = arms(
        variants,
        context,
        &quote!(write_async(value, field, cx, path, seg, pend)),
        rest,
    );
    let body = quote! {
        fn register(registry: &mut __graph::Registry) {
            #(<#types as __graph::Output<#context>>::register(registry);)*
        }

        #[inline]
        fn write(#write) -> __graph::WriteResult {
            match self { #written }
        }

        #[inline]
        fn write_async<'p>(#write_async) -> __graph::WriteResult {
            match self { #pending }
        }
    };
    target.implement(&quote!(Output), &body)
}

fn arms(variants: &[Variant<'_>], context: &TokenStream, call: &TokenStream, rest: bool) -> TokenStream {
    let arms = variants.iter().map(
        |Variant { ident, ty }| quote!(Self::#ident(value) => <#ty as __graph::Output<#context>>::#call,),
    );
    let rest = rest.then(|| quote!(_ => __graph::no_such_field(field, cx),));
    quote!(#(#arms)* #rest)
}
