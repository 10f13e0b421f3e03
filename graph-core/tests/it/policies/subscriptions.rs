//! Subscriptions that a guard refuses, and in a dry run.

use graph_core::guard::GuardMode;
use serde_json::json;

use super::desk::Desk;
use crate::fixture::codes;

/// G15: a subscription refused by the guards of its root, its field or its function does not start.
#[tokio::test]
async fn a_refused_subscription_is_not_opened() {
    for mode in [GuardMode::Filter, GuardMode::Reject] {
        let desk = Desk::new(mode);
        for (query, context, code) in [
            (
                "subscription { joined { id } }",
                desk.anonymous(),
                "UNAUTHENTICATED",
            ),
            (
                "subscription { x: left { id } }",
                desk.who("bo", &[], &[]),
                "FORBIDDEN",
            ),
            (
                "subscription { left { id } }",
                desk.who("ada", &["read:users"], &[]),
                "FORBIDDEN",
            ),
            (
                "subscription { legacies { year } }",
                desk.anonymous(),
                "UNAUTHENTICATED",
            ),
            (
                "subscription { legacies { year } }",
                desk.who("ada", &[], &[]),
                "FORBIDDEN",
            ),
        ] {
            let events = desk.events(query, context).await;
            assert_eq!(
                (events.len(), codes(&events[0])),
                (1, vec![code]),
                "{mode:?} {query}"
            );
            assert!(events[0].get("data").is_none());
            assert_eq!(desk.counts.taken(), 0);
        }
        let events = desk
            .events(
                "subscription { left { id note } }",
                desk.who("bo", &["read:users"], &[]),
            )
            .await;
        assert_eq!(events.len(), 2);
        assert_eq!(events[0]["data"], json!({ "left": { "id": 1, "note": null } }));
    }
}

/// G15: in a dry run the subscription starts, and the refusal is reported.
#[tokio::test]
async fn a_dry_run_opens_subscriptions() {
    let desk = Desk::new(GuardMode::DryRun);
    for query in [
        "subscription { left { id } }",
        "subscription { legacies { user { email note } } }",
    ] {
        let events = desk.events(query, desk.anonymous()).await;
        assert!(
            events.iter().all(|event| event.get("errors").is_none()),
            "{query}"
        );
    }
    let told = desk.told().join(", ");
    for coordinate in [
        "Subscription.left",
        "Subscription.legacies",
        "User.email",
        "User.note",
    ] {
        assert!(told.contains(coordinate), "{coordinate} in {told}");
    }
    // refused by its scope, and by a root guard for odd names
    for (subject, scopes, refusals) in [
        ("ada", &[][..], 2),
        ("ada", &["read:users"], 1),
        ("bo", &[], 1),
        ("bo", &["read:users"], 0),
    ] {
        let query = "subscription { left { id } }";
        let events = desk.events(query, desk.who(subject, scopes, &[])).await;
        let expected = [1, 2].map(|id| json!({ "data": { "left": { "id": id } } }));
        assert_eq!(events, expected, "{subject} {scopes:?}");
        let line = format!("Subscription.left FORBIDDEN {subject}");
        assert_eq!(desk.told(), vec![line; refusals], "{subject} {scopes:?}");
    }
}
