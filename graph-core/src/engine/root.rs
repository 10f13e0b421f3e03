//! What the engine asks of a host's root types.

use juniper::{DefaultScalarValue, GraphQLSubscriptionType, GraphQLTypeAsync};

use crate::executor::{Object, Source};
use crate::guard::RequestContext;

/// A query or mutation root, as `#[graph_core::graph_object(context = RequestContext<H>)]` makes it.
///
/// Implemented for every type that fits, `juniper::EmptyMutation<RequestContext<H>>` among them; there is nothing to write.
pub trait Root:
    GraphQLTypeAsync<DefaultScalarValue, Context = RequestContext<<Self as Root>::Host>, TypeInfo = ()>
    + Object<RequestContext<<Self as Root>::Host>>
    + Send
    + Sync
    + 'static
{
    /// The host's own value in the context.
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

/// A subscription root, as `#[graph_core::graph_subscription(context = RequestContext<H>)]` makes it.
///
/// Implemented for every type that fits, `juniper::EmptySubscription<RequestContext<H>>` among them; there is nothing to write.
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
    /// The host's own value in the context.
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
