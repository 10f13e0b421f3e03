#![doc = include_str!("../README.md")]

mod emit;
mod expand;
mod read;

use proc_macro::TokenStream;
use syn::{DeriveInput, Item, ItemEnum, ItemImpl, parse_macro_input};

/// An object type: fields by the methods of an `impl` block.
///
/// The arguments are those of `juniper::graphql_object`, which gets them untouched.
///
/// ```
/// use graph_core::http::GraphRequest;
/// use graph_core::{Engine, GraphError, Principal, RequestContext, graph_object};
/// use juniper::{EmptyMutation, EmptySubscription, RootNode};
///
/// type Context = RequestContext<&'static str>; // `&'static str`: the host's own value
///
/// struct Charge {
///     id: i32,
/// }
///
/// #[graph_object(context = Context)]
/// impl Charge {
///     fn id(&self) -> i32 {
///         self.id
///     }
///
///     /// Who paid.
///     #[graph(scope = "read:customers")]
///     async fn customer(&self, context: &Context) -> Result<Option<String>, GraphError> {
///         Ok(Some(format!("{} of charge {}", context.host(), self.id)))
///     }
/// }
///
/// struct Query;
///
/// #[graph_object(context = Context)]
/// impl Query {
///     fn charges(#[graphql(default = 2)] first: i32) -> Vec<Charge> {
///         (1..=first).map(|id| Charge { id }).collect()
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let schema = RootNode::new(Query, EmptyMutation::<Context>::new(), EmptySubscription::<Context>::new());
/// let engine = Engine::builder(schema).build()?;
/// let request = GraphRequest::new("{ charges(first: 1) { id customer } }");
///
/// let ada = Principal::new("ada").with_scopes("read:customers".parse()?);
/// let response = engine.execute(&request, &RequestContext::new("the customer").with_principal(ada)).await;
/// assert_eq!(
///     serde_json::to_value(&response)?,
///     serde_json::json!({ "data": { "charges": [{ "id": 1, "customer": "the customer of charge 1" }] } }),
/// );
///
/// let response = engine.execute(&request, &RequestContext::new("nobody")).await;
/// let response = serde_json::to_value(&response)?;
/// assert_eq!(response["data"], serde_json::json!({ "charges": [{ "id": 1, "customer": null }] }));
/// assert_eq!(response["errors"][0]["extensions"]["code"], "UNAUTHENTICATED");
/// # Ok(())
/// # }
/// ```
///
/// # Guards
///
/// | on a method | who may select the field |
/// |---|---|
/// | `#[graph(authenticated)]` | anybody who is known |
/// | `#[graph(scope = "..")]`, `#[graph(role = "..")]` | whose `Principal` has it |
/// | `#[graph(guard = Self::is_own)]` | for whom this function says `true` of the object: `fn(&self, &Context) -> bool` |
///
/// All that are there must let the principal pass, the function at last. The method does not run for anybody else: the field is
/// null with `UNAUTHENTICATED` or `FORBIDDEN`, or the failure moves on to the next nullable field around it.
/// `graph_core::guard` has the other things that can become of it, and what introspection shows to whom.
///
/// On the block, or on a struct with `GraphObject`, the first three say who may have an object of the type at all: a field that
/// returns the type is guarded by them as by its own, and where the type is one of several behind an interface or a union its
/// object is refused at its place. At a root they are asked for each of its fields. Guard what is
/// sensitive of an interface on each of its objects: it has no guards itself.
///
/// ```
/// use graph_core::{RequestContext, graph_object};
///
/// type Context = RequestContext<()>;
///
/// struct Account {
///     owner: String,
/// }
///
/// #[graph_object(context = Context)]
/// impl Account {
///     #[graph(scope = "read:accounts", guard = Self::is_own)]
///     fn balance(&self) -> Option<i32> {
///         Some(1999)
///     }
///
///     #[graphql(ignore)]
///     fn is_own(&self, context: &Context) -> bool {
///         context.principal().is_some_and(|principal| principal.subject() == self.owner)
///     }
/// }
///
/// struct AuditEntry;
///
/// #[graph_object(context = Context)]
/// #[graph(role = "auditor")]
/// impl AuditEntry {
///     fn words() -> &'static str {
///         "refunded twice"
///     }
/// }
/// ```
///
/// juniper's executor knows no guards and calls methods itself, so it gets another method in the place of a guarded one, which
/// asks first. Its signature is made from that of the guarded one: a `Result` is known by an alias whose name ends with `Result` and
/// whose first argument is the value, such as `FieldResult<T>`.
///
/// # Fields that only juniper can execute
///
/// `#[graph(plain)]` on a method marks a field whose type has juniper's attribute only, or that takes juniper's executor. An operation
/// that selects such a field is executed by juniper as a whole, with the same guards, masking and codes, and at its speed. Nothing
/// falls back to juniper that is not marked. What juniper gives no means for is left out there, for every field of the operation:
///
/// - The path of an error has the response keys only, not the indices in lists: juniper hands none to whoever executes a field.
/// - An operation that misses its deadline answers `data: null` and one `TIMEOUT` without a path: juniper shows nothing of an
///   execution before its end.
/// - juniper's own rules hold beside ours: a nullable variable at an argument with a default, and an input object in a variable
///   that leaves out a non-null field with a default, are refused with `GRAPHQL_VALIDATION_FAILED` and `BAD_USER_INPUT`.
/// - An object cannot be refused: an operation of it that selects what the guard of a type refuses does not run at all.
///
/// ```
/// # use graph_core::{RequestContext, graph_object};
/// # type Context = RequestContext<()>;
/// #[derive(juniper::GraphQLObject)]
/// struct Legacy {
///     year: i32,
/// }
///
/// struct Query;
///
/// #[graph_object(context = Context)]
/// impl Query {
///     #[graph(plain)]
///     fn legacy() -> Legacy {
///         Legacy { year: 1999 }
///     }
/// }
/// ```
///
/// ```compile_fail
/// # use graph_core::{RequestContext, graph_object};
/// # type Context = RequestContext<()>;
/// # #[derive(juniper::GraphQLObject)]
/// # struct Legacy {
/// #     year: i32,
/// # }
/// # struct Query;
/// #[graph_object(context = Context)]
/// impl Query {
///     // no mark: a field of the graph cannot return `Legacy`
///     fn legacy() -> Legacy {
///         Legacy { year: 1999 }
///     }
/// }
/// ```
///
/// # Parameters
///
/// As for juniper: `context` and `ctx`, or what `#[graphql(context)]` stands on, is the context, or a part of it by
/// `juniper::FromContext`; everything else is an argument.
#[proc_macro_attribute]
pub fn graph_object(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let block = parse_macro_input!(item as ItemImpl);
    expand::block::object(&arguments.into(), block).into()
}

/// A subscription root: streams by the methods of an `impl` block.
///
/// The arguments are those of `juniper::graphql_subscription`. Every method is asynchronous and returns a stream, or a `Result` of
/// one, of values or of `Result`s; the type of the stream has a name. Guards and `#[graph(plain)]` are those of
/// [`macro@graph_object`], asked when the stream is opened.
///
/// ```
/// use std::pin::Pin;
///
/// use graph_core::{GraphError, RequestContext, graph_subscription};
///
/// type Ticks = Pin<Box<dyn futures_util::Stream<Item = Result<i32, GraphError>> + Send>>;
///
/// struct Subscription;
///
/// #[graph_subscription(context = RequestContext<()>)]
/// impl Subscription {
///     #[graph(authenticated)]
///     async fn ticks(count: i32) -> Result<Ticks, GraphError> {
///         if count < 0 {
///             return Err(GraphError::bad_user_input("`count` is negative"));
///         }
///         Ok(Box::pin(futures_util::stream::iter((0..count).map(Ok))))
///     }
/// }
/// ```
#[proc_macro_attribute]
pub fn graph_subscription(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let block = parse_macro_input!(item as ItemImpl);
    expand::block::subscription(&arguments.into(), block).into()
}

/// An interface: its fields by a trait or a struct, its value by the objects that it is for.
///
/// The arguments are those of `juniper::graphql_interface`, which makes the enum `{Name}Value`. Guards stand on the objects and their
/// fields, not on those of the interface.
///
/// ```
/// use graph_core::{RequestContext, graph_interface, graph_object};
///
/// type Context = RequestContext<()>;
///
/// #[graph_interface(for = [Charge, Refund], context = Context)]
/// trait Booking {
///     fn amount(&self) -> i32;
/// }
///
/// struct Charge;
///
/// #[graph_object(impl = BookingValue, context = Context)]
/// impl Charge {
///     fn amount(&self) -> i32 {
///         1999
///     }
/// }
///
/// struct Refund;
///
/// #[graph_object(impl = BookingValue, context = Context)]
/// impl Refund {
///     fn amount(&self) -> i32 {
///         -1999
///     }
/// }
///
/// struct Query;
///
/// #[graph_object(context = Context)]
/// impl Query {
///     fn bookings() -> Vec<BookingValue> {
///         vec![Charge.into(), Refund.into()]
///     }
/// }
/// ```
#[proc_macro_attribute]
pub fn graph_interface(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let item = parse_macro_input!(item as Item);
    expand::interface::interface(&arguments.into(), item).into()
}

/// A union: an enum with an object type in each variant.
///
/// The arguments are those of `#[graphql(..)]` beside `juniper::GraphQLUnion`, which the attribute derives.
///
/// ```
/// use graph_core::{GraphObject, RequestContext, graph_union};
/// use juniper::GraphQLObject;
///
/// type Context = RequestContext<()>;
///
/// #[derive(GraphQLObject, GraphObject)]
/// #[graphql(context = Context)]
/// struct Charge {
///     amount: i32,
/// }
///
/// #[derive(GraphQLObject, GraphObject)]
/// #[graphql(context = Context)]
/// struct Customer {
///     name: String,
/// }
///
/// #[graph_union(context = Context)]
/// enum Found {
///     Charge(Charge),
///     Customer(Box<Customer>),
/// }
/// ```
#[proc_macro_attribute]
pub fn graph_union(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let item = parse_macro_input!(item as ItemEnum);
    expand::union::union(&arguments.into(), &item).into()
}

/// The values of an enum, beside `juniper::GraphQLEnum`.
///
/// An enum with juniper's derive only is fine too; this one writes a constant where that one makes a `String` for each value.
///
/// ```
/// #[derive(Clone, Copy, juniper::GraphQLEnum, graph_core::GraphEnum)]
/// enum Status {
///     Succeeded,
///     #[graphql(name = "FAILED_FOR_GOOD")]
///     Failed,
/// }
/// ```
#[proc_macro_derive(GraphEnum, attributes(graphql))]
pub fn graph_enum(item: TokenStream) -> TokenStream {
    let item = parse_macro_input!(item as DeriveInput);
    expand::derive::enumeration(&item).into()
}

/// An object type: fields by the fields of a struct, beside `juniper::GraphQLObject`.
///
/// A field can be marked `#[graph(plain)]`, and the type with who may have its objects, as in [`macro@graph_object`]; a field with a
/// guard of its own is a method, so the type has a block instead.
///
/// ```
/// #[derive(juniper::GraphQLObject, graph_core::GraphObject)]
/// struct Money {
///     /// In the currency's smallest unit.
///     amount: i32,
///     #[graphql(name = "code")]
///     currency: String,
/// }
/// ```
#[proc_macro_derive(GraphObject, attributes(graph, graphql))]
pub fn graph_object_derive(item: TokenStream) -> TokenStream {
    let item = parse_macro_input!(item as DeriveInput);
    expand::derive::object(&item).into()
}
