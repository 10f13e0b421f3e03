//! Test cases for implementations of [`EndpointStore`](webhook_core::sender::EndpointStore):
//! tenants, patterns, settings, lists, updates and deletion.
#![expect(clippy::expect_used, reason = "a case fails by panicking")]

/// Test cases.
#[host_ports_conformance::kit(endpoint_management)]
mod cases {
    use std::num::NonZeroU32;
    use std::sync::Arc;

    use host_ports_conformance::race;
    use webhook_core::{
        address::AddressPolicy,
        secret::SigningSecret,
        sender::{
            Audience, Classification, ContentMode, Endpoint, EndpointId, EndpointQuery, EndpointState,
            EndpointStore, EndpointUpdate, EventFilter, EventPattern, Inserted, Owner, StaticHeaders,
        },
        signature::Signer,
    };

    fn id(text: &str) -> EndpointId {
        text.parse().expect("the case has a valid id")
    }

    fn tenant(text: &str) -> Owner {
        Owner::Tenant(text.parse().expect("the case has a valid tenant"))
    }

    fn endpoint(name: &str, owner: Owner) -> Endpoint {
        let url = "https://example.com/hooks".parse().expect("a valid URL");
        let secret = SigningSecret::from_bytes(&[1; 32]).expect("32 bytes are a secret");
        let signer = Signer::standard_webhooks(&secret);
        Endpoint::register(id(name), owner, &url, signer, &AddressPolicy::new()).expect("a public URL")
    }

    fn filter(patterns: &[&str]) -> EventFilter {
        let patterns = patterns.iter().map(|text| text.parse::<EventPattern>());
        EventFilter::only(patterns.map(|pattern| pattern.expect("the case has a valid pattern")))
    }

    async fn insert(store: &dyn EndpointStore, endpoint: Endpoint) {
        let inserted = store.insert(endpoint).await;
        assert_eq!(inserted.expect("the store works"), Inserted::Inserted);
    }

    async fn load(store: &dyn EndpointStore, name: &str) -> Endpoint {
        let loaded = store.load(&id(name)).await.expect("the store works");
        loaded.expect("it is stored")
    }

    async fn subscribers(store: &dyn EndpointStore, event_type: &str, audience: &Audience) -> Vec<String> {
        let event_type = event_type.parse().expect("the case has a valid type");
        let found = store.subscribers(&event_type, audience).await;
        let found = found.expect("the store works");
        found.iter().map(ToString::to_string).collect()
    }

    async fn list(store: &dyn EndpointStore, query: &EndpointQuery) -> Vec<String> {
        let found = store.list_endpoints(query).await.expect("the store works");
        found.iter().map(ToString::to_string).collect()
    }

    async fn update(store: &dyn EndpointStore, name: &str, update: EndpointUpdate) -> bool {
        store.update(&id(name), update).await.expect("the store works")
    }

    /// An endpoint of each owner, for all events.
    async fn one_of_each(store: &dyn EndpointStore) {
        insert(store, endpoint("ep_a", tenant("acme"))).await;
        insert(store, endpoint("ep_o", Owner::Operator)).await;
        insert(store, endpoint("ep_z", tenant("zenith"))).await;
    }

    /// W23: an event of a tenant or the operator goes to its endpoints alone; one for everyone goes
    /// to all tenants and never to the operator.
    pub async fn subscribers_belong_to_the_audience(store: &Arc<dyn EndpointStore>) {
        one_of_each(store).await;
        let only = filter(&["charge.refunded", "charge.*"]);
        insert(store, endpoint("ep_p", tenant("zenith")).with_events(only)).await;
        for (audience, expected) in [
            (Audience::from(tenant("acme")), vec!["ep_a"]),
            (Audience::from(tenant("zenith")), vec!["ep_p", "ep_z"]),
            (Audience::from(tenant("Acme")), vec![]),
            (Audience::from(tenant("operator")), vec![]),
            (Audience::operator(), vec!["ep_o"]),
            (Audience::everyone(), vec!["ep_a", "ep_p", "ep_z"]),
        ] {
            let found = subscribers(store, "charge.refunded", &audience).await;
            assert_eq!(found, expected, "{audience}");
        }
    }

    /// W23: tenants whose names look like other audiences, or like patterns of the store, stay
    /// apart.
    pub async fn hostile_tenants_are_kept_apart(store: &Arc<dyn EndpointStore>) {
        let names = [
            "operator",
            "everyone",
            "tenant:operator",
            "%",
            "_",
            "*",
            "'",
            "\\",
            "a",
            "A",
        ];
        for (number, name) in names.iter().enumerate() {
            insert(store, endpoint(&format!("ep_{number}"), tenant(name))).await;
        }
        for (number, name) in names.iter().enumerate() {
            let found = subscribers(store, "charge", &tenant(name).into()).await;
            assert_eq!(found, [format!("ep_{number}")], "{name}");
            let listed = list(store, &EndpointQuery::of(tenant(name))).await;
            assert_eq!(listed, found, "{name}");
            assert_eq!(load(store, &format!("ep_{number}")).await.owner, tenant(name));
        }
        assert!(
            subscribers(store, "charge", &Audience::operator())
                .await
                .is_empty()
        );
        let everyone = subscribers(store, "charge", &Audience::everyone()).await;
        assert_eq!(everyone.len(), names.len());
    }

    /// W25: a pattern accepts the types below its prefix; an endpoint with several matching
    /// patterns is listed once.
    pub async fn patterns_accept_types_below_their_prefix(store: &Arc<dyn EndpointStore>) {
        for (name, patterns) in [
            ("ep_all", &["charge.*", "charge.refunded", "charge.dispute.*"][..]),
            ("ep_below", &["charge.*"]),
            ("ep_deep", &["charge.dispute.*"]),
            ("ep_exact", &["charge.refunded"]),
            ("ep_none", &[]),
        ] {
            insert(
                store,
                endpoint(name, tenant("acme")).with_events(filter(patterns)),
            )
            .await;
        }
        let acme = Audience::from(tenant("acme"));
        for (event_type, expected) in [
            ("charge.refunded", vec!["ep_all", "ep_below", "ep_exact"]),
            ("charge.dispute.created", vec!["ep_all", "ep_below", "ep_deep"]),
            ("charge", vec![]),
            ("charges.refunded", vec![]),
            ("charge_refunded", vec![]),
            ("refund.charge.refunded", vec![]),
        ] {
            let found = subscribers(store, event_type, &acme).await;
            assert_eq!(found, expected, "{event_type}");
        }
    }

    /// W25: rate, static headers and content mode are kept.
    pub async fn settings_are_kept(store: &Arc<dyn EndpointStore>) {
        let headers = StaticHeaders::new([("authorization", "Bearer 'x\"\\"), ("x-empty", "")]);
        let rich = endpoint("ep_1", tenant("acme"))
            .with_rate(NonZeroU32::MAX)
            .with_headers(headers.expect("valid headers"))
            .with_content(ContentMode::CloudEventsBinary);
        insert(store, rich.clone()).await;
        insert(store, endpoint("ep_2", Owner::Operator)).await;
        for given in [rich, endpoint("ep_2", Owner::Operator)] {
            let stored = load(store, given.id.as_str()).await;
            assert_eq!(
                (stored.owner, stored.rate, stored.headers, stored.content),
                (given.owner, given.rate, given.headers, given.content)
            );
        }
    }

    /// W24: an update changes exactly the fields that it names, and the subscriptions with them.
    pub async fn an_update_changes_what_it_names(store: &Arc<dyn EndpointStore>) {
        one_of_each(store).await;
        let acme = Audience::from(tenant("acme"));
        let before = load(store, "ep_a").await;
        assert!(update(store, "ep_a", EndpointUpdate::new()).await);
        assert_eq!(format!("{:?}", load(store, "ep_a").await), format!("{before:?}"));

        let refunds = EndpointUpdate::new().with_events(filter(&["refund.*"]));
        assert!(update(store, "ep_a", refunds).await);
        assert!(subscribers(store, "charge", &acme).await.is_empty());
        assert_eq!(subscribers(store, "refund.created", &acme).await, ["ep_a"]);
        assert!(update(store, "ep_a", EndpointUpdate::new().with_events(EventFilter::All)).await);
        assert_eq!(subscribers(store, "charge", &acme).await, ["ep_a"]);

        let headers = StaticHeaders::new([("x-team", "billing")]).expect("valid headers");
        let url = "https://example.org/v2".parse().expect("a valid URL");
        let all = EndpointUpdate::new()
            .with_url(&url, &AddressPolicy::new())
            .expect("a public URL")
            .with_state(EndpointState::Paused)
            .with_classification(Classification::Patient)
            .with_rate(NonZeroU32::new(5))
            .with_headers(headers.clone())
            .with_content(ContentMode::CloudEventsStructured);
        assert!(update(store, "ep_a", all).await);
        let mut expected = before;
        (expected.url, expected.state) = (url, EndpointState::Paused);
        (expected.classification, expected.rate) = (Classification::Patient, NonZeroU32::new(5));
        (expected.headers, expected.content) = (headers, ContentMode::CloudEventsStructured);
        assert_eq!(
            format!("{:?}", load(store, "ep_a").await),
            format!("{expected:?}")
        );
        assert!(update(store, "ep_a", EndpointUpdate::new().with_rate(None)).await);
        assert_eq!(load(store, "ep_a").await.rate, None);
        let other = load(store, "ep_z").await;
        assert_eq!(
            format!("{other:?}"),
            format!("{:?}", endpoint("ep_z", tenant("zenith")))
        );
    }

    /// W24: an endpoint that was never inserted can be neither changed nor deleted.
    pub async fn unknown_endpoint_is_not_changed(store: &Arc<dyn EndpointStore>) {
        let paused = EndpointUpdate::new().with_state(EndpointState::Paused);
        assert!(!update(store, "ep_a", paused).await);
        assert!(!store.delete(&id("ep_a")).await.expect("the store works"));
        assert!(list(store, &EndpointQuery::of(tenant("acme"))).await.is_empty());
    }

    /// W24: of concurrent updates of different fields none is lost.
    pub async fn no_simultaneous_update_is_lost(store: &Arc<dyn EndpointStore>) {
        insert(store, endpoint("ep_a", tenant("acme"))).await;
        race(store, async |store, index| {
            let change = match index % 4 {
                0 => EndpointUpdate::new().with_state(EndpointState::Paused),
                1 => EndpointUpdate::new().with_rate(NonZeroU32::new(7)),
                2 => EndpointUpdate::new().with_events(filter(&["refund.*"])),
                _ => EndpointUpdate::new().with_content(ContentMode::CloudEventsBinary),
            };
            assert!(update(&*store, "ep_a", change).await);
        })
        .await;
        let stored = load(store, "ep_a").await;
        assert_eq!(
            (stored.state, stored.rate, stored.content),
            (
                EndpointState::Paused,
                NonZeroU32::new(7),
                ContentMode::CloudEventsBinary
            )
        );
        let found = subscribers(store, "refund.created", &tenant("acme").into()).await;
        assert_eq!(found, ["ep_a"]);
    }

    /// W24: endpoints are listed by owner in ascending order, in pages.
    pub async fn endpoints_are_listed_in_pages(store: &Arc<dyn EndpointStore>) {
        for number in 0..5 {
            insert(store, endpoint(&format!("ep_{number}"), tenant("acme"))).await;
        }
        insert(store, endpoint("ep_2a", tenant("zenith"))).await;
        insert(store, endpoint("ep_o", Owner::Operator)).await;
        let mut query = EndpointQuery {
            limit: 2,
            ..EndpointQuery::of(tenant("acme"))
        };
        let mut pages = Vec::new();
        for _ in 0..4 {
            let page = list(store, &query).await;
            query.after = page.last().map(|last| id(last)).or(query.after);
            pages.push(page);
        }
        assert_eq!(
            pages,
            [vec!["ep_0", "ep_1"], vec!["ep_2", "ep_3"], vec!["ep_4"], vec![]]
        );
        let all = EndpointQuery {
            owner: None,
            after: Some(id("ep_2")),
            limit: 100,
        };
        assert_eq!(list(store, &all).await, ["ep_2a", "ep_3", "ep_4", "ep_o"]);
        assert_eq!(list(store, &EndpointQuery::of(Owner::Operator)).await, ["ep_o"]);
        assert!(list(store, &EndpointQuery { limit: 0, ..all }).await.is_empty());
    }

    /// W24: a deleted endpoint is gone, gets no events, and its id can be registered again by
    /// another owner.
    pub async fn deleted_endpoint_is_gone(store: &Arc<dyn EndpointStore>) {
        one_of_each(store).await;
        assert!(store.delete(&id("ep_a")).await.expect("the store works"));
        assert!(!store.delete(&id("ep_a")).await.expect("the store works"));
        assert!(store.load(&id("ep_a")).await.expect("the store works").is_none());
        assert!(
            subscribers(store, "charge", &tenant("acme").into())
                .await
                .is_empty()
        );
        insert(store, endpoint("ep_a", tenant("zenith"))).await;
        assert!(
            subscribers(store, "charge", &tenant("acme").into())
                .await
                .is_empty()
        );
        let found = subscribers(store, "charge", &tenant("zenith").into()).await;
        assert_eq!(found, ["ep_a", "ep_z"]);
    }
}

pub use cases::*;
