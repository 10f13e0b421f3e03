//! What the attributes emit, written by hand: a small graph with everything that they know.
//!
//! Each block stands behind the host's own code exactly as it was written, with juniper's attribute in the place of ours.

#![expect(
    clippy::needless_borrow,
    reason = "a return type decides how many of the references are looked through"
)]

mod found;
mod roots;
mod user;

use futures_util::stream::StreamExt as _;
use graph_core::http::GraphRequest;
use graph_core::{Engine, Principal, RequestContext};
use juniper::{EmptyMutation, RootNode};
use serde_json::{Value, json};

use self::roots::{Query, Subscription};
use crate::fixture::codes;

pub(crate) type Context = RequestContext<i32>;

fn engine() -> Engine<Query, EmptyMutation<Context>, Subscription> {
    let root = RootNode::new(Query, EmptyMutation::new(), Subscription);
    Engine::builder(root).build().unwrap()
}

async fn ask(query: &str) -> Value {
    json!(
        engine()
            .execute(&GraphRequest::new(query), &RequestContext::new(42))
            .await
    )
}

/// G1, G4: what is emitted answers a query with everything in it, and gives every failure its place in the lists around it.
#[tokio::test]
async fn the_graph_written_by_hand_is_answered() {
    let query = "{ answer search { __typename
        ... on User { id mood friends(first: -1) { id } }
        ... on Team { name members { name friends { id name } } } } }";
    let answer = ask(query).await;
    assert_eq!(codes(&answer), ["BAD_USER_INPUT"]);
    assert_eq!(answer["data"], Value::Null);
    assert_eq!(answer["errors"][0]["path"], json!(["search", 0, "friends"]));
    let query = query.replace("first: -1", "first: 1");
    let friends = |id: i32| {
        let friends = (1..=2).map(|more| json!({ "id": (10 * id + more).to_string(), "name": "friend" }));
        json!({ "name": "Ada", "friends": friends.collect::<Vec<_>>() })
    };
    assert_eq!(
        ask(&query).await,
        json!({ "data": { "answer": 42, "search": [
            { "__typename": "User", "id": "0", "mood": "BAD", "friends": [{ "id": "1" }] },
            { "__typename": "Team", "name": "core", "members": [friends(1), friends(2)] },
        ] } })
    );
}

/// G15: a guard holds natively and where juniper executes the operation, with the same code.
#[tokio::test]
async fn a_guard_holds_whoever_executes() {
    for plain in ["", "legacy { year }"] {
        let query = format!("{{ {plain} search {{ ... on User {{ email }} }} }}");
        let answer = ask(&query).await;
        assert_eq!(answer["data"]["search"][0], json!({ "email": null }), "{query}");
        assert_eq!(codes(&answer), ["UNAUTHENTICATED"]);
        let ada =
            |scope: &str| RequestContext::new(1).with_principal(Principal::new("ada").with_scopes([scope]));
        let request = GraphRequest::new(query);
        let answer = json!(engine().execute(&request, &ada("read:other")).await);
        assert_eq!(codes(&answer), ["FORBIDDEN"]);
        let answer = json!(engine().execute(&request, &ada("read:email")).await);
        assert_eq!(answer["data"]["search"][0], json!({ "email": "0@example.com" }));
        assert!(answer.get("errors").is_none());
    }
}

/// G1: a field of a plain type of juniper's is answered, beside fields of ours.
#[tokio::test]
async fn a_plain_field_is_answered_by_juniper() {
    let answer = ask("{ answer legacy { year } }").await;
    assert_eq!(
        answer,
        json!({ "data": { "answer": 42, "legacy": { "year": 1999 } } })
    );
}

/// G10: what is emitted opens a stream.
#[tokio::test]
async fn the_subscription_written_by_hand_streams() {
    for (count, expected) in [(2, 2), (-1, 1)] {
        let request = GraphRequest::new(format!("subscription {{ new: joined(count: {count}) {{ id }} }}"));
        let events: Vec<_> = engine()
            .subscribe(request, RequestContext::new(1))
            .collect()
            .await;
        assert_eq!(events.len(), expected);
        if count > 0 {
            assert_eq!(json!(events[1]), json!({ "data": { "new": { "id": "2" } } }));
        } else {
            assert_eq!(codes(&json!(events[0])), ["BAD_USER_INPUT"]);
            assert!(events[0].is_request_error());
        }
    }
}
