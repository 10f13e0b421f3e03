//! Guards in juniper's executor: a generated method replaces each guarded one and checks the guards
//! first.

use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident, quote};
use syn::ext::IdentExt;
use syn::{Attribute, FnArg, Ident, ImplItem, ImplItemFn, PatType, ReturnType, Type, parse_quote};

use super::call::asked;
use crate::read::block::{Block, remove};
use crate::read::field::Field;
use crate::read::lifetimes::name_elided;
use crate::read::parameter::Parameter;
use crate::read::scalar::first_argument;
use crate::read::words::{Word, in_parentheses, is};

/// Items of a block with a replacement before each guarded method, which is hidden from juniper.
pub(crate) fn shadowed(items: &[ImplItem], block: &Block) -> syn::Result<Vec<ImplItem>> {
    let guarded = |method: &Ident| {
        let field = block.fields.iter().find(|field| field.ident == *method)?;
        // a guard without a context was refused before
        let context = block.context.as_ref()?;
        field.marks.guarded().then_some((field, context))
    };
    let mut shadowed = Vec::with_capacity(items.len());
    for item in items {
        let mut item = item.clone();
        if let ImplItem::Fn(method) = &mut item
            && let Some((field, context)) = guarded(&method.sig.ident)
        {
            shadowed.push(ImplItem::Fn(shadow_of(method, &block.name, field, context)?));
            hide(method);
        }
        shadowed.push(item);
    }
    Ok(shadowed)
}

/// Removes juniper's attributes from `method` and marks it as ignored.
fn hide(method: &mut ImplItemFn) {
    remove(&mut method.attrs, "graphql");
    method.attrs.push(parse_quote!(#[graphql(ignore)]));
    for input in &mut method.sig.inputs {
        if let FnArg::Typed(parameter) = input {
            remove(&mut parameter.attrs, "graphql");
        }
    }
}

fn shadow_of(method: &ImplItemFn, parent: &str, field: &Field, context: &Type) -> syn::Result<ImplItemFn> {
    let mut signature = method.sig.clone();
    let ident = &method.sig.ident;
    signature.ident = format_ident!("__guarded_{}", ident.unraw(), span = ident.span());
    name_elided(&mut signature);
    let mut passed = Vec::new();
    let typed = signature.inputs.iter_mut().filter_map(|input| match input {
        FnArg::Typed(parameter) => Some(parameter),
        FnArg::Receiver(_) => None,
    });
    for (at, (parameter, read)) in typed.zip(&field.parameters).enumerate() {
        let name = format_ident!("__argument_{at}");
        rename(parameter, read, &name)?;
        passed.push(name);
    }
    signature
        .inputs
        .push(parse_quote!(#[graphql(context)] __graph_context: &#context));
    let (ty, fails) = value(&field.ty_of(&signature.output))?;
    signature.output = parse_quote!(-> ::core::result::Result<#ty, ::juniper::FieldError>);

    let receiver = field.has_receiver.then(|| quote!(self,));
    let awaited = field.is_async.then(|| quote!(.await));
    let call = quote!(Self::#ident(#receiver #(#passed),*) #awaited);
    let answer = if fails {
        quote!(#call.map_err(::juniper::IntoFieldError::into_field_error))
    } else {
        quote!(::core::result::Result::Ok(#call))
    };
    let (guards, name) = (&field.marks.guards, &field.name);
    let judged = field.marks.predicate.as_ref().map(|predicate| {
        let allowed = asked(predicate, &quote!(__graph_context));
        quote! {
            ::graph_core::executor::apply_guard_plain(__graph_context, #parent, #name, #allowed)?;
        }
    });
    let attributes = attributes(&method.attrs, &field.name)?;
    Ok(parse_quote! {
        #(#attributes)*
        #[allow(clippy::all, clippy::pedantic, deprecated, reason = "generated")]
        #signature {
            ::graph_core::executor::check_guards_plain(__graph_context, &[#(#guards),*])?;
            #judged
            #answer
        }
    })
}

/// Attributes of a guarded method for juniper, with the name of the field.
fn attributes(attributes: &[Attribute], name: &str) -> syn::Result<Vec<Attribute>> {
    let kept = attributes
        .iter()
        .filter(|attribute| is(attribute, "doc") || is(attribute, "deprecated"));
    let mut kept: Vec<_> = kept.cloned().collect();
    let words = others(attributes)?;
    kept.push(parse_quote!(#[graphql(name = #name, #(#words),*)]));
    Ok(kept)
}

/// Arguments of juniper's attribute other than the name.
fn others(attributes: &[Attribute]) -> syn::Result<Vec<TokenStream>> {
    let words = Word::of(attributes, "graphql")?;
    let others = words.iter().filter(|word| !word.is("name"));
    Ok(others.map(Word::written).collect())
}

/// Renames a parameter to `name` and keeps its meaning for juniper.
fn rename(parameter: &mut PatType, read: &Parameter, name: &Ident) -> syn::Result<()> {
    let words = match read {
        Parameter::Argument(name, _) => {
            let words = others(&parameter.attrs)?;
            quote!(name = #name, #(#words),*)
        }
        Parameter::Context(_) => quote!(context),
        Parameter::Executor(_) => quote!(executor),
    };
    let words = in_parentheses(words);
    parameter.attrs = vec![parse_quote!(#[graphql #words])];
    *parameter.pat = parse_quote!(#name);
    Ok(())
}

/// Value type of a return type, and `true` if it is a `Result`; juniper accepts no nested `Result`.
///
/// An alias counts as a `Result` if its name ends in `Result` and its first argument is the value.
fn value(ty: &Type) -> syn::Result<(TokenStream, bool)> {
    let last = match ty {
        Type::Path(path) => path.path.segments.last(),
        _ => None,
    };
    match last.filter(|last| last.ident.to_string().ends_with("Result")) {
        None => Ok((ty.to_token_stream(), false)),
        Some(last) => match first_argument(&last.arguments) {
            Some(value) => Ok((value.to_token_stream(), true)),
            None => Err(syn::Error::new(
                last.ident.span(),
                "cannot find the value type of a guarded field: write `Result<Value, Error>`, or an alias with the value as its argument",
            )),
        },
    }
}

impl Field {
    /// Return type in a signature of this field.
    fn ty_of(&self, output: &ReturnType) -> Type {
        match output {
            ReturnType::Type(_, ty) => (**ty).clone(),
            ReturnType::Default => self.ty.clone(),
        }
    }
}
