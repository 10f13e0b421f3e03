//! Costs of arguments, values in variables, and the size of the response.

use futures_util::StreamExt as _;
use futures_util::stream::{self, BoxStream};
use graph_core::http::{GraphRequest, HttpResponse};
use graph_core::limits::{FieldCost, LimitMode, Limits};
use graph_core::{Engine, GraphError, RequestContext, graph_object, graph_subscription};
use juniper::{GraphQLInputObject, RootNode, Variables};
use serde_json::{Value, json};

use crate::wire::{codes, json as envelope, post_body};

type Context = RequestContext<()>;

#[derive(Clone, Debug, GraphQLInputObject)]
struct Search {
    ids: Option<Vec<i32>>,
    limit: Option<i32>,
    words: Option<Vec<String>>,
    or: Option<Vec<Self>>,
}

struct Query;

#[graph_object(context = Context)]
impl Query {
    fn users(ids: Vec<i32>) -> Vec<User> {
        ids.into_iter().map(User).collect()
    }

    fn page(ids: Option<Vec<i32>>, first: Option<i32>) -> Vec<User> {
        let ids = ids.unwrap_or_default().into_iter();
        ids.chain(0..first.unwrap_or_default()).map(User).collect()
    }

    fn user(ids: Vec<i32>) -> User {
        User(ids.into_iter().sum())
    }

    fn search(input: Search) -> Vec<User> {
        let ids = input.ids.unwrap_or_default().into_iter();
        ids.chain(0..input.limit.unwrap_or_default()).map(User).collect()
    }

    fn sum(of: Vec<i32>) -> i32 {
        of.into_iter().sum()
    }

    fn text(bytes: i32) -> Option<String> {
        Some("x".repeat(usize::try_from(bytes).unwrap()))
    }

    async fn late_text(bytes: i32) -> Option<String> {
        Some("x".repeat(usize::try_from(bytes).unwrap()))
    }

    fn texts(count: i32) -> Option<Vec<String>> {
        Some((0..count).map(|_| "0123456789".to_owned()).collect())
    }

    async fn late(count: i32) -> Option<Vec<User>> {
        Some((0..count).map(User).collect())
    }

    fn small() -> i32 {
        1
    }

    fn grid(rows: Vec<Vec<i32>>) -> i32 {
        rows.into_iter().flatten().sum()
    }

    fn people(count: i32) -> Option<Vec<User>> {
        Some((0..count).map(User).collect())
    }
}

struct User(i32);

#[graph_object(context = Context)]
impl User {
    fn id(&self) -> i32 {
        self.0
    }

    async fn name(&self) -> String {
        tokio::task::yield_now().await;
        format!("user {:020}", self.0)
    }

    fn friends(&self) -> Vec<Self> {
        vec![Self(self.0 + 1)]
    }

    fn matches(&self, search: Option<Search>) -> bool {
        search.is_some_and(|search| search.words.is_none() && search.or.is_none())
    }

    fn friend(&self) -> Self {
        Self(self.0 + 1)
    }

    fn missing(&self) -> Result<Option<i32>, GraphError> {
        Err(GraphError::not_found("no such value"))
    }

    async fn late_missing(&self) -> Result<Option<i32>, GraphError> {
        tokio::task::yield_now().await;
        Err(GraphError::not_found("no such value"))
    }

    #[graph(authenticated)]
    fn secret(&self) -> Option<i32> {
        Some(self.0)
    }
}

struct Mutation;

#[graph_object(context = Context)]
impl Mutation {
    fn save() -> bool {
        true
    }
}

struct Subscription;

#[graph_subscription(context = Context)]
impl Subscription {
    async fn counts() -> BoxStream<'static, Option<Vec<i32>>> {
        stream::iter([3, 1_000, 3])
            .map(|count| Some((0..count).collect()))
            .boxed()
    }

    async fn people() -> BoxStream<'static, Option<Vec<User>>> {
        stream::repeat_with(|| Some(vec![User(1), User(2)]))
            .take(3)
            .boxed()
    }
}

type TestEngine = Engine<Query, Mutation, Subscription>;

fn engine(limits: Limits) -> TestEngine {
    Engine::builder(RootNode::new(Query, Mutation, Subscription))
        .with_limits(limits)
        .with_field_cost("Query.search", FieldCost::sliced_by(["input.limit", "input.ids"]))
        .with_cost_reports()
        .build()
        .unwrap()
}

async fn execute(limits: Limits, query: &str, variables: Value) -> Value {
    let variables: Variables = serde_json::from_value(variables).unwrap();
    let request = GraphRequest::new(query).with_variables(variables);
    json!(engine(limits).execute(&request, &RequestContext::new(())).await)
}

async fn price(query: &str, variables: Value) -> u64 {
    let limits = Limits::default().with_mode(LimitMode::Report).with_aliases(1_000);
    let answer = execute(limits, query, variables).await;
    answer["extensions"]["cost"]["estimated"]
        .as_u64()
        .unwrap_or_else(|| panic!("{answer}"))
}

/// G22: sizes in arguments multiply, also inside input objects, in literals and in variables.
#[tokio::test]
async fn sizes_in_arguments_set_the_cost() {
    let ids = json!({ "i": [1, 2, 3, 4, 5, 6, 7] });
    for (query, variables, expected) in [
        // a list argument of a list field is its size
        ("{ users(ids: [1, 2, 3]) { id } }", json!({}), 3),
        (
            "{ users(ids: [1, 2, 3]) { friends { id } } }",
            json!({}),
            3 * (1 + 10),
        ),
        ("query($i: [Int!]!) { users(ids: $i) { id } }", ids.clone(), 7),
        (
            "query($i: [Int!]! = [1, 2]) { users(ids: $i) { id } }",
            json!({}),
            2,
        ),
        ("{ users(ids: 1) { id } }", json!({}), 1),
        // beside a slicing argument, or on a field that is no list, it costs its length
        ("{ page(first: 2, ids: [1, 2, 3]) { id } }", json!({}), 2 + 3),
        ("{ page(ids: [1, 2, 3]) { id } }", json!({}), 10 + 3),
        (
            "query($i: [Int!]) { page(ids: $i, first: 1) { id } }",
            ids.clone(),
            1 + 7,
        ),
        ("{ user(ids: [1, 2, 3]) { id } }", json!({}), 1 + 3),
        ("query($i: [Int!]!) { sum(of: $i) }", ids.clone(), 7),
        // declared slicing arguments
        ("{ search(input: { limit: 5 }) { id } }", json!({}), 5),
        (
            "{ search(input: { limit: 2, ids: [1, 2, 3] }) { id } }",
            json!({}),
            3,
        ),
        (
            "query($s: Search!) { search(input: $s) { id } }",
            json!({ "s": { "limit": 6 } }),
            6,
        ),
        (
            "query($l: Int) { search(input: { limit: $l }) { id } }",
            json!({ "l": 4 }),
            4,
        ),
        (
            "query($l: Int = 3) { search(input: { limit: $l }) { id } }",
            json!({}),
            3,
        ),
        (
            "query($s: Search = { limit: 8 }) { search(input: $s) { id } }",
            json!({}),
            8,
        ),
        ("{ search(input: {}) { id } }", json!({}), 10),
        ("{ search(input: { limit: -1 }) { id } }", json!({}), 10),
    ] {
        assert_eq!(price(query, variables).await, expected, "{query}");
    }
}

/// G22: a size that JSON writes as a float counts, and a list that is null has none.
#[tokio::test]
async fn sizes_follow_the_values_of_json() {
    let query = "query($s: Search!) { search(input: $s) { id } }";
    assert_eq!(price(query, json!({ "s": { "limit": 6.0 } })).await, 6);
    let query = "query($i: [Int!]) { page(ids: $i, first: 1) { id } }";
    assert_eq!(price(query, json!({ "i": null })).await, 1);
}

/// G22: of a repeated member in JSON, the value that the resolver gets sets the cost.
#[tokio::test]
async fn last_of_repeated_members_sets_the_cost() {
    for (search, expected) in [
        (r#"{ "limit": 1, "limit": 500 }"#, 500),
        (r#"{ "limit": 500, "limit": 2 }"#, 2),
    ] {
        let query = "query($s: Search!) { search(input: $s) { id } }";
        let body = format!(r#"{{ "query": "{query}", "variables": {{ "s": {search} }} }}"#);
        let limits = Limits::default().with_mode(LimitMode::Report);
        let response = engine(limits)
            .respond(post_body(body), RequestContext::new(()))
            .await;
        let HttpResponse::Full(response) = response else {
            panic!("a stream");
        };
        let answer = envelope(&response);
        let length = answer["data"]["search"].as_array().map(Vec::len);
        assert_eq!(length, Some(expected), "{answer}");
        assert_eq!(answer["extensions"]["cost"]["estimated"], json!(expected));
    }
}

/// G22: lists inside input objects and other lists cost their lengths, once for each call of the
/// resolver.
#[tokio::test]
async fn lists_inside_arguments_cost_their_lengths() {
    let search = json!({ "s": { "words": ["a", "b"], "or": [{ "words": ["c"] }, { "ids": [4, 5] }] } });
    let words = json!({ "w": ["a", "b", "c"] });
    for (query, variables, expected) in [
        (
            "query($s: Search) { users(ids: [1]) { matches(search: $s) } }",
            search.clone(),
            1 + 2 + 2 + 1 + 2,
        ),
        (
            "query($s: Search) { users(ids: [1, 2, 3]) { matches(search: $s) } }",
            search.clone(),
            3 * (1 + 7),
        ),
        (
            "{ users(ids: [1]) { matches(search: { words: [\"a\", \"b\"], or: [{ ids: 1 }, { ids: [2] }] }) } }",
            json!({}),
            1 + 2 + 2 + 1,
        ),
        (
            "query($w: [String!]) { users(ids: [1]) { matches(search: { words: $w, or: { words: $w } }) } }",
            words.clone(),
            1 + 3 + 3,
        ),
        (
            "query($w: [String!] = [\"a\"]) { users(ids: [1]) { matches(search: { words: $w }) } }",
            json!({}),
            1 + 1,
        ),
        (
            "query($w: [String!] = [\"a\"]) { users(ids: [1]) { matches(search: { words: $w }) } }",
            json!({ "w": null }),
            1,
        ),
        (
            "query($s: Search = { words: [\"a\", \"b\"] }) { users(ids: [1]) { matches(search: $s) } }",
            json!({}),
            1 + 2,
        ),
        // beside a slicing argument in the same object
        (
            "query($w: [String!]) { search(input: { limit: 2, ids: [1, 2, 3], words: $w }) { id } }",
            words,
            3 + 3,
        ),
        ("query($s: Search!) { search(input: $s) { id } }", search, 10 + 7),
        // the outermost list and the inner ones
        ("{ grid(rows: [[1, 2, 3], [4, 5]]) }", json!({}), 2 + 5),
        (
            "query($r: [[Int!]!]!) { grid(rows: $r) }",
            json!({ "r": [[1, 2, 3], [4, 5]] }),
            2 + 5,
        ),
    ] {
        assert_eq!(price(query, variables).await, expected, "{query}");
    }
}

/// G22: a root field of a mutation costs at least 10, also if it returns a scalar.
#[tokio::test]
async fn mutations_cost_at_least_ten() {
    assert_eq!(price("mutation { save }", json!({})).await, 10);
    assert_eq!(
        price("mutation { a: save b: save __typename }", json!({})).await,
        20
    );
}

/// G22: what `@skip` and `@include` exclude is free, by literals and by variables.
#[tokio::test]
async fn excluded_fields_are_free() {
    let query = "query($on: Boolean!) { user(ids: []) @include(if: $on) { friends { id } } ... @skip(if: $on) { users(ids: [1, 2]) { id } } }";
    assert_eq!(price(query, json!({ "on": true })).await, 1 + 10);
    assert_eq!(price(query, json!({ "on": false })).await, 2);
    let query = "{ a: user(ids: []) @skip(if: true) { id } ...F @include(if: false) small } fragment F on Query { users(ids: [1]) { id } }";
    assert_eq!(price(query, json!({})).await, 0);
    // depth, aliases and root fields follow
    let limits = Limits::default()
        .with_depth(1)
        .with_aliases(0)
        .with_root_fields(1);
    let query = "query($on: Boolean = false) { small a: user(ids: []) @include(if: $on) { id } }";
    assert_eq!(
        execute(limits, query, json!({})).await,
        json!({ "data": { "small": 1 } })
    );
    let answer = execute(limits, query, json!({ "on": true })).await;
    assert_eq!(
        codes(&answer),
        ["MAX_DEPTH_EXCEEDED", "MAX_ALIASES_EXCEEDED", "MAX_COST_EXCEEDED"]
    );
}

/// G22: variables with too many values are refused, before they are decoded if they are JSON.
#[tokio::test]
async fn values_in_variables_are_limited() {
    let limits = Limits::default().with_values(10);
    let query = "query($i: [Int!]!) { sum(of: $i) }";
    let of = |length: i32| json!({ "i": (0..length).collect::<Vec<_>>() });
    assert_eq!(
        execute(limits, query, of(9)).await,
        json!({ "data": { "sum": 36 } })
    );
    assert_eq!(
        codes(&execute(limits, query, of(10)).await),
        ["MAX_VALUES_EXCEEDED"]
    );
    for (length, code) in [(9, None), (10, Some("MAX_VALUES_EXCEEDED"))] {
        let body = json!({ "query": query, "variables": of(length) }).to_string();
        let response = engine(limits)
            .respond(post_body(body), RequestContext::new(()))
            .await;
        let HttpResponse::Full(response) = response else {
            panic!("a stream");
        };
        assert_eq!(codes(&envelope(&response)).first().copied(), code);
        assert_eq!(response.status(), if code.is_some() { 400 } else { 200 });
    }
    // also if no variable of the operation has them
    let answer = execute(
        limits,
        "{ small }",
        json!({ "other": { "a": [1, 2, 3, 4, 5, 6, 7, 8, 9] } }),
    )
    .await;
    assert_eq!(codes(&answer), ["MAX_VALUES_EXCEEDED"]);
}

/// G22: a response beyond its limit is partial: one error says so, and what follows is null.
#[tokio::test]
async fn response_is_cut_at_its_limit() {
    let limits = Limits::default().with_response_bytes(1_000).with_cost(1_000_000);
    for (query, data, path) in [
        (
            "{ small texts(count: 100) }",
            json!({ "small": 1, "texts": null }),
            json!(["texts"]),
        ),
        (
            "{ texts(count: 10) again: texts(count: 100) last: texts(count: 1) small }",
            json!({ "texts": vec!["0123456789"; 10], "again": null, "last": null, "small": 1 }),
            json!(["again"]),
        ),
        (
            "{ small late(count: 60) { id name } }",
            json!({ "small": 1, "late": null }),
            Value::Null,
        ),
        // what asynchronous fields write counts, too
        (
            "{ small late(count: 30) { name } }",
            json!({ "small": 1, "late": null }),
            Value::Null,
        ),
        (
            "{ small lateText(bytes: 2000) }",
            Value::Null,
            json!(["lateText"]),
        ),
        ("{ small text(bytes: 2000) }", Value::Null, json!(["text"])),
        (
            "{ users(ids: [1]) { friends { id } } late(count: 2) { id } }",
            json!({ "users": [{ "friends": [{ "id": 2 }] }], "late": [{ "id": 0 }, { "id": 1 }] }),
            json!("none"),
        ),
    ] {
        let answer = execute(limits, query, json!({})).await;
        assert_eq!(answer["data"], data, "{query}");
        if path == json!("none") {
            assert!(answer.get("errors").is_none(), "{answer}");
            continue;
        }
        assert_eq!(codes(&answer), ["MAX_RESPONSE_SIZE_EXCEEDED"], "{query}");
        if path.is_array() {
            assert_eq!(answer["errors"][0]["path"], path);
        }
    }
}

/// G22: the errors of fields count towards the limit, with the response keys in their paths.
#[tokio::test]
async fn errors_count_towards_the_limit() {
    let limits = Limits::default().with_response_bytes(20_000).with_cost(1_000_000);
    let long = "a".repeat(3_000);
    for query in [
        "{ small people(count: 1000) { missing } last: small }".to_owned(),
        "{ small people(count: 1000) { lateMissing } last: small }".to_owned(),
        "{ small people(count: 1000) { secret } last: small }".to_owned(),
        // a long response key is in the path of every error
        format!("{{ small {long}: people(count: 20) {{ missing }} last: small }}"),
        format!("{{ small people(count: 20) {{ {long}: missing }} last: small }}"),
        format!("{{ small people(count: 20) {{ {long}: lateMissing }} last: small }}"),
        // without a list
        format!(
            "{{ small people(count: 1) {{ {long}: friend {{ missing secret friend {{ missing secret \
             friend {{ missing secret friend {{ missing secret }} }} }} }} }} last: small }}"
        ),
    ] {
        let answer = execute(limits, &query, json!({})).await;
        let bytes = answer.to_string().len();
        assert!(bytes < 60_000, "{bytes} bytes for {query}");
        let codes = codes(&answer);
        let exceeded = codes.iter().filter(|code| **code == "MAX_RESPONSE_SIZE_EXCEEDED");
        assert_eq!(exceeded.count(), 1, "{codes:?} for {query}");
        assert_eq!(
            (&answer["data"]["small"], &answer["data"]["last"]),
            (&json!(1), &json!(1))
        );
    }
    // errors within the limit stay
    let answer = execute(limits, "{ people(count: 3) { id missing } }", json!({})).await;
    assert_eq!(codes(&answer), ["NOT_FOUND"; 3]);
    assert_eq!(answer["data"]["people"][2], json!({ "id": 2, "missing": null }));
}

/// G22: the limit of the response counts each event of a subscription on its own.
#[tokio::test]
async fn each_event_has_the_whole_limit() {
    let limits = Limits::default().with_response_bytes(100);
    let request = GraphRequest::new("subscription { counts }");
    let events = engine(limits).subscribe(request, RequestContext::new(()));
    let answers: Vec<_> = events.map(|answer| json!(answer)).collect().await;
    let small = json!({ "data": { "counts": [0, 1, 2] } });
    assert_eq!((&answers[0], &answers[2]), (&small, &small));
    assert_eq!(answers[1]["data"], json!({ "counts": null }));
    assert_eq!(codes(&answers[1]), ["MAX_RESPONSE_SIZE_EXCEEDED"]);
    // and so do its errors
    let limits = Limits::default().with_response_bytes(400);
    let request = GraphRequest::new("subscription { people { missing } }");
    let events = engine(limits).subscribe(request, RequestContext::new(()));
    let answers: Vec<_> = events.map(|answer| json!(answer)).collect().await;
    assert_eq!(answers.len(), 3);
    for answer in &answers {
        assert_eq!(codes(answer), ["NOT_FOUND"; 2], "{answer}");
    }
}
