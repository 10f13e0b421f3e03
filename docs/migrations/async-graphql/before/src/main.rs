//! Answers the operations of a file, each with a fresh store, as lines of JSON.

#![allow(dead_code, reason = "clients do not read all columns")]

mod loaders;
mod schema;
mod store;
mod types;

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use async_graphql::dataloader::DataLoader;
use async_graphql::{Request, Schema, Variables};
use futures::StreamExt as _;
use serde_json::{Value, json};

use crate::loaders::Authors;
use crate::schema::{Mutation, Query, Subscription};
use crate::store::{Store, Viewer};

type Bookshop = Schema<Query, Mutation, Subscription>;

async fn answer(schema: &Bookshop, operation: &Value, store: &Arc<Store>) -> Result<Value, Box<dyn Error>> {
    let document = operation["document"].as_str().unwrap_or_default();
    let mut request = Request::new(document)
        .variables(Variables::from_json(operation["variables"].clone()))
        .data(Arc::clone(store))
        .data(DataLoader::new(Authors(Arc::clone(store)), tokio::spawn));
    if let Some(customer) = operation["viewer"].as_i64() {
        request = request.data(Viewer {
            customer: customer as i32,
            is_clerk: customer == 1,
        });
    }
    if !document.starts_with("subscription") {
        return Ok(serde_json::to_value(schema.execute(request).await)?);
    }
    let events: Vec<_> = schema.execute_stream(request).collect().await;
    Ok(serde_json::to_value(&events)?)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args()
        .nth(1)
        .ok_or("usage: bookshop-before OPERATIONS")?;
    let operations: Vec<Value> = serde_json::from_str(&std::fs::read_to_string(path)?)?;
    let schema = Schema::build(Query, Mutation, Subscription)
        .limit_depth(15)
        .limit_complexity(500)
        .finish();
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
