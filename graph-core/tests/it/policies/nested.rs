//! Guards below fields and types without guards.

use graph_core::guard::GuardMode;
use graph_core::limits::Limits;
use serde_json::json;

use super::desk::{self, Desk};
use crate::fixture::codes;

/// G15: the guards of fields hold below a type without guards.
#[tokio::test]
async fn guards_hold_below_unguarded_types() {
    let desk = Desk::new(GuardMode::Filter);
    let query = "{ legacy { year user { email phone note } } users { id } team { diary } }";
    let answer = desk.ask(query, &desk.who("bob", &[], &[])).await;
    let expected = json!({
        "legacy": { "year": 1999, "user": { "email": null, "phone": null, "note": null } },
        "users": null,
        "team": [{ "diary": null }, { "diary": "diary of 2" }],
    });
    assert_eq!(answer["data"], expected);
    assert_eq!(codes(&answer), ["FORBIDDEN"; 5]);
    assert_eq!(desk.counts.taken(), 1);
    let mut told = desk.told();
    told.sort();
    let expected = [
        "Query.users",
        "User.diary",
        "User.email",
        "User.note",
        "User.phone",
    ];
    assert_eq!(
        told,
        expected.map(|coordinate| format!("{coordinate} FORBIDDEN bob"))
    );
    // each of several guards is checked
    let ada = desk.who("ada", &["read:email"], &[]);
    let answer = desk.ask("{ legacy { user { email phone } } }", &ada).await;
    assert_eq!(codes(&answer), ["FORBIDDEN"]);
    assert_eq!(answer["data"]["legacy"]["user"]["phone"], json!(null));
    let answer = desk.ask(query, &desk.all()).await;
    assert_eq!(codes(&answer), ["FORBIDDEN"]);
    assert_eq!(answer["data"]["legacy"]["user"]["email"], "1@example.com");
}

/// G15: in reject mode a refused field below an unguarded type refuses the operation.
#[tokio::test]
async fn rejected_mutation_writes_nothing() {
    let desk = Desk::new(GuardMode::Reject);
    for query in [
        "mutation { write legacy { year user { email } } }",
        "mutation { write legacy { year } refund }",
        "mutation($no: Boolean = false) { write legacy { year } refund @skip(if: $no) }",
    ] {
        let answer = desk.ask(query, &desk.who("ada", &[], &[])).await;
        assert_eq!(codes(&answer), ["FORBIDDEN"], "{query}");
        assert!(answer.get("data").is_none());
        assert_eq!(desk.counts.taken(), 0, "{query}");
    }
    let answer = desk
        .ask(
            "mutation { legacy { year } refund @skip(if: true) }",
            &desk.anonymous(),
        )
        .await;
    assert_eq!(answer, json!({ "data": { "legacy": { "year": 1999 } } }));
}

/// G15: a refused asynchronous field of a mutation does not run, while the fields around it run.
#[tokio::test]
async fn refused_asynchronous_mutation_does_not_run() {
    let desk = Desk::new(GuardMode::Filter);
    let query = "mutation { write refund audit { id } again: write }";
    let answer = desk.ask(query, &desk.who("ada", &[], &[])).await;
    let expected = json!({ "write": 1, "refund": null, "audit": null, "again": 1 });
    assert_eq!(answer["data"], expected);
    assert_eq!(codes(&answer), ["FORBIDDEN"; 2]);
    assert_eq!(answer["errors"][0]["path"], json!(["refund"]));
    assert_eq!(desk.counts.taken(), 2);
}

/// G15: a rejected operation has at most 100 errors, as other invalid operations.
#[tokio::test]
async fn rejected_operation_has_at_most_100_errors() {
    let limits = Limits::default().with_aliases(200).with_root_fields(200);
    let desk = Desk::with(desk::builder().with_guards(GuardMode::Reject).with_limits(limits));
    let fields: String = (0..150).map(|at| format!("a{at}: user {{ email }} ")).collect();
    let answer = desk.ask(&format!("{{ {fields} }}"), &desk.anonymous()).await;
    assert_eq!(codes(&answer), ["UNAUTHENTICATED"; 100]);
    // the log has every refusal
    assert_eq!(desk.told().len(), 150);
}

/// G15: a dry run does not affect a concurrent operation of another engine on the same thread.
#[tokio::test]
async fn dry_run_applies_to_its_engine_only() {
    let desk = Desk::new(GuardMode::DryRun);
    let query =
        "{ legacy { user { email phone note diary } } users { id } found { ... on Audit { words } } }";
    let strict = Desk::new(GuardMode::Filter);
    let (free, strict_context) = (desk.anonymous(), strict.anonymous());
    let (answer, refused) = tokio::join!(
        desk.ask(query, &free),
        strict.ask("{ legacy { user { email } } }", &strict_context)
    );
    assert!(answer.get("errors").is_none(), "{answer}");
    assert_eq!(answer["data"]["found"][1], json!({ "words": "audit 1" }));
    assert_eq!(answer["data"]["legacy"]["user"]["diary"], "diary of 1");
    assert_eq!(codes(&refused), ["UNAUTHENTICATED"]);
    let mut told = desk.told();
    told.sort();
    let expected = [
        "Audit",
        "Query.users",
        "User.diary",
        "User.email",
        "User.note",
        "User.phone",
    ];
    assert_eq!(
        told,
        expected.map(|coordinate| format!("{coordinate} UNAUTHENTICATED anonymous"))
    );
}

/// G15, G11: introspection beside other fields does not reveal hidden types.
#[tokio::test]
async fn introspection_beside_other_fields_is_filtered() {
    let desk = Desk::new(GuardMode::Filter);
    let query = "{ legacy { year } x: __type(name: \"User\") { fields { name } } ...S } \
                 fragment S on Query { __schema { types { name } } }";
    let answer = desk.ask(query, &desk.anonymous()).await;
    let shown = answer["data"].to_string();
    assert!(shown.contains("\"note\"") && shown.contains("Legacy"), "{shown}");
    for hidden in ["email", "Audit", "Keyring", "KeyKind"] {
        assert!(!shown.contains(hidden), "{hidden} in {shown}");
    }
    let keys: Vec<_> = answer["data"].as_object().unwrap().keys().collect();
    assert_eq!(keys, ["legacy", "x", "__schema"]);
    let shown = desk.ask(query, &desk.all()).await.to_string();
    for hidden in ["email", "Audit", "Keyring", "KeyKind"] {
        assert!(shown.contains(hidden), "{hidden}");
    }
}
