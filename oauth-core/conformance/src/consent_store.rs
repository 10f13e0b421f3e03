//! Conformance kit for [`ConsentStore`](oauth_core::store::ConsentStore).
//!
//! `consent_store!(#[tokio::test] expression)` expands to one test per case; `expression` makes an
//! empty store.
#![expect(clippy::expect_used, reason = "a case fails by panicking")]

/// The cases of `consent_store!`.
#[host_ports_conformance::kit(consent_store)]
mod cases {
    use std::sync::Arc;
    use std::time::Duration;

    use crate::records::race;
    use crate::records::{answer, start};
    use host_ports_conformance::RACERS;
    use oauth_core::store::{ConsentRecord, ConsentStore};
    use oauth_core::vocabulary::{ClientId, Subject};

    /// O35: a consent is read back with every field.
    pub async fn consent_is_read_back_as_stored(store: &Arc<dyn ConsentStore>) {
        let given = consent(
            "ada 'one' %_;--",
            "client 'one' %_",
            "openid read",
            "https://api.example/?a='",
        );
        answer(store.add_consent(given.clone()).await);
        let read = store.consent(&given.subject, &given.client_id).await;
        assert_eq!(answer(read), Some(given));
    }

    /// O35: a later consent adds its scopes, for its resource servers only.
    pub async fn later_consents_are_merged(store: &Arc<dyn ConsentStore>) {
        let first = consent("ada", "web", "openid read", "https://a.example");
        let mut second = consent("ada", "web", "write", "https://b.example");
        second.granted_at += Duration::from_nanos(1);
        answer(store.add_consent(first.clone()).await);
        answer(store.add_consent(second.clone()).await);
        let read = answer(store.consent(&first.subject, &first.client_id).await);
        assert_eq!(read, Some(first.merge(second)));
    }

    /// O35: consents of other users and clients are separate, and identifiers are compared byte for
    /// byte.
    pub async fn consents_are_separate(store: &Arc<dyn ConsentStore>) {
        let pairs = [
            ("ada", "web"),
            ("ada", "Web"),
            ("Ada", "web"),
            ("ada", "web2"),
            ("ada%", "web"),
        ];
        for (index, (subject, client)) in pairs.into_iter().enumerate() {
            let scopes = format!("scope{index}");
            answer(
                store
                    .add_consent(consent(subject, client, &scopes, "https://api.example"))
                    .await,
            );
        }
        for (index, (subject, client)) in pairs.into_iter().enumerate() {
            let expected = consent(subject, client, &format!("scope{index}"), "https://api.example");
            let read = store.consent(&expected.subject, &expected.client_id).await;
            assert_eq!(answer(read), Some(expected));
        }
        let listed = answer(store.consents_of(&user("ada")).await);
        let clients: Vec<_> = listed.iter().map(|consent| consent.client_id.as_str()).collect();
        assert_eq!(clients, ["Web", "web", "web2"]);
        assert!(answer(store.consents_of(&user("bob")).await).is_empty());
    }

    /// O35: a removed consent is absent, and others stay.
    pub async fn removed_consent_is_absent(store: &Arc<dyn ConsentStore>) {
        for client in ["web", "other"] {
            answer(
                store
                    .add_consent(consent("ada", client, "read", "https://api.example"))
                    .await,
            );
        }
        answer(
            store
                .add_consent(consent("bob", "web", "read", "https://api.example"))
                .await,
        );
        let (ada, web) = (user("ada"), client("web"));
        assert!(answer(store.remove_consent(&ada, &web).await));
        assert!(!answer(store.remove_consent(&ada, &web).await));
        assert_eq!(answer(store.consent(&ada, &web).await), None);
        assert_eq!(answer(store.consents_of(&ada).await).len(), 1);
        assert!(answer(store.consent(&user("bob"), &web).await).is_some());
        // a new consent does not bring the removed scopes back
        let again = consent("ada", "web", "write", "https://api.example");
        answer(store.add_consent(again.clone()).await);
        assert_eq!(answer(store.consent(&ada, &web).await), Some(again));
    }

    /// O35: of concurrent consents none is lost.
    pub async fn concurrent_consents_are_all_kept(store: &Arc<dyn ConsentStore>) {
        race(store, async |store: Arc<dyn ConsentStore>, racer: usize| {
            let given = consent("ada", "web", &format!("scope{racer}"), "https://api.example");
            store.add_consent(given).await
        })
        .await;
        let read = answer(store.consent(&user("ada"), &client("web")).await).expect("a consent");
        let scopes: usize = read
            .scopes
            .values()
            .map(oauth_core::vocabulary::Scopes::len)
            .sum();
        assert_eq!(scopes, RACERS);
    }

    /// O35: a removal that races additions removes the scopes of before, for ever.
    pub async fn removed_scopes_do_not_come_back(store: &Arc<dyn ConsentStore>) {
        for round in 0..4 {
            let app = format!("app{round}");
            let before = consent("ada", &app, "read write", "https://api.example");
            answer(store.add_consent(before).await);
            race(store, async move |store: Arc<dyn ConsentStore>, racer: usize| {
                if racer == RACERS / 2 {
                    let (ada, app) = (user("ada"), client(&format!("app{round}")));
                    return store.remove_consent(&ada, &app).await.map(drop);
                }
                let given = consent("ada", &format!("app{round}"), "read", "https://api.example");
                store.add_consent(given).await
            })
            .await;
            let left = answer(store.consent(&user("ada"), &client(&app)).await);
            let write = "write".parse().expect("scopes");
            let server = ["https://api.example".parse().expect("an audience")];
            assert!(!left.is_some_and(|consent| consent.covers(&write, &server)));
        }
    }

    fn user(id: &str) -> Subject {
        id.parse().expect("a subject")
    }

    fn client(id: &str) -> ClientId {
        id.parse().expect("a client id")
    }

    fn consent(subject: &str, client_id: &str, scopes: &str, server: &str) -> ConsentRecord {
        let scopes = scopes.parse().expect("scopes");
        let servers = [server.parse().expect("an audience")];
        ConsentRecord::new(user(subject), client(client_id), &scopes, &servers, start())
    }
}

pub use cases::*;
