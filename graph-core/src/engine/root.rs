//! Requirements on the root types of the host.

use juniper::{DefaultScalarValue, GraphQLType};

use crate::executor::{Object, Source};
use crate::guard::RequestContext;

/// Context of a schema that an engine executes: [`RequestContext<H>`](RequestContext).
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the context of an engine",
    label = "write `context = RequestContext<..>` in the attribute of each root type, with a value of your own",
    note = "`EmptyMutation` and `EmptySubscription` have the same context"
)]
pub trait HostContext {
    /// Host's own value in the context.
    type Host: Send + Sync + 'static;
}

impl<H: Send + Sync + 'static> HostContext for RequestContext<H> {
    type Host = H;
}

/// Query or mutation root with the context [`RequestContext<H>`](RequestContext).
///
/// Implemented for every type declared with `#[graph_object]`, and for `juniper::EmptyMutation`.
pub trait Root:
    GraphQLType<DefaultScalarValue, TypeInfo = ()>
    + Object<RequestContext<<Self as Root>::Host>>
    + Send
    + Sync
    + 'static
{
    /// Host's own value in the context.
    type Host: Send + Sync + 'static;
}

impl<T> Root for T
where
    T: GraphQLType<DefaultScalarValue, Context: HostContext, TypeInfo = ()>
        + Object<RequestContext<<T::Context as HostContext>::Host>>
        + Send
        + Sync
        + 'static,
{
    type Host = <T::Context as HostContext>::Host;
}

/// Subscription root with the context [`RequestContext<H>`](RequestContext).
///
/// Implemented for every type declared with `#[graph_subscription]`, and for
/// `juniper::EmptySubscription`.
pub trait SubscriptionRoot:
    GraphQLType<DefaultScalarValue, TypeInfo = ()>
    + Source<RequestContext<<Self as SubscriptionRoot>::Host>>
    + Send
    + Sync
    + 'static
{
    /// Host's own value in the context.
    type Host: Send + Sync + 'static;
}

impl<T> SubscriptionRoot for T
where
    T: GraphQLType<DefaultScalarValue, Context: HostContext, TypeInfo = ()>
        + Source<RequestContext<<T::Context as HostContext>::Host>>
        + Send
        + Sync
        + 'static,
{
    type Host = <T::Context as HostContext>::Host;
}
