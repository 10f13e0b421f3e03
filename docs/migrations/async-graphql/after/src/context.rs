//! Context of a request: what async-graphql keeps in the data of schema and request.

use std::sync::Arc;

use graph_core::{GraphError, Principal, RequestContext};

use crate::loaders::Authors;
use crate::store::Store;

/// Context of a request, with the store as the host's value.
pub type Context = RequestContext<Arc<Store>>;

/// Context of the signed-in customer; customer 1 is a clerk.
pub fn context_of(customer: Option<i64>, store: Arc<Store>) -> Context {
    let context = Context::new(Arc::clone(&store)).with_loader(Authors(store));
    let Some(customer) = customer else {
        return context;
    };
    let principal = Principal::new(customer.to_string());
    let roles = (customer == 1).then_some("clerk");
    context.with_principal(principal.with_roles(roles))
}

/// Number of the signed-in customer.
pub fn viewer(context: &Context) -> Result<i32, GraphError> {
    let principal = context
        .principal()
        .ok_or_else(|| GraphError::unauthenticated("sign in first"))?;
    Ok(principal.subject().parse()?)
}
