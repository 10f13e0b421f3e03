//! Answers the operations of a file, each with a fresh store, as lines of JSON.

#![allow(dead_code, reason = "clients do not read all columns")]

mod context;
mod loaders;
mod schema;
mod store;
mod types;

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use futures::StreamExt as _;
use graph_core::limits::FieldCost;
use graph_core::{Engine, GraphRequest, Limits};
use juniper::RootNode;
use serde_json::{Value, json};

use crate::context::context_of;
use crate::schema::{Mutation, Query, Subscription};
use crate::store::Store;

type Bookshop = Engine<Query, Mutation, Subscription>;

async fn answer(schema: &Bookshop, operation: &Value, store: &Arc<Store>) -> Result<Value, Box<dyn Error>> {
    let document = operation["document"].as_str().unwrap_or_default();
    let mut request = GraphRequest::new(document);
    if operation["variables"].is_object() {
        request = request.with_variables(serde_json::from_value(operation["variables"].clone())?);
    }
    let context = context_of(operation["viewer"].as_i64(), Arc::clone(store));
    if !document.starts_with("subscription") {
        return Ok(serde_json::to_value(schema.execute(&request, &context).await)?);
    }
    let events: Vec<_> = schema.subscribe(request, context).collect().await;
    Ok(serde_json::to_value(&events)?)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args()
        .nth(1)
        .ok_or("usage: bookshop-after OPERATIONS")?;
    let operations: Vec<Value> = serde_json::from_str(&std::fs::read_to_string(path)?)?;
    let schema = Engine::builder(RootNode::new(Query, Mutation, Subscription))
        .with_limits(Limits::default().with_depth(15).with_cost(500))
        .with_field_cost("Query.books", FieldCost::sliced_by(["first"]))
        .build()?;
    for operation in &operations {
        let store = Arc::new(Store::default());
        let answer = answer(&schema, operation, &store).await?;
        let statements = store.statements.load(Ordering::SeqCst);
        println!(
            "{}",
            json!({ "name": operation["name"], "answer": answer, "statements": statements })
        );
    }
    Ok(())
}
