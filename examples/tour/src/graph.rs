//! The same charges over GraphQL: a query, a mutation, a subscription and an out-of-scope field.

use http::StatusCode;
use serde_json::{Value, json};

use super::http::{EventStream, send, subscribe};
use super::report::{Step, Stopped, expect, found, passed};
use super::{Tokens, Tour};

const JSON: &str = "application/json";

pub(super) async fn chapter(tour: &mut Tour<'_>, tokens: &Tokens) -> Result<(), Stopped> {
    tour.report.chapter("The graph");
    let token = tokens.access.as_str();

    let step = query(tour, token).await;
    let id = tour.report.step("query a page of a connection", step)?;
    let step = unknown_field(tour, token).await;
    tour.report.step("an unknown field: no resolver runs", step)?;
    let step = listen(tour, token).await;
    let mut updates = tour.report.step("subscribe to chargeUpdated", step)?;
    let step = mutate(tour, token).await;
    let created = tour.report.step("mutate: create a charge", step)?;
    let step = receive(&mut updates, &created).await;
    tour.report.step("the subscription sends the charge", step)?;
    let step = out_of_scope(tour, token, &id).await;
    tour.report.step("one field in scope, one out of scope", step)
}

async fn query(tour: &Tour<'_>, token: &str) -> Step<String> {
    let query = "{ viewer { subject } charges(first: 2) { edges { cursor node { id amount status } } pageInfo { hasNextPage endCursor } } }";
    let answer = send(tour.operation(token, query, JSON)?).await?;
    answer
        .expect(StatusCode::OK)?
        .expect_at("/data/charges/pageInfo/hasNextPage", true)?;
    answer.expect_at("/data/viewer/subject", "usr_ada")?;
    let json = answer.json()?;
    expect(&answer.sent, "errors", json.pointer("/errors"), None)?;
    let edges = json
        .pointer("/data/charges/edges")
        .and_then(Value::as_array)
        .map(Vec::len);
    expect(&answer.sent, "edges", edges, Some(2))?;
    let id = answer.string_at("/data/charges/edges/0/node/id")?;
    found("{ viewer charges(first: 2) }", "two edges, hasNextPage: true", id)
}

async fn unknown_field(tour: &Tour<'_>, token: &str) -> Step {
    let answer = send(tour.operation(token, "{ charges { total } }", JSON)?).await?;
    answer
        .expect(StatusCode::OK)?
        .expect_at("/errors/0/extensions/code", "GRAPHQL_VALIDATION_FAILED")?;
    passed("{ charges { total } }", "GRAPHQL_VALIDATION_FAILED")
}

async fn listen(tour: &Tour<'_>, token: &str) -> Step<EventStream> {
    let query = "subscription { chargeUpdated { id amount version } }";
    let updates = subscribe(tour.operation(token, query, "text/event-stream")?).await?;
    let sent = updates.sent().to_owned();
    found(sent, "200, the stream is open", updates)
}

async fn mutate(tour: &Tour<'_>, token: &str) -> Step<String> {
    let query = "mutation { createCharge(amount: 4200, currency: \"eur\") { id amount version } }";
    let answer = send(tour.operation(token, query, JSON)?).await?;
    answer
        .expect(StatusCode::OK)?
        .expect_at("/data/createCharge/amount", 4200)?;
    let id = answer.string_at("/data/createCharge/id")?;
    found("mutation { createCharge(amount: 4200) }", "the new charge", id)
}

async fn receive(updates: &mut EventStream, id: &str) -> Step {
    let event = updates.next("next").await?;
    let expected = json!({ "data": { "chargeUpdated": { "id": id, "amount": 4200, "version": 1 } } });
    expect(updates.sent(), "event", event, expected)?;
    passed("chargeUpdated", "event: next, with the new charge")
}

async fn out_of_scope(tour: &Tour<'_>, token: &str, id: &str) -> Step {
    let query = format!(
        "mutation {{ createCharge(amount: 100, currency: \"eur\") {{ amount }} refundCharge(id: \"{id}\") {{ id }} }}"
    );
    let answer = send(tour.operation(token, &query, JSON)?).await?;
    answer
        .expect(StatusCode::OK)?
        .expect_at("/data/createCharge/amount", 100)?;
    answer
        .expect_at("/data/refundCharge", Value::Null)?
        .expect_at("/errors/0/path/0", "refundCharge")?;
    answer.expect_at("/errors/0/extensions/code", "FORBIDDEN")?;
    passed(
        "mutation { createCharge refundCharge }",
        "data for createCharge, FORBIDDEN for refundCharge",
    )
}
