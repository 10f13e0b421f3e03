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
use juniper::http::{GraphQLRequest, GraphQLResponse};
use juniper::{DefaultScalarValue, RootNode};
use juniper_subscriptions::Connection;
use serde_json::{Value, json};

use crate::context::Context;
use crate::mutation::Mutation;
use crate::query::Query;
use crate::subscription::Subscription;

type Schema = RootNode<Query, Mutation, Subscription>;

async fn answer(schema: &Schema, operation: &Value, context: &Context) -> Result<Value, Box<dyn Error>> {
    let request: GraphQLRequest<DefaultScalarValue> = serde_json::from_value(json!({
        "query": operation["document"],
        "variables": operation["variables"],
    }))?;
    if !operation["document"]
        .as_str()
        .is_some_and(|text| text.starts_with("subscription"))
    {
        let response = request.execute(schema, context).await;
        return Ok(serde_json::to_value(&response)?);
    }
    let started = juniper::http::resolve_into_stream(&request, schema, context).await;
    let (stream, errors) = match started {
        Ok(started) => started,
        Err(refused) => {
            return Ok(serde_json::to_value(
                GraphQLResponse::<DefaultScalarValue>::from_result(Err(refused)),
            )?);
        }
    };
    let events = Connection::from_stream(stream, errors);
    let events = events.map(|event| serde_json::to_value(&event).unwrap_or_default());
    Ok(events.collect::<Vec<_>>().await.into())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args()
        .nth(1)
        .ok_or("usage: tracker-before OPERATIONS")?;
    let operations: Vec<Value> = serde_json::from_str(&std::fs::read_to_string(path)?)?;
    let schema = Schema::new(Query, Mutation, Subscription);
    for operation in &operations {
        let context = Context::new(operation["viewer"].as_i64().map(|viewer| viewer as i32));
        let answer = answer(&schema, operation, &context).await?;
        let statements = context.store.statements();
        println!(
            "{}",
            json!({ "name": operation["name"], "answer": answer, "statements": statements })
        );
    }
    Ok(())
}
