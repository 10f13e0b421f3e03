//! Enum with an object type in each variant: a union, or the value of an interface.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote, quote_spanned};
use syn::Ident;
use syn::spanned::Spanned;

use super::anchor::{anchor, declaration};
use super::schema::{Kind, schema};
use super::selectable::abstract_type;
use super::table::{self, Table};
use super::{Target, write_async_parameters, write_parameters};

/// Variant with its name and the type of its only field.
pub(crate) struct Variant<'a> {
    pub(crate) ident: &'a Ident,
    pub(crate) ty: &'a dyn ToTokens,
}

/// Implementations for an enum with the variants `listed`; `rest` if it has other variants.
pub(crate) fn variants(
    target: &Target<'_>,
    table: &Table<'_>,
    kind: Kind,
    listed: &[Variant<'_>],
    rest: bool,
) -> TokenStream {
    let info = table.info(target, table::returned);
    let info = target.implement(&quote!(Abstract), &info);
    let output = output(target, listed, rest);
    let schema = schema(target, table.name, kind);
    let anchor = anchor(target, table, table::returned, &declaration(&target.context));
    let selection = abstract_type(target);
    quote!(#info #output #schema #anchor #selection)
}

fn output(target: &Target<'_>, variants: &[Variant<'_>], rest: bool) -> TokenStream {
    let context = &target.context;
    let (write, write_async) = (write_parameters(context), write_async_parameters(context));
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
        type Anchor = Self;

        fn register(registry: &mut __graph::Registry) {
            registry.members::<#context, Self>();
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
    let arms = variants.iter().map(|Variant { ident, ty }| {
        let output = quote_spanned!(ty.span()=> <#ty as __graph::Output<#context>>);
        quote!(Self::#ident(value) => #output::#call,)
    });
    let rest = rest.then(|| quote!(_ => __graph::no_such_field(field, cx),));
    quote!(#(#arms)* #rest)
}
