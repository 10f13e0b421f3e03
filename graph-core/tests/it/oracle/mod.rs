//! Comparison with graphql-js: generated schemas and random operations give the same `data` bytes
//! and errors.
//!
//! `tests/oracle` generates the schemas and operations and records graphql-js's responses.
//! `tests/oracle/vectors` contains some of them; `tests/oracle/run` checks thousands more.

mod canon;
mod deferred;
mod judge;
mod prelude;
mod roll;
#[expect(
    clippy::needless_pass_by_value,
    reason = "arguments are taken as the macros hand them over"
)]
mod schema_0;
#[expect(
    clippy::needless_pass_by_value,
    reason = "arguments are taken as the macros hand them over"
)]
mod schema_1;
#[expect(
    clippy::needless_pass_by_value,
    reason = "arguments are taken as the macros hand them over"
)]
mod schema_1_twin;
#[expect(
    clippy::needless_pass_by_value,
    reason = "arguments are taken as the macros hand them over"
)]
mod schema_2;
#[expect(
    clippy::needless_pass_by_value,
    reason = "arguments are taken as the macros hand them over"
)]
mod schema_3;
mod world;

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use graph_core::RequestContext;
use graph_core::http::HttpResponse;
use http::Request;

use self::judge::{Case, judge};
use self::world::{World, elsewhere};
use crate::wire::post_body;

/// Engines, built once.
macro_rules! engines {
    ($($schema:ident),+) => {
        struct Engines {
            $($schema: $schema::Built,)+
        }

        impl Engines {
            fn new() -> Self {
                Self { $($schema: $schema::engine(),)+ }
            }

            /// Engines with `@defer`.
            fn deferring() -> Self {
                Self { $($schema: $schema::deferring(),)+ }
            }

            async fn respond(&self, schema: &str, request: Request<Bytes>, world: World) -> HttpResponse {
                let context = RequestContext::new(world);
                match schema {
                    $(stringify!($schema) => self.$schema.respond(request, context).await,)+
                    other => panic!("no schema {other}"),
                }
            }

            /// Response of `schema` to a request.
            async fn answer(&self, schema: &str, body: String, world: World) -> Vec<u8> {
                match self.respond(schema, post_body(body), world).await {
                    HttpResponse::Full(response) => response.into_body().to_vec(),
                    HttpResponse::Stream(_) => panic!("unexpected subscription"),
                }
            }

            /// Difference between the response of `schema` and a case.
            async fn mistake(&self, schema: &str, case: &Case, world: World) -> Option<String> {
                let answered = self.answer(schema, case.request.to_string(), world).await;
                let why = judge(case, &answered).err()?;
                let answered = String::from_utf8_lossy(&answered);
                Some(format!("{why}, by {schema}\nanswered {answered}\ncase {}\n", case.line))
            }
        }
    };
}
engines!(schema_0, schema_1, schema_1_twin, schema_2, schema_3);

/// Cases of a file, one JSON line each.
fn cases(file: &Path) -> Vec<Case> {
    let text = fs::read_to_string(file).unwrap();
    text.lines().map(Case::new).collect()
}

fn vectors(name: &str) -> Vec<Case> {
    cases(
        &Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("tests/oracle/vectors")
            .join(name),
    )
}

/// Runs the cases in sequence; the twin of the first schema has no asynchronous fields and must
/// respond the same.
async fn check(cases: &[Case]) {
    assert!(cases.len() > 10, "only {} cases", cases.len());
    let engines = Engines::new();
    let mut mistakes = Vec::new();
    for case in cases {
        let twin = (case.schema == "schema_1").then_some("schema_1_twin");
        for schema in [Some(case.schema.as_str()), twin].into_iter().flatten() {
            mistakes.extend(engines.mistake(schema, case, World::default()).await);
        }
    }
    report(&mistakes);
}

fn report(mistakes: &[String]) {
    let shown: String = mistakes.iter().take(5).map(String::as_str).collect();
    assert!(
        mistakes.is_empty(),
        "{} mistakes, such as\n{shown}",
        mistakes.len()
    );
}

/// G11: the SDL equals graphql-js's sorted output.
#[test]
fn the_schemas_are_written_as_by_graphql_js() {
    let engines = Engines::new();
    for (name, written) in [
        ("schema_1", engines.schema_1.sdl()),
        ("schema_2", engines.schema_2.sdl()),
        ("schema_3", engines.schema_3.sdl()),
    ] {
        let file = format!("tests/oracle/vectors/{name}.graphqls");
        let expected = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(file)).unwrap();
        assert_eq!(written, expected, "{name}");
    }
}

/// G7, G19: argument values are accepted, coerced or refused as in graphql-js.
#[tokio::test]
async fn values_are_coerced_and_refused_as_graphql_js_does() {
    check(&vectors("coercion.jsonl")).await;
}

/// G1, G4, G5: data, nulls and errors, with and without asynchronous fields.
#[tokio::test]
async fn first_schema_responds_as_graphql_js() {
    check(&vectors("schema_1.jsonl")).await;
}

/// G1, G4, G5: data, nulls and errors.
#[tokio::test]
async fn second_schema_responds_as_graphql_js() {
    check(&vectors("schema_2.jsonl")).await;
}

/// G1, G4, G5: data, nulls and errors.
#[tokio::test]
async fn third_schema_responds_as_graphql_js() {
    check(&vectors("schema_3.jsonl")).await;
}

/// G3, G19: invalid operations are refused before anything runs.
#[tokio::test]
async fn invalid_operations_respond_as_graphql_js() {
    check(&vectors("spoiled.jsonl")).await;
}

/// G8: no wake-up is lost, and no response is mixed with another.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn concurrent_operations_woken_by_threads_respond_the_same() {
    let engines = Arc::new(Engines::new());
    let cases: Arc<Vec<Case>> = Arc::new(
        ["schema_1.jsonl", "schema_2.jsonl", "schema_3.jsonl"]
            .into_iter()
            .flat_map(vectors)
            .collect(),
    );
    let elsewhere = elsewhere();
    // each task visits all cases in its own order
    let askers = [1, 7, 11, 13, 17, 19].map(|step| {
        let (engines, cases, elsewhere) = (Arc::clone(&engines), Arc::clone(&cases), elsewhere.clone());
        tokio::spawn(async move {
            let mut mistakes = Vec::new();
            for at in (0..cases.len()).map(|number| (number * step + 10 * step) % cases.len()) {
                let case = &cases[at];
                let asked = engines.mistake(&case.schema, case, World::woken(&elsewhere));
                let asked = tokio::time::timeout(Duration::from_secs(30), asked);
                mistakes.extend(asked.await.expect("no wake-up is lost"));
            }
            mistakes
        })
    });
    for asker in askers {
        report(&asker.await.unwrap());
    }
}

#[tokio::test]
#[ignore = "tests/oracle/run writes the cases"]
async fn operations_of_this_hour_are_answered_as_by_graphql_js() {
    check(&cases(
        &Path::new(env!("CARGO_TARGET_TMPDIR")).join("oracle.jsonl"),
    ))
    .await;
}
