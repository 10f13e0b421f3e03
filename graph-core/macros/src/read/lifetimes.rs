//! Lifetimes of a resolver's signature that generated code must change.

use proc_macro2::Span;
use syn::visit_mut::{self, VisitMut};
use syn::{
    FnArg, GenericParam, Lifetime, LifetimeParam, ParenthesizedGenericArguments, Signature, Type, TypeFnPtr,
    TypeReference,
};

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

/// Names the elided lifetime of a return type, so that the signature can take one more reference.
pub(crate) fn name_elided(signature: &mut Signature) {
    if signature.receiver().is_some() {
        return;
    }
    let mut inputs = Elided::new(Lifetime::new("'__graph", Span::call_site()));
    for input in &mut signature.inputs {
        if let FnArg::Typed(input) = input {
            inputs.visit_type_mut(&mut input.ty);
        }
    }
    if inputs.named_any {
        let parameter = GenericParam::Lifetime(LifetimeParam::new(inputs.name.clone()));
        signature.generics.params.insert(0, parameter);
    }
    // an elided lifetime implies exactly one lifetime in the parameters
    let name = inputs.seen.unwrap_or(inputs.name);
    Elided::new(name).visit_return_type_mut(&mut signature.output);
}

/// Names the elided lifetimes.
struct Elided {
    name: Lifetime,
    named_any: bool,
    /// First named lifetime.
    seen: Option<Lifetime>,
}

impl Elided {
    fn new(name: Lifetime) -> Self {
        Self {
            name,
            named_any: false,
            seen: None,
        }
    }
}

impl VisitMut for Elided {
    fn visit_type_reference_mut(&mut self, reference: &mut TypeReference) {
        if reference.lifetime.is_none() {
            reference.lifetime = Some(self.name.clone());
            self.named_any = true;
        }
        visit_mut::visit_type_reference_mut(self, reference);
    }

    fn visit_lifetime_mut(&mut self, lifetime: &mut Lifetime) {
        if lifetime.ident == "_" {
            *lifetime = self.name.clone();
            self.named_any = true;
        } else if lifetime.ident != "static" && *lifetime != self.name {
            self.seen.get_or_insert(lifetime.clone());
        }
    }

    // function types have lifetimes of their own
    fn visit_type_fn_ptr_mut(&mut self, _: &mut TypeFnPtr) {}

    fn visit_parenthesized_generic_arguments_mut(&mut self, _: &mut ParenthesizedGenericArguments) {}
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

    fn check(mut signature: Signature, expected: &Signature) {
        name_elided(&mut signature);
        assert_eq!(quote!(#signature).to_string(), quote!(#expected).to_string());
    }

    #[test]
    fn a_lifetime_that_is_left_out_gets_a_name() {
        check(
            parse_quote!(fn f(context: &Context, id: i32) -> Option<&str>),
            &parse_quote!(fn f<'__graph>(context: &'__graph Context, id: i32) -> Option<&'__graph str>),
        );
        check(
            parse_quote!(fn f<T>(c: Cow<'_, str>, g: fn(&str)) -> Cow<'_, str>),
            &parse_quote!(fn f<'__graph, T>(c: Cow<'__graph, str>, g: fn(&str)) -> Cow<'__graph, str>),
        );
        check(
            parse_quote!(fn f<'c>(context: &'c Context) -> &str),
            &parse_quote!(fn f<'c>(context: &'c Context) -> &'c str),
        );
    }

    #[test]
    fn a_receiver_lends_its_own() {
        let signature: Signature = parse_quote!(fn f(&self, context: &Context) -> &str);
        check(signature.clone(), &signature);
    }

    #[test]
    fn nothing_is_named_where_nothing_is_left_out() {
        let signature: Signature = parse_quote!(fn f(id: i32) -> &'static str);
        check(signature.clone(), &signature);
    }
}
