//! `INFO`: the constant table of a type.

use proc_macro2::{Literal, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::Type;
use syn::spanned::Spanned;

use super::Target;
use super::rules::{checks, without_nullable};
use crate::read::block::Block;
use crate::read::deprecated::Deprecation;
use crate::read::field::Field;
use crate::read::graph::Guard;
use crate::read::lifetimes::inferred;
use crate::read::parameter::{Argument, Default};

/// Type as the schema declares it.
pub(crate) struct Table<'a> {
    pub(crate) name: &'a str,
    pub(crate) description: Option<&'a str>,
    pub(crate) guards: &'a [Guard],
    pub(crate) interfaces: &'a [Type],
    /// Types of an interface or a union.
    pub(crate) members: Vec<&'a dyn ToTokens>,
    pub(crate) fields: &'a [Field],
}

impl<'a> Table<'a> {
    /// The type of `block`.
    pub(crate) fn of_block(block: &'a Block) -> Self {
        Self {
            name: &block.name,
            description: block.description.as_deref(),
            guards: &block.guards,
            interfaces: &block.interfaces,
            members: Vec::new(),
            fields: &block.fields,
        }
    }

    /// The constant; `value` is the tag of a field's value.
    pub(crate) fn info(&self, target: &Target<'_>, value: TagOf) -> TokenStream {
        let (name, description, guards) = (self.name, optional(self.description), self.guards);
        let context = &target.context;
        let interfaces = self.interfaces.iter().map(|ty| {
            // a type without a context can have an interface of any context
            if target.has_context {
                quote_spanned!(ty.span()=> __graph::TypeHandle::of::<#context, #ty>())
            } else {
                quote_spanned!(ty.span()=> __graph::TypeHandle::named::<#ty>())
            }
        });
        let members = self
            .members
            .iter()
            .map(|ty| quote_spanned!(ty.span()=> __graph::TypeHandle::of::<#context, #ty>()));
        let fields = self.fields.iter().map(|field| entry(field, context, value));
        quote! {
            const INFO: &'static __graph::TypeInfo = &__graph::TypeInfo {
                name: #name,
                description: #description,
                guards: &[#(#guards),*],
                interfaces: &[#(#interfaces),*],
                members: &[#(#members),*],
                fields: &[#(#fields),*],
            };
        }
    }
}

fn entry(field: &Field, context: &TokenStream, value: TagOf) -> TokenStream {
    let (name, is_async, guards) = (&field.name, field.is_async, &field.marks.guards);
    let description = optional(field.description.as_deref());
    let deprecated = deprecated(&field.deprecated);
    let arguments = arguments(field);
    let tag = value(&inferred(&field.ty), context);
    let property = field.is_property.then(|| quote!(is_property: true,));
    // spanned at the type, so that the compiler reports an unsuitable type there
    let handle = quote_spanned!(field.ty.span()=> (&&&&&#tag).handle());
    quote! {
        __graph::FieldInfo {
            name: #name,
            description: #description,
            deprecated: #deprecated,
            is_async: #is_async,
            #property
            guards: &[#(#guards),*],
            #arguments
            ty: || #handle,
            ..__graph::FieldInfo::EMPTY
        }
    }
}

/// Names and declarations of the arguments, and the coercion to their tuple.
fn arguments(field: &Field) -> Option<TokenStream> {
    let names: Vec<_> = field.arguments().map(|argument| &argument.name).collect();
    let types: Vec<_> = field.arguments().map(|argument| &argument.ty).collect();
    let declared = field.arguments().map(declared);
    let coerced = types.iter().enumerate().map(|(place, ty)| {
        // the span of a type that a host's macro wrote would hide the variable
        let values = quote!(values);
        quote_spanned!(ty.span()=> __graph::argument::<#ty>(#values, #place)?)
    });
    let checks = field.arguments().enumerate().map(|(place, argument)| {
        let at = Literal::usize_unsuffixed(place);
        checks(
            &argument.name,
            &argument.ty,
            &quote!(&arguments.#at),
            &argument.rules,
        )
    });
    let kinds = field.arguments().map(|argument| {
        let ty = inferred(without_nullable(&argument.ty));
        quote!((&&&__graph::Kind::<#ty>::NEW).kind())
    });
    (!names.is_empty()).then(|| {
        quote! {
            args: &[#(#names),*],
            validation: || ::std::vec![#(#kinds),*],
            declare: |registry| ::std::vec![#(#declared),*],
            coerce: ::core::option::Option::Some(|values, faults| {
                let arguments: (#(#types,)*) = (#(#coerced,)*);
                #(#checks)*
                ::core::result::Result::Ok(::std::sync::Arc::new(arguments))
            }),
        }
    })
}

/// Argument in juniper's registry.
fn declared(argument: &Argument) -> TokenStream {
    let (name, ty) = (&argument.name, inferred(&argument.ty));
    // the span of a type that a host's macro wrote would hide the variable
    let registry = quote!(registry);
    let made = match &argument.default {
        Some(value) => {
            let value = default(value, &ty);
            quote_spanned!(argument.ty.span()=> __graph::declare_argument_with_default::<#ty>(#registry, #name, &#value))
        }
        None => quote_spanned!(argument.ty.span()=> __graph::declare_argument::<#ty>(#registry, #name)),
    };
    let description = argument.description.as_ref();
    let description = description.map(|description| quote!(.description(#description)));
    let deprecated = argument.deprecated.as_ref().map(|reason| {
        let reason = optional(reason.as_deref());
        quote!(.deprecated(#reason))
    });
    quote!(#made #description #deprecated)
}

/// Default value of an argument of the type `ty`.
fn default(value: &Default, ty: &Type) -> TokenStream {
    match value {
        Default::Own => quote_spanned!(ty.span()=> __graph::messages::own_default::<#ty>()),
        Default::Value(value) => {
            quote_spanned!(value.span()=> __graph::messages::default_value::<#ty, _>(#value))
        }
    }
}

fn optional(text: Option<&str>) -> TokenStream {
    match text {
        Some(text) => quote!(::core::option::Option::Some(#text)),
        None => quote!(::core::option::Option::<&'static ::core::primitive::str>::None),
    }
}

fn deprecated(deprecation: &Deprecation) -> TokenStream {
    match deprecation {
        Some(reason) => {
            let reason = optional(reason.as_deref());
            quote!(::core::option::Option::Some(#reason))
        }
        None => quote!(::core::option::Option::None),
    }
}

/// Expression for the tag of a field's value, by the return type of its resolver and the context.
pub(crate) type TagOf = fn(&Type, &TokenStream) -> TokenStream;

/// Tag of the value that a resolver returns.
pub(crate) fn returned(ty: &Type, context: &TokenStream) -> TokenStream {
    quote_spanned!(ty.span()=> __graph::Tag::<#ty, #context>::NEW)
}

/// Tag of the items of the stream that a resolver returns.
pub(crate) fn streamed(ty: &Type, context: &TokenStream) -> TokenStream {
    quote_spanned!(ty.span()=> (&&&__graph::Tag::<#ty, #context>::NEW).event())
}

/// Like [`streamed`]; a type that is no stream is not reported once more.
pub(crate) fn anchored(ty: &Type, context: &TokenStream) -> TokenStream {
    quote_spanned!(ty.span()=> (&&&__graph::Tag::<#ty, #context>::NEW).anchored())
}
