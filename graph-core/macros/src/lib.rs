#![doc = include_str!("../README.md")]

mod emit;
mod expand;
mod read;

use proc_macro::TokenStream;
use syn::{DeriveInput, Item, ItemEnum, ItemImpl, parse_macro_input};

/// An object type: fields by the methods of an `impl` block.
#[proc_macro_attribute]
pub fn graph_object(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let block = parse_macro_input!(item as ItemImpl);
    expand::block::object(&arguments.into(), block).into()
}

/// A subscription root: streams by the methods of an `impl` block.
#[proc_macro_attribute]
pub fn graph_subscription(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let block = parse_macro_input!(item as ItemImpl);
    expand::block::subscription(&arguments.into(), block).into()
}

/// An interface, by a trait.
#[proc_macro_attribute]
pub fn graph_interface(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let item = parse_macro_input!(item as Item);
    expand::interface::interface(&arguments.into(), &item).into()
}

/// A union, by an enum with an object type in each variant.
#[proc_macro_attribute]
pub fn graph_union(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let item = parse_macro_input!(item as ItemEnum);
    expand::union::union(&arguments.into(), &item).into()
}

/// The values of an enum, beside `#[derive(juniper::GraphQLEnum)]`.
#[proc_macro_derive(GraphEnum, attributes(graphql))]
pub fn graph_enum(item: TokenStream) -> TokenStream {
    let item = parse_macro_input!(item as DeriveInput);
    expand::derive::enumeration(&item).into()
}

/// An object type by the fields of a struct, beside `#[derive(juniper::GraphQLObject)]`.
#[proc_macro_derive(GraphObject, attributes(graph, graphql))]
pub fn graph_object_derive(item: TokenStream) -> TokenStream {
    let item = parse_macro_input!(item as DeriveInput);
    expand::derive::object(&item).into()
}
