//! Field of an object: a resolver method or a struct field.

use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::{Attribute, FnArg, Ident, LitStr, Pat, ReceiverKind, ReturnType, Signature, Type};

use super::deprecated::{Deprecation, deprecation};
use super::description::description;
use super::graph::Marks;
use super::parameter::{Argument, Parameter};
use super::rename::Rename;
use super::words::{Word, refuse_unknown};
use super::{foreign, name};

/// Field of an object.
pub(crate) struct Field {
    /// Method or struct field.
    pub(crate) ident: Ident,
    /// GraphQL name.
    pub(crate) name: String,
    pub(crate) description: Option<String>,
    pub(crate) deprecated: Deprecation,
    pub(crate) is_async: bool,
    /// Field of a struct, without a resolver.
    pub(crate) is_property: bool,
    pub(crate) has_receiver: bool,
    pub(crate) parameters: Vec<Parameter>,
    pub(crate) ty: Type,
    pub(crate) marks: Marks,
}

impl Field {
    /// Field of the method with `signature`; `None` if it is ignored.
    pub(crate) fn of_method(
        attributes: &[Attribute],
        signature: &Signature,
        rename: Rename,
    ) -> syn::Result<Option<Self>> {
        let Some(Head {
            name,
            description,
            deprecated,
            marks,
        }) = Head::read(attributes, &signature.ident, rename)?
        else {
            return Ok(None);
        };
        let typed = signature.inputs.iter().filter_map(|input| match input {
            FnArg::Typed(parameter) => Some(Parameter::read(parameter, rename)),
            FnArg::Receiver(_) => None,
        });
        let parameters = typed.collect::<syn::Result<Vec<_>>>()?;
        let arguments = parameters.iter().filter_map(Parameter::argument);
        let names = arguments.map(|argument| (argument.name.as_str(), argument.ty.span()));
        name::check_unique(names, name::RENAME)?;
        let has_receiver = signature.receiver().is_some();
        if let (Some(predicate), false) = (&marks.predicate, has_receiver) {
            return Err(syn::Error::new(
                predicate.span(),
                "a guard function needs the object: add `&self` to the method",
            ));
        }
        let ReturnType::Type(_, ty) = &signature.output else {
            return Err(syn::Error::new(signature.ident.span(), foreign::NOTHING));
        };
        foreign::refuse(ty)?;
        Ok(Some(Self {
            ident: signature.ident.clone(),
            name,
            description,
            deprecated,
            is_async: signature.asyncness.is_some(),
            is_property: false,
            has_receiver,
            parameters,
            ty: (**ty).clone(),
            marks,
        }))
    }

    /// Field of a struct field; `None` if it is ignored.
    pub(crate) fn of_struct(field: &syn::Field, rename: Rename) -> syn::Result<Option<Self>> {
        let Some(ident) = &field.ident else {
            return Err(syn::Error::new(field.span(), "name the fields of the struct"));
        };
        let Some(Head {
            name,
            description,
            deprecated,
            marks,
        }) = Head::read(&field.attrs, ident, rename)?
        else {
            return Ok(None);
        };
        if let (true, Some(span)) = (marks.guarded(), marks.at) {
            return Err(syn::Error::new(
                span,
                "a field with a guard must be a method: write `#[graph_object] impl` instead of the derive",
            ));
        }
        foreign::refuse(&field.ty)?;
        Ok(Some(Self {
            ident: ident.clone(),
            name,
            description,
            deprecated,
            is_async: false,
            is_property: true,
            has_receiver: true,
            parameters: Vec::new(),
            ty: field.ty.clone(),
            marks,
        }))
    }

    /// Arguments, in the order of the parameters.
    pub(crate) fn arguments(&self) -> impl Iterator<Item = &Argument> {
        self.parameters.iter().filter_map(Parameter::argument)
    }

    /// Type of the first context parameter.
    pub(crate) fn context(&self) -> Option<&Type> {
        self.parameters.iter().find_map(|parameter| match parameter {
            Parameter::Context(ty) => Some(&**ty),
            Parameter::Argument(..) | Parameter::LookAhead(_) => None,
        })
    }
}

/// Checks the fields of one type: there is at least one, and the names differ.
pub(crate) fn check(fields: &[Field], of: Span) -> syn::Result<()> {
    if fields.is_empty() {
        return Err(syn::Error::new(
            of,
            "the type has no fields: write a method for each field",
        ));
    }
    let names = fields
        .iter()
        .map(|field| (field.name.as_str(), field.ident.span()));
    name::check_unique(names, name::RENAME)
}

/// Arguments of juniper's attribute on a field.
const FIELD: [&str; 4] = ["name", "description", "desc", "deprecated"];

/// Name and attributes of a field.
struct Head {
    name: String,
    description: Option<String>,
    deprecated: Deprecation,
    marks: Marks,
}

impl Head {
    /// Parses the attributes of a field; `None` if the field is ignored.
    fn read(attributes: &[Attribute], ident: &Ident, rename: Rename) -> syn::Result<Option<Self>> {
        let words = Word::of(attributes, "graphql")?;
        let marks = Marks::read(attributes)?;
        if is_ignored(attributes)? {
            return match marks.at {
                None => Ok(None),
                Some(span) => Err(syn::Error::new(
                    span,
                    "the field is ignored: remove one of the attributes",
                )),
            };
        }
        refuse_unknown(&words, &FIELD)?;
        let (name, span) = match words.iter().find(|word| word.is("name")) {
            Some(word) => (word.value::<LitStr>("name = \"..\"")?.value(), word.name.span()),
            None => (rename.apply(ident), ident.span()),
        };
        name::check(&name, span)?;
        Ok(Some(Self {
            name,
            description: description(&words, attributes)?,
            deprecated: deprecation(&words, attributes)?,
            marks,
        }))
    }
}

/// Returns `true` if the field or enum value is ignored.
pub(crate) fn is_ignored(attributes: &[Attribute]) -> syn::Result<bool> {
    let words = Word::of(attributes, "graphql")?;
    Ok(words.iter().any(|word| word.is("ignore") || word.is("skip")))
}

/// Checks that a resolver takes `&self` or no receiver and returns a named type.
pub(crate) fn refuse_signature(signature: &Signature) -> syn::Result<()> {
    if let ReturnType::Type(_, ty) = &signature.output
        && let Type::ImplTrait(ty) = &**ty
    {
        return Err(syn::Error::new(
            ty.span(),
            "name the type, for example `Vec<..>`; for a stream write `Pin<Box<dyn Stream<Item = ..> + Send>>`",
        ));
    }
    let wrong = match signature.inputs.first() {
        Some(FnArg::Receiver(receiver)) if matches!(receiver.kind, ReceiverKind::Reference(_, _, None)) => {
            return Ok(());
        }
        Some(FnArg::Receiver(receiver)) => receiver.span(),
        Some(FnArg::Typed(parameter)) => match &*parameter.pat {
            Pat::Ident(pattern) if pattern.ident == "self" => parameter.span(),
            _ => return Ok(()),
        },
        None => return Ok(()),
    };
    Err(syn::Error::new(
        wrong,
        "a resolver takes `&self`, or no `self` at all",
    ))
}
