//! Figures of the console.

use std::time::{Duration, SystemTime};

use bytes::Bytes;
use oauth_core::pkce::CodeChallenge;
use oauth_core::secret::TokenHash;
use oauth_core::store::{
    AccessTokenRecord, AuthorizationCodeRecord, CodeRedemption, FamilyId, Grant, Insertion, RedeemOutcome,
    RefreshTokenRecord, RevocationReason, RevokeOutcome, RotateOutcome, Rotation, TokenFamily,
};
use oauth_core::vocabulary::AccessTokenTerms;
use serde_json::json;
use service::desk::{Desk, HourOfAttempts, Order, RefundFilter, Window};
use service::domain::{Charge, NewRefund, RefundStatus};
use webhook_core::address::AddressPolicy;
use webhook_core::ports::{OsEntropy, TransportErrorKind};
use webhook_core::secret::SigningSecret;
use webhook_core::sender::{
    Attempt, AttemptResult, Disposition, Endpoint, EndpointId, FailureReason, LeaseRequest, Leased, Owner,
    Settlement,
};
use webhook_core::signature::Signer;

use super::Fixture;

const HOUR: Duration = Duration::from_secs(3_600);

fn start() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000)
}

async fn charge(desk: &Desk, amount: u32, currency: &str) -> Charge {
    let body = serde_json::from_value(json!({ "amount": amount, "currency": currency }));
    desk.create_charge(body.unwrap()).await.unwrap()
}

async fn register_endpoint(desk: &Desk) {
    let url = "https://hooks.example.com/".parse().unwrap();
    let signer = Signer::standard_webhooks(&SigningSecret::generate(&OsEntropy));
    let (id, owner) = (
        EndpointId::generate(&OsEntropy),
        Owner::Tenant("shop".parse().unwrap()),
    );
    let endpoint = Endpoint::register(id, owner, &url, signer, &AddressPolicy::new()).unwrap();
    desk.register_endpoint(endpoint, None).await.unwrap();
}

/// X6, X9: charges are counted by hour, currency and status.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn charges_are_counted_by_hour_and_status() {
    for fixture in Fixture::on_each("charges_are_counted_by_hour_and_status").await {
        let desk = &fixture.desk;
        assert!(
            desk.charges_by_hour(SystemTime::UNIX_EPOCH)
                .await
                .unwrap()
                .is_empty()
        );
        let first = charge(desk, 100, "eur").await;
        charge(desk, 300, "usd").await;
        let last = charge(desk, 250, "eur").await;
        desk.request_refund(first.id.clone(), NewRefund::default())
            .await
            .unwrap();
        assert_eq!(desk.book_refunds().await.unwrap(), 1);
        let hours = desk.charges_by_hour(first.created - 2 * HOUR).await.unwrap();
        let seen: Vec<_> = hours
            .iter()
            .map(|hour| (hour.hour, hour.currency.as_str(), hour.count, hour.sum))
            .collect();
        assert_eq!(seen, [(2, "eur", 2, 350), (2, "usd", 1, 300)]);
        let later = desk.charges_by_hour(last.created + HOUR).await.unwrap();
        assert!(later.is_empty(), "{later:?}");
        let mut statuses = desk.charges_by_status().await.unwrap();
        statuses.sort();
        let refunded = desk.charge(first.id).await.unwrap().status().as_str();
        let mut expected = [(refunded.to_owned(), 1), (last.status().as_str().to_owned(), 2)];
        expected.sort();
        assert_eq!(statuses, expected);
    }
}

/// X6, X9: the refunds of all charges are listed by status, charge and id, newest first.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn refunds_of_all_charges_are_listed() {
    for fixture in Fixture::on_each("refunds_of_all_charges_are_listed").await {
        let desk = &fixture.desk;
        let (euros, dollars) = (charge(desk, 100, "eur").await, charge(desk, 300, "usd").await);
        let booked = desk
            .request_refund(euros.id.clone(), NewRefund::default())
            .await
            .unwrap();
        desk.book_refunds().await.unwrap();
        let queued = desk
            .request_refund(dollars.id.clone(), NewRefund::default())
            .await
            .unwrap();
        let listed = async |filter, window| {
            let found = desk.all_refunds(filter, window).await.unwrap();
            found
                .into_iter()
                .map(|placed| {
                    (
                        placed.row.refund.id,
                        placed.row.currency.as_str().to_owned(),
                        placed.position,
                    )
                })
                .collect::<Vec<_>>()
        };
        let all = listed(RefundFilter::default(), window(None)).await;
        let [(first, usd, newest), (last, eur, _)] = all.as_slice() else {
            panic!("{all:?}");
        };
        assert_eq!((first, last), (&queued.id, &booked.id));
        assert_eq!((usd.as_str(), eur.as_str()), ("usd", "eur"));
        let rest = listed(RefundFilter::default(), window(Some(*newest))).await;
        assert_eq!(rest, all[1..]);
        let only = |filter: RefundFilter| listed(filter, window(None));
        let by_status = RefundFilter {
            status: Some(RefundStatus::Pending),
            ..RefundFilter::default()
        };
        assert_eq!(only(by_status).await, all[..1]);
        let by_charge = RefundFilter {
            charge: Some(euros.id),
            ..RefundFilter::default()
        };
        assert_eq!(only(by_charge).await, all[1..]);
        let by_id = RefundFilter {
            id: Some(queued.id),
            ..RefundFilter::default()
        };
        assert_eq!(only(by_id).await, all[..1]);
        let mut counts = desk.refunds_by_status().await.unwrap();
        counts.sort();
        assert_eq!(counts, [("pending".to_owned(), 1), ("succeeded".to_owned(), 1)]);
    }
}

fn window(from: Option<i64>) -> Window {
    Window {
        from,
        order: Order::NewestFirst,
        limit: 10,
    }
}

/// X6, X9: the events of a charge are found, and no others.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn events_of_a_charge_are_found() {
    for fixture in Fixture::on_each("events_of_a_charge_are_found").await {
        let desk = &fixture.desk;
        register_endpoint(desk).await;
        let (made, other) = (charge(desk, 100, "eur").await, charge(desk, 200, "eur").await);
        desk.request_refund(made.id.clone(), NewRefund::default())
            .await
            .unwrap();
        desk.book_refunds().await.unwrap();
        let events = desk.events_of(made.id.clone(), made.created).await.unwrap();
        let mut types: Vec<&str> = events.iter().map(|event| event.event_type.as_str()).collect();
        types.sort_unstable();
        assert_eq!(types, ["charge.created", "charge.refunded"]);
        for event in events {
            let body = String::from_utf8(event.body.clone()).unwrap();
            assert!(body.contains(made.id.as_str()), "{body}");
            assert_eq!(desk.event(event.id.clone()).await.unwrap(), Some(event));
        }
        let of_other = desk.events_of(other.id, other.created).await.unwrap();
        assert_eq!(of_other.len(), 1, "{of_other:?}");
        let later = desk.events_of(made.id, made.created + HOUR).await.unwrap();
        assert!(later.is_empty(), "{later:?}");
        assert_eq!(desk.event("evt_unknown".to_owned()).await.unwrap(), None);
    }
}

/// X6, X9: deliveries are counted by state, also once they have ended.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn deliveries_are_counted_by_state() {
    for fixture in Fixture::on_each("deliveries_are_counted_by_state").await {
        let desk = &fixture.desk;
        assert_eq!(desk.oldest_unfinished().await.unwrap(), None);
        register_endpoint(desk).await;
        let oldest = charge(desk, 100, "eur").await;
        for _ in 0..3 {
            charge(desk, 100, "eur").await;
        }
        let count = |state: &str, number| (state.to_owned(), number);
        assert_eq!(desk.deliveries_by_state().await.unwrap(), [count("ready", 4)]);
        assert_eq!(desk.failed_deliveries().await.unwrap(), 0);
        let accepted = desk.oldest_unfinished().await.unwrap();
        assert_eq!(accepted, Some(oldest.created));
        let now = oldest.created + HOUR;
        let request = LeaseRequest {
            per_endpoint: 4,
            ..LeaseRequest::new(now, 4)
        };
        let leased = fixture.outbox.lease(&request).await.unwrap().leased;
        let dispositions = [
            Disposition::Acked,
            Disposition::Failed(FailureReason::AttemptsExhausted),
            Disposition::Failed(FailureReason::EndpointGone),
            Disposition::Acked,
        ];
        let settlements = leased
            .iter()
            .zip(dispositions)
            .map(|(leased, disposition)| settlement(leased, disposition, None));
        fixture.outbox.settle(settlements.collect()).await.unwrap();
        let mut counts = desk.deliveries_by_state().await.unwrap();
        counts.sort();
        let ended = [
            count("acked", 2),
            count("dead_letter", 1),
            count("permanent_failure", 1),
        ];
        assert_eq!(counts, ended);
        assert_eq!(desk.failed_deliveries().await.unwrap(), 2);
        assert_eq!(desk.oldest_unfinished().await.unwrap(), None);
    }
}

/// X6, X9: the attempts of an endpoint are counted by hour and result, and those of others are not.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn attempts_of_an_endpoint_are_counted_by_hour() {
    for fixture in Fixture::on_each("attempts_of_an_endpoint_are_counted_by_hour").await {
        let desk = &fixture.desk;
        register_endpoint(desk).await;
        register_endpoint(desk).await;
        for _ in 0..2 {
            charge(desk, 100, "eur").await;
        }
        let now = SystemTime::now();
        let leased = fixture
            .outbox
            .lease(&LeaseRequest::new(now, 4))
            .await
            .unwrap()
            .leased;
        let endpoint = leased.first().unwrap().delivery.id.endpoint.clone();
        let (of_endpoint, of_other): (Vec<_>, Vec<_>) = leased
            .into_iter()
            .partition(|leased| leased.delivery.id.endpoint == endpoint);
        let status = |status: u16| AttemptResult::Answered {
            status: status.try_into().unwrap(),
            body: Bytes::new(),
        };
        let silent = AttemptResult::Failed {
            kind: TransportErrorKind::Connect,
            message: String::new(),
        };
        let results = [(0, status(204)), (2, status(503)), (2, silent), (2, status(200))];
        let settled = of_endpoint
            .iter()
            .chain(&of_other)
            .zip(results)
            .map(|(leased, (hour, result))| {
                let attempt = Attempt {
                    delivery: leased.delivery.id.clone(),
                    fence: leased.delivery.fence,
                    started_at: start() + HOUR * hour,
                    duration: Duration::from_millis(7),
                    result,
                };
                settlement(leased, Disposition::Acked, Some(attempt))
            });
        fixture.outbox.settle(settled.collect()).await.unwrap();
        let counted = async |endpoint: &EndpointId, from| {
            let hours = desk.attempts_by_hour(endpoint.clone(), from).await.unwrap();
            let of = |hour: HourOfAttempts| (hour.hour, hour.acknowledged, hour.failed);
            hours.into_iter().map(of).collect::<Vec<_>>()
        };
        assert_eq!(counted(&endpoint, start()).await, [(0, 1, 0), (2, 0, 1)]);
        assert_eq!(counted(&endpoint, start() + HOUR).await, [(1, 0, 1)]);
        let other = &of_other.first().unwrap().delivery.id.endpoint;
        assert_eq!(counted(other, start()).await, [(2, 1, 1)]);
        assert!(counted(other, start() + HOUR * 3).await.is_empty());
    }
}

fn settlement(leased: &Leased, disposition: Disposition, attempt: Option<Attempt>) -> Settlement {
    Settlement {
        delivery: leased.delivery.id.clone(),
        fence: leased.delivery.fence,
        owner: leased.delivery.owner,
        disposition,
        spent: true,
        hold_endpoint_until: None,
        rate: None,
        attempt,
    }
}

fn hash(label: &str) -> TokenHash {
    TokenHash::new(label)
}

fn family_id(number: u8) -> FamilyId {
    FamilyId::from_bytes([number; 16])
}

fn grant(subject: &str) -> Grant {
    Grant {
        client_id: "an-app".parse().unwrap(),
        subject: subject.parse().unwrap(),
        scopes: "openid".parse().unwrap(),
        audience: vec!["https://api.example".parse().unwrap()],
        auth_time: start(),
        session: None,
        nonce: None,
        email: None,
        name: None,
        claims: oauth_core::vocabulary::Claims::new(),
    }
}

fn refresh(family: u8, generation: u32) -> RefreshTokenRecord {
    RefreshTokenRecord {
        hash: hash(&format!("refresh {family} {generation}")),
        family: family_id(family),
        generation,
        issued_at: start(),
        expires_at: start() + 24 * HOUR,
        rotated: None,
    }
}

fn access(subject: &str, family: u8, generation: u32) -> AccessTokenRecord {
    let grant = grant(subject);
    let terms = AccessTokenTerms {
        client_id: grant.client_id,
        subject: grant.subject,
        scopes: grant.scopes,
        audience: grant.audience,
        confirmation: None,
        issued_at: start(),
        expires_at: start() + HOUR,
    };
    let label = format!("access {family} {generation}");
    AccessTokenRecord::new(hash(&label), label, Some(family_id(family)), terms)
}

impl Fixture {
    /// Begins a family by a code.
    async fn redeem(&self, subject: &str, number: u8) {
        let created_at = start() + Duration::from_secs(u64::from(number));
        let code = AuthorizationCodeRecord {
            hash: hash(&format!("code {number}")),
            redirect_uri: "https://app.example/callback".parse().unwrap(),
            code_challenge: CodeChallenge::from_bytes([number; 32]),
            dpop_jkt: None,
            grant: grant(subject),
            issued_at: start(),
            expires_at: start() + HOUR,
            retain_until: start() + 48 * HOUR,
            redeemed: None,
        };
        assert_eq!(self.tokens.insert_code(code).await.unwrap(), Insertion::Inserted);
        let redemption = CodeRedemption {
            code: hash(&format!("code {number}")),
            family: TokenFamily {
                id: family_id(number),
                grant: grant(subject),
                confirmation: None,
                created_at,
                expires_at: created_at + 24 * HOUR,
                retain_until: created_at + 48 * HOUR,
                revoked: None,
            },
            access: access(subject, number, 0),
            refresh: Some(refresh(number, 0)),
        };
        let redeemed = self.tokens.redeem_code(redemption, start()).await.unwrap();
        assert_eq!(redeemed, RedeemOutcome::Redeemed);
    }
}

/// X6, X9: a user's token families are listed with their rotations and revocations.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn token_families_of_a_user_are_listed() {
    for fixture in Fixture::on_each("token_families_of_a_user_are_listed").await {
        for (subject, number) in [("usr_ada", 1), ("usr_bob", 2), ("usr_ada", 3)] {
            fixture.redeem(subject, number).await;
        }
        for generation in 1..=2 {
            let rotation = Rotation {
                presented: refresh(3, generation - 1).hash,
                successor: refresh(3, generation),
                access: access("usr_ada", 3, generation),
                salt: None,
            };
            let rotated = fixture.tokens.rotate(rotation, start()).await.unwrap();
            assert_eq!(rotated, RotateOutcome::Rotated);
        }
        let revoked = fixture
            .tokens
            .revoke_family(&family_id(1), RevocationReason::Requested, start())
            .await;
        assert_eq!(revoked.unwrap(), RevokeOutcome::Revoked);
        let families = fixture.desk.families_of("usr_ada".to_owned()).await.unwrap();
        let seen: Vec<_> = families
            .iter()
            .map(|seen| {
                let tokens = seen.tokens.iter();
                let tokens: Vec<_> = tokens.map(|token| (token.generation, token.is_rotated)).collect();
                let revoked = seen.family.revoked.map(|revoked| revoked.reason);
                (seen.family.id, revoked, tokens)
            })
            .collect();
        let newest = (family_id(3), None, vec![(0, true), (1, true), (2, false)]);
        let oldest = (family_id(1), Some(RevocationReason::Requested), vec![(0, false)]);
        assert_eq!(seen, [newest, oldest]);
        let unknown = fixture.desk.families_of("usr_eve".to_owned()).await.unwrap();
        assert!(unknown.is_empty(), "{unknown:?}");
    }
}
