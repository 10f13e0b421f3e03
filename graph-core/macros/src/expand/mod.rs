//! Expansion of each attribute and derive.

pub(crate) mod block;
pub(crate) mod derive;
pub(crate) mod input;
pub(crate) mod interface;
pub(crate) mod union;

use proc_macro2::TokenStream;
use quote::quote;
use syn::parse::Parse;
use syn::spanned::Spanned;
use syn::{Item, ItemEnum, ItemImpl};

/// Item that an attribute is for.
pub(crate) trait Expected: Parse {
    /// Message for another item, with the remedy.
    const INSTEAD: &str;
}

impl Expected for ItemImpl {
    const INSTEAD: &str = "write the attribute above an `impl` block, whose methods are the fields; a struct whose fields are the fields of the object has `#[derive(GraphObject)]`";
}

impl Expected for ItemEnum {
    const INSTEAD: &str =
        "write the attribute above an enum with an object type in each variant: `User(User)`";
}

/// Parses the item of an attribute, or returns it with a compile error.
pub(crate) fn parse<T: Expected>(item: TokenStream) -> Result<T, TokenStream> {
    syn::parse2(item.clone()).map_err(|mistake| match syn::parse2::<Item>(item) {
        Ok(Item::Impl(_) | Item::Enum(_)) | Err(_) => mistake.into_compile_error(),
        Ok(mut other) => {
            let mistake = syn::Error::new(other.span(), T::INSTEAD).into_compile_error();
            interface::strip(&mut other);
            quote!(#other #mistake)
        }
    })
}

/// Generated code, or a compile error at the mistake.
fn or_mistake(made: syn::Result<TokenStream>) -> TokenStream {
    made.unwrap_or_else(|mistake| mistake.into_compile_error())
}
