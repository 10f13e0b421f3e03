//! `Output` of an enum without fields: the quoted names of its values.

use proc_macro2::TokenStream;
use quote::quote;
use syn::Ident;

use super::{Target, write_parameters};

/// Implements `Output`; a `None` is a value that juniper ignores.
pub(crate) fn enumeration(target: &Target<'_>, values: &[(&Ident, Option<String>)]) -> TokenStream {
    let parameters = write_parameters(&target.context);
    let arms = values.iter().map(|(ident, name)| match name {
        Some(name) => {
            let quoted = format!("\"{name}\"");
            quote!(Self::#ident => #quoted,)
        }
        None => quote!(Self::#ident { .. } => return __graph::no_such_value(field, cx, path),),
    });
    let body = quote! {
        type Anchor = ();

        fn register(_: &mut __graph::Registry) {}

        #[inline]
        fn write(#parameters) -> __graph::WriteResult {
            let name: &'static str = match self { #(#arms)* };
            out.extend_from_slice(name.as_bytes());
            ::core::result::Result::Ok(())
        }
    };
    target.implement(&quote!(Output), &body)
}
