//! Parameters of a resolver: arguments, context and look-ahead.

use proc_macro2::Span;
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Expr, LitStr, Pat, PatType, Type};

use super::deprecated::{Deprecation, deprecation};
use super::description::description;
use super::rename::Rename;
use super::rules::Rules;
use super::words::{Word, refuse_unknown};
use super::{foreign, name};

/// Parameter of a resolver.
pub(crate) enum Parameter {
    Argument(Box<Argument>),
    /// Context, or a part of it through `FromContext`.
    Context(Box<Type>),
    /// Selection below the field, by value or by reference.
    LookAhead(Box<Type>),
}

/// Argument of a field.
pub(crate) struct Argument {
    /// GraphQL name.
    pub(crate) name: String,
    pub(crate) ty: Type,
    pub(crate) description: Option<String>,
    pub(crate) deprecated: Deprecation,
    pub(crate) default: Option<Default>,
    pub(crate) rules: Rules,
}

/// Default value of an argument.
pub(crate) enum Default {
    /// `default`: that of Rust.
    Own,
    /// `default = ..`.
    Value(Box<Expr>),
}

/// Arguments of juniper's attribute on an argument of a field.
const ARGUMENT: [&str; 5] = ["name", "description", "desc", "default", "deprecated"];

/// Arguments of juniper's attribute on the context.
const CONTEXT: [&str; 3] = ["context", "ctx", "Context"];

impl Parameter {
    /// The argument, unless the parameter is the context or the look-ahead.
    pub(crate) fn argument(&self) -> Option<&Argument> {
        match self {
            Self::Argument(argument) => Some(argument),
            Self::Context(_) | Self::LookAhead(_) => None,
        }
    }

    /// Classifies a parameter as juniper does: by `#[graphql(..)]`, or else by its name. The
    /// look-ahead is known by its type.
    pub(crate) fn read(parameter: &PatType, rename: Rename) -> syn::Result<Self> {
        let words = Word::of(&parameter.attrs, "graphql")?;
        let rules = Rules::read(&parameter.attrs)?;
        let has = |names: &[&str]| words.iter().any(|word| names.iter().any(|name| word.is(name)));
        let pattern = match &*parameter.pat {
            Pat::Ident(pattern) => Some(&pattern.ident),
            _ => None,
        };
        let called = pattern.map(|name| name.unraw().to_string()).unwrap_or_default();
        if has(&CONTEXT) || matches!(called.as_str(), "context" | "ctx" | "_context" | "_ctx") {
            return Self::context(parameter, &words, rules.at);
        }
        if has(&["executor", "exec"]) || matches!(called.as_str(), "executor" | "_executor") {
            return Err(syn::Error::new(
                parameter.span(),
                "only juniper has an executor: write `look_ahead: LookAhead<'_, T>` for the selection, and take the rest from the context",
            ));
        }
        if is_look_ahead(referred(&parameter.ty)) {
            if let Some(span) = rules.at.or_else(|| words.first().map(|word| word.name.span())) {
                return Err(syn::Error::new(
                    span,
                    "the look-ahead is no argument: remove the attribute",
                ));
            }
            return Ok(Self::LookAhead(parameter.ty.clone()));
        }
        refuse_unknown(&words, &ARGUMENT)?;
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
        name::check(&name, parameter.pat.span())?;
        refuse_reference(&parameter.ty)?;
        foreign::refuse(&parameter.ty)?;
        Ok(Self::Argument(Box::new(Argument {
            name,
            ty: (*parameter.ty).clone(),
            // parameters have no documentation comments
            description: description(&words, &[])?,
            deprecated: deprecation(&words, &parameter.attrs)?,
            rules,
            default: words
                .iter()
                .find(|word| word.is("default"))
                .map(default)
                .transpose()?,
        })))
    }

    /// The context; `rules` is the position of an attribute that only arguments have.
    fn context(parameter: &PatType, words: &[Word], rules: Option<Span>) -> syn::Result<Self> {
        refuse_unknown(words, &CONTEXT)?;
        let mistake = match rules {
            Some(span) => (span, "the context is no argument: remove `validate`"),
            None if is_shared_reference(&parameter.ty) => {
                return Ok(Self::Context(Box::new(referred(&parameter.ty).clone())));
            }
            None => (
                parameter.ty.span(),
                "take the context by reference: `context: &Context`",
            ),
        };
        Err(syn::Error::new(mistake.0, mistake.1))
    }
}

/// Value of `default` or `default = ..`.
fn default(word: &Word) -> syn::Result<Default> {
    Ok(match word.has_value() {
        true => Default::Value(Box::new(word.value("default = ..")?)),
        false => Default::Own,
    })
}

/// Refuses an argument that is borrowed: arguments are coerced to owned values.
fn refuse_reference(ty: &Type) -> syn::Result<()> {
    let target = match ty {
        Type::Paren(inner) => return refuse_reference(&inner.elem),
        Type::Group(inner) => return refuse_reference(&inner.elem),
        Type::Reference(reference) => &*reference.elem,
        _ => return Ok(()),
    };
    let owned = match target {
        Type::Path(path) if path.path.is_ident("str") => "write `String`",
        Type::Slice(_) => "write `Vec<..>`",
        _ => {
            "write the type without `&`; the context is called `context`, or marked with `#[graphql(context)]`"
        }
    };
    Err(syn::Error::new(
        ty.span(),
        format!("an argument is owned: {owned}"),
    ))
}

/// Returns `true` for `&T`.
fn is_shared_reference(ty: &Type) -> bool {
    match ty {
        Type::Reference(reference) => reference.mutability.is_none(),
        Type::Paren(inner) => is_shared_reference(&inner.elem),
        Type::Group(inner) => is_shared_reference(&inner.elem),
        _ => false,
    }
}

fn is_look_ahead(ty: &Type) -> bool {
    match ty {
        Type::Path(path) => path
            .path
            .segments
            .last()
            .is_some_and(|last| last.ident == "LookAhead"),
        Type::Paren(inner) => is_look_ahead(&inner.elem),
        Type::Group(inner) => is_look_ahead(&inner.elem),
        _ => false,
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
            Ok(Parameter::Argument(argument)) => {
                let ty = &argument.ty;
                Ok(format!("{}: {}", argument.name, quote!(#ty)))
            }
            Ok(Parameter::Context(ty)) => Ok(format!("context {}", quote!(#ty))),
            Ok(Parameter::LookAhead(_)) => Ok("look-ahead".to_owned()),
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
            selected: graph_core::LookAhead<'_, User>,
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
                "look-ahead",
            ]
        );
    }

    #[test]
    fn a_pattern_without_a_name_is_refused() {
        assert!(read(parse_quote!(fn f((a, b): Pair))).is_err());
    }

    #[test]
    fn refuses_misplaced_attributes() {
        assert!(read(parse_quote!(fn f(#[graphql(nme = "x")] a: i32))).is_err());
        assert!(read(parse_quote!(fn f(#[graphql(name = "__x")] a: i32))).is_err());
        assert!(read(parse_quote!(fn f(#[graphql(default = 1)] context: &Context))).is_err());
        assert!(read(parse_quote!(fn f(#[graphql(context, name = "x")] a: &Context))).is_err());
        assert!(read(parse_quote!(fn f(#[graphql(name = "x")] a: LookAhead<'_, User>))).is_err());
    }

    #[test]
    fn refuses_executor_of_juniper() {
        assert!(read(parse_quote!(fn f(executor: &Executor<'_, '_, Context>))).is_err());
        assert!(read(parse_quote!(fn f(#[graphql(exec)] e: &Executor<'_, '_, Context>))).is_err());
    }
}
