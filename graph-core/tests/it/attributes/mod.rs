//! What the attributes make of a host's types: the tables fit the schema, and both executors answer alike.

mod deprecated;
mod families;
mod forms;
mod plain;

use futures_util::StreamExt as _;
use graph_core::executor::{Guard, Object, Source, TypeInfo};
use graph_core::http::GraphRequest;
use graph_core::{Engine, Principal};
use juniper::{EmptyMutation, RootNode, Variables};
use serde_json::{Value, json};

use self::families::{Everywhere, Robot, Team};
use self::forms::{Context, Field, Host, Observer, Pair, Path, Plain, Query, Subscription, User};
use crate::fixture::codes;

type Schema = RootNode<Query, EmptyMutation<Context>, Subscription>;

fn schema() -> Schema {
    RootNode::new(Query, EmptyMutation::new(), Subscription)
}

fn engine() -> Engine<Query, EmptyMutation<Context>, Subscription> {
    Engine::builder(schema()).build().unwrap()
}

/// Anonymous, without rights, and with all of them.
fn callers() -> [Context; 3] {
    let anonymous = || Context::new(Host::new());
    let owner = Principal::new("ada").with_scopes("read:email read:legacy read:users".parse().unwrap());
    [
        anonymous(),
        anonymous().with_principal(Principal::new("bob")),
        anonymous().with_principal(owner.with_roles(["owner"])),
    ]
}

fn tables() -> Vec<&'static TypeInfo> {
    vec![
        <Query as Object<Context>>::INFO,
        <User<'_> as Object<Context>>::INFO,
        <Observer as Object<Context>>::INFO,
        <Team as Object<Context>>::INFO,
        <Robot as Object<Context>>::INFO,
        <Path as Object<Context>>::INFO,
        <Plain as Object<Context>>::INFO,
        <Field as Object<Context>>::INFO,
        <Pair<Path> as Object<Context>>::INFO,
        <Everywhere as Object<Context>>::INFO,
        // without a context: of every schema
        <Everywhere as Object<()>>::INFO,
        <Subscription as Source<Context>>::INFO,
    ]
}

/// A plan finds a field by its name and passes arguments by their place, so both must be those of the schema.
#[test]
fn tables_have_the_names_of_the_schema_in_its_order() {
    const SHAPE: &str =
        "{ __schema { types { name fields(includeDeprecated: true) { name args { name } } } } }";
    let (shape, _) = juniper::execute_sync(
        SHAPE,
        None,
        &schema(),
        &Variables::new(),
        &Context::new(Host::new()),
    )
    .unwrap();
    let shape = json!(shape);
    let types = shape["__schema"]["types"].as_array().unwrap();
    let of_schema = |name: &str| {
        let named = types.iter().find(|of| of["name"] == name).unwrap();
        named["fields"].clone()
    };
    for table in tables() {
        let fields = table.fields.iter().map(|field| {
            let args: Vec<Value> = field.args.iter().map(|name| json!({ "name": name })).collect();
            // a plain field is not called by its place
            let plain = field.plain.then(|| of_field(&of_schema(table.name), field.name));
            json!({ "name": field.name, "args": plain.unwrap_or(json!(args)) })
        });
        assert_eq!(
            json!(fields.collect::<Vec<_>>()),
            of_schema(table.name),
            "{}",
            table.name
        );
    }
}

fn of_field(fields: &Value, name: &str) -> Value {
    let mut fields = fields.as_array().unwrap().iter();
    fields.find(|field| field["name"] == name).unwrap()["args"].clone()
}

#[test]
fn tables_have_the_marks_of_the_fields() {
    let table = <User<'_> as Object<Context>>::INFO;
    let of = |name: &str| table.fields.iter().find(|field| field.name == name).unwrap();
    assert_eq!(of("email").guards, [Guard::Scope("read:email")]);
    assert_eq!(of("secretNumber").guards, [Guard::Role("owner")]);
    assert_eq!(of("viewer").guards, [Guard::Principal]);
    assert_eq!(of("name").guards, []);
    assert!(of("secretNumber").is_async && of("friends").is_async && !of("name").is_async);
    assert!(of("legacy").plain && !of("name").plain);
    assert!(of("name").coerce.is_none() && of("friends").coerce.is_some());
}

/// Documents that touch every form, and what the three callers may not see.
const DOCUMENTS: [(&str, [&[&str]; 3]); 11] = [
    (
        "{ user { id name slowName again greeting part mood weather moods kind(in: [1, 2]) old shared { length } slice { length } } }",
        [&[], &[], &[]],
    ),
    (
        "{ user { friends(first: 1, filter: { word: \"x\" }) { name boxed(in: \"b\") { id name } } few: friends { slowName } } }",
        [&[], &[], &[]],
    ),
    (
        "{ user { kind again: friends(first: 0) { id } } }",
        [&[], &[], &[]],
    ),
    (
        "{ user { name email secretNumber(times: 2) viewer greeting } }",
        [&["UNAUTHENTICATED"; 3], &["FORBIDDEN"; 2], &[]],
    ),
    (
        "{ user { oldEmail } }",
        [&["UNAUTHENTICATED"], &["FORBIDDEN"], &[]],
    ),
    (
        "{ team { id teamName members { name email } mood weather leader { length } } }",
        [&["UNAUTHENTICATED"; 2], &["FORBIDDEN"; 2], &[]],
    ),
    (
        "{ found { __typename ... on User { name slowName } ... on TheTeam { teamName members { id } } ... on Path { length } } }",
        [&[], &[], &[]],
    ),
    (
        "{ node { id __typename } other: node(teamInstead: true) { id ... on TheTeam { teamName } } \
           titled { teamName ... on Robot { id } } everywhere { id again { id again { id } } } fields { id } flat { height } }",
        [&[], &[], &[]],
    ),
    (
        "{ node { code } robots: titled { ... on Robot { code } } }",
        [&["UNAUTHENTICATED"; 2], &["FORBIDDEN"; 2], &[]],
    ),
    (
        "{ fields { field write(field: 1, cx: 2, path: 3, out: 4, value: 5) register register5: register(arguments: 5) } pair { both { length } second { length } } }",
        [&[], &[], &[]],
    ),
    (
        "{ kept: change gone: change(value: null) new: change(value: 5) cents(of: [1, 2]) cent }",
        [&[], &[], &[]],
    ),
];

/// G15: the same documents in the hands of our executor, and in those of juniper's, which a plain field beside them asks for.
#[tokio::test]
async fn both_executors_answer_alike_and_guards_hold_in_both() {
    let engine = engine();
    for (document, refused) in DOCUMENTS {
        let (start, _) = document.rsplit_once('}').unwrap();
        let plain = format!("{start} plain: observer {{ executed }} }}");
        for (context, expected) in callers().iter().zip(refused) {
            let ours = json!(engine.execute(&GraphRequest::new(document), context).await);
            let mut theirs = json!(engine.execute(&GraphRequest::new(plain.as_str()), context).await);
            if let Some(data) = theirs["data"].as_object_mut() {
                assert_eq!(data.remove("plain"), Some(json!({ "executed": true })));
            }
            assert_eq!(ours["data"], theirs["data"], "{document}");
            assert_eq!(codes(&ours), expected, "{document}");
            assert_eq!(codes(&theirs), expected, "{document}");
        }
    }
}

/// G1: every form of a resolver answers in the place of its field.
#[tokio::test]
async fn every_form_has_its_value() {
    let [_, _, context] = callers();
    let query = "{ user { mood moods weather part secretNumber friends(first: 0, filter: {}) { name } } everywhere { id } flat { height } \
                   kept: change gone: change(value: null) new: change(value: 5) cents(of: [1, 2]) node { code } }";
    let answer = json!(engine().execute(&GraphRequest::new(query), &context).await);
    let friends = vec![json!({ "name": "ada" }); 7];
    let user = json!({
        "mood": "VERY_GOOD", "moods": ["poor", null], "weather": "SUNNY", "part": 5, "secretNumber": 40, "friends": friends,
    });
    let expected = json!({
        "user": user, "everywhere": { "id": 1 }, "flat": { "height": 0.5 },
        "kept": "kept", "gone": "gone", "new": "5", "cents": [1, 2, null], "node": { "code": 4711 },
    });
    assert_eq!(answer, json!({ "data": expected }));
}

/// G1, G15: a plain field is answered beside fields of ours, and its guard holds where it is executed.
#[tokio::test]
async fn a_guarded_plain_field_is_refused_and_given() {
    let query =
        "{ observer { executed guardedLegacy { year } } user { legacy { year } } team { legacy { year } } }";
    let [anonymous, _, owner] = callers();
    let expected = |legacy: Value| {
        json!({
            "observer": { "executed": true, "guardedLegacy": legacy },
            "user": { "legacy": { "year": 1999 } },
            "team": { "legacy": { "year": 2001 } },
        })
    };
    let answer = json!(engine().execute(&GraphRequest::new(query), &anonymous).await);
    assert_eq!(answer["data"], expected(Value::Null));
    assert_eq!(codes(&answer), ["UNAUTHENTICATED"]);
    let answer = json!(engine().execute(&GraphRequest::new(query), &owner).await);
    assert_eq!(answer, json!({ "data": expected(json!({ "year": 13 })) }));
}

async fn events(document: &str, context: Context) -> Vec<Value> {
    let events = engine().subscribe(GraphRequest::new(document), context);
    events.map(|event| json!(event)).collect().await
}

/// G10: a stream may be of values or of results, ours or juniper's.
#[tokio::test]
async fn a_subscription_streams_results_and_bare_values() {
    let [anonymous, _, _] = callers();
    let user = json!({ "data": { "new": { "name": "new" } } });
    assert_eq!(
        events("subscription { new: joined { name } }", anonymous).await,
        [user.clone(), user]
    );
    let [anonymous, _, _] = callers();
    let ticks = events("subscription { ticks }", anonymous).await;
    let expected: [Value; 3] = [0, 1, 2].map(|tick| json!({ "data": { "ticks": tick } }));
    assert_eq!(ticks, expected);
    let [anonymous, _, _] = callers();
    let legacy = events("subscription { legacy { year } }", anonymous).await;
    assert_eq!(legacy, [json!({ "data": { "legacy": { "year": 1 } } })]);
}

/// G15: in our hands, and, for a plain type, in those of juniper.
#[tokio::test]
async fn a_guarded_subscription_is_opened_by_its_scope_only() {
    let documents = [
        (
            "subscription { guarded(count: 1) { id } }",
            json!({ "guarded": { "id": "u" } }),
        ),
        (
            "subscription { guardedLegacy(year: 7) { year } }",
            json!({ "guardedLegacy": { "year": 7 } }),
        ),
    ];
    for (document, data) in documents {
        let [anonymous, bob, owner] = callers();
        for (context, code) in [(anonymous, "UNAUTHENTICATED"), (bob, "FORBIDDEN")] {
            let refused = events(document, context).await;
            assert_eq!(refused.len(), 1, "{document}");
            assert_eq!(codes(&refused[0]), [code], "{document}");
        }
        assert_eq!(events(document, owner).await, [json!({ "data": data })]);
    }
}
