//! Each attribute and derive from what the host wrote to what the compiler gets.

pub(crate) mod block;
pub(crate) mod derive;
pub(crate) mod interface;
pub(crate) mod union;

use proc_macro2::TokenStream;

/// What was made, or the mistake where it was made.
fn or_mistake(made: syn::Result<TokenStream>) -> TokenStream {
    made.unwrap_or_else(|mistake| mistake.into_compile_error())
}
