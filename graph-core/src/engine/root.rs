//! Requirements on the root types of the host.

use juniper::{DefaultScalarValue, GraphQLType};

use crate::executor::{Object, Source};
use crate::guard::RequestContext;

/// Query or mutation root with the context [`RequestContext<H>`](RequestContext).
///
/// Implemented for every type declared with `#[graph_object]`, and for `juniper::EmptyMutation`.
pub trait Root:
    GraphQLType<DefaultScalarValue, Context = RequestContext<<Self as Root>::Host>, TypeInfo = ()>
    + Object<RequestContext<<Self as Root>::Host>>
    + Send
    + Sync
    + 'static
{
    /// Host's own value in the context.
    type Host: Send + Sync + 'static;
}

impl<T, H> Root for T
where
    T: GraphQLType<DefaultScalarValue, Context = RequestContext<H>, TypeInfo = ()>
        + Object<RequestContext<H>>
        + Send
        + Sync
        + 'static,
    H: Send + Sync + 'static,
{
    type Host = H;
}

/// Subscription root with the context [`RequestContext<H>`](RequestContext).
///
/// Implemented for every type declared with `#[graph_subscription]`, and for
/// `juniper::EmptySubscription`.
pub trait SubscriptionRoot:
    GraphQLType<DefaultScalarValue, Context = RequestContext<<Self as SubscriptionRoot>::Host>, TypeInfo = ()>
    + Source<RequestContext<<Self as SubscriptionRoot>::Host>>
    + Send
    + Sync
    + 'static
{
    /// Host's own value in the context.
    type Host: Send + Sync + 'static;
}

impl<T, H> SubscriptionRoot for T
where
    T: GraphQLType<DefaultScalarValue, Context = RequestContext<H>, TypeInfo = ()>
        + Source<RequestContext<H>>
        + Send
        + Sync
        + 'static,
    H: Send + Sync + 'static,
{
    type Host = H;
}
