//! `#[graph_union]`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::spanned::Spanned;
use syn::{Fields, ItemEnum};

use super::interface::unmarked;
use crate::emit::schema::Kind;
use crate::emit::table::Table;
use crate::emit::variants::{Variant, variants};
use crate::emit::{Target, in_scope};
use crate::read::block::remove;
use crate::read::item::{ItemWords, UNION, context, derives, underive};
use crate::read::name::check_unique;
use crate::read::words::Word;

/// Expands to the enum and the implementations of the union.
pub(crate) fn union(arguments: &TokenStream, item: &ItemEnum) -> TokenStream {
    let made = refuse(item).and_then(|()| read(arguments, item));
    let made = made.unwrap_or_else(|mistake| {
        let mistake = mistake.into_compile_error();
        let stub = stub(arguments, item);
        quote!(#mistake #stub)
    });
    let mut item = item.clone();
    // its errors would follow ours
    underive(&mut item.attrs, DERIVE);
    remove(&mut item.attrs, "graph");
    remove(&mut item.attrs, "graphql");
    for variant in &mut item.variants {
        remove(&mut variant.attrs, "graphql");
    }
    quote!(#item #made)
}

/// Derive of juniper that the attribute replaces.
const DERIVE: &str = "GraphQLUnion";

fn refuse(item: &ItemEnum) -> syn::Result<()> {
    if let Some(span) = derives(&item.attrs, DERIVE) {
        let message = "remove `GraphQLUnion`: the attribute of graph-core replaces it";
        return Err(syn::Error::new(span, message));
    }
    unmarked(
        &item.attrs,
        "mark the object types instead: a union has no resolvers",
    )
}

fn read(arguments: &TokenStream, item: &ItemEnum) -> syn::Result<TokenStream> {
    let words = ItemWords::read(arguments, &item.attrs, &UNION)?;
    if let Some(span) = words.resolvers {
        return Err(syn::Error::new(span, ONLY_VARIANTS));
    }
    if item.variants.is_empty() {
        return Err(syn::Error::new(item.ident.span(), ONLY_VARIANTS));
    }
    let variants_of = item
        .variants
        .iter()
        .map(variant)
        .collect::<syn::Result<Vec<_>>>()?;
    let types = variants_of.iter().map(|variant| {
        let ty = variant.ty;
        quote!(#ty).to_string()
    });
    let types: Vec<_> = types.collect();
    let spanned = item.variants.iter().map(Spanned::span);
    let remedy = "a member of a union has one variant";
    check_unique(types.iter().map(String::as_str).zip(spanned), remedy)?;
    let (ident, (_, generics, _)) = (&item.ident, item.generics.split_for_impl());
    let ty = quote!(#ident #generics);
    let target = Target::new(&ty, &item.generics, words.context.as_ref());
    let table = Table {
        name: &words.name(ident)?,
        description: words.description.as_deref(),
        guards: &[],
        interfaces: &[],
        members: variants_of.iter().map(|variant| variant.ty).collect(),
        fields: &[],
    };
    Ok(in_scope(&variants(
        &target,
        &table,
        Kind::Union,
        &variants_of,
        false,
    )))
}

/// The union without members: otherwise each use of the union would be an error, too.
fn stub(arguments: &TokenStream, item: &ItemEnum) -> TokenStream {
    let (ident, (_, generics, _)) = (&item.ident, item.generics.split_for_impl());
    let ty = quote!(#ident #generics);
    let context = context(arguments, &item.attrs);
    let target = Target::new(&ty, &item.generics, context.as_ref());
    let table = Table {
        name: &ident.to_string(),
        description: None,
        guards: &[],
        interfaces: &[],
        members: Vec::new(),
        fields: &[],
    };
    in_scope(&variants(&target, &table, Kind::Union, &[], true))
}

const ONLY_VARIANTS: &str =
    "a union of graph-core has an object type in each variant, and no functions: write `User(User)`";

fn variant(variant: &syn::Variant) -> syn::Result<Variant<'_>> {
    if let Some(word) = Word::of(&variant.attrs, "graphql")?.first() {
        return Err(syn::Error::new(word.name.span(), ONLY_VARIANTS));
    }
    match &variant.fields {
        Fields::Unnamed(fields) if fields.unnamed.len() == 1 => fields.unnamed.first(),
        _ => None,
    }
    .map(|field| Variant {
        ident: &variant.ident,
        ty: &field.ty,
    })
    .ok_or_else(|| syn::Error::new(variant.span(), ONLY_VARIANTS))
}
