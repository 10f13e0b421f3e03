//! Relay's `Node`: global ids, and the fields `node(id:)` and `nodes(ids:)`.
//!
//! Specification: [global object
//! identification](https://relay.dev/docs/guides/graphql-server-specification/#object-identification).
//!
//! - [`Refetchable`] loads an object type by its key.
//! - [`GlobalId`] is the id of such an object: an argument or a field of the GraphQL type `ID`.
//! - `#[graph_interface(node, ..)]` implements [`Nodes`] for the value of the host's interface
//!   `Node`. [`Nodes::find`] and [`Nodes::find_all`] are the resolvers of `node` and `nodes`.
//!
//! # Contract
//!
//! - A global id is the base64 encoding of the type name, a colon and the key, as by `toGlobalId`
//!   of graphql-relay: `VXNlcjox` for `User:1`. Ids in the URL-safe alphabet and without padding
//!   are accepted, too.
//! - An id is stable as long as the GraphQL name of the type and the key are.
//! - `node` is null for an unknown key. `nodes` keeps the order of the ids, with null for each
//!   unknown key.
//! - An id that is not base64, that names a type outside the interface, or whose key is malformed
//!   is `BAD_USER_INPUT`. In `nodes`, it fails the whole field.
//! - `nodes` loads its objects concurrently, so that a [loader](crate::loader) gets one batch.
//! - `nodes` costs the number of `ids` times one node, without configuration. See
//!   [the cost of lists](crate::limits#cost).
//!
//! # Security
//!
//! - A global id is neither secret nor signed. The client can read it, and can write an id of any
//!   object: an id is no authorization.
//! - The guards of a type apply to its objects behind `node` and `nodes`. They are checked after
//!   the lookup, so a refused client can distinguish known keys (`FORBIDDEN`) from unknown ones
//!   (null). If that matters, check the principal in [`Refetchable::by_key`] as well.
//!
//! # Example
//!
//! ```
//! use graph_core::node::{GlobalId, Nodes, Refetchable};
//! use graph_core::{Engine, GraphError, GraphRequest, RequestContext};
//! use graph_core::{graph_interface, graph_object};
//! use juniper::{EmptyMutation, EmptySubscription, ID, RootNode};
//!
//! type Context = RequestContext<Vec<&'static str>>; // the names of the users
//!
//! /// Object with a global id.
//! #[graph_interface(node, for = [User], context = Context)]
//! trait Node {
//!     /// The global id.
//!     fn id(&self) -> ID;
//! }
//!
//! #[derive(Clone)]
//! struct User {
//!     number: usize,
//!     name: &'static str,
//! }
//!
//! impl Refetchable for User {
//!     type Context = Context;
//!     type Key = usize;
//!
//!     async fn by_key(context: &Context, number: usize) -> Result<Option<Self>, GraphError> {
//!         let name = context.host().get(number);
//!         Ok(name.map(|name| Self { number, name }))
//!     }
//! }
//!
//! #[graph_object(impl = NodeValue, context = Context)]
//! impl User {
//!     fn id(&self) -> GlobalId<Self> {
//!         GlobalId::new(self.number)
//!     }
//!
//!     fn name(&self) -> &str {
//!         self.name
//!     }
//! }
//!
//! struct Query;
//!
//! #[graph_object(context = Context)]
//! impl Query {
//!     async fn node(context: &Context, id: ID) -> Result<Option<NodeValue>, GraphError> {
//!         NodeValue::find(context, &id).await
//!     }
//!
//!     async fn nodes(
//!         context: &Context,
//!         ids: Vec<ID>,
//!     ) -> Result<Vec<Option<NodeValue>>, GraphError> {
//!         NodeValue::find_all(context, &ids).await
//!     }
//!
//!     /// Takes the id of a user only.
//!     fn is_first(user: GlobalId<User>) -> bool {
//!         *user.key() == 0
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
//! let id = GlobalId::<User>::new(1).to_string();
//! assert_eq!(id, "VXNlcjox"); // base64 of `User:1`
//!
//! let query = format!(
//!     r#"{{ node(id: "{id}") {{ id ... on User {{ name }} }} isFirst(user: "{id}") }}"#
//! );
//! let context = RequestContext::new(vec!["Ada", "Grace"]);
//! let response = engine.execute(&GraphRequest::new(query), &context).await;
//! let data = r#"{"node":{"id":"VXNlcjox","name":"Grace"},"isFirst":false}"#;
//! assert_eq!(response.data(), Some(data));
//! # Ok(())
//! # }
//! ```

mod find;
mod id;

pub use self::find::{Nodes, Refetchable};
#[doc(hidden)]
pub use self::id::parse_key;
pub use self::id::{GlobalId, InvalidGlobalId};
