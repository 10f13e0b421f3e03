//! Guard modes: filter, reject and dry run.

mod desk;
mod interfaces;
mod nested;
mod schema;
mod subscriptions;

use graph_core::ErrorCode;
use graph_core::guard::GuardMode;
use graph_core::http::GraphRequest;
use graph_core::response::{GraphResponse, PathSegment};
use serde_json::{Value, json};

use self::desk::{Context, Desk};
use crate::fixture::codes;

/// Ways to select `email` of a user, and whether it is selected.
const WAYS: [(&str, bool); 8] = [
    ("{ user { email } }", true),
    ("{ user { open: email } }", true),
    ("{ user { ... { ... on User { email } } } }", true),
    (
        "{ user { ...A } } fragment A on User { ...B } fragment B on User { email }",
        true,
    ),
    ("{ x: user { id } x: user { email } }", true),
    (
        "query($on: Boolean = true) { user { email @include(if: $on) } }",
        true,
    ),
    (
        "query($on: Boolean = true) { user { id ... @skip(if: $on) { email } } }",
        false,
    ),
    ("{ user { id email @skip(if: true) } }", false),
];

/// G15: the guard of a field applies to every way of selecting it, and only if it is selected.
#[tokio::test]
async fn a_guard_stands_in_front_of_every_way_to_its_field() {
    let filter = Desk::new(GuardMode::Filter);
    let reject = Desk::new(GuardMode::Reject);
    for (query, selected) in WAYS {
        let expected: &[&str] = if selected { &["FORBIDDEN"] } else { &[] };
        let answer = filter.ask(query, &filter.who("ada", &[], &[])).await;
        assert_eq!(codes(&answer), expected, "{query}");
        assert!(!answer.to_string().contains("example.com") && answer["data"].is_object());
        let answer = reject.ask(query, &reject.who("ada", &[], &[])).await;
        assert_eq!(codes(&answer), expected, "{query}");
        assert_eq!(answer.get("data").is_none(), selected, "{query}");
        assert_eq!((filter.counts.taken(), reject.counts.taken()), (0, 0), "{query}");
        let told: &[&str] = if selected {
            &["User.email FORBIDDEN ada"]
        } else {
            &[]
        };
        assert_eq!(
            (filter.told(), reject.told()),
            (owned(told), owned(told)),
            "{query}"
        );
        let answer = reject.ask(query, &reject.who("ada", &["read:email"], &[])).await;
        assert!(answer.get("errors").is_none());
        assert_eq!(reject.counts.taken(), usize::from(selected));
    }
}

fn owned(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// G15: all guards of a field must allow the principal.
#[tokio::test]
async fn all_guards_of_a_field_are_asked() {
    let desk = Desk::new(GuardMode::Filter);
    for (scopes, roles, code) in [
        (&["read:email"][..], &[][..], Some("FORBIDDEN")),
        (&[], &["owner"], Some("FORBIDDEN")),
        (&["read:email"], &["owner"], None),
    ] {
        let answer = desk
            .ask("{ user { phone } }", &desk.who("ada", scopes, roles))
            .await;
        assert_eq!(codes(&answer), code.into_iter().collect::<Vec<_>>());
        assert_eq!(desk.counts.taken(), usize::from(code.is_none()));
    }
    let answer = desk.ask("{ user { phone } }", &desk.anonymous()).await;
    assert_eq!(codes(&answer), ["UNAUTHENTICATED"]);
}

/// G15: a field is guarded by its return type through any lists: one error, and nothing runs.
#[tokio::test]
async fn a_field_is_guarded_by_the_type_that_it_returns() {
    let desk = Desk::new(GuardMode::Filter);
    let query = "{ open audits { __typename words } badge { number } }";
    let answer = desk.ask(query, &desk.anonymous()).await;
    assert_eq!(
        answer["data"],
        json!({ "open": "open", "audits": null, "badge": null })
    );
    assert_eq!(codes(&answer), ["UNAUTHENTICATED"; 2]);
    assert_eq!(answer["errors"][0]["path"], json!(["audits"]));
    assert_eq!(answer["errors"][1]["path"], json!(["badge"]));
    assert_eq!(
        desk.told(),
        [
            "Query.audits UNAUTHENTICATED anonymous",
            "Query.badge UNAUTHENTICATED anonymous"
        ]
    );
    let answer = desk.ask(query, &desk.who("ada", &[], &[])).await;
    assert_eq!(codes(&answer), ["FORBIDDEN"]);
    assert_eq!(answer["data"]["badge"], json!({ "number": 7 }));
    assert_eq!(desk.counts.taken(), 1);
    let answer = desk
        .ask("mutation { audit { id } }", &desk.who("ada", &[], &[]))
        .await;
    assert_eq!((codes(&answer), desk.counts.taken()), (vec!["FORBIDDEN"], 0));
    let answer = desk.ask(query, &desk.all()).await;
    assert_eq!(
        answer["data"]["audits"],
        json!([{ "__typename": "Audit", "words": "audit 1" }])
    );
}

/// G15: an object of a guarded type in an interface or union is refused at its path, and not even
/// its type name is sent.
#[tokio::test]
async fn an_object_of_a_guarded_type_is_refused_where_others_could_be() {
    let desk = Desk::new(GuardMode::Filter);
    let query = "{ found { __typename ... on Audit { words } } nodes { __typename id } finding { ...F } } \
                 fragment F on Finding { __typename }";
    let answer = desk.ask(query, &desk.who("ada", &[], &["owner"])).await;
    let expected = json!({
        "found": [{ "__typename": "User" }, null],
        "nodes": [{ "__typename": "User", "id": 1 }, null, { "__typename": "Robot", "id": 9 }],
        "finding": null,
    });
    assert_eq!(answer["data"], expected);
    let paths: Vec<_> = answer["errors"]
        .as_array()
        .unwrap()
        .iter()
        .map(|error| error["path"].clone())
        .collect();
    assert_eq!(
        paths,
        [json!(["found", 1]), json!(["nodes", 1]), json!(["finding"])]
    );
    assert_eq!(codes(&answer), ["FORBIDDEN"; 3]);
    assert_eq!(desk.counts.taken(), 0);
    assert_eq!(desk.told(), ["Audit FORBIDDEN ada"; 3]);
    let answer = desk.ask(query, &desk.all()).await;
    assert_eq!(
        answer["data"]["found"][1],
        json!({ "__typename": "Audit", "words": "audit 1" })
    );
    assert!(answer.get("errors").is_none());
}

/// G15: a guard function allows only the owner, object by object.
#[tokio::test]
async fn an_object_is_asked_for_its_owner() {
    let desk = Desk::new(GuardMode::Filter);
    let query = "{ team { note diary } }";
    let answer = desk.ask(query, &desk.who("bob", &[], &[])).await;
    let expected = json!({ "team": [
        { "note": null, "diary": null },
        { "note": "note of 2", "diary": "diary of 2" },
    ] });
    assert_eq!(answer["data"], expected);
    assert_eq!(codes(&answer), ["FORBIDDEN"; 2]);
    assert_eq!(answer["errors"][0]["path"], json!(["team", 0, "note"]));
    assert_eq!(answer["errors"][1]["path"], json!(["team", 0, "diary"]));
    assert_eq!(desk.counts.taken(), 2);
    assert_eq!(
        desk.told(),
        ["User.note FORBIDDEN bob", "User.diary FORBIDDEN bob"]
    );
    let answer = desk.ask(query, &desk.anonymous()).await;
    assert_eq!(
        (codes(&answer), desk.counts.taken()),
        (vec!["UNAUTHENTICATED"; 4], 0)
    );
    // non-null: the error propagates to the object
    let answer = desk
        .ask("{ user(id: 2) { id pin } }", &desk.who("ada", &[], &[]))
        .await;
    assert_eq!(
        (codes(&answer), &answer["data"]),
        (vec!["FORBIDDEN"], &json!({ "user": null }))
    );
    // in reject mode a guard function still filters, because it needs an object
    let desk = Desk::new(GuardMode::Reject);
    let query = "{ user(id: 2) { id note } finding { __typename } nodes { id } }";
    let answer = desk.ask(query, &desk.who("ada", &[], &[])).await;
    let nodes = json!([{ "id": 1 }, null, { "id": 9 }]);
    let expected = json!({ "user": { "id": 2, "note": null }, "finding": null, "nodes": nodes });
    assert_eq!(answer["data"], expected);
}

/// G15: a rejected operation runs nothing and reports every refused field.
#[tokio::test]
async fn a_rejected_operation_runs_nothing() {
    let desk = Desk::new(GuardMode::Reject);
    let query = "mutation { write\n again: write refund\n audit { id } }";
    let response = desk
        .engine
        .execute(&GraphRequest::new(query), &desk.who("ada", &[], &[]))
        .await;
    assert!(response.is_request_error());
    let places: Vec<_> = response
        .errors()
        .iter()
        .map(|error| (error.code(), error.locations()[0].line, error.path().is_empty()))
        .collect();
    assert_eq!(
        places,
        [(ErrorCode::Forbidden, 2, true), (ErrorCode::Forbidden, 3, true)]
    );
    assert_eq!(desk.counts.taken(), 0);
    let answer = desk.ask(query, &desk.all()).await;
    assert_eq!(
        answer["data"],
        json!({ "write": 1, "again": 1, "refund": 2, "audit": { "id": 5 } })
    );
}

/// G15: in a dry run everything runs, and refusals are reported.
#[tokio::test]
async fn a_dry_run_refuses_nothing_and_tells() {
    let desk = Desk::new(GuardMode::DryRun);
    let query = "{ users { email note } found { ... on Audit { words } } badge { number } }";
    let answer = desk.ask(query, &desk.anonymous()).await;
    assert!(answer.get("errors").is_none(), "{answer}");
    assert_eq!(
        answer["data"]["users"][1],
        json!({ "email": "2@example.com", "note": "note of 2" })
    );
    assert_eq!(answer["data"]["found"][1], json!({ "words": "audit 1" }));
    let mut told = desk.told();
    told.sort();
    let expected = [
        "Audit",
        "Query.badge",
        "Query.users",
        "User.email",
        "User.note",
        "User.note",
    ];
    assert_eq!(
        told,
        expected.map(|coordinate| format!("{coordinate} UNAUTHENTICATED anonymous"))
    );
    let _answer = desk.ask(query, &desk.all()).await;
    assert_eq!(desk.told(), ["User.note FORBIDDEN ada"]);
    let answer = desk.ask("mutation { refund }", &desk.anonymous()).await;
    assert_eq!(answer, json!({ "data": { "refund": 2 } }));
}

/// G15: one cached plan serves every principal, without mixing their data.
#[tokio::test]
async fn principals_share_a_plan_and_nothing_else() {
    let desk = Desk::new(GuardMode::Filter);
    let query = "{ user { email } __type(name: \"User\") { fields { name } } }";
    let shown = |answer: &Value| answer["data"]["__type"]["fields"].to_string().contains("email");
    for _ in 0..3 {
        let answer = desk.ask(query, &desk.who("ada", &["read:email"], &[])).await;
        assert_eq!((codes(&answer), shown(&answer)), (vec![], true));
        let answer = desk.ask(query, &desk.who("eve", &[], &[])).await;
        assert_eq!((codes(&answer), shown(&answer)), (vec!["FORBIDDEN"], false));
        let answer = desk.ask(query, &desk.anonymous()).await;
        assert_eq!((codes(&answer), shown(&answer)), (vec!["UNAUTHENTICATED"], false));
    }
}

/// G15: refusals in lists stay in their list, each with the path of its field.
#[tokio::test]
async fn refusals_are_at_their_paths_in_lists() {
    let desk = Desk::new(GuardMode::Filter);
    let request = GraphRequest::new("{ team { email } }");
    let response: GraphResponse = desk.engine.execute(&request, &desk.anonymous()).await;
    let paths: Vec<_> = response
        .errors()
        .iter()
        .map(|error| error.path().to_vec())
        .collect();
    let path = |at: usize| {
        let key = |key: &str| PathSegment::Key(key.to_owned());
        vec![key("team"), PathSegment::Index(at), key("email")]
    };
    assert_eq!(paths, [path(0), path(1)]);
}

/// G15: operations of a batch are rejected separately.
#[tokio::test]
async fn operations_of_a_batch_are_rejected_by_themselves() {
    let desk = Desk::with(desk::builder().with_batches().with_guards(GuardMode::Reject));
    let body = json!([{ "query": "mutation { write }" }, { "query": "mutation { write refund }" }]);
    let request = crate::wire::post_body(body.to_string());
    let answer = desk.engine.respond(request, desk.anonymous()).await;
    let graph_core::http::HttpResponse::Full(response) = answer else {
        panic!("a stream")
    };
    let answers = crate::wire::json(&response);
    assert_eq!(answers[0], json!({ "data": { "write": 1 } }));
    assert_eq!(codes(&answers[1]), ["UNAUTHENTICATED"]);
    assert_eq!(desk.counts.taken(), 1);
}

/// Principals with each subset of the permissions.
fn everybody(desk: &Desk) -> Vec<Context> {
    const SCOPES: [&str; 4] = ["read:email", "read:users", "read:robots", "write:refunds"];
    const ROLES: [&str; 2] = ["owner", "auditor"];
    let some = |of: &[&'static str], bits: usize| -> Vec<_> {
        let all = of.iter().enumerate();
        all.filter(|(at, _)| bits >> at & 1 == 1)
            .map(|(_, word)| *word)
            .collect()
    };
    let known = (0..64).map(|bits| desk.who("ada", &some(&SCOPES, bits), &some(&ROLES, bits >> 4)));
    known.chain([desk.anonymous()]).collect()
}
