//! `#[derive(GraphObject)]` and `#[derive(GraphEnum)]`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::spanned::Spanned;
use syn::{Data, DeriveInput, Fields, LitStr, Variant};

use super::or_mistake;
use crate::emit::call::From;
use crate::emit::selectable::selectable;
use crate::emit::table::Table;
use crate::emit::{Target, enumeration as emit_enumeration, in_scope, object as emit_object};
use crate::read::deprecated::refuse_unread;
use crate::read::field::{Field, check, is_ignored};
use crate::read::graph::Marks;
use crate::read::item::{ItemWords, OBJECT, context};
use crate::read::rename::Rename;
use crate::read::words::Word;

/// Expands to the implementations of the object type.
pub(crate) fn object(item: &DeriveInput) -> TokenStream {
    read_object(item).unwrap_or_else(|mistake| {
        let mistake = mistake.into_compile_error();
        let stub = stub_object(item);
        quote!(#mistake #stub)
    })
}

/// The type without fields: otherwise each use of the type would be an error, too.
fn stub_object(item: &DeriveInput) -> TokenStream {
    let (ident, (_, generics, _)) = (&item.ident, item.generics.split_for_impl());
    let ty = quote!(#ident #generics);
    let context = context(&TokenStream::new(), &item.attrs);
    let target = Target::new(&ty, &item.generics, context.as_ref());
    let table = Table {
        name: &ident.to_string(),
        description: None,
        guards: &[],
        interfaces: &[],
        members: Vec::new(),
        fields: &[],
    };
    in_scope(&emit_object::object(&target, &table, From::Struct))
}

fn read_object(item: &DeriveInput) -> syn::Result<TokenStream> {
    let Data::Struct(data) = &item.data else {
        return Err(syn::Error::new(
            item.ident.span(),
            "derive it for a struct; an enum has `#[derive(GraphQLEnum, GraphEnum)]`, and a union `#[graph_union]`",
        ));
    };
    let named = match &data.fields {
        Fields::Named(named) => named,
        Fields::Unnamed(_) => {
            let message = "name the fields of the struct: `struct Money { amount: i32 }`";
            return Err(syn::Error::new(item.ident.span(), message));
        }
        Fields::Unit => {
            let message =
                "a struct without fields has methods: write `#[graph_object]` above its `impl` block";
            return Err(syn::Error::new(item.ident.span(), message));
        }
    };
    let words = ItemWords::read(&TokenStream::new(), &item.attrs, &OBJECT)?;
    let rename = words.rename.unwrap_or(Rename::CamelCase);
    let mut fields = Vec::new();
    for field in &named.named {
        fields.extend(Field::of_struct(field, rename)?);
    }
    check(&fields, item.ident.span())?;
    let (ident, (_, generics, _)) = (&item.ident, item.generics.split_for_impl());
    let ty = quote!(#ident #generics);
    let target = Target::new(&ty, &item.generics, words.context.as_ref());
    let table = Table {
        name: &words.name(ident)?,
        description: words.description.as_deref(),
        guards: &Marks::of_type(&item.attrs)?,
        interfaces: &words.interfaces,
        members: Vec::new(),
        fields: &fields,
    };
    let selectable = words.look_ahead.then(|| selectable(&target, &table));
    let object = emit_object::object(&target, &table, From::Struct);
    Ok(in_scope(&quote!(#object #selectable)))
}

/// Expands to the executor's enum values.
pub(crate) fn enumeration(item: &DeriveInput) -> TokenStream {
    or_mistake(read_enumeration(item))
}

fn read_enumeration(item: &DeriveInput) -> syn::Result<TokenStream> {
    let Data::Enum(data) = &item.data else {
        return Err(syn::Error::new(item.ident.span(), "derive it for an enum"));
    };
    let words = Word::of(&item.attrs, "graphql")?;
    let rename = match words.iter().find(|word| word.is("rename_all")) {
        Some(word) => Rename::parse(&word.value("rename_all = \"SCREAMING_SNAKE_CASE\"")?)?,
        None => Rename::ScreamingSnakeCase,
    };
    let mut values = Vec::new();
    for variant in &data.variants {
        values.push((&variant.ident, value(variant, rename)?));
    }
    let (ident, (_, generics, _)) = (&item.ident, item.generics.split_for_impl());
    let ty = quote!(#ident #generics);
    let target = Target::new(&ty, &item.generics, None);
    Ok(in_scope(&emit_enumeration::enumeration(&target, &values)))
}

/// GraphQL name of a value; `None` if juniper ignores it.
fn value(variant: &Variant, rename: Rename) -> syn::Result<Option<String>> {
    let words = Word::of(&variant.attrs, "graphql")?;
    if is_ignored(&variant.attrs)? {
        return Ok(None);
    }
    refuse_unread(&variant.attrs)?;
    if !variant.fields.is_empty() {
        return Err(syn::Error::new(
            variant.fields.span(),
            "the value of an enum cannot have fields; for an enum of object types use `#[graph_union]`",
        ));
    }
    match words.iter().find(|word| word.is("name")) {
        Some(name) => Ok(Some(name.value::<LitStr>("name = \"..\"")?.value())),
        None => Ok(Some(rename.apply(&variant.ident))),
    }
}
