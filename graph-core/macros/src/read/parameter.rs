//! Parameters of a resolver: arguments and context.

use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{LitStr, Pat, PatType, Type};

use super::rename::Rename;
use super::words::Word;

/// Parameter of a resolver.
pub(crate) enum Parameter {
    /// Argument with its GraphQL name and Rust type.
    Argument(String, Box<Type>),
    /// Context, or a part of it through `FromContext`.
    Context(Box<Type>),
}

impl Parameter {
    /// Classifies a parameter as juniper does: by `#[graphql(..)]`, or else by its name.
    pub(crate) fn read(parameter: &PatType, rename: Rename) -> syn::Result<Self> {
        let words = Word::of(&parameter.attrs, "graphql")?;
        let has = |names: &[&str]| words.iter().any(|word| names.iter().any(|name| word.is(name)));
        let pattern = match &*parameter.pat {
            Pat::Ident(pattern) => Some(&pattern.ident),
            _ => None,
        };
        let called = pattern.map(|name| name.unraw().to_string()).unwrap_or_default();
        if has(&["context", "ctx", "Context"])
            || matches!(called.as_str(), "context" | "ctx" | "_context" | "_ctx")
        {
            return Ok(Self::Context(Box::new(referred(&parameter.ty).clone())));
        }
        if has(&["executor", "exec"]) || matches!(called.as_str(), "executor" | "_executor") {
            return Err(syn::Error::new(
                parameter.span(),
                "only juniper has an executor: take what you need from the context",
            ));
        }
        let name = match (words.iter().find(|word| word.is("name")), pattern) {
            (Some(name), _) => name.value::<LitStr>("name = \"..\"")?.value(),
            (None, Some(name)) => rename.apply(name),
            (None, None) => {
                return Err(syn::Error::new(
                    parameter.pat.span(),
                    "name the argument: `#[graphql(name = \"..\")]`",
                ));
            }
        };
        Ok(Self::Argument(name, parameter.ty.clone()))
    }
}

/// Target of a reference type.
fn referred(ty: &Type) -> &Type {
    match ty {
        Type::Reference(reference) => referred(&reference.elem),
        Type::Paren(inner) => referred(&inner.elem),
        Type::Group(inner) => referred(&inner.elem),
        ty => ty,
    }
}

#[cfg(test)]
mod tests {
    use quote::quote;
    use syn::{FnArg, Signature, parse_quote};

    use super::*;

    #[expect(clippy::needless_pass_by_value, reason = "`parse_quote!` makes values")]
    fn read(signature: Signature) -> Result<Vec<String>, String> {
        let parameters = signature.inputs.iter().filter_map(|input| match input {
            FnArg::Typed(parameter) => Some(parameter),
            FnArg::Receiver(_) => None,
        });
        let show = |parameter: &PatType| match Parameter::read(parameter, Rename::CamelCase) {
            Ok(Parameter::Argument(name, ty)) => Ok(format!("{name}: {}", quote!(#ty))),
            Ok(Parameter::Context(ty)) => Ok(format!("context {}", quote!(#ty))),
            Err(error) => Err(error.to_string()),
        };
        parameters.map(show).collect()
    }

    #[test]
    fn parameters_are_classified_as_by_juniper() {
        let read = read(parse_quote!(fn f(
            &self,
            first_name: i32,
            #[graphql(name = "After")] _after: Option<String>,
            #[graphql(default = 3)] mut r#type: i32,
            #[graphql(name = "pair")] (a, b): Pair,
            _ctx: &Context,
            #[graphql(context)] part: &(Database),
        )));
        assert_eq!(
            read.unwrap(),
            [
                "firstName: i32",
                "After: Option < String >",
                "type: i32",
                "pair: Pair",
                "context Context",
                "context Database",
            ]
        );
    }

    #[test]
    fn a_pattern_without_a_name_is_refused() {
        assert!(read(parse_quote!(fn f((a, b): Pair))).is_err());
    }

    #[test]
    fn refuses_executor_of_juniper() {
        assert!(read(parse_quote!(fn f(executor: &Executor<'_, '_, Context>))).is_err());
        assert!(read(parse_quote!(fn f(#[graphql(exec)] e: &Executor<'_, '_, Context>))).is_err());
    }
}
