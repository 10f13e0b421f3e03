//! Cases of the desk's database.

use std::collections::BTreeSet;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use futures_util::future::join_all;
use http::Response;
use http_conventions::idempotency::{
    AfterCrash, Claim, ClaimOutcome, Fence, Fingerprint, HeldKey, RecordKey, Settlement,
};
use serde_json::{Value, json};
use service::desk::{ChargeFilter, DeskError, Order, Placed, User, Window};
use service::domain::{Charge, ChargeStatus, NewCharge, NewCustomer, NewRefund, RefundStatus};
use webhook_core::address::AddressPolicy;
use webhook_core::ports::OsEntropy;
use webhook_core::secret::SigningSecret;
use webhook_core::sender::{Endpoint, EndpointId, Inserted, Owner, Rotated, Rotation};
use webhook_core::signature::{Signer, Signers};

use super::Fixture;

const RACERS: usize = 32;
const LEASE: Duration = Duration::from_secs(60);

fn start() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000)
}

fn charge(amount: u32, customer: Option<&str>) -> NewCharge {
    let body = json!({ "amount": amount, "currency": "eur", "customer": customer });
    serde_json::from_value(body).unwrap()
}

fn described(charge: &Charge, description: &str) -> NewCharge {
    let body = json!({
        "amount": charge.amount.units(), "currency": "eur", "description": description,
    });
    serde_json::from_value(body).unwrap()
}

fn customer(name: &str) -> NewCustomer {
    serde_json::from_value(json!({ "name": name })).unwrap()
}

fn refund(amount: Option<u32>) -> NewRefund {
    serde_json::from_value(json!({ "amount": amount.map_or(Value::Null, Value::from) })).unwrap()
}

fn window(from: Option<i64>, order: Order, limit: usize) -> Window {
    Window { from, order, limit }
}

fn all() -> Window {
    window(None, Order::NewestFirst, 100)
}

fn amounts(charges: &[Placed<Charge>]) -> Vec<u32> {
    charges.iter().map(|placed| placed.row.amount.units()).collect()
}

impl Fixture {
    /// Claims the key for a request; a later claim takes the key over.
    async fn claim(&self, holder: u8) -> Settlement {
        let now = start() + LEASE * u32::from(holder);
        let claim = Claim::new(
            RecordKey::from_bytes([1; 32]),
            Fingerprint::from_bytes([2; 32]),
            Fence::from_bytes([holder; 16]),
            now + LEASE,
            now + LEASE * 60,
        )
        .with_after_crash(AfterCrash::RunAgain);
        assert_eq!(self.keys.claim(&claim, now).await.unwrap(), ClaimOutcome::Claimed);
        let response = Response::builder().status(201).body(Bytes::from_static(b"made"));
        HeldKey::new(&claim, 1024).settlement(&response.unwrap())
    }

    /// Returns `true` if the response of the key is stored.
    async fn is_completed(&self) -> bool {
        let now = start() + LEASE;
        let claim = Claim::new(
            RecordKey::from_bytes([1; 32]),
            Fingerprint::from_bytes([2; 32]),
            Fence::from_bytes([99; 16]),
            now + LEASE,
            now + LEASE * 60,
        );
        let outcome = self.keys.claim(&claim, now).await.unwrap();
        matches!(outcome, ClaimOutcome::Settled(_))
    }

    async fn charges(&self) -> Vec<Placed<Charge>> {
        self.desk.charges(ChargeFilter::default(), all()).await.unwrap()
    }
}

/// X6: lists have the same order, cursors and filters on both databases.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn charges_are_listed_page_by_page() {
    for fixture in Fixture::on_each("charges_are_listed_page_by_page").await {
        let desk = &fixture.desk;
        let ada = desk.create_customer(customer("Ada")).await.unwrap();
        for amount in 1..=5 {
            let whose = (amount % 2 == 0).then(|| ada.id.as_str());
            desk.create_charge(charge(amount, whose)).await.unwrap();
        }
        let list = async |filter: &ChargeFilter, window| desk.charges(filter.clone(), window).await.unwrap();
        let any = ChargeFilter::default();
        let newest = list(&any, window(None, Order::NewestFirst, 2)).await;
        assert_eq!(amounts(&newest), [5, 4]);
        let last = newest.last().map(|placed| placed.position);
        assert_eq!(
            amounts(&list(&any, window(last, Order::NewestFirst, 9)).await),
            [3, 2, 1]
        );
        assert_eq!(
            amounts(&list(&any, window(last, Order::OldestFirst, 9)).await),
            [5]
        );
        assert_eq!(
            amounts(&list(&any, window(None, Order::OldestFirst, 2)).await),
            [1, 2]
        );
        let mut of_ada = ChargeFilter::default();
        of_ada.customer = Some(ada.id.clone());
        assert_eq!(amounts(&list(&of_ada, all()).await), [4, 2]);
        let two = list(&of_ada, all()).await.pop().unwrap().row;
        desk.request_refund(two.id.clone(), refund(None)).await.unwrap();
        assert_eq!(desk.book_refunds().await.unwrap(), 1);
        let mut refunded = of_ada;
        refunded.status = Some(ChargeStatus::Refunded);
        assert_eq!(amounts(&list(&refunded, all()).await), [2]);
        let read = desk.charge(two.id).await.unwrap();
        assert_eq!(
            (read.version, read.amount_refunded, read.created),
            (2, 2, two.created)
        );
        let customers = desk.customers(all()).await.unwrap();
        assert_eq!(customers.first().map(|placed| &placed.row), Some(&ada));
        assert_eq!(desk.customer(ada.id.clone()).await.unwrap(), ada);
    }
}

/// X6: a charge of a customer who does not exist is refused, and nothing is written.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn unknown_customer_is_refused() {
    for fixture in Fixture::on_each("unknown_customer_is_refused").await {
        let desk = &fixture.desk;
        let ada = desk.new_customer(customer("Ada")).unwrap();
        let refused = desk.create_charge(charge(5, Some(ada.id.as_str()))).await;
        assert!(matches!(refused, Err(DeskError::Faulty(_))), "{refused:?}");
        assert!(fixture.charges().await.is_empty());
        let missing = desk.customer(ada.id).await;
        assert!(matches!(missing, Err(DeskError::NotFound)), "{missing:?}");
    }
}

/// X6, H3: a charge is replaced only at the version that was read.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stale_version_is_not_replaced() {
    for fixture in Fixture::on_each("stale_version_is_not_replaced").await {
        let desk = &fixture.desk;
        let read = desk.create_charge(charge(500, None)).await.unwrap();
        let replaced = desk.replace_charge(read.clone(), described(&read, "first")).await;
        assert_eq!(replaced.unwrap().version, 2);
        let stale = desk
            .replace_charge(read.clone(), described(&read, "second"))
            .await;
        assert!(matches!(stale, Err(DeskError::Changed)), "{stale:?}");
        let stored = desk.charge(read.id).await.unwrap();
        assert_eq!(
            (stored.version, stored.description.as_deref()),
            (2, Some("first"))
        );
    }
}

/// X6: refunds are booked in order until the charge is refunded; a further one fails.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn refunds_are_booked_within_the_charge() {
    for fixture in Fixture::on_each("refunds_are_booked_within_the_charge").await {
        let desk = &fixture.desk;
        let made = desk.create_charge(charge(500, None)).await.unwrap();
        let unknown = desk.new_charge(charge(500, None)).unwrap().id;
        for missing in [
            desk.request_refund(unknown.clone(), refund(None)).await.err(),
            desk.refunds(unknown, all()).await.err(),
        ] {
            assert!(matches!(missing, Some(DeskError::NotFound)), "{missing:?}");
        }
        let mut asked = Vec::new();
        for amount in [200, 400, 300] {
            asked.push(
                desk.request_refund(made.id.clone(), refund(Some(amount)))
                    .await
                    .unwrap(),
            );
        }
        assert_eq!(desk.book_refunds().await.unwrap(), 3);
        assert_eq!(desk.book_refunds().await.unwrap(), 0);
        let mut statuses = Vec::new();
        for refund in asked {
            statuses.push(desk.refund(made.id.clone(), refund.id).await.unwrap().status);
        }
        let (booked, failed) = (RefundStatus::Succeeded, RefundStatus::Failed);
        assert_eq!(statuses, [booked, failed, booked]);
        let stored = desk.charge(made.id.clone()).await.unwrap();
        assert_eq!((stored.amount_refunded, stored.version), (500, 3));
        let more = desk.request_refund(made.id.clone(), refund(Some(1))).await;
        assert!(
            matches!(more, Err(DeskError::ExceedsCharge { left: 0 })),
            "{more:?}"
        );
        let first = desk
            .refunds(made.id, window(None, Order::OldestFirst, 1))
            .await
            .unwrap();
        assert_eq!(first.first().map(|placed| placed.row.amount.units()), Some(200));
    }
}

/// X6: concurrent requests and bookings never refund more than the charge, and book each refund
/// once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn parallel_bookings_book_each_refund_once() {
    for fixture in Fixture::on_each("parallel_bookings_book_each_refund_once").await {
        let desk = &fixture.desk;
        let made = desk.create_charge(charge(100, None)).await.unwrap();
        let other = desk.create_charge(charge(100, None)).await.unwrap();
        let requests = (0..RACERS).map(async |racer| {
            let charge = if racer % 2 == 0 { &made } else { &other };
            match desk.request_refund(charge.id.clone(), refund(Some(10))).await {
                // the bookings before it took the rest
                Err(DeskError::ExceedsCharge { left: 0 }) => (0, desk.book_refunds().await.unwrap()),
                accepted => (accepted.map(|_| 1).unwrap(), desk.book_refunds().await.unwrap()),
            }
        });
        let (mut accepted, mut booked) = (0, 0);
        for (one, count) in join_all(requests).await {
            accepted += one;
            booked += count;
        }
        assert_eq!(booked + desk.book_refunds().await.unwrap(), accepted);
        let mut refused = 0;
        for charge in [made, other] {
            let stored = desk.charge(charge.id.clone()).await.unwrap();
            assert_eq!((stored.amount_refunded, stored.version), (100, 11));
            let refunds = desk.refunds(charge.id, all()).await.unwrap();
            let count = |status| {
                let of_status = refunds.iter().filter(|placed| placed.row.status == status);
                of_status.count()
            };
            assert_eq!(count(RefundStatus::Succeeded), 10);
            refused += count(RefundStatus::Failed);
        }
        assert_eq!(refused + 20, accepted);
    }
}

/// X6, H23: a key is completed in the transaction of its rows; of concurrent requests with one
/// claim, one writes.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn key_is_completed_with_its_rows() {
    for fixture in Fixture::on_each("key_is_completed_with_its_rows").await {
        let (desk, key) = (&fixture.desk, fixture.claim(0).await);
        let racers = (0..RACERS).map(async |_| {
            let made = desk.new_charge(charge(500, None)).unwrap();
            desk.insert_charge(made, Some(key.clone())).await
        });
        let outcomes = join_all(racers).await;
        let written = outcomes.iter().filter(|outcome| matches!(outcome, Ok(Some(_))));
        assert_eq!(written.count(), 1);
        let refused = outcomes.iter().filter_map(|outcome| outcome.as_ref().err());
        assert!(
            refused
                .into_iter()
                .all(|error| matches!(error, DeskError::TakenOver(_)))
        );
        assert_eq!(fixture.charges().await.len(), 1);
        assert!(fixture.is_completed().await);
    }
}

/// X6, H23: a request whose key another request has taken over writes no row.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lost_key_writes_nothing() {
    for fixture in Fixture::on_each("lost_key_writes_nothing").await {
        let desk = &fixture.desk;
        let made = desk.create_charge(charge(500, None)).await.unwrap();
        let lost = Some(fixture.claim(0).await);
        let held = Some(fixture.claim(1).await);
        let other = desk.new_charge(charge(700, None)).unwrap();
        let back = desk.new_refund(made.id.clone(), refund(None)).await.unwrap();
        let ada = desk.new_customer(customer("Ada")).unwrap();
        for outcome in [
            desk.insert_charge(other, lost.clone()).await,
            desk.insert_refund(back.clone(), lost.clone()).await,
            desk.insert_customer(ada, lost).await,
        ] {
            assert!(matches!(outcome, Err(DeskError::TakenOver(_))), "{outcome:?}");
        }
        assert_eq!(amounts(&fixture.charges().await), [500]);
        assert!(desk.refunds(made.id.clone(), all()).await.unwrap().is_empty());
        assert!(desk.customers(all()).await.unwrap().is_empty());
        assert!(desk.insert_refund(back, held).await.unwrap().is_some());
        assert_eq!(desk.refunds(made.id, all()).await.unwrap().len(), 1);
    }
}

/// X6, H23: an endpoint is registered, and its secret rotated, with the key of the request.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn webhook_secrets_are_written_with_their_key() {
    for fixture in Fixture::on_each("webhook_secrets_are_written_with_their_key").await {
        let desk = &fixture.desk;
        let lost = Some(fixture.claim(0).await);
        let held = Some(fixture.claim(1).await);
        let url = "https://hooks.example.com/".parse().unwrap();
        let signer = || Signer::standard_webhooks(&SigningSecret::generate(&OsEntropy));
        let id = EndpointId::generate(&OsEntropy);
        let owner = Owner::Tenant("shop".parse().unwrap());
        let endpoint = Endpoint::register(id.clone(), owner, &url, signer(), &AddressPolicy::new()).unwrap();
        let rotation = || Rotation {
            next: signer(),
            now: start(),
            overlap: Signers::OVERLAP,
        };
        let refused = desk.register_endpoint(endpoint.clone(), lost).await;
        assert!(matches!(refused, Err(DeskError::TakenOver(_))), "{refused:?}");
        let (unknown, _) = desk.rotate_secret(id.clone(), rotation(), None).await.unwrap();
        assert_eq!(unknown, Rotated::Unknown);
        let (inserted, receipt) = desk.register_endpoint(endpoint, held.clone()).await.unwrap();
        assert_eq!((inserted, receipt.is_some()), (Inserted::Inserted, true));
        let refused = desk.rotate_secret(id.clone(), rotation(), held).await;
        assert!(matches!(refused, Err(DeskError::TakenOver(_))), "{refused:?}");
        let (rotated, receipt) = desk.rotate_secret(id, rotation(), None).await.unwrap();
        assert_eq!((rotated, receipt.is_some()), (Rotated::Rotated, false));
    }
}

/// X6, S3: of parallel password changes one succeeds, and only its password is right.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn password_is_verified_and_changed_once() {
    for fixture in Fixture::on_each("password_is_verified_and_changed_once").await {
        let desk = &fixture.desk;
        let user = || User::new("usr_ada", "ada@example.com", "Ada");
        let old = "an old password";
        assert!(desk.register_user(user(), old.parse().unwrap()).await.unwrap());
        // a second registration changes nothing
        let again = desk.register_user(user(), "another password".parse().unwrap());
        assert!(!again.await.unwrap());
        let sign_in = async |email: &str, password: &str| {
            let place = desk.hashing_place().unwrap();
            desk.authenticate(place, email, password.to_owned())
                .await
                .unwrap()
        };
        assert!(sign_in("bob@example.com", old).await.is_none());
        assert!(sign_in("ada@example.com", "another password").await.is_none());
        let known = sign_in("ada@example.com", old).await.unwrap();
        assert!(desk.is_current(&known).await.unwrap());
        let new = |index| format!("new password {index}");
        let changes = (0..4).map(async |index| {
            let password = new(index).parse().unwrap();
            desk.change_password(&known, password).await.unwrap()
        });
        let changed = join_all(changes).await;
        assert_eq!(changed.iter().filter(|done| **done).count(), 1, "{changed:?}");
        for (index, done) in changed.into_iter().enumerate() {
            assert_eq!(sign_in("ada@example.com", &new(index)).await.is_some(), done);
        }
        assert!(!desk.is_current(&known).await.unwrap());
        let found = desk.user_by_subject("usr_ada").await.unwrap().unwrap();
        assert_eq!(found.email, "ada@example.com");
    }
}

/// X6: concurrent creations get positions of their own, and all of them are listed.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn parallel_creations_are_all_listed() {
    for fixture in Fixture::on_each("parallel_creations_are_all_listed").await {
        let desk = &fixture.desk;
        let racers = (1..=RACERS).map(async |amount| {
            let amount = u32::try_from(amount).unwrap();
            desk.create_charge(charge(amount, None)).await.unwrap()
        });
        let made: BTreeSet<String> = join_all(racers)
            .await
            .into_iter()
            .map(|charge| charge.id.to_string())
            .collect();
        let listed = fixture.charges().await;
        let positions: BTreeSet<i64> = listed.iter().map(|placed| placed.position).collect();
        let ids: BTreeSet<String> = listed.iter().map(|placed| placed.row.id.to_string()).collect();
        assert_eq!((positions.len(), ids), (RACERS, made));
    }
}

/// X6: of concurrent replacements of one version, one is written.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_of_parallel_replacements_succeeds() {
    for fixture in Fixture::on_each("one_of_parallel_replacements_succeeds").await {
        let desk = &fixture.desk;
        let read = desk.create_charge(charge(500, None)).await.unwrap();
        let racers = (0..RACERS).map(async |racer| {
            let body = described(&read, &racer.to_string());
            desk.replace_charge(read.clone(), body).await
        });
        let outcomes = join_all(racers).await;
        let written: Vec<&Charge> = outcomes
            .iter()
            .filter_map(|outcome| outcome.as_ref().ok())
            .collect();
        let [written] = written.as_slice() else {
            panic!("{written:?}");
        };
        assert_eq!(desk.charge(read.id.clone()).await.unwrap(), **written);
    }
}

/// X6: processes that start together use one secret.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn parallel_starts_share_one_secret() {
    for fixture in Fixture::on_each("parallel_starts_share_one_secret").await {
        let desk = &fixture.desk;
        let starts = (0..RACERS).map(async |racer| {
            let fresh = vec![u8::try_from(racer).unwrap()];
            desk.host_secret("a-key", fresh).await.unwrap()
        });
        let secrets: BTreeSet<Vec<u8>> = join_all(starts).await.into_iter().collect();
        assert_eq!(secrets.len(), 1, "{secrets:?}");
    }
}

/// X6: of parallel claims one decides for all processes on the database.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn first_claim_of_a_database_decides() {
    for fixture in Fixture::on_each("first_claim_of_a_database_decides").await {
        let desk = &fixture.desk;
        assert_eq!(desk.has_demo().await.unwrap(), None);
        let claims = (0..RACERS).map(async |racer| desk.claim(racer % 2 == 0).await.unwrap());
        let owners: BTreeSet<bool> = join_all(claims).await.into_iter().collect();
        let [owner] = owners.into_iter().collect::<Vec<_>>()[..] else {
            panic!("the claims have several owners");
        };
        assert_eq!(desk.has_demo().await.unwrap(), Some(owner));
        assert_eq!(desk.claim(!owner).await.unwrap(), owner);
    }
}
