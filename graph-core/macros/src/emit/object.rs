//! Implementations of an object type.

use proc_macro2::{Literal, TokenStream};
use quote::quote;

use super::anchor::{anchor, declaration};
use super::call::{From, call, predicate};
use super::schema::{Kind, schema};
use super::table::{self, Table};
use super::{Target, write_async_parameters, write_parameters};
use crate::read::field::Field;
use crate::read::scalar::is_scalar;

/// All implementations for the object type of `table`.
pub(crate) fn object(target: &Target<'_>, table: &Table<'_>, from: From) -> TokenStream {
    let info = table.info(target, table::returned);
    let methods = methods(target, table.name, table.fields, from);
    let object = target.implement(&quote!(Object), &quote!(#info #methods));
    let output = target.implement(&quote!(Output), &output(target, table.name));
    let schema = schema(target, table.name, Kind::Object);
    let context = &target.context;
    let declaration = declaration(context);
    let own = quote! {
        #declaration
        __graph::name_fields(
            <Self as __graph::Object<#context>>::field,
            <Self as __graph::Object<#context>>::field_async,
        );
    };
    let anchor = anchor(target, table, table::returned, &own);
    quote!(#object #output #schema #anchor)
}

fn methods(target: &Target<'_>, name: &str, fields: &[Field], from: From) -> TokenStream {
    let context = &target.context;
    let sync = arms(fields, |field| {
        (!field.is_async).then(|| {
            let call = call(field, from, context, table::returned);
            let asked = predicate(name, field).map(|allowed| {
                quote! {
                    if let ::core::result::Result::Err(refused) = cx.apply_guard(#allowed) {
                        return __graph::write_refusal(refused, field, cx, path, out);
                    }
                }
            });
            quote!({ #asked #call (&&&&&__graph::Tag::of(&value, cx)).emit(value, field, cx, path, out) })
        })
    });
    let pending = arms(fields, |field| {
        let call = call(field, from, context, table::returned);
        let asked = predicate(name, field).map(|allowed| {
            quote! {
                if let ::core::result::Result::Err(refused) = cx.apply_guard(#allowed) {
                    return __graph::write_refusal_async(refused, field, cx, indices);
                }
            }
        });
        let future = |emit: &TokenStream| {
            quote! {
                ::std::boxed::Box::pin(async move {
                    #asked
                    #call
                    (&&&&&__graph::Tag::of(&value, cx)).#emit(value, field, cx, indices).await
                })
            }
        };
        // separate futures: a shared one would need the size of both
        let (flat, deep) = (future(&quote!(emit_async)), future(&quote!(emit_deep)));
        match (field.is_async, is_scalar(&field.ty)) {
            (true, true) => Some(flat),
            (true, false) => Some(quote!(if field.is_deep() { #deep } else { #flat })),
            // only needed for its selection
            (false, false) => Some(deep),
            (false, true) => None,
        }
    });
    let parameters = write_parameters(context);
    quote! {
        fn field(#parameters) -> __graph::WriteResult {
            match field.index() {
                #(#sync)*
                _ => __graph::no_such_field(field, cx),
            }
        }

        fn field_async<'p>(
            &'p self,
            field: &'p __graph::Field,
            cx: &'p __graph::Execution<'p, #context>,
            indices: __graph::ListIndices,
        ) -> __graph::BoxFuture<'p, __graph::SegmentResult> {
            match field.index() {
                #(#pending)*
                _ => __graph::no_such_future(field, cx),
            }
        }
    }
}

/// `index => ..` arms for the fields that `arm` handles.
pub(crate) fn arms(fields: &[Field], arm: impl Fn(&Field) -> Option<TokenStream>) -> Vec<TokenStream> {
    let places = (0..).map(Literal::u16_unsuffixed);
    let arm = |(field, place): (&Field, Literal)| arm(field).map(|arm| quote!(#place => #arm,));
    fields.iter().zip(places).filter_map(arm).collect()
}

fn output(target: &Target<'_>, name: &str) -> TokenStream {
    let context = &target.context;
    let (write, write_async) = (write_parameters(context), write_async_parameters(context));
    quote! {
        type Anchor = Self;

        fn register(registry: &mut __graph::Registry) {
            registry.object::<#context, Self>();
        }

        #[inline]
        fn write(#write) -> __graph::WriteResult {
            __graph::write_object(self, field.selected(#name), cx, path, out)
        }

        #[inline]
        fn write_async<'p>(#write_async) -> __graph::WriteResult {
            __graph::write_object_async(self, field.selected(#name), cx, path, seg, pend)
        }
    }
}
