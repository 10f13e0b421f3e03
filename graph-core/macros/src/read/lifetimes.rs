//! Lifetimes of a resolver's signature that generated code must change.

use syn::visit_mut::VisitMut;
use syn::{Lifetime, Type};

/// Replaces named lifetimes of `ty` by `'_`, for use inside a function.
pub(crate) fn inferred(ty: &Type) -> Type {
    let mut ty = ty.clone();
    Inferred.visit_type_mut(&mut ty);
    ty
}

struct Inferred;

impl VisitMut for Inferred {
    fn visit_lifetime_mut(&mut self, lifetime: &mut Lifetime) {
        if lifetime.ident != "static" {
            *lifetime = Lifetime::new("'_", lifetime.span());
        }
    }
}

#[cfg(test)]
mod tests {
    use quote::quote;
    use syn::parse_quote;

    use super::*;

    #[test]
    fn named_lifetimes_are_left_to_inference() {
        let ty = inferred(&parse_quote!(Result<Vec<&'a User<'b>>, Error<'static>>));
        let expected: Type = parse_quote!(Result<Vec<&'_ User<'_>>, Error<'static>>);
        assert_eq!(quote!(#ty).to_string(), quote!(#expected).to_string());
    }
}
