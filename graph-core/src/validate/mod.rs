//! Validation of arguments and input objects before any resolver runs.
//!
//! Rules are declared with `#[graph(validate(..))]` on the arguments of a field, and on the fields
//! of an input object with the derive [`GraphInput`](macro@crate::GraphInput) beside juniper's:
//!
//! | rule | value |
//! |---|---|
//! | `min = 1`, `max = 100` | a number: `i32`, or `f64` with `min = 1.0` |
//! | `min_length = 1`, `max_length = 80` | a string or an `ID`, in Unicode scalar values |
//! | `min_items = 1`, `max_items = 10` | a list, in entries |
//! | `custom = path::to::function` | any type `T`, with `fn(&T) -> Result<(), String>`; `&str` and `&[T]` for a `String` and a `Vec<T>` |
//!
//! # Contract
//!
//! - All faults of an operation are in one response, up to 100, before any resolver runs. The
//!   response has no `data`, as for invalid variables.
//! - An error has the code `BAD_USER_INPUT`, the location of the field, its path in response keys,
//!   and `extensions.argumentPath`: the argument, then the fields and list indices to the value,
//!   for example `["input", "emails", 1]`.
//! - `min`, `max`, `min_length` and `max_length` of a list apply to each entry. `min_items` and
//!   `max_items` of nested lists apply to the outermost one.
//! - An absent value and null are valid. `custom` receives the value within `Option` or `Nullable`.
//! - A fault in a trusted document, in arguments without variables, fails
//!   [`EngineBuilder::build`](crate::engine::EngineBuilder::build).
//! - The arguments of a field that a guard on the principal refuses are not validated, nor are
//!   those of the fields below it. These fields are never called.
//! - A `custom` function depends on the value only, because the result for arguments without
//!   variables is cached with the document.
//! - An argument whose type implements [`Validate`] is always validated, without an attribute; so
//!   are options and lists of it, and the fields of an input object with the derive. An input
//!   object without the derive is not validated, nor are the input objects in its fields. Derive
//!   `GraphInput` for every input object, also for those without rules of their own.
//! - A missing derive is reported: for a field of an input object with the derive by the compiler,
//!   and for an argument by `build`, if another argument of the schema has the derive.
//!
//! # Example
//!
//! ```
//! use graph_core::{Engine, GraphInput, GraphRequest, RequestContext, graph_object};
//! use juniper::{EmptyMutation, EmptySubscription, GraphQLInputObject, RootNode};
//!
//! type Context = RequestContext<()>;
//!
//! #[derive(Clone, GraphQLInputObject, GraphInput)]
//! struct Invitation {
//!     #[graph(validate(min_items = 1, max_length = 254, custom = all_have_at))]
//!     emails: Vec<String>,
//! }
//!
//! fn all_have_at(emails: &[String]) -> Result<(), String> {
//!     match emails.iter().all(|email| email.contains('@')) {
//!         true => Ok(()),
//!         false => Err("an address has an `@`".to_owned()),
//!     }
//! }
//!
//! struct Query;
//!
//! #[graph_object(context = Context)]
//! impl Query {
//!     fn invite(
//!         invitation: Invitation,
//!         #[graph(validate(min = 1, max = 30))] days: Option<i32>,
//!     ) -> bool {
//!         invitation.emails.len() < 2 && days.is_none()
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let schema = RootNode::new(
//!     Query,
//!     EmptyMutation::<Context>::new(),
//!     EmptySubscription::<Context>::new(),
//! );
//! let engine = Engine::builder(schema).build()?;
//! let request = GraphRequest::new("{ invite(invitation: { emails: [] }, days: 31) }");
//! let response = engine.execute(&request, &RequestContext::new(())).await;
//! assert!(response.is_request_error());
//! let messages: Vec<_> = response.errors().iter().map(|error| error.message()).collect();
//! assert_eq!(messages, [
//!     "Argument \"invitation.emails\" is invalid: must have at least 1 entry",
//!     "Argument \"days\" is invalid: must be at most 30",
//! ]);
//! # Ok(())
//! # }
//! ```

mod faults;
mod nested;
#[doc(hidden)]
pub mod rules;

pub(crate) use self::faults::Fault;
pub use self::faults::Faults;
pub use self::nested::Validate;
#[doc(hidden)]
pub use self::nested::{Kind, Leaf, Probe, Unvalidated, Validated, Validation, strict};
