//! `#[derive(GraphInput)]`.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::spanned::Spanned;
use syn::{Attribute, Data, DeriveInput, Fields, LitStr};

use super::or_mistake;
use crate::emit::in_strict_scope;
use crate::emit::rules::checks;
use crate::read::field::is_ignored;
use crate::read::rename::Rename;
use crate::read::rules::Rules;
use crate::read::words::Word;

/// Expands to the implementation of `Validate`.
pub(crate) fn input(item: &DeriveInput) -> TokenStream {
    or_mistake(read(item))
}

fn read(item: &DeriveInput) -> syn::Result<TokenStream> {
    let words = Word::of(&item.attrs, "graphql")?;
    let rename = match words.iter().find(|word| word.is("rename_all")) {
        Some(word) => Rename::parse(&word.value("rename_all = \"camelCase\"")?)?,
        None => Rename::CamelCase,
    };
    let body = match &item.data {
        Data::Struct(data) => fields(item, &data.fields, rename)?,
        Data::Enum(data) => {
            let mut arms = Vec::new();
            for variant in &data.variants {
                arms.push(arm(variant, rename)?);
            }
            quote!(match self { #(#arms)* })
        }
        Data::Union(_) => return Err(syn::Error::new(item.ident.span(), SHAPE)),
    };
    let custom = Rules::of_type(&item.attrs)?.custom;
    let custom = custom.map(|function| quote!(__rules::custom(#function(self), faults);));
    let ident = &item.ident;
    let (generics, types, wheres) = item.generics.split_for_impl();
    Ok(in_strict_scope(&quote! {
        #[automatically_derived]
        #[allow(clippy::all, clippy::pedantic, deprecated, unused_variables, reason = "generated")]
        impl #generics ::graph_core::validate::Validate for #ident #types #wheres {
            fn validate(&self, faults: &mut ::graph_core::validate::Faults<'_>) {
                #body
                #custom
            }
        }
    }))
}

const SHAPE: &str = "derive it for a struct with named fields, or for the enum of a `@oneOf` input object";

fn fields(item: &DeriveInput, fields: &Fields, rename: Rename) -> syn::Result<TokenStream> {
    let Fields::Named(named) = fields else {
        return Err(syn::Error::new(item.ident.span(), SHAPE));
    };
    let mut all = Vec::new();
    for field in &named.named {
        let (Some(ident), false) = (&field.ident, is_skipped(&field.attrs)?) else {
            continue;
        };
        let name = name(&field.attrs)?.unwrap_or_else(|| rename.apply(ident));
        let rules = Rules::read(&field.attrs)?;
        all.push(checks(&name, &field.ty, &quote!(&self.#ident), &rules));
    }
    Ok(quote!(#(#all)*))
}

/// Arm of a variant, which is a field of a `@oneOf` input object.
fn arm(variant: &syn::Variant, rename: Rename) -> syn::Result<TokenStream> {
    let ident = &variant.ident;
    if is_skipped(&variant.attrs)? {
        return Ok(quote!(Self::#ident { .. } => {}));
    }
    let field = match &variant.fields {
        Fields::Unnamed(fields) if fields.unnamed.len() == 1 => fields.unnamed.first(),
        _ => None,
    };
    let field = field.ok_or_else(|| syn::Error::new(variant.span(), SHAPE))?;
    let value = format_ident!("__inner");
    let name = name(&variant.attrs)?.unwrap_or_else(|| rename.apply_to_variant(ident));
    let rules = Rules::read(&variant.attrs)?;
    let checks = checks(&name, &field.ty, &quote!(#value), &rules);
    Ok(quote!(Self::#ident(#value) => { #checks }))
}

/// Returns `true` if juniper ignores the field; its rules are refused.
fn is_skipped(attributes: &[Attribute]) -> syn::Result<bool> {
    let is_skipped = is_ignored(attributes)?;
    match Rules::read(attributes)?.at {
        Some(span) if is_skipped => Err(syn::Error::new(
            span,
            "the field is ignored: remove one of the attributes",
        )),
        _ => Ok(is_skipped),
    }
}

/// GraphQL name in the attributes.
fn name(attributes: &[Attribute]) -> syn::Result<Option<String>> {
    let words = Word::of(attributes, "graphql")?;
    let name = words.iter().find(|word| word.is("name"));
    name.map(|name| Ok(name.value::<LitStr>("name = \"..\"")?.value()))
        .transpose()
}
