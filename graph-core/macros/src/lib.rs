#![doc = include_str!("../README.md")]

mod emit;
mod expand;
mod read;

use proc_macro::TokenStream;
use syn::{DeriveInput, Item, ItemEnum, ItemImpl, parse_macro_input};

/// Object type whose fields are the methods of an `impl` block.
///
/// The macro takes the arguments of `juniper::graphql_object`.
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
///     /// The customer who paid.
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
/// let schema = RootNode::new(
///     Query,
///     EmptyMutation::<Context>::new(),
///     EmptySubscription::<Context>::new(),
/// );
/// let engine = Engine::builder(schema).build()?;
/// let request = GraphRequest::new("{ charges(first: 1) { id customer } }");
///
/// let ada = Principal::new("ada").with_scopes("read:customers".parse()?);
/// let context = RequestContext::new("the customer").with_principal(ada);
/// let response = serde_json::to_value(&engine.execute(&request, &context).await)?;
/// let charge = serde_json::json!({ "id": 1, "customer": "the customer of charge 1" });
/// assert_eq!(response["data"]["charges"][0], charge);
/// assert!(response.get("errors").is_none());
///
/// let response = engine.execute(&request, &RequestContext::new("anonymous")).await;
/// let response = serde_json::to_value(&response)?;
/// let charge = serde_json::json!({ "id": 1, "customer": null });
/// assert_eq!(response["data"]["charges"][0], charge);
/// assert_eq!(response["errors"][0]["extensions"]["code"], "UNAUTHENTICATED");
/// # Ok(())
/// # }
/// ```
///
/// # Guards
///
/// | on a method | principals that may select the field |
/// |---|---|
/// | `#[graph(authenticated)]` | any principal; anonymous requests are refused |
/// | `#[graph(scope = "..")]`, `#[graph(role = "..")]` | principals with that scope or role |
/// | `#[graph(guard = Self::is_own)]` | principals for which the guard function `fn(&self, &Context) -> bool` returns `true` |
///
/// - All guards of a field must allow the principal. The guard function is called last.
/// - If a guard refuses, the method is not called. The field is null with `UNAUTHENTICATED` or
///   `FORBIDDEN`. If the field is non-null, the null propagates to the nearest nullable parent
///   field.
/// - `graph_core::guard` describes the other guard modes and the effect of guards on introspection.
///
/// `authenticated`, `scope` and `role` also apply to a type: write them on the `impl` block, or on
/// a struct with `GraphObject`.
///
/// - A field that returns a guarded type has the guards of the type in addition to its own.
/// - If the type is a member of an interface or a union, each refused object is null at its own
///   path.
/// - Guards of a root type apply to each of its fields.
/// - Interfaces have no guards. Guard sensitive fields on each object type that implements the
///   interface.
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
/// # Parameters
///
/// The rules are those of juniper:
///
/// - A parameter is the context if its name is `context` or `ctx`, or if it is marked
///   `#[graphql(context)]`. Its type can be a part of the context with `juniper::FromContext`.
/// - A parameter of the type `graph_core::LookAhead` is the selection below the field. See
///   `graph_core::look_ahead`.
/// - Every other parameter is an argument of the field.
/// - An `executor` parameter is refused, because only juniper has an executor. For the selection
///   write a parameter of the type `graph_core::look_ahead::LookAhead`.
///
/// These names may start with an underscore.
///
/// An argument can have rules, which are checked before any resolver runs:
/// `#[graph(validate(min = 1, max = 100))] first: i32`. See `graph_core::validate`.
///
/// # Types of fields
///
/// The type of a field is declared with an attribute of this crate, or is an enum or a scalar of
/// juniper. A type with juniper's attribute only does not compile:
///
/// ```compile_fail
/// # use graph_core::{RequestContext, graph_object};
/// # type Context = RequestContext<()>;
/// #[derive(juniper::GraphQLObject)]
/// struct Legacy {
///     year: i32,
/// }
///
/// # struct Query;
/// #[graph_object(context = Context)]
/// impl Query {
///     fn legacy() -> Legacy {
///         Legacy { year: 1999 }
///     }
/// }
/// ```
#[proc_macro_attribute]
pub fn graph_object(arguments: TokenStream, item: TokenStream) -> TokenStream {
    match expand::parse::<ItemImpl>(item.into()) {
        Ok(block) => expand::block::object(&arguments.into(), block).into(),
        Err(mistake) => mistake.into(),
    }
}

/// Subscription root whose fields are the methods of an `impl` block.
///
/// The macro takes the arguments of `juniper::graphql_subscription`.
///
/// - Every method is async and returns a stream or a `Result` of a stream.
/// - The items of the stream are values or `Result`s.
/// - The stream has a named type, not `impl Stream`.
/// - The guards of [`macro@graph_object`] apply. The guards of the method are checked once, when
///   the subscription starts.
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
    match expand::parse::<ItemImpl>(item.into()) {
        Ok(block) => expand::block::subscription(&arguments.into(), block).into(),
        Err(mistake) => mistake.into(),
    }
}

/// Interface whose fields are declared by a trait or a struct.
///
/// The macro takes the arguments of `juniper::graphql_interface`, and generates the enum
/// `{Name}Value` of the implementing objects. An interface has no guards: write them on the objects
/// or on their fields.
///
/// With the argument `node`, the enum also implements `graph_core::node::Nodes`: its values are
/// found by global ids. `node` means all types of `for`. If some of these are interfaces, list the
/// object types: `node = [User, Charge]`.
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

/// Union with one object type in each variant of an enum.
///
/// Replaces the derive `juniper::GraphQLUnion`, and takes the arguments of its `#[graphql(..)]`
/// attribute.
///
/// ```
/// use graph_core::{GraphObject, RequestContext, graph_union};
///
/// type Context = RequestContext<()>;
///
/// #[derive(GraphObject)]
/// #[graphql(context = Context)]
/// struct Charge {
///     amount: i32,
/// }
///
/// #[derive(GraphObject)]
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
    match expand::parse::<ItemEnum>(item.into()) {
        Ok(item) => expand::union::union(&arguments.into(), &item).into(),
        Err(mistake) => mistake.into(),
    }
}

/// Serializes the values of an enum, derived beside `juniper::GraphQLEnum`.
///
/// The derive is optional. With it the executor writes each value as a constant; with juniper's
/// derive alone it allocates a `String` for each value.
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

/// Object type whose fields are the fields of a struct. Replaces `juniper::GraphQLObject`.
///
/// The struct can have the type guards of [`macro@graph_object`]. A field with a guard of its own
/// must be a method: use an `impl` block.
///
/// ```
/// #[derive(graph_core::GraphObject)]
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

/// Validates an input object, derived beside `juniper::GraphQLInputObject`.
///
/// Its fields have the rules of `graph_core::validate`. Fields whose types also have the derive are
/// validated without an attribute, also within lists. The rule of the object itself is a function
/// `fn(&Self) -> Result<(), String>`.
///
/// ```
/// use graph_core::GraphInput;
/// use juniper::GraphQLInputObject;
///
/// #[derive(Clone, GraphQLInputObject, GraphInput)]
/// #[graph(validate(custom = Period::is_ordered))]
/// struct Period {
///     #[graph(validate(min = 1970, max = 2999))]
///     from: i32,
///     to: Option<i32>,
/// }
///
/// impl Period {
///     fn is_ordered(&self) -> Result<(), String> {
///         match self.to {
///             Some(to) if to < self.from => Err("`to` is before `from`".to_owned()),
///             _ => Ok(()),
///         }
///     }
/// }
/// ```
#[proc_macro_derive(GraphInput, attributes(graph, graphql))]
pub fn graph_input(item: TokenStream) -> TokenStream {
    let item = parse_macro_input!(item as DeriveInput);
    expand::input::input(&item).into()
}
