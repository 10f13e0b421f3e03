//! Visible schema of each principal.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

use futures_util::StreamExt as _;
use graph_core::RequestContext;
use graph_core::guard::GuardMode;
use graph_core::http::GraphRequest;
use graph_core::{Engine, graph_object};
use juniper::{EmptyMutation, EmptySubscription, RootNode};
use serde_json::{Value, json};

use super::desk::Desk;
use super::everybody;
use crate::fixture::codes;

/// Introspection query of common clients.
const USUAL: &str = "query IntrospectionQuery { __schema { queryType { name kind } mutationType { name kind } \
    subscriptionType { name kind } types { ...FullType } directives { name description locations args { ...InputValue } } } } \
    fragment FullType on __Type { kind name description \
      fields(includeDeprecated: true) { name description args { ...InputValue } type { ...TypeRef } isDeprecated deprecationReason } \
      inputFields { ...InputValue } interfaces { ...TypeRef } \
      enumValues(includeDeprecated: true) { name description isDeprecated deprecationReason } possibleTypes { ...TypeRef } } \
    fragment InputValue on __InputValue { name description type { ...TypeRef } defaultValue } \
    fragment TypeRef on __Type { kind name ofType { kind name ofType { kind name ofType { kind name ofType { kind name } } } } }";

fn entries<'v>(of: &'v Value, key: &str) -> impl Iterator<Item = &'v Value> + use<'v> {
    of[key].as_array().into_iter().flatten()
}

fn names<'v>(of: &'v Value, key: &str) -> BTreeSet<&'v str> {
    entries(of, key)
        .map(|entry| entry["name"].as_str().unwrap())
        .collect()
}

/// All type names below a value.
fn named<'v>(of: &'v Value, found: &mut BTreeSet<&'v str>) {
    match of {
        Value::Array(entries) => entries.iter().for_each(|entry| named(entry, found)),
        Value::Object(fields) => {
            if fields.contains_key("kind") {
                found.extend(of["name"].as_str());
            }
            fields.values().for_each(|value| named(value, found));
        }
        _ => {}
    }
}

/// Checks that `schema` is valid: no dangling names, no empty types, interfaces implemented.
fn assert_valid(schema: &Value, who: &str) {
    let types: BTreeMap<_, _> = entries(schema, "types")
        .map(|ty| (ty["name"].as_str().unwrap(), ty))
        .collect();
    let mut mentioned = BTreeSet::new();
    named(schema, &mut mentioned);
    for name in mentioned {
        assert!(types.contains_key(name), "{name} dangles for {who}");
    }
    for (name, ty) in &types {
        match ty["kind"].as_str().unwrap() {
            "OBJECT" | "INTERFACE" => assert!(!names(ty, "fields").is_empty(), "{name} is empty for {who}"),
            "UNION" => assert!(
                !names(ty, "possibleTypes").is_empty(),
                "{name} is empty for {who}"
            ),
            _ => {}
        }
        for interface in names(ty, "interfaces") {
            let wanted = names(types[interface], "fields");
            assert!(
                wanted.is_subset(&names(ty, "fields")),
                "{name} is no {interface} for {who}"
            );
        }
    }
}

fn coordinates(schema: &Value) -> BTreeSet<String> {
    let mut shown = BTreeSet::new();
    for ty in entries(schema, "types") {
        let name = ty["name"].as_str().unwrap();
        shown.insert(name.to_owned());
        shown.extend(
            names(ty, "fields")
                .into_iter()
                .map(|field| format!("{name}.{field}")),
        );
    }
    shown
}

/// G15, G11: each principal sees a valid schema in which it may select every field.
#[tokio::test]
async fn each_principal_sees_a_valid_schema() {
    let desk = Desk::new(GuardMode::Filter);
    for context in everybody(&desk) {
        let who = format!("{:?}", context.principal());
        let answer = desk.ask(USUAL, &context).await;
        assert!(answer.get("errors").is_none(), "{answer}");
        let schema = &answer["data"]["__schema"];
        assert_valid(schema, &who);
        let (shown, may) = (coordinates(schema), |scope: &str| {
            context.require_scope(scope).is_ok()
        });
        let is = |role: &str| context.require_role(role).is_ok();
        for (coordinate, expected) in [
            ("Query", true),
            ("Query.open", true),
            ("Query.users", may("read:users")),
            ("User.note", true),
            ("User.email", may("read:email")),
            ("User.phone", may("read:email") && is("owner")),
            ("User.keyring", is("owner")),
            ("Keyring", is("owner")),
            ("KeyKind", is("owner")),
            ("Vault", is("owner")),
            ("Query.vault", is("owner")),
            ("Audit", is("auditor")),
            ("Query.audits", is("auditor")),
            ("Finding", is("auditor")),
            ("Query.finding", is("auditor")),
            ("Found", true),
            ("Badge", context.principal().is_some()),
            ("Query.badge", context.principal().is_some()),
            ("Subscription", context.principal().is_some()),
            ("Subscription.joined", context.principal().is_some()),
            ("Robot.code", may("read:robots")),
            // an interface has the fields that all its objects show
            ("Node.code", may("read:robots")),
            ("Node.id", true),
            ("User.code", true),
            ("Mutation.refund", may("write:refunds")),
            ("__Type.fields", true),
            ("String", true),
        ] {
            assert_eq!(shown.contains(coordinate), expected, "{coordinate} for {who}");
        }
        assert_eq!(
            schema["subscriptionType"].is_null(),
            context.principal().is_none()
        );
    }
}

/// Schemas of all principals, for the oracle: graphql-js builds and validates each of them.
#[expect(clippy::disallowed_methods, reason = "a script reads it")]
#[tokio::test]
#[ignore = "tests/oracle/run looks at them"]
async fn the_schemas_of_everybody_are_written_down() {
    let desk = Desk::new(GuardMode::Filter);
    let mut lines = String::new();
    for context in everybody(&desk) {
        let answer = desk.ask(USUAL, &context).await;
        writeln!(lines, "{}", answer["data"]).unwrap();
    }
    std::fs::write(Path::new(env!("CARGO_TARGET_TMPDIR")).join("views.jsonl"), lines).unwrap();
}

/// G15, G11: no query reveals hidden types, and no response is cached for another principal.
#[tokio::test]
async fn every_way_to_ask_for_the_schema_is_filtered() {
    let desk = Desk::new(GuardMode::Filter);
    let (anonymous, all) = (desk.anonymous(), desk.all());
    for query in [
        "{ x: __schema { types { name fields { name } } } }",
        "{ ...A } fragment A on Query { ... { __schema { ...B } } } fragment B on __Schema { types { name fields { name } } }",
        "query($on: Boolean = true) { __schema @include(if: $on) { types { name fields { name } } } }",
        "{ __type(name: \"Audit\") { name } other: __type(name: \"Keyring\") { name } user: __type(name: \"User\") { fields { name } } }",
        "query($name: String = \"Audit\") { __type(name: $name) { name fields { name } } }",
        "{ __type(name: \"Found\") { possibleTypes { name } } node: __type(name: \"Node\") { possibleTypes { name fields { name } } } }",
        "{ __schema { queryType { fields { name type { name ofType { name ofType { name } } } } } } }",
        "{ __schema { mutationType { fields { name } } subscriptionType { fields { name } } } }",
        "{ user { __typename } __type(name: \"User\") { interfaces { possibleTypes { name } } fields { name } } }",
    ] {
        for _ in 0..2 {
            let whole = desk.ask(query, &all).await;
            let filtered = desk.ask(query, &anonymous).await;
            assert_ne!(whole, filtered, "{query}");
            let shown = filtered.to_string();
            for hidden in [
                "Audit\"", "audit", "email", "phone", "keyring", "Keyring", "KeyKind", "badge", "joined",
                "refund",
            ] {
                assert!(!shown.contains(hidden), "{hidden} in {shown}");
            }
        }
    }
}

/// G15, G11: a dry run hides nothing; reject mode hides the same as filter mode; unguarded types
/// are visible.
#[tokio::test]
async fn the_schema_follows_the_mode() {
    let of = async |mode| {
        let desk = Desk::new(mode);
        let (anonymous, all) = (desk.anonymous(), desk.all());
        [desk.ask(USUAL, &anonymous).await, desk.ask(USUAL, &all).await]
    };
    let [filtered, whole] = of(GuardMode::Filter).await;
    assert_eq!(of(GuardMode::Reject).await, [filtered.clone(), whole.clone()]);
    assert_eq!(of(GuardMode::DryRun).await, [whole.clone(), whole.clone()]);
    assert!(coordinates(&filtered["data"]["__schema"]).is_subset(&coordinates(&whole["data"]["__schema"])));
}

/// G15: validation errors do not reveal names of hidden types, for any comments, strings and
/// fragments.
#[tokio::test]
async fn mistakes_do_not_tell_what_is_hidden() {
    let desk = Desk::new(GuardMode::Filter);
    for query in [
        "{ audits }",
        "{ user { keyring } }",
        "{ audits { wordz } }",
        "{ user { keyring(kind: WRONG) { size } } }",
        "{ user { keyring(kind: 1) { size } } }",
        "query($kind: Int) { user { keyring(kind: $kind) { size } } }",
        "{ user { keyring { size { x } } } }",
        "{ user { keyring { size: id } keyring { size } } }",
        "{ finding { x } }",
        "{ found { ... on Robot { id } } finding { ... on User { id } } }",
        "{ badge { size } }",
        "subscription { joined { size } }",
        "# Audit Keyring KeyKind Finding Badge\n{ audits badge }",
        "{ audits badge user(id: \"Audit Keyring KeyKind Finding Badge\") { keyring } }",
        "{ audits { ...F } } fragment F on Audit { wordz }",
    ] {
        for context in [desk.anonymous(), desk.who("ada", &[], &[])] {
            let answer = desk.ask(query, &context).await;
            assert_eq!(codes(&answer)[0], "GRAPHQL_VALIDATION_FAILED", "{query}");
            let estimated = desk.engine.estimate(&GraphRequest::new(query), &context);
            let told = answer.to_string() + &serde_json::to_string(&estimated.unwrap_err()).unwrap();
            let hidden = ["Audit", "Keyring", "KeyKind", "Finding"].into_iter();
            for hidden in hidden.chain(context.principal().is_none().then_some("Badge")) {
                assert!(!told.contains(hidden), "{hidden} in {told}");
            }
        }
        // a principal with access sees the name
        let all = desk.ask(query, &desk.all()).await;
        assert_eq!(codes(&all)[0], "GRAPHQL_VALIDATION_FAILED");
    }
    let told = desk.ask("{ audits }", &desk.all()).await.to_string();
    assert!(told.contains("Audit"), "{told}");
}

/// G15: errors in variables do not reveal names of hidden types either.
#[tokio::test]
async fn mistakes_in_variables_do_not_tell_what_is_hidden() {
    let desk = Desk::new(GuardMode::Filter);
    for query in [
        "query($kind: KeyKind) { user { keyring(kind: $kind) { size } } }",
        "subscription($kind: KeyKind) { joined { keyring(kind: $kind) { size } } }",
    ] {
        for (context, is_hidden) in [(desk.who("ada", &[], &[]), true), (desk.all(), false)] {
            let variables = serde_json::from_value(json!({ "kind": "WRONG" })).unwrap();
            let request = GraphRequest::new(query).with_variables(variables);
            let events = desk.engine.subscribe(request, context);
            let answers: Vec<_> = events.map(|event| json!(event)).collect().await;
            assert_eq!(codes(&answers[0]), ["BAD_USER_INPUT"]);
            let message = answers[0]["errors"][0]["message"].as_str().unwrap();
            assert_eq!(message.contains("KeyKind"), !is_hidden, "{message}");
        }
    }
}

struct Locked;

#[graph_object(context = RequestContext<()>)]
#[graph(authenticated)]
impl Locked {
    fn secret() -> i32 {
        1
    }
}

/// G15, G11: a principal without a visible field is refused, because a schema needs a query type.
#[tokio::test]
async fn principal_without_visible_fields_is_refused() {
    let schema = RootNode::new(Locked, EmptyMutation::new(), EmptySubscription::new());
    let engine = Engine::builder(schema).build().unwrap();
    for (query, code) in [
        (USUAL, "UNAUTHENTICATED"),
        ("{ __type(name: \"Locked\") { name } }", "UNAUTHENTICATED"),
        ("{ secret }", "UNAUTHENTICATED"),
    ] {
        let request = GraphRequest::new(query);
        let answer = json!(engine.execute(&request, &RequestContext::new(())).await);
        assert_eq!(codes(&answer), [code], "{query}");
        assert!(!answer.to_string().contains("Locked"));
        let ada = graph_core::Principal::new("ada");
        let answer = json!(
            engine
                .execute(&request, &RequestContext::new(()).with_principal(ada))
                .await
        );
        assert!(answer.get("errors").is_none(), "{query}");
    }
    let typename = GraphRequest::new("{ __typename }");
    let answer = json!(engine.execute(&typename, &RequestContext::new(())).await);
    assert_eq!(answer, json!({ "data": { "__typename": "Locked" } }));
}
