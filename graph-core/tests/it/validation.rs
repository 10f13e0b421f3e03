//! Validation of arguments and input objects.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::StreamExt as _;
use futures_util::stream::{self, BoxStream};
use graph_core::engine::ConfigMistake;
use graph_core::http::HttpResponse;
use graph_core::persisted::{DocumentHash, Manifest, TrustedDocuments};
use graph_core::validate::{Faults, Validate};
use graph_core::{
    Engine, GraphInput, GraphObject, GraphRequest, Principal, RequestContext, graph_interface, graph_object,
    graph_subscription, graph_union,
};
use juniper::{EmptyMutation, EmptySubscription, GraphQLInputObject, ID, Nullable, RootNode};
use serde_json::{Value, json};

use crate::fixture::{accepting, codes, post};

/// Number of resolver calls.
type Context = RequestContext<Arc<AtomicUsize>>;

fn called(context: &Context) -> bool {
    context.host().fetch_add(1, Ordering::SeqCst);
    true
}

const MOST: i32 = 3;

#[derive(Clone, GraphQLInputObject, GraphInput)]
struct Address {
    #[graph(validate(max_length = 3))]
    zip: String,
    #[graph(validate(min = 0.5))]
    height: Option<f64>,
}

#[derive(Clone, GraphQLInputObject, GraphInput)]
#[graph(validate(custom = Person::has_contact))]
struct Person {
    #[graph(validate(min_items = 1, max_items = 2, min_length = 2))]
    mail_addresses: Option<Vec<String>>,
    #[graphql(name = "homes")]
    addresses: Vec<Vec<Option<Address>>>,
    manager: Option<Box<Self>>,
    by: Option<By>,
    period: Option<Period>,
}

impl Person {
    fn has_contact(&self) -> Result<(), String> {
        match self.mail_addresses.is_none() && self.addresses.is_empty() && self.by.is_none() {
            true => Err("needs an address".to_owned()),
            false => Ok(()),
        }
    }
}

/// Object with exactly one field.
#[derive(Clone, GraphQLInputObject, GraphInput)]
enum By {
    #[graph(validate(min = 1))]
    UserNumber(i32),
    Home(Address),
}

/// Object with an implementation by hand.
#[derive(Clone, GraphQLInputObject)]
struct Period {
    from: i32,
    to: i32,
}

impl Validate for Period {
    fn validate(&self, faults: &mut Faults<'_>) {
        if self.to < self.from {
            faults.field("to", |faults| faults.report("must not be before `from`"));
        }
    }
}

fn is_slug(text: &str) -> Result<(), String> {
    match text.chars().all(|letter| letter.is_ascii_lowercase()) {
        true => Ok(()),
        false => Err("must have lower-case letters only".to_owned()),
    }
}

fn sums_to_ten(numbers: &[i32]) -> Result<(), String> {
    match numbers.iter().sum::<i32>() {
        10 => Ok(()),
        sum => Err(format!("must sum to 10, not {sum}")),
    }
}

#[graph_interface(for = [Cat, Dog], context = Context)]
trait Animal {
    fn says(&self, #[graphql(default = 1)] times: i32) -> bool;
}

struct Cat;

#[graph_object(impl = AnimalValue, context = Context)]
impl Cat {
    fn says(
        context: &Context,
        #[graphql(default = 1)]
        #[graph(validate(max = 2))]
        times: i32,
    ) -> bool {
        called(context) && times > 0
    }
}

struct Dog;

#[graph_object(impl = AnimalValue, context = Context)]
impl Dog {
    fn says(
        context: &Context,
        #[graphql(default = 1)]
        #[graph(validate(max = 2))]
        times: i32,
    ) -> bool {
        called(context) && times > 0
    }
}

/// Quotes the value, as rules of hosts may do.
fn is_refused(text: &str) -> Result<(), String> {
    Err(format!("`{text}` is refused"))
}

struct Query;

#[graph_object(context = Context)]
#[expect(clippy::needless_pass_by_value, reason = "a resolver owns its arguments")]
impl Query {
    #[expect(clippy::too_many_arguments, reason = "an argument for each rule")]
    fn rules(
        context: &Context,
        #[graph(validate(min = -1, max = MOST))] number: Option<i32>,
        #[graph(validate(min = 0.25, max = 1e3))] float: Option<f64>,
        #[graph(validate(min_length = 2, max_length = 3))] text: Option<String>,
        #[graph(validate(max_length = 2))] id: Option<ID>,
        #[graph(validate(min_items = 1, max_items = 2, max = 5))] list: Nullable<Vec<Option<i32>>>,
        #[graph(validate(custom = is_slug))] slug: Option<String>,
        #[graph(validate(custom = sums_to_ten))] ten: Nullable<Vec<i32>>,
        #[graphql(name = "In")]
        #[graph(validate(custom = sums_to_ten))]
        _sum: Option<Vec<i32>>,
        #[graphql(default = 7)]
        #[graph(validate(max = 7))]
        standard: i32,
    ) -> bool {
        let is_any = number.is_some() || float.is_some() || text.is_some() || id.is_some() || slug.is_some();
        called(context) && (is_any || list.is_some() || ten.is_some() || standard > 0)
    }

    fn person(context: &Context, input: Person) -> bool {
        called(context) && input.manager.is_none() && input.period.is_none()
    }

    fn people(context: &Context, input: Option<Vec<Person>>) -> Vec<Team> {
        called(context);
        input.into_iter().flatten().map(|_| Team { size: 1 }).collect()
    }

    #[graph(role = "owner")]
    fn secret(context: &Context, #[graph(validate(max = 1))] key: i32) -> Option<i32> {
        called(context).then_some(key)
    }

    fn animals() -> Vec<AnimalValue> {
        vec![Cat.into(), Dog.into()]
    }

    fn zoo() -> Zoo {
        Zoo
    }

    #[graph(role = "owner")]
    fn vault() -> Option<Zoo> {
        Some(Zoo)
    }

    fn places() -> Vec<Option<Place>> {
        vec![Some(Place::Zoo(Zoo)), Some(Place::Lab(Lab))]
    }

    fn forms(
        #[graph(validate(max = 5))] pair: Option<[i32; 2]>,
        #[graph(validate(max_items = 1))] two: Option<[i32; 2]>,
        home: Nullable<Address>,
        homes: Option<[Address; 1]>,
        shared: Option<Arc<Address>>,
    ) -> bool {
        let is_none = two.is_none() && home.is_null() && homes.is_none() && shared.is_none();
        pair.is_some() && is_none
    }

    #[graph(role = "owner")]
    fn staff(context: &Context, input: Vec<Person>) -> Option<bool> {
        called(context).then_some(input.is_empty())
    }

    fn echo(context: &Context, #[graph(validate(custom = is_refused))] text: String) -> bool {
        called(context) && text.is_empty()
    }
}

#[graph_union(context = Context)]
enum Place {
    Zoo(Zoo),
    Lab(Lab),
}

/// Guarded type.
struct Lab;

#[graph_object(context = Context)]
#[graph(role = "owner")]
impl Lab {
    fn zoo() -> Zoo {
        Zoo
    }

    fn tests(context: &Context, #[graph(validate(max = 9))] first: i32) -> i32 {
        called(context);
        first
    }
}

#[derive(GraphObject)]
#[graphql(context = Context)]
struct Team {
    size: i32,
}

struct Zoo;

#[graph_object(context = Context)]
impl Zoo {
    fn cages(context: &Context, #[graph(validate(max = 9))] first: i32) -> i32 {
        called(context);
        first
    }
}

struct Mutation;

#[graph_object(context = Context)]
impl Mutation {
    async fn add(context: &Context, #[graph(validate(min = 1))] id: i32) -> i32 {
        called(context);
        id
    }
}

struct Subscription;

#[graph_subscription(context = Context)]
impl Subscription {
    async fn ticks(context: &Context, #[graph(validate(min = 1))] count: i32) -> BoxStream<'static, i32> {
        called(context);
        stream::iter(0..count).boxed()
    }
}

type Graph = Engine<Query, Mutation, Subscription>;

fn engine() -> Graph {
    let schema = RootNode::new(Query, Mutation, Subscription);
    Engine::builder(schema).build().unwrap()
}

fn request(query: &str, variables: Value) -> GraphRequest {
    GraphRequest::new(query).with_variables(serde_json::from_value(variables).unwrap())
}

/// Response, and the number of resolver calls.
async fn ask(query: &str, variables: Value) -> (Value, usize) {
    let calls = Arc::<AtomicUsize>::default();
    let context = Context::new(Arc::clone(&calls));
    let answer = engine().execute(&request(query, variables), &context).await;
    (json!(answer), calls.load(Ordering::SeqCst))
}

/// Argument paths and messages of a response that was not executed.
async fn refused(query: &str, variables: Value) -> Value {
    let (answer, calls) = ask(query, variables).await;
    assert_eq!(calls, 0, "{query}");
    assert!(answer.get("data").is_none(), "{query}: {answer}");
    let errors = answer["errors"].as_array().unwrap().iter();
    let fault = |error: &Value| {
        assert_eq!(error["extensions"]["code"], "BAD_USER_INPUT");
        let message = error["message"].as_str().unwrap();
        let (_, why) = message.split_once(" is invalid: ").unwrap();
        json!([error["extensions"]["argumentPath"], why])
    };
    json!(errors.map(fault).collect::<Vec<_>>())
}

/// G29: each rule holds exactly at its bounds, for literals and for variables.
#[tokio::test]
async fn each_rule_holds_at_its_bounds() {
    let valid = [
        ("number", "Int", json!(-1)),
        ("number", "Int", json!(3)),
        ("float", "Float", json!(0.25)),
        ("float", "Float", json!(1000)),
        // a character beyond 16 bits counts once
        ("text", "String", json!("😀😀")),
        ("text", "String", json!("abc")),
        ("id", "ID", json!("ab")),
        ("list", "[Int]", json!([5])),
        ("list", "[Int]", json!([null, -9])),
        ("slug", "String", json!("")),
        ("ten", "[Int!]", json!([4, 6])),
        ("In", "[Int!]", json!(10)),
        ("number", "Int", json!(null)),
        ("list", "[Int]", json!(null)),
        ("slug", "String", json!(null)),
        ("ten", "[Int!]", json!(null)),
        ("standard", "Int!", json!(7)),
    ];
    for (argument, ty, value) in valid {
        for (query, variables) in forms(argument, ty, &value) {
            let (answer, calls) = ask(&query, variables).await;
            assert_eq!(answer, json!({ "data": { "rules": true } }), "{query} {value}");
            assert_eq!(calls, 1);
        }
    }
    assert_eq!(ask("{ rules }", json!({})).await.1, 1);
    assert_eq!(ask("query($n: Int) { rules(number: $n) }", json!({})).await.1, 1);
}

/// Argument, its type, a value, and the fault.
const INVALID: [(&str, &str, &str, &str, &str); 15] = [
    ("number", "Int", "-2", r#"["number"]"#, "must be at least -1"),
    ("number", "Int", "4", r#"["number"]"#, "must be at most 3"),
    ("float", "Float", "0.24", r#"["float"]"#, "must be at least 0.25"),
    ("float", "Float", "1000.5", r#"["float"]"#, "must be at most 1000"),
    (
        "text",
        "String",
        r#""😀""#,
        r#"["text"]"#,
        "must have at least 2 characters",
    ),
    (
        "text",
        "String",
        r#""abcd""#,
        r#"["text"]"#,
        "must have at most 3 characters",
    ),
    ("id", "ID", "100", r#"["id"]"#, "must have at most 2 characters"),
    ("list", "[Int]", "[]", r#"["list"]"#, "must have at least 1 entry"),
    (
        "list",
        "[Int]",
        "[1, 2, 3]",
        r#"["list"]"#,
        "must have at most 2 entries",
    ),
    (
        "list",
        "[Int]",
        "[null, 6]",
        r#"["list", 1]"#,
        "must be at most 5",
    ),
    ("list", "[Int]", "6", r#"["list", 0]"#, "must be at most 5"),
    (
        "slug",
        "String",
        r#""A""#,
        r#"["slug"]"#,
        "must have lower-case letters only",
    ),
    ("ten", "[Int!]", "[4]", r#"["ten"]"#, "must sum to 10, not 4"),
    ("In", "[Int!]", "[]", r#"["In"]"#, "must sum to 10, not 0"),
    ("standard", "Int!", "8", r#"["standard"]"#, "must be at most 7"),
];

/// G29: a value beyond a bound is a fault, in a literal, a variable and the default of a variable.
#[tokio::test]
async fn values_beyond_a_bound_are_refused() {
    for (argument, ty, value, path, why) in INVALID {
        let [value, path] = [value, path].map(|text| serde_json::from_str::<Value>(text).unwrap());
        for (query, variables) in forms(argument, ty, &value) {
            let faults = refused(&query, variables).await;
            assert_eq!(faults, json!([[path, why]]), "{query} {value}");
        }
    }
    let (answer, _) = ask("query($n: Int = 4) { rules(number: $n) }", json!({})).await;
    assert_eq!(codes(&answer), ["BAD_USER_INPUT"]);
}

/// G29: rules hold in every form of a list, of an option and of a pointer.
#[tokio::test]
async fn rules_hold_in_all_forms_of_values() {
    let home = json!({ "zip": "1234" });
    for (argument, ty, value, path, why) in [
        (
            "pair",
            "[Int!]",
            json!([5, 6]),
            json!(["pair", 1]),
            "must be at most 5",
        ),
        (
            "two",
            "[Int!]",
            json!([1, 2]),
            json!(["two"]),
            "must have at most 1 entry",
        ),
        (
            "home",
            "Address",
            home.clone(),
            json!(["home", "zip"]),
            "must have at most 3 characters",
        ),
        (
            "homes",
            "[Address!]",
            json!([home]),
            json!(["homes", 0, "zip"]),
            "must have at most 3 characters",
        ),
        (
            "shared",
            "Address",
            home,
            json!(["shared", "zip"]),
            "must have at most 3 characters",
        ),
    ] {
        let query = format!("query($value: {ty}) {{ forms({argument}: $value) }}");
        let faults = refused(&query, json!({ "value": value })).await;
        assert_eq!(faults, json!([[path, why]]), "{argument}");
    }
    let (answer, _) = ask("{ forms(pair: [1, 5]) }", json!({})).await;
    assert_eq!(answer, json!({ "data": { "forms": true } }));
}

/// An argument as a literal and as a variable.
fn forms(argument: &str, ty: &str, value: &Value) -> [(String, Value); 2] {
    [
        (format!("{{ rules({argument}: {value}) }}"), json!({})),
        (
            format!("query($value: {ty}) {{ rules({argument}: $value) }}"),
            json!({ "value": value }),
        ),
    ]
}

/// G29: all faults of an operation are in one answer, in document order, with paths.
#[tokio::test]
async fn all_faults_are_in_one_answer() {
    let query = "query($input: Person!, $zip: String!) {
        first: rules(number: 9, text: \"a\")
        person(input: $input)
        people(input: [{ homes: [[{ zip: $zip }, null]] }]) { size }
        zoo { cages(first: 10) }
        rules(number: 2)
    }";
    let input = json!({
        "mailAddresses": ["ab", "c", "de"],
        "homes": [[], [null, { "zip": "1234", "height": 0.4 }]],
        "manager": { "homes": [], "manager": { "homes": [], "by": { "userNumber": 0 } } },
        "by": { "home": { "zip": "12345" } },
        "period": { "from": 2, "to": 1 },
    });
    let faults = refused(query, json!({ "input": input, "zip": "123456" })).await;
    let zip = "must have at most 3 characters";
    assert_eq!(
        faults,
        json!([
            [["number"], "must be at most 3"],
            [["text"], "must have at least 2 characters"],
            [["input", "mailAddresses"], "must have at most 2 entries"],
            [["input", "mailAddresses", 1], "must have at least 2 characters"],
            [["input", "homes", 1, 1, "zip"], zip],
            [["input", "homes", 1, 1, "height"], "must be at least 0.5"],
            [
                ["input", "manager", "manager", "by", "userNumber"],
                "must be at least 1"
            ],
            [["input", "manager"], "needs an address"],
            [["input", "by", "home", "zip"], zip],
            [["input", "period", "to"], "must not be before `from`"],
            [["input", 0, "homes", 0, 0, "zip"], zip],
            [["first"], "must be at most 9"],
        ])
    );
    let (answer, _) = ask(query, json!({ "input": input, "zip": "123456" })).await;
    let first = &answer["errors"][0];
    assert_eq!(first["path"], json!(["first"]));
    assert_eq!(first["locations"], json!([{ "line": 2, "column": 9 }]));
    assert_eq!(
        first["message"],
        "Argument \"number\" is invalid: must be at most 3"
    );
    let last = &answer["errors"][11];
    assert_eq!(last["path"], json!(["zoo", "cages"]));
    assert_eq!(last["locations"], json!([{ "line": 5, "column": 15 }]));
    let message = answer["errors"][4]["message"].as_str().unwrap();
    assert!(
        message.starts_with("Argument \"input.homes[1][1].zip\" is"),
        "{message}"
    );
}

/// G29: mutations and subscriptions with a fault do not start.
#[tokio::test]
async fn mutations_and_subscriptions_do_not_start() {
    let faults = refused(
        "mutation($id: Int!) { a: add(id: 1) b: add(id: $id) }",
        json!({ "id": 0 }),
    )
    .await;
    assert_eq!(faults, json!([[["id"], "must be at least 1"]]));
    let calls = Arc::<AtomicUsize>::default();
    for (query, expected) in [
        ("subscription { ticks(count: 0) }", None),
        ("subscription($n: Int = 0) { ticks(count: $n) }", None),
        ("subscription { ticks(count: 1) }", Some(1)),
    ] {
        let events = engine().subscribe(request(query, json!({})), Context::new(Arc::clone(&calls)));
        let events: Vec<_> = events.map(|event| json!(event)).collect().await;
        assert_eq!(events.len(), 1);
        if expected.is_none() {
            assert!(events[0].get("data").is_none(), "{query}");
            assert_eq!(
                events[0]["errors"][0]["extensions"]["argumentPath"],
                json!(["count"])
            );
            assert_eq!(events[0]["errors"][0]["path"], json!(["ticks"]));
        }
        assert_eq!(
            calls.load(Ordering::SeqCst),
            expected.unwrap_or_default(),
            "{query}"
        );
    }
}

/// G29: a fault has the HTTP status of an invalid variable.
#[tokio::test]
async fn faults_have_the_status_of_invalid_variables() {
    let query = "query($n: Int) { rules(number: $n) }";
    for accept in ["application/json", "application/graphql-response+json"] {
        let mut statuses = Vec::new();
        for variables in [json!({ "n": "x" }), json!({ "n": 4 })] {
            let mut request = post(query, variables);
            request.headers_mut().insert("accept", accept.parse().unwrap());
            let context = Context::new(Arc::default());
            let HttpResponse::Full(response) = engine().respond(request, context).await else {
                panic!("a stream")
            };
            statuses.push(response.status());
        }
        assert_eq!(statuses[0], statuses[1], "{accept}");
    }
}

/// G29: what is skipped is not validated, nor is what a guard refuses.
#[tokio::test]
async fn fields_that_cannot_run_are_not_validated() {
    let query = "query($yes: Boolean!) { rules a: rules(number: 9) @skip(if: $yes) b: rules(number: 9) @skip(if: true) }";
    let (answer, calls) = ask(query, json!({ "yes": true })).await;
    assert_eq!((answer, calls), (json!({ "data": { "rules": true } }), 1));
    assert_eq!(
        refused(query, json!({ "yes": false })).await,
        json!([[["number"], "must be at most 3"]])
    );

    let (answer, calls) = ask(
        "query($key: Int = 2) { rules secret(key: $key) other: secret(key: 2) }",
        json!({}),
    )
    .await;
    assert_eq!(codes(&answer), ["UNAUTHENTICATED", "UNAUTHENTICATED"]);
    assert_eq!((&answer["data"]["rules"], calls), (&json!(true), 1));
    let owner = Context::new(Arc::default()).with_principal(Principal::new("ada").with_roles(["owner"]));
    let query = "query($key: Int = 2) { secret(key: $key) other: secret(key: 2) }";
    let answer = json!(engine().execute(&GraphRequest::new(query), &owner).await);
    assert_eq!(codes(&answer), ["BAD_USER_INPUT", "BAD_USER_INPUT"]);
    assert!(answer.get("data").is_none());
}

/// G29: many faults in a refused field do not hide those of another field.
#[tokio::test]
async fn refused_field_does_not_hide_faults_of_others() {
    let people = "{ homes: [] } ".repeat(150);
    let query = format!("{{ staff(input: [{people}]) rules(number: 9) }}");
    assert_eq!(
        refused(&query, json!({})).await,
        json!([[["number"], "must be at most 3"]])
    );
}

/// G29: below a field or an object that a guard refuses, nothing is validated: the principal may
/// not know the rules there.
#[tokio::test]
async fn fields_below_refused_ones_are_not_validated() {
    let owner = || Context::new(Arc::default()).with_principal(Principal::new("ada").with_roles(["owner"]));
    for (query, data, refusals) in [
        (
            "query($n: Int = 10) { rules vault { cages(first: $n) } }",
            json!({ "rules": true, "vault": null }),
            1,
        ),
        (
            "{ rules vault { cages(first: 10) } }",
            json!({ "rules": true, "vault": null }),
            1,
        ),
        (
            "query($n: Int = 10) { places { ... on Lab { tests(first: $n) zoo { cages(first: 11) } } } }",
            json!({ "places": [{}, null] }),
            1,
        ),
        (
            "{ places { ... on Lab { zoo { cages(first: 10) } } } }",
            json!({ "places": [{}, null] }),
            1,
        ),
    ] {
        let request = GraphRequest::new(query);
        let anonymous = Context::new(Arc::default());
        let answer = json!(engine().execute(&request, &anonymous).await);
        assert_eq!(answer["data"], data, "{query}: {answer}");
        assert_eq!(codes(&answer), vec!["UNAUTHENTICATED"; refusals], "{query}");
        let answer = json!(engine().execute(&request, &owner()).await);
        assert_eq!(codes(&answer)[0], "BAD_USER_INPUT", "{query}: {answer}");
        assert!(answer.get("data").is_none(), "{query}");
    }
    // the same selection of an object that no guard refuses is validated
    let query = "query($n: Int = 10) { places { ... on Zoo { ...F } ... on Lab { zoo { ...F } } } } \
                 fragment F on Zoo { cages(first: $n) }";
    let anonymous = Context::new(Arc::default());
    let answer = json!(engine().execute(&GraphRequest::new(query), &anonymous).await);
    assert_eq!(codes(&answer), ["BAD_USER_INPUT"]);
    assert_eq!(answer["errors"][0]["path"], json!(["places", "cages"]));
}

/// G29: the faults of a refused field stay unreported beside deferred fragments.
#[tokio::test]
async fn refused_fields_beside_fragments_are_not_validated() {
    let schema = RootNode::new(Query, Mutation, Subscription);
    let engine = Engine::builder(schema)
        .with_incremental_delivery()
        .build()
        .unwrap();
    for (query, is_faulty) in [
        ("{ secret(key: 2) ... @defer { rules } }", false),
        ("{ rules ... @defer { vault { cages(first: 10) } } }", false),
        ("{ rules ... @defer { zoo { cages(first: 10) } } }", true),
    ] {
        let request = accepting(post(query, json!({})), "multipart/mixed;deferSpec=20220824");
        let response = engine.respond(request, Context::new(Arc::default())).await;
        let is_refused = matches!(response, HttpResponse::Full(_));
        assert_eq!(is_refused, is_faulty, "{query}");
    }
}

/// G29: the size of an answer with faults is limited, for long names and for messages that quote
/// the value.
#[tokio::test]
async fn answers_with_faults_are_limited_in_size() {
    let long = "a".repeat(100_000);
    let people = vec![json!({ "homes": [] }); 150];
    let query = format!("query($p: [Person!]) {{ {long}: people(input: $p) {{ size }} }}");
    let (answer, _) = ask(&query, json!({ "p": people })).await;
    assert_eq!(codes(&answer)[0], "BAD_USER_INPUT");
    let bytes = answer.to_string().len();
    assert!(bytes < 1_000_000, "{bytes} bytes");
    let (answer, _) = ask("query($t: String!) { echo(text: $t) }", json!({ "t": long })).await;
    assert_eq!(codes(&answer), ["BAD_USER_INPUT"]);
    assert!(answer.to_string().len() < 5_000);
}

/// G29: a field of an interface is reported once, and an answer has at most 100 faults.
#[tokio::test]
async fn faults_are_reported_once_and_not_endlessly() {
    let faults = refused(
        "query($n: Int!) { animals { says(times: $n) } }",
        json!({ "n": 3 }),
    )
    .await;
    assert_eq!(faults, json!([[["times"], "must be at most 2"]]));
    let faults = refused("{ animals { says(times: 3) } }", json!({})).await;
    assert_eq!(faults, json!([[["times"], "must be at most 2"]]));
    let people = vec![json!({ "homes": [] }); 150];
    let faults = refused(
        "query($p: [Person!]) { people(input: $p) { size } again: people(input: $p) { size } }",
        json!({ "p": people }),
    )
    .await;
    assert_eq!(faults.as_array().unwrap().len(), 100);
    assert_eq!(faults[99], json!([["input", 99], "needs an address"]));
}

/// G29: a constant fault in a trusted document fails the build; variables are judged later.
#[tokio::test]
async fn trusted_documents_with_faults_fail_the_build() {
    let build = |text: &str| {
        let manifest = Manifest::new().with_document(DocumentHash::digest(text), text);
        let trusted = TrustedDocuments::new([manifest]);
        let schema = RootNode::new(Query, Mutation, Subscription);
        Engine::builder(schema).with_trusted_documents(trusted).build()
    };
    for text in [
        "{ rules(number: 4) }",
        "query($x: Boolean!) { rules a: rules(number: 4) @include(if: $x) }",
        "query A { rules } query B { people(input: { homes: [] }) { size } }",
    ] {
        let mistakes = build(text).unwrap_err().to_string();
        assert!(mistakes.contains("is invalid: Argument \""), "{mistakes}");
    }
    let text = "query($n: Int = 4) { rules(number: $n) }";
    let engine = build(text).unwrap();
    let request = GraphRequest::persisted(DocumentHash::digest(text));
    let answer = json!(engine.execute(&request, &Context::new(Arc::default())).await);
    assert_eq!(codes(&answer), ["BAD_USER_INPUT"]);
    assert!(answer.get("data").is_none());
}

/// G29: a batch answers the faults of each operation.
#[tokio::test]
async fn operations_of_a_batch_are_validated_each() {
    let schema = RootNode::new(Query, Mutation, Subscription);
    let engine = Engine::builder(schema).with_batches().build().unwrap();
    let body = json!([{ "query": "{ rules(number: 4) }" }, { "query": "{ rules }" }]);
    let request = crate::fixture::post_body(body.to_string());
    let calls = Arc::<AtomicUsize>::default();
    let HttpResponse::Full(response) = engine.respond(request, Context::new(Arc::clone(&calls))).await else {
        panic!("a stream")
    };
    let answers = crate::fixture::json(&response);
    assert_eq!(answers[0]["errors"][0]["path"], json!(["rules"]));
    assert_eq!(answers[1], json!({ "data": { "rules": true } }));
    assert_eq!(calls.load(Ordering::SeqCst), 1);
}

#[derive(Clone, GraphQLInputObject)]
struct Forgotten {
    home: Option<Address>,
}

struct Forgetful;

#[graph_object(context = Context)]
#[expect(clippy::needless_pass_by_value, reason = "a resolver owns its arguments")]
impl Forgetful {
    fn forgotten(input: Nullable<Forgotten>, ids: Nullable<Vec<ID>>, first: Option<i32>) -> bool {
        let home = input.some().and_then(|input| input.home);
        home.is_none() && ids.is_null() && first.is_none()
    }

    fn home(home: Option<Address>) -> bool {
        home.is_some()
    }
}

/// G29: an input object without the derive is reported if another has it.
#[test]
fn forgotten_derives_fail_the_build() {
    let schema = RootNode::new(
        Forgetful,
        EmptyMutation::<Context>::new(),
        EmptySubscription::<Context>::new(),
    );
    let mistakes = Engine::builder(schema).build().unwrap_err();
    let coordinate = "Forgetful.forgotten(input)".to_owned();
    assert_eq!(mistakes.mistakes(), [ConfigMistake::Unvalidated(coordinate)]);
}
