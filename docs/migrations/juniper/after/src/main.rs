//! Answers the operations of a file, each with a fresh store, as lines of JSON.

#![allow(dead_code, reason = "the attributes read some declarations only")]

mod admin;
mod code;
mod context;
mod enums;
mod errors;
mod inputs;
mod interfaces;
mod issues;
mod mutation;
mod page;
mod people;
mod projects;
mod query;
mod scalars;
mod store;
mod subscription;

use std::error::Error;

use futures::StreamExt as _;
use graph_core::http::GraphRequest;
use graph_core::{Engine, RequestContext};
use juniper::RootNode;
use serde_json::{Value, json};

use crate::context::{Context, Host};
use crate::mutation::Mutation;
use crate::query::Query;
use crate::subscription::Subscription;

type Schema = Engine<Query, Mutation, Subscription>;

async fn answer(schema: &Schema, operation: &Value, context: &Context) -> Result<Value, Box<dyn Error>> {
    let document = operation["document"].as_str().unwrap_or_default();
    let mut request = GraphRequest::new(document);
    if operation["variables"].is_object() {
        request = request.with_variables(serde_json::from_value(operation["variables"].clone())?);
    }
    if !document.starts_with("subscription") {
        return Ok(serde_json::to_value(schema.execute(&request, context).await)?);
    }
    let events: Vec<_> = schema.subscribe(request, context.clone()).collect().await;
    match &events[..] {
        [refused] if refused.is_request_error() => Ok(serde_json::to_value(refused)?),
        _ => Ok(serde_json::to_value(&events)?),
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("usage: tracker-after OPERATIONS")?;
    let operations: Vec<Value> = serde_json::from_str(&std::fs::read_to_string(path)?)?;
    let schema = Engine::builder(RootNode::new(Query, Mutation, Subscription))
        .danger_pass_field_errors()
        .build()?;
    for operation in &operations {
        let host = Host::new(operation["viewer"].as_i64().map(|viewer| viewer as i32));
        let context = RequestContext::new(host);
        let answer = answer(&schema, operation, &context).await?;
        let statements = context.host().store.statements();
        println!(
            "{}",
            json!({ "name": operation["name"], "answer": answer, "statements": statements })
        );
    }
    Ok(())
}
