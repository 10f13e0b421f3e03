//! Requirements on the root types of the host.

use juniper::{DefaultScalarValue, GraphQLSubscriptionType, GraphQLTypeAsync};

use crate::executor::{Object, Source};
use crate::guard::RequestContext;

/// Query or mutation root, declared with `#[graph_core::graph_object(context =
/// RequestContext<H>)]`.
///
/// Implemented for every suitable type, including `juniper::EmptyMutation<RequestContext<H>>`.
pub trait Root:
    GraphQLTypeAsync<DefaultScalarValue, Context = RequestContext<<Self as Root>::Host>, TypeInfo = ()>
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
    T: GraphQLTypeAsync<DefaultScalarValue, Context = RequestContext<H>, TypeInfo = ()>
        + Object<RequestContext<H>>
        + Send
        + Sync
        + 'static,
    H: Send + Sync + 'static,
{
    type Host = H;
}

/// Subscription root, declared with `#[graph_core::graph_subscription(context =
/// RequestContext<H>)]`.
///
/// Implemented for every suitable type, including `juniper::EmptySubscription<RequestContext<H>>`.
pub trait SubscriptionRoot:
    GraphQLSubscriptionType<
        DefaultScalarValue,
        Context = RequestContext<<Self as SubscriptionRoot>::Host>,
        TypeInfo = (),
    > + Source<RequestContext<<Self as SubscriptionRoot>::Host>>
    + Send
    + Sync
    + 'static
{
    /// Host's own value in the context.
    type Host: Send + Sync + 'static;
}

impl<T, H> SubscriptionRoot for T
where
    T: GraphQLSubscriptionType<DefaultScalarValue, Context = RequestContext<H>, TypeInfo = ()>
        + Source<RequestContext<H>>
        + Send
        + Sync
        + 'static,
    H: Send + Sync + 'static,
{
    type Host = H;
}
