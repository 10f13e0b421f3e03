//! Expansion of each attribute and derive.

pub(crate) mod block;
pub(crate) mod derive;
pub(crate) mod input;
pub(crate) mod interface;
pub(crate) mod union;

use proc_macro2::TokenStream;

/// Generated code, or a compile error at the mistake.
fn or_mistake(made: syn::Result<TokenStream>) -> TokenStream {
    made.unwrap_or_else(|mistake| mistake.into_compile_error())
}
