//! Lifetimes of a resolver's signature that generated code must change.

use syn::visit_mut::{VisitMut, visit_type_mut};
use syn::{Lifetime, Type, parse_quote};

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

/// Replaces all lifetimes of `ty` by `'static`, for use outside of a function.
pub(crate) fn owned(ty: &Type) -> Type {
    let mut ty = ty.clone();
    Owned.visit_type_mut(&mut ty);
    ty
}

struct Owned;

impl VisitMut for Owned {
    fn visit_lifetime_mut(&mut self, lifetime: &mut Lifetime) {
        *lifetime = Lifetime::new("'static", lifetime.span());
    }
}

/// Replaces the references of `ty` by their targets, and slices by vectors, which have a size.
pub(crate) fn unreferenced(ty: &Type) -> Type {
    let mut ty = ty.clone();
    Unreferenced.visit_type_mut(&mut ty);
    ty
}

struct Unreferenced;

impl VisitMut for Unreferenced {
    fn visit_type_mut(&mut self, ty: &mut Type) {
        while let Type::Reference(reference) = ty {
            *ty = (*reference.elem).clone();
        }
        if let Type::Slice(list) = ty {
            let item = &list.elem;
            *ty = parse_quote!(::std::vec::Vec<#item>);
        }
        visit_type_mut(self, ty);
    }
}

#[cfg(test)]
mod tests {
    use quote::quote;

    use super::*;

    #[test]
    fn named_lifetimes_are_left_to_inference() {
        let ty = inferred(&parse_quote!(Result<Vec<&'a User<'b>>, Error<'static>>));
        let expected: Type = parse_quote!(Result<Vec<&'_ User<'_>>, Error<'static>>);
        assert_eq!(quote!(#ty).to_string(), quote!(#expected).to_string());
    }

    #[test]
    fn references_and_lifetimes_are_removed() {
        let ty = owned(&unreferenced(&parse_quote!(
            Result<&'a [&User<'_>], Cow<'b, str>>
        )));
        let expected: Type = parse_quote!(Result<::std::vec::Vec<User<'static>>, Cow<'static, str>>);
        assert_eq!(quote!(#ty).to_string(), quote!(#expected).to_string());
    }
}
