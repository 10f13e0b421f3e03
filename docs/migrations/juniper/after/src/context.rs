//! Context of a request.

use std::sync::Arc;

use graph_core::RequestContext;

use crate::store::Store;

/// Context of a request.
pub type Context = RequestContext<Host>;

/// The store and the signed-in person.
#[derive(Clone)]
pub struct Host {
    pub store: Arc<Store>,
    pub viewer: Option<i32>,
    pub clock: Clock,
}

/// Part of the context that a few fields need.
#[derive(Clone)]
pub struct Clock(pub chrono::DateTime<chrono::Utc>);

impl juniper::FromContext<Context> for Clock {
    fn from(context: &Context) -> &Self {
        &context.host().clock
    }
}

impl Host {
    pub fn new(viewer: Option<i32>) -> Self {
        Self {
            store: Arc::new(Store::new()),
            viewer,
            clock: Clock(crate::store::day(90)),
        }
    }
}
