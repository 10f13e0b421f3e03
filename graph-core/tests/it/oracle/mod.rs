//! graphql-js as the oracle: generated schemas answer random operations as it did, by the byte of `data` and by every error.
//!
//! `tests/oracle` invents the schemas and the operations and asks graphql-js. What it answered to some of them is in
//! `tests/oracle/vectors`; `tests/oracle/run` asks thousands more.

mod canon;
mod judge;
mod prelude;
mod roll;
#[allow(
    dead_code,
    reason = "traits are there for their attribute, and not every value is asked for"
)]
mod schema_0;
#[allow(
    dead_code,
    reason = "traits are there for their attribute, and not every value is asked for"
)]
mod schema_1;
#[allow(
    dead_code,
    reason = "traits are there for their attribute, and not every value is asked for"
)]
mod schema_1_twin;
#[allow(
    dead_code,
    reason = "traits are there for their attribute, and not every value is asked for"
)]
mod schema_2;
#[allow(
    dead_code,
    reason = "traits are there for their attribute, and not every value is asked for"
)]
mod schema_3;
mod world;

use std::fs;
use std::path::Path;

use graph_core::RequestContext;
use graph_core::http::Answer;

use self::judge::{Case, judge};
use self::world::World;
use crate::wire::post_body;

/// The engines, built once.
macro_rules! engines {
    ($($schema:ident),+) => {
        struct Engines {
            $($schema: $schema::Built,)+
        }

        impl Engines {
            fn new() -> Self {
                Self { $($schema: $schema::engine(),)+ }
            }

            /// The bytes of the response of `schema` to a request.
            async fn answer(&self, schema: &str, body: String) -> Vec<u8> {
                let (request, context) = (post_body(body), RequestContext::new(World::default()));
                let answer = match schema {
                    $(stringify!($schema) => self.$schema.respond(request, context).await,)+
                    other => panic!("no schema {other}"),
                };
                match answer {
                    Answer::Full(response) => response.into_body().to_vec(),
                    Answer::Stream(_) => panic!("nobody subscribed"),
                }
            }
        }
    };
}
engines!(schema_0, schema_1, schema_1_twin, schema_2, schema_3);

/// What is wrong with the answers to the cases of a file, one line of JSON each.
async fn mistakes(cases: &Path) -> Vec<String> {
    let engines = Engines::new();
    let mut mistakes = Vec::new();
    for line in fs::read_to_string(cases).unwrap().lines() {
        let case: Case = serde_json::from_str(line).unwrap();
        let twin = (case.schema == "schema_1").then_some("schema_1_twin");
        for schema in [Some(case.schema.as_str()), twin].into_iter().flatten() {
            let answered = engines.answer(schema, case.request.to_string()).await;
            if let Err(why) = judge(&case, &answered) {
                let answered = String::from_utf8_lossy(&answered);
                mistakes.push(format!("{why}, by {schema}\nanswered {answered}\ncase {line}\n"));
            }
        }
    }
    mistakes
}

async fn check(cases: &Path) {
    let mistakes = mistakes(cases).await;
    let shown = mistakes.iter().take(5).map(String::as_str).collect::<String>();
    assert!(
        mistakes.is_empty(),
        "{} mistakes, such as\n{shown}",
        mistakes.len()
    );
}

async fn check_vectors(name: &str) {
    check(
        &Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("tests/oracle/vectors")
            .join(name),
    )
    .await;
}

#[tokio::test]
async fn values_are_coerced_and_refused_as_graphql_js_does() {
    check_vectors("coercion.jsonl").await;
}

#[tokio::test]
async fn operations_on_the_first_schema_are_answered_as_by_graphql_js() {
    check_vectors("schema_1.jsonl").await;
}

#[tokio::test]
async fn operations_on_the_second_schema_are_answered_as_by_graphql_js() {
    check_vectors("schema_2.jsonl").await;
}

#[tokio::test]
async fn operations_on_the_third_schema_are_answered_as_by_graphql_js() {
    check_vectors("schema_3.jsonl").await;
}

#[tokio::test]
async fn operations_that_were_spoiled_are_refused_or_answered_as_by_graphql_js() {
    check_vectors("spoiled.jsonl").await;
}

#[tokio::test]
#[ignore = "tests/oracle/run writes the cases"]
async fn operations_of_this_hour_are_answered_as_by_graphql_js() {
    check(&Path::new(env!("CARGO_TARGET_TMPDIR")).join("oracle.jsonl")).await;
}
