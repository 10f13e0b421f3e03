//! The call of a resolver.

use proc_macro2::{Literal, TokenStream};
use quote::{quote, quote_spanned};
use syn::Type;
use syn::spanned::Spanned;

use super::table::TagOf;
use crate::read::field::Field;
use crate::read::lifetimes::inferred;
use crate::read::parameter::Parameter;

/// Source of a field's value.
#[derive(Clone, Copy)]
pub(crate) enum From {
    /// The method called like the field.
    Method,
    /// The field of the struct.
    Struct,
}

/// Statements that end with `value`, the result of the resolver of `field`.
pub(crate) fn call(field: &Field, from: From, context: &TokenStream, value: TagOf) -> TokenStream {
    let ident = &field.ident;
    if matches!(from, From::Struct) {
        return quote!(let value = &self.#ident;);
    }
    let arguments = arguments(field);
    let receiver = field.has_receiver.then(|| quote!(self,));
    let parameters = parameters(field, context, value);
    let call = quote_spanned!(ident.span()=> Self::#ident(#receiver #(#parameters),*));
    if field.is_async {
        quote! {
            #arguments
            let permit = cx.enter().await;
            let value = #call.await;
            ::core::mem::drop(permit);
        }
    } else {
        quote! {
            #arguments
            let value = #call;
        }
    }
}

/// Call of the guard function of `field`, if it has one: type name, field name and result.
pub(crate) fn predicate(parent: &str, field: &Field) -> Option<TokenStream> {
    let (predicate, name) = (field.marks.predicate.as_ref()?, &field.name);
    // the span makes the compiler report a wrong return type there
    let allowed = quote_spanned! { predicate.span()=>
        __graph::messages::Verdict::allows(#predicate(self, cx.context()))
    };
    Some(quote!(#parent, #name, #allowed))
}

/// `arguments`: the tuple of coerced arguments.
fn arguments(field: &Field) -> Option<TokenStream> {
    let mut types = field.arguments().map(|argument| &argument.ty).peekable();
    types
        .peek()
        .is_some()
        .then(|| quote!(let arguments = cx.args::<(#(#types,)*)>(field)?;))
}

/// Arguments of the resolver call, without `self`.
fn parameters(field: &Field, context: &TokenStream, value: TagOf) -> Vec<TokenStream> {
    let mut place = 0;
    let pass = |parameter: &Parameter| match parameter {
        Parameter::Argument(argument) => {
            let at = Literal::usize_unsuffixed(place);
            place += 1;
            // the span of a type that a host's macro wrote would hide the variable
            let arguments = quote!(arguments);
            quote_spanned!(argument.ty.span()=> __graph::messages::clone_argument(&#arguments.#at))
        }
        Parameter::Context(ty) => {
            let context = quote!(cx.context());
            quote_spanned!(ty.span()=> __graph::messages::context_part(#context))
        }
        Parameter::LookAhead(declared) => {
            let reference = matches!(**declared, Type::Reference(_)).then(|| quote!(&));
            let tag = value(&inferred(&field.ty), context);
            quote_spanned!(declared.span()=> #reference cx.look_ahead(field, (&&&&&#tag).nothing()))
        }
    };
    field.parameters.iter().map(pass).collect()
}
