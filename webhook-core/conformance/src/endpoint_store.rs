//! Test cases for implementations of [`EndpointStore`](webhook_core::sender::EndpointStore).
#![expect(clippy::expect_used, clippy::panic, reason = "a case fails by panicking")]

/// Test cases.
#[host_ports_conformance::kit(endpoint_store)]
mod cases {
    use std::sync::Arc;
    use std::time::{Duration, SystemTime};

    use host_ports_conformance::race;
    use webhook_core::{
        address::AddressPolicy,
        event::{EventId, EventType},
        secret::SigningSecret,
        sender::{
            Audience, Classification, Endpoint, EndpointId, EndpointState, EndpointStore, EventFilter,
            EventPattern, Inserted, Owner, Rotated, Rotation,
        },
        signature::{Signer, Signers},
    };

    fn at(seconds: u64) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000 + seconds)
    }

    fn id(text: &str) -> EndpointId {
        text.parse().expect("the case has a valid id")
    }

    fn event_type(text: &str) -> EventType {
        text.parse().expect("the case has a valid type")
    }

    fn pattern(text: &str) -> EventPattern {
        text.parse().expect("the case has a valid pattern")
    }

    fn signer(secret: u8) -> Signer {
        let secret = SigningSecret::from_bytes(&[secret; 32]).expect("32 bytes are a secret");
        Signer::standard_webhooks(&secret)
    }

    fn endpoint(text: &str) -> Endpoint {
        let url = "https://example.com/hooks?a=1&b='".parse().expect("a valid URL");
        Endpoint::register(
            id(text),
            Owner::Tenant("acme".parse().expect("a valid tenant")),
            &url,
            signer(1),
            &AddressPolicy::new(),
        )
        .expect("a public URL")
    }

    async fn insert(store: &dyn EndpointStore, endpoint: Endpoint) -> Inserted {
        store.insert(endpoint).await.expect("the store works")
    }

    async fn load(store: &dyn EndpointStore, text: &str) -> Option<Endpoint> {
        store.load(&id(text)).await.expect("the store works")
    }

    async fn subscribers(store: &dyn EndpointStore, text: &str) -> Vec<String> {
        let ids = store
            .subscribers(&event_type(text), &Audience::everyone())
            .await
            .expect("the store works");
        ids.iter().map(ToString::to_string).collect()
    }

    async fn rotate(store: &dyn EndpointStore, text: &str, next: Signer, overlap: Duration) -> Rotated {
        let rotation = Rotation {
            next,
            now: at(0),
            overlap,
        };
        store.rotate(&id(text), &rotation).await.expect("the store works")
    }

    /// Signatures that the signers make at `now`; secrets themselves cannot be compared.
    fn tokens(signers: &Signers, now: SystemTime) -> String {
        let event: EventId = "evt_1".parse().expect("a valid id");
        let headers = signers.sign(&event, now, b"{}");
        headers.signature.to_str().expect("visible text").to_owned()
    }

    fn assert_same(stored: Option<Endpoint>, given: &Endpoint) {
        let stored = stored.expect("it is stored");
        assert_eq!(
            (&stored.id, &stored.url, &stored.events, stored.state),
            (&given.id, &given.url, &given.events, given.state)
        );
        assert_eq!(tokens(&stored.signers, at(0)), tokens(&given.signers, at(0)));
    }

    /// W16: all fields of an endpoint are kept, with its signers in their order.
    pub async fn an_endpoint_comes_back_as_it_was_inserted(store: &Arc<dyn EndpointStore>) {
        let plain = endpoint("ep_1");
        let types = [pattern("charge.refunded"), pattern("charge.updated")];
        let secret =
            SigningSecret::from_utf8("a secret of 'text' that is long enough").expect("a valid secret");
        let mut rich = endpoint("ep_2").with_events(EventFilter::only(types));
        rich.signers = rich
            .signers
            .with_signer(Signer::timestamp_body_hex(&secret))
            .expect("two signers");
        rich.state = EndpointState::Paused;
        let none = endpoint("ep_3").with_events(EventFilter::only([]));
        for given in [plain, rich, none] {
            assert_eq!(insert(store, given.clone()).await, Inserted::Inserted);
            assert_same(load(store, given.id.as_str()).await, &given);
        }
    }

    /// W16: an endpoint that was never inserted is unknown to every method.
    pub async fn an_unknown_endpoint_is_absent(store: &Arc<dyn EndpointStore>) {
        assert!(load(store, "ep_1").await.is_none());
        assert!(subscribers(store, "charge.refunded").await.is_empty());
        let paused = store.set_state(&id("ep_1"), EndpointState::Paused).await;
        assert!(!paused.expect("the store works"));
        assert_eq!(
            rotate(store, "ep_1", signer(2), Signers::OVERLAP).await,
            Rotated::Unknown
        );
    }

    /// W16: a second insert of an id changes nothing.
    pub async fn an_id_is_taken_once(store: &Arc<dyn EndpointStore>) {
        let first = endpoint("ep_1");
        assert_eq!(insert(store, first.clone()).await, Inserted::Inserted);
        let second = Endpoint {
            signers: signer(2).into(),
            ..endpoint("ep_1")
        };
        assert_eq!(insert(store, second).await, Inserted::AlreadyExists);
        assert_same(load(store, "ep_1").await, &first);
    }

    /// W16: of 32 concurrent inserts of one id exactly one is stored.
    pub async fn of_32_simultaneous_inserts_one_is_kept(store: &Arc<dyn EndpointStore>) {
        let given: Vec<Endpoint> = (1..=32)
            .map(|secret| Endpoint {
                signers: signer(secret).into(),
                ..endpoint("ep_1")
            })
            .collect();
        let inserted = race(store, {
            let given = given.clone();
            async move |store, index| {
                let endpoint = given.get(index).expect("one for each racer");
                insert(&*store, endpoint.clone()).await
            }
        })
        .await;
        let kept = inserted
            .iter()
            .zip(&given)
            .filter(|(inserted, _)| **inserted == Inserted::Inserted);
        let kept: Vec<&Endpoint> = kept.map(|(_, endpoint)| endpoint).collect();
        let [kept] = kept.as_slice() else {
            panic!("one is kept, not {}", kept.len())
        };
        assert_same(load(store, "ep_1").await, kept);
    }

    /// W16: subscribers of a type are listed by id, unless disabled; the filter compares whole
    /// types.
    pub async fn enabled_subscribers_are_listed(store: &Arc<dyn EndpointStore>) {
        let refunds = EventFilter::only([pattern("charge.refunded")]);
        let updates = EventFilter::only([pattern("charge.updated"), pattern("charge")]);
        let paused = Endpoint {
            state: EndpointState::Paused,
            ..endpoint("ep_c")
        };
        let disabled = Endpoint {
            state: EndpointState::Disabled,
            ..endpoint("ep_d")
        };
        let endpoints = [
            endpoint("ep_e").with_events(refunds),
            disabled,
            paused,
            endpoint("ep_b").with_events(updates),
            endpoint("ep_a"),
        ];
        for endpoint in endpoints {
            insert(store, endpoint).await;
        }
        assert_eq!(
            subscribers(store, "charge.refunded").await,
            ["ep_a", "ep_c", "ep_e"]
        );
        assert_eq!(subscribers(store, "charge").await, ["ep_a", "ep_b", "ep_c"]);
        assert_eq!(
            subscribers(store, "charge.refunded.twice").await,
            ["ep_a", "ep_c"]
        );
    }

    /// W33: the classification of an endpoint is kept.
    pub async fn classification_is_kept(store: &Arc<dyn EndpointStore>) {
        for (name, classification) in [
            ("ep_1", Classification::Patient),
            ("ep_2", Classification::Strict),
        ] {
            insert(store, endpoint(name).with_classification(classification)).await;
            let loaded = store.load(&id(name)).await.expect("the store works");
            assert_eq!(loaded.map(|loaded| loaded.classification), Some(classification));
        }
    }

    /// W16, W17: one call loads several endpoints with the same result as one call for each;
    /// unknown ids are left out.
    pub async fn several_endpoints_are_loaded_at_once(store: &Arc<dyn EndpointStore>) {
        for name in ["ep_1", "ep_2", "ep_3"] {
            insert(store, endpoint(name)).await;
        }
        assert!(
            store
                .set_state(&id("ep_2"), EndpointState::Paused)
                .await
                .expect("the store works")
        );
        let ids = [id("ep_3"), id("ep_unknown"), id("ep_2")];
        let mut loaded = store.load_many(&ids).await.expect("the store works");
        loaded.sort_by(|one, other| one.id.cmp(&other.id));
        let mut alone = Vec::new();
        for name in ["ep_2", "ep_3"] {
            alone.extend(store.load(&id(name)).await.expect("the store works"));
        }
        assert_eq!(format!("{loaded:?}"), format!("{alone:?}"));
        let none = store.load_many(&[]).await.expect("the store works");
        assert!(none.is_empty());
    }

    /// W16: a change of state is stored and applies to the next event.
    pub async fn a_state_is_kept(store: &Arc<dyn EndpointStore>) {
        insert(store, endpoint("ep_1")).await;
        insert(store, endpoint("ep_2")).await;
        for state in [
            EndpointState::Paused,
            EndpointState::Disabled,
            EndpointState::Enabled,
        ] {
            assert!(
                store
                    .set_state(&id("ep_1"), state)
                    .await
                    .expect("the store works")
            );
            let given = Endpoint {
                state,
                ..endpoint("ep_1")
            };
            assert_same(load(store, "ep_1").await, &given);
            let listed = subscribers(store, "charge").await.contains(&"ep_1".to_owned());
            assert_eq!(listed, state != EndpointState::Disabled);
            assert_same(load(store, "ep_2").await, &endpoint("ep_2"));
        }
    }

    /// W6: after a rotation both secrets sign, the new one first, until the old one's overlap ends.
    pub async fn both_secrets_sign_until_the_exact_end_of_the_overlap(store: &Arc<dyn EndpointStore>) {
        insert(store, endpoint("ep_1")).await;
        let overlap = Duration::from_secs(3_600);
        assert_eq!(rotate(store, "ep_1", signer(2), overlap).await, Rotated::Rotated);
        let stored = load(store, "ep_1").await.expect("it is stored").signers;
        let of = |secret, now| tokens(&signer(secret).into(), now);
        let last = at(3_600) - Duration::from_millis(1);
        assert_eq!(tokens(&stored, last), [of(2, last), of(1, last)].join(" "));
        assert_eq!(tokens(&stored, at(3_600)), of(2, at(3_600)));
    }

    /// W6: a refused rotation leaves the secrets unchanged.
    pub async fn a_refused_rotation_changes_nothing(store: &Arc<dyn EndpointStore>) {
        insert(store, endpoint("ep_1")).await;
        let too_long = Signers::MAX_OVERLAP + Duration::from_secs(1);
        assert_eq!(rotate(store, "ep_1", signer(2), too_long).await, Rotated::Refused);
        assert_same(load(store, "ep_1").await, &endpoint("ep_1"));
        for secret in 2..=8 {
            assert_eq!(
                rotate(store, "ep_1", signer(secret), Signers::OVERLAP).await,
                Rotated::Rotated
            );
        }
        let full = load(store, "ep_1").await.expect("it is stored");
        assert_eq!(
            rotate(store, "ep_1", signer(9), Signers::OVERLAP).await,
            Rotated::Refused
        );
        assert_same(load(store, "ep_1").await, &full);
    }

    /// W6: of 32 concurrent rotations exactly as many succeed as there is room for signers, and
    /// each new secret signs, also if the state changes concurrently.
    pub async fn no_simultaneous_rotation_is_lost(store: &Arc<dyn EndpointStore>) {
        insert(store, endpoint("ep_1")).await;
        let rotated = race(store, async |store, index| {
            let paused = store.set_state(&id("ep_1"), EndpointState::Paused).await;
            assert!(paused.expect("the store works"));
            let secret = 101 + u8::try_from(index).expect("a small number");
            rotate(&*store, "ep_1", signer(secret), Signers::OVERLAP).await
        })
        .await;
        let stored = load(store, "ep_1").await.expect("it is stored");
        assert_eq!(stored.state, EndpointState::Paused);
        let signers = load(store, "ep_1").await.expect("it is stored").signers;
        let tokens_now = tokens(&signers, at(0));
        for (secret, rotated) in (101..133).zip(&rotated) {
            let signs = tokens_now.contains(&tokens(&signer(secret).into(), at(0)));
            assert_eq!(signs, *rotated == Rotated::Rotated, "secret {secret}");
        }
        assert_eq!(
            rotated
                .iter()
                .filter(|rotated| **rotated == Rotated::Rotated)
                .count(),
            7
        );
    }

    /// W16: ids are compared byte for byte, with any content.
    pub async fn hostile_ids_are_kept_apart(store: &Arc<dyn EndpointStore>) {
        let longest = "~".repeat(256);
        let ids = [
            "e",
            "E",
            "%",
            "_",
            "'",
            "\"",
            "\\",
            "/",
            "..",
            "';--",
            "null",
            "0",
            "00",
            longest.as_str(),
        ];
        for expected in [Inserted::Inserted, Inserted::AlreadyExists] {
            for id in ids {
                assert_eq!(insert(store, endpoint(id)).await, expected, "{id:.20?}");
            }
        }
        let mut sorted = ids.map(str::to_owned);
        sorted.sort();
        assert_eq!(subscribers(store, "charge").await, sorted);
    }
}

pub use cases::*;
