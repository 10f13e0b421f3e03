//! Comparison with graphql-js 17: incremental delivery of random operations with `@defer`.
//!
//! `tests/oracle/deferred.mjs` generates the operations, records the responses and explains the
//! cases.

use std::path::Path;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::judge::{Failure, judge_errors};
use super::world::World;
use super::{Engines, report};
use crate::reassembled::{Fragment, Reassembled, payloads};
use crate::wire::{accepting, post_body};

#[derive(Deserialize)]
struct Case {
    schema: String,
    request: Value,
    /// Text of `data` of the first payload.
    first: String,
    /// Paths and labels.
    pending: Vec<(Value, Value)>,
    merged: Value,
    sent: Vec<(Value, Value)>,
    errors: Vec<Vec<Failure>>,
    failures: Vec<(Value, Value, Vec<Failure>)>,
    plain: bool,
}

#[derive(Deserialize)]
struct First<'a> {
    #[serde(borrow)]
    data: &'a RawValue,
    #[serde(default)]
    pending: Vec<Value>,
}

/// Values in an order that does not depend on the time of their payloads.
fn sorted<T>(values: impl IntoIterator<Item = T>, text: impl Fn(T) -> String) -> Vec<String> {
    let mut texts: Vec<String> = values.into_iter().map(text).collect();
    texts.sort();
    texts
}

fn require(holds: bool, why: &str) -> Result<(), String> {
    holds.then_some(()).ok_or_else(|| why.to_owned())
}

fn failures_of(errors: &[Value]) -> Vec<Failure> {
    let parsed = errors
        .iter()
        .map(|error| serde_json::from_value(error.clone()).unwrap());
    parsed.collect()
}

impl Case {
    /// Compares the parts that both formats have.
    fn judge_merged(&self, merged: &Reassembled) -> Result<(), String> {
        require(merged.is_complete, "the last payload is missing")?;
        require(merged.data == self.merged, "merged data differs")?;
        judge_errors(&self.errors, &failures_of(&merged.errors))?;
        let failed = |fragment: &Fragment| format!("{} {}", fragment.path, fragment.label);
        require(
            sorted(merged.failed(), failed)
                == sorted(&self.failures, |(path, label, _)| format!("{path} {label}")),
            "other fragments fail",
        )?;
        for fragment in merged.failed() {
            let errors = failures_of(fragment.failure.as_deref().unwrap_or_default());
            let expected = self
                .failures
                .iter()
                .find(|(path, ..)| *path == fragment.path)
                .map(|(.., group)| group);
            let is_allowed =
                |seen: &Failure| expected.is_some_and(|group| group.iter().any(|it| it.allows(seen)));
            let is_allowed = !errors.is_empty() && errors.iter().all(is_allowed);
            require(is_allowed, "a fragment fails by another error")?;
        }
        Ok(())
    }

    /// Compares the payloads of graphql-js's format.
    fn judge_payloads(&self, texts: &[String]) -> Result<(), String> {
        let first: First<'_> = serde_json::from_str(&texts[0]).map_err(|error| error.to_string())?;
        require(first.data.get() == self.first, "the first payload differs")?;
        let pending = first
            .pending
            .iter()
            .map(|it| (it["path"].clone(), it["label"].clone()));
        let pair = |(path, label): (Value, Value)| format!("{path} {label}");
        require(
            sorted(pending, pair) == sorted(self.pending.iter().cloned(), pair),
            "the first payload announces other fragments",
        )?;
        let merged = Reassembled::of(texts);
        self.judge_merged(&merged)?;
        let sent = |(path, data): &(Value, Value)| format!("{path} {data}");
        require(
            sorted(&merged.sent, sent) == sorted(&self.sent, sent),
            "the parts of the data differ",
        )
    }
}

/// Difference between the responses of `schema` and a case.
async fn mistake(engines: &Engines, case: &Case, schema: &str) -> Option<String> {
    let ask = async |accept: &'static str| {
        let request = accepting(post_body(case.request.to_string()), accept);
        payloads(engines.respond(schema, request, World::default()).await).await
    };
    let later = ask("multipart/mixed;incrementalSpec=v0.2, application/json").await;
    let mut found = case.judge_payloads(&later).err().map(|why| (why, later));
    if found.is_none() {
        let apollo = ask("multipart/mixed;deferSpec=20220824, application/json").await;
        found = case
            .judge_merged(&Reassembled::of(&apollo))
            .err()
            .map(|why| (format!("in Apollo's format, {why}"), apollo));
    }
    if found.is_none() && case.plain {
        let whole = ask("application/json").await;
        let data = Reassembled::of(&whole).data;
        found = (data != case.merged).then(|| ("the plain response differs".to_owned(), whole));
    }
    let (why, payloads) = found?;
    let payloads = payloads.join("\n  ");
    Some(format!(
        "{why}, by {schema}\nanswered\n  {payloads}\nfirst {}\nmerged {}\npending {:?}\nsent {:?}\nrequest {}\n",
        case.first, case.merged, case.pending, case.sent, case.request
    ))
}

/// Runs the cases; the twin of the first schema has no asynchronous fields and must respond the
/// same.
async fn check(file: &Path) {
    let text = std::fs::read_to_string(file).unwrap();
    let cases: Vec<Case> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let deferring = cases.iter().filter(|case| !case.pending.is_empty()).count();
    let failing = cases.iter().filter(|case| !case.failures.is_empty()).count();
    assert!(deferring > 100 && failing > 10, "{deferring} and {failing} cases");
    let engines = Engines::deferring();
    let mut mistakes = Vec::new();
    for case in &cases {
        let twin = (case.schema == "schema_1").then_some("schema_1_twin");
        for schema in [Some(case.schema.as_str()), twin].into_iter().flatten() {
            mistakes.extend(mistake(&engines, case, schema).await);
        }
    }
    report(&mistakes);
}

/// G24: payloads, merged data, failed fragments and errors, in both formats, with and without
/// asynchronous fields.
#[tokio::test]
async fn deferred_operations_respond_as_graphql_js_17() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/oracle/vectors/deferred.jsonl");
    check(&file).await;
}

#[tokio::test]
#[ignore = "tests/oracle/run writes the cases"]
async fn deferred_operations_of_this_hour_respond_as_graphql_js_17() {
    check(&Path::new(env!("CARGO_TARGET_TMPDIR")).join("deferred.jsonl")).await;
}
