//! `#[graph_interface]`.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::spanned::Spanned;
use syn::{Attribute, Generics, Ident, Item, TraitItem, Visibility};

use crate::emit::interface_value::{interface_value, variant};
use crate::emit::nodes::nodes;
use crate::emit::schema::Kind;
use crate::emit::table::Table;
use crate::emit::variants::{Variant, variants};
use crate::emit::{Target, in_scope};
use crate::read::block::{remove, strip_method};
use crate::read::field::{Field, check};
use crate::read::graph::Marks;
use crate::read::item::{INTERFACE, ItemWords, context, refuse_juniper};
use crate::read::rename::Rename;

/// Expands to the trait or struct, the enum of its objects, and the implementations of the
/// interface.
pub(crate) fn interface(arguments: &TokenStream, mut item: Item) -> TokenStream {
    let made = read(arguments, &item).unwrap_or_else(|mistake| {
        let mistake = mistake.into_compile_error();
        let stub = stub(arguments, &item);
        quote!(#mistake #stub)
    });
    strip(&mut item);
    let allowed = match item {
        // declares the fields only
        Item::Struct(_) => quote!(dead_code),
        _ => quote!(dead_code, clippy::missing_errors_doc, clippy::missing_panics_doc),
    };
    quote! {
        #[allow(#allowed, reason = "generated")]
        #item
        #made
    }
}

/// Parts of the trait or struct.
struct Head<'a> {
    attributes: &'a [Attribute],
    visibility: &'a Visibility,
    ident: &'a Ident,
    generics: &'a Generics,
}

impl<'a> Head<'a> {
    fn of(item: &'a Item) -> syn::Result<Self> {
        let (attributes, visibility, ident, generics) = match item {
            Item::Trait(item) => (&item.attrs, &item.vis, &item.ident, &item.generics),
            Item::Struct(item) => (&item.attrs, &item.vis, &item.ident, &item.generics),
            other => {
                return Err(syn::Error::new(
                    other.span(),
                    "an interface is a trait or a struct; a union has `#[graph_union]`",
                ));
            }
        };
        Ok(Self {
            attributes,
            visibility,
            ident,
            generics,
        })
    }
}

fn read(arguments: &TokenStream, item: &Item) -> syn::Result<TokenStream> {
    let head = Head::of(item)?;
    refuse_juniper(head.attributes, "graphql_interface")?;
    unmarked(head.attributes, OBJECTS)?;
    let mut words = ItemWords::read(arguments, head.attributes, &INTERFACE)?;
    if words.implementers.is_empty() {
        return Err(syn::Error::new(
            Span::call_site(),
            "name the objects of the interface: `for = [Human, Droid]`",
        ));
    }
    if let (Some(_), None) = (&words.nodes, &words.context) {
        let message = "objects are loaded from the context: add `context = ..`";
        return Err(syn::Error::new(Span::call_site(), message));
    }
    let fields = fields(item, words.rename.unwrap_or(Rename::CamelCase))?;
    check(&fields, head.ident.span())?;
    if let Some(context) = fields.iter().find_map(Field::context) {
        words.context.get_or_insert_with(|| context.clone());
    }
    emit(&head, &words, &fields)
}

fn emit(head: &Head<'_>, words: &ItemWords, fields: &[Field]) -> syn::Result<TokenStream> {
    let alias = words
        .alias
        .clone()
        .unwrap_or_else(|| format_ident!("{}Value", head.ident));
    let listed = words.implementers.iter().filter_map(|ty| {
        let ident = variant(ty)?;
        Some(Variant { ident, ty })
    });
    let listed: Vec<_> = listed.collect();
    let mut members: Vec<_> = words.implementers.iter().collect();
    // the order in which juniper declares them
    members.sort_by_key(|ty| quote!(#ty).to_string());
    let (_, parameters, _) = head.generics.split_for_impl();
    let ty = quote!(#alias #parameters);
    let target = Target::new(&ty, head.generics, words.context.as_ref());
    let table = Table {
        name: &words.name(head.ident)?,
        description: words.description.as_deref(),
        guards: &[],
        interfaces: &words.interfaces,
        members: members.into_iter().map(|ty| ty as &dyn ToTokens).collect(),
        fields,
    };
    let value = interface_value(head.visibility, &alias, head.generics, &words.implementers);
    // a variant of the enum holds the type parameters
    let rest = !head.generics.params.is_empty();
    let variants = variants(&target, &table, Kind::Interface, &listed, rest);
    let nodes = words.nodes.as_ref().map(|some| {
        let all = if some.is_empty() {
            &words.implementers
        } else {
            some
        };
        nodes(&target, all)
    });
    let made = in_scope(&quote!(#variants #nodes));
    Ok(quote!(#value #made))
}

/// The interface without fields: otherwise each use of its value would be an error, too.
fn stub(arguments: &TokenStream, item: &Item) -> Option<TokenStream> {
    let head = Head::of(item).ok()?;
    let mut words = ItemWords::read(arguments, head.attributes, &INTERFACE).ok()?;
    words.context = words.context.or_else(|| context(arguments, head.attributes));
    words.nodes = None;
    emit(&head, &words, &[]).ok()
}

/// Fields that the item declares; our attributes on them are refused.
fn fields(item: &Item, rename: Rename) -> syn::Result<Vec<Field>> {
    let mut fields = Vec::new();
    match item {
        Item::Trait(item) => {
            for method in &item.items {
                let TraitItem::Fn(method) = method else { continue };
                unmarked(&method.attrs, FIELDS)?;
                let Some(field) = Field::of_method(&method.attrs, &method.sig, rename)? else {
                    continue;
                };
                if let Some(span) = field.arguments().find_map(|argument| argument.rules.at) {
                    return Err(syn::Error::new(span, ARGUMENTS));
                }
                if let Some(body) = &method.default {
                    let message = "a field of an interface has no body: each object has a resolver";
                    return Err(syn::Error::new(body.span(), message));
                }
                fields.push(field);
            }
        }
        Item::Struct(item) => {
            for field in &item.fields {
                unmarked(&field.attrs, FIELDS)?;
                fields.extend(Field::of_struct(field, rename)?);
            }
        }
        _ => {}
    }
    Ok(fields)
}

/// Removes the attributes that only the macro understands.
pub(super) fn strip(item: &mut Item) {
    match item {
        Item::Trait(item) => {
            remove(&mut item.attrs, "graph");
            remove(&mut item.attrs, "graphql");
            for method in &mut item.items {
                if let TraitItem::Fn(method) = method {
                    strip_method(&mut method.attrs, &mut method.sig);
                }
            }
        }
        Item::Struct(item) => {
            remove(&mut item.attrs, "graph");
            remove(&mut item.attrs, "graphql");
            for field in &mut item.fields {
                remove(&mut field.attrs, "graph");
                remove(&mut field.attrs, "graphql");
            }
        }
        Item::Enum(item) => {
            remove(&mut item.attrs, "graph");
            remove(&mut item.attrs, "graphql");
            for variant in &mut item.variants {
                remove(&mut variant.attrs, "graphql");
            }
        }
        _ => {}
    }
}

const OBJECTS: &str = "mark the object types instead: an interface has no resolvers";
const FIELDS: &str = "mark the field of each object type instead: an interface has no resolvers";

const ARGUMENTS: &str = "mark the argument in each object type instead: an interface has no resolvers";

/// Refuses our attributes and suggests `instead`.
pub(super) fn unmarked(attributes: &[Attribute], instead: &str) -> syn::Result<()> {
    match Marks::read(attributes)?.at {
        None => Ok(()),
        Some(span) => Err(syn::Error::new(span, instead)),
    }
}
