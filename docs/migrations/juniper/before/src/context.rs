//! Context of a request.

use std::sync::Arc;

use crate::store::Store;

/// Context of a request: the store and the signed-in person.
pub struct Context {
    pub store: Arc<Store>,
    pub viewer: Option<i32>,
    pub clock: Clock,
}

impl juniper::Context for Context {}

/// Part of the context that a few fields need.
pub struct Clock(pub chrono::DateTime<chrono::Utc>);

impl juniper::FromContext<Context> for Clock {
    fn from(context: &Context) -> &Self {
        &context.clock
    }
}

impl Context {
    pub fn new(viewer: Option<i32>) -> Self {
        Self {
            store: Arc::new(Store::new()),
            viewer,
            clock: Clock(crate::store::day(90)),
        }
    }
}
