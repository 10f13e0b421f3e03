//! Replay of deliveries by filter.

use std::sync::Arc;

use host_store_sqlite::{Database, DatabaseError};
use service::app::App;
use service::stores::Stores;
use webhook_core::sender::{Disposition, FailureReason, LeaseRequest, Outbox, Settlement};

use super::{hidden, link, submit};
use crate::browser::{Browser, text, where_to};
use crate::desk::{ALL_SCOPES, bearer, call, charge, open_over};
use crate::postgres::Schema;

const PATH: &str = "/console/replays";

/// A service with two endpoints and two charges: of the four deliveries two are dead letters, one
/// failed for good, and one was acknowledged.
async fn failed_over(database: impl Outbox + Clone + Into<Stores>) -> (Arc<App>, Browser) {
    let app = open_over(database.clone()).await;
    let token = bearer(&app, ALL_SCOPES).await;
    for host in ["one", "two"] {
        let body = format!(r#"{{"url":"https://{host}.example.com/hook"}}"#);
        call(&app, &token, ("POST", "/v1/webhook-endpoints"), &[], &body).await;
    }
    for _ in 0..2 {
        charge(&app, &token, 4_900).await;
    }
    let request = LeaseRequest::new(std::time::SystemTime::now(), 4);
    let leased = database.lease(&request).await.unwrap().leased;
    assert_eq!(leased.len(), 4);
    let dispositions = [
        Disposition::Failed(FailureReason::AttemptsExhausted),
        Disposition::Failed(FailureReason::AttemptsExhausted),
        Disposition::Failed(FailureReason::EndpointGone),
        Disposition::Acked,
    ];
    let settled = leased
        .iter()
        .zip(dispositions)
        .map(|(leased, disposition)| Settlement {
            delivery: leased.delivery.id.clone(),
            fence: leased.delivery.fence,
            owner: leased.delivery.owner,
            disposition,
            spent: true,
            hold_endpoint_until: None,
            rate: None,
            attempt: None,
        });
    database.settle(settled.collect()).await.unwrap();
    let mut browser = Browser::new(&app);
    browser.sign_in().await;
    (app, browser)
}

/// The number of deliveries in a state, by the tab of the list.
async fn in_state(browser: &mut Browser, word: &str) -> String {
    let page = text(&browser.get("/console/deliveries").await);
    let count = page
        .split(&format!("{word} <span class=\"count\">"))
        .nth(1)
        .unwrap();
    count.split('<').next().unwrap().to_owned()
}

async fn replay_sends_what_a_dry_run_showed(database: impl Outbox + Clone + Into<Stores>) {
    let (_app, mut browser) = failed_over(database).await;
    let all = text(&browser.get("/console/replays?run=dry").await);
    assert!(all.contains("3 deliveries match. Nothing was sent."), "{all}");
    let page = text(&browser.get("/console/replays?run=dry&state=dead_letter").await);
    assert!(page.contains("Replay 2 deliveries"), "{page}");
    assert_eq!(page.matches("class=\"open\"").count(), 2, "{page}");
    assert_eq!(in_state(&mut browser, "Dead letter").await, "2");
    let before = hidden(&page, PATH, "before");
    let fields = [("state", "dead_letter"), ("before", before.as_str())];
    for _ in 0..2 {
        let sent = submit(&mut browser, &page, PATH, &fields).await;
        assert_eq!(where_to(&sent), "/console/deliveries?replayed=2");
    }
    assert_eq!(in_state(&mut browser, "Dead letter").await, "0");
    assert_eq!(in_state(&mut browser, "Waiting").await, "2");
    assert_eq!(in_state(&mut browser, "Failed for good").await, "1");
    let told = text(&browser.get("/console/deliveries?replayed=2").await);
    assert!(told.contains("2 deliveries are sent again"), "{told}");
}

/// X9: a replay by filter sends again, once, what its dry run showed.
#[tokio::test]
async fn replay_by_filter_follows_its_dry_run() {
    let database = Database::open_in_memory().unwrap();
    replay_sends_what_a_dry_run_showed(database).await;
}

/// X6, X9: as above, on PostgreSQL.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn replay_by_filter_follows_its_dry_run_on_postgres() {
    let Some(schema) = Schema::fresh("replay_by_filter_follows_its_dry_run_on_postgres") else {
        return;
    };
    let database = host_store_postgres::Database::connect(&schema.url()).await;
    replay_sends_what_a_dry_run_showed(database.unwrap()).await;
}

/// X9: endpoint and time narrow a replay; a later event is not part of a confirmed one.
#[tokio::test]
async fn replay_is_narrowed_by_endpoint_and_time() {
    let database = Database::open_in_memory().unwrap();
    let (_app, mut browser) = failed_over(database).await;
    let page = text(&browser.get(PATH).await);
    assert!(!page.contains("deliveries match"), "{page}");
    let mut of_endpoints = 0;
    for option in page.split("<option value=\"ep_").skip(1) {
        let id = option.split('"').next().unwrap();
        let page = text(&browser.get(&format!("{PATH}?run=dry&endpoint=ep_{id}")).await);
        of_endpoints += page.matches("class=\"open\"").count();
        assert!(page.contains(&format!("value=\"ep_{id}\" selected")), "{page}");
    }
    assert_eq!(of_endpoints, 3);
    for (period, count) in [
        ("from=2020-01-01T00:00", "3 deliveries match"),
        ("before=2020-01-01T00:00", "0 deliveries match"),
        ("from=2190-01-01T00:00:00", "0 deliveries match"),
    ] {
        let page = text(&browser.get(&format!("{PATH}?run=dry&{period}")).await);
        assert!(page.contains(count), "{period}: {page}");
    }
    let page = text(&browser.get(&format!("{PATH}?run=dry")).await);
    let fields = [("before", "2020-01-01T00:00")];
    let none = submit(&mut browser, &page, PATH, &fields).await;
    assert_eq!(where_to(&none), "/console/deliveries?replayed=0");
}

/// X9: a wrong field sends nothing and is marked, also in a forged confirmation.
#[tokio::test]
async fn wrong_filter_of_a_replay_is_refused() {
    let database = Database::open_in_memory().unwrap();
    let (app, mut browser) = failed_over(database).await;
    for (query, mark) in [
        ("state=acked", "in this state cannot be replayed"),
        ("from=yesterday", "id=\"r-from-error\""),
        ("before=2026-02-30T00:00", "id=\"r-before-error\""),
        ("endpoint=%20", "No endpoint has this id"),
    ] {
        let page = text(&browser.get(&format!("{PATH}?run=dry&{query}")).await);
        assert!(
            page.contains(mark) && !page.contains("deliveries match"),
            "{query}: {page}"
        );
    }
    for fields in [[("state", "acked")], [("from", "yesterday")], [("endpoint", " ")]] {
        let page = text(&browser.get("/console/replays?run=dry").await);
        let refused = submit(&mut browser, &page, PATH, &fields).await;
        assert_eq!(refused.status(), 422);
        assert!(text(&refused).contains("Nothing was sent"), "{refused:?}");
    }
    let page = text(&browser.get("/console/replays?run=dry").await);
    let mut stranger = Browser::new(&app);
    let unknown = submit(&mut stranger, &page, PATH, &[]).await;
    assert!(where_to(&unknown).starts_with("/login"), "{unknown:?}");
    browser.token = "forged".to_owned();
    assert_eq!(submit(&mut browser, &page, PATH, &[]).await.status(), 403);
    assert_eq!(in_state(&mut browser, "Dead letter").await, "2");
}

/// Copies one dead letter to this number of further events.
async fn copy_dead_letter(database: &Database, copies: u32) {
    let copied = database.write(move |transaction| -> Result<(), DatabaseError> {
        transaction.execute_batch(&format!(
            "CREATE TEMP TABLE one AS SELECT * FROM webhook_delivery WHERE state = 'dead_letter' LIMIT 1;
             CREATE TEMP TABLE number AS WITH RECURSIVE number(n) AS
                 (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < {copies}) SELECT n FROM number;
             INSERT INTO webhook_event SELECT 'evt_' || n, event_type, audience, created_at, body, trace
                 FROM number, webhook_event WHERE id = (SELECT event FROM one);
             INSERT INTO webhook_delivery SELECT 'evt_' || n, endpoint, state, due_at, attempts, fence,
                 owner, started_at, reason, crashes FROM number, one;",
        ))?;
        Ok(())
    });
    copied.await.unwrap();
}

/// X9: the next replay has the endpoint, state and period of the one before, and begins behind its
/// last delivery: those that have failed again meanwhile do not hide the others.
#[tokio::test]
async fn next_replay_continues_the_choice() {
    let database = Database::open_in_memory().unwrap();
    let (_app, mut browser) = failed_over(database.clone()).await;
    copy_dead_letter(&database, 10_005).await;
    let page = text(&browser.get(PATH).await);
    let mut chosen = None;
    for option in page.split("<option value=\"ep_").skip(1) {
        let endpoint = format!("ep_{}", option.split('"').next().unwrap());
        let path = format!("{PATH}?run=dry&state=dead_letter&endpoint={endpoint}");
        let page = text(&browser.get(&path).await);
        if page.contains("More than 10000 deliveries match") {
            chosen = Some((endpoint, page));
        }
    }
    let (endpoint, page) = chosen.unwrap();
    let before = hidden(&page, PATH, "before");
    let fields = [
        ("endpoint", endpoint.as_str()),
        ("state", "dead_letter"),
        ("before", before.as_str()),
    ];
    let sent = submit(&mut browser, &page, PATH, &fields).await;
    let again = "UPDATE webhook_delivery SET state = 'dead_letter', reason = 'attempts_exhausted'
        WHERE state = 'ready'";
    let failed =
        database.write(|transaction| -> Result<usize, DatabaseError> { Ok(transaction.execute(again, [])?) });
    assert_eq!(failed.await.unwrap(), 10_000);
    let told = text(&browser.get(where_to(&sent)).await);
    assert!(told.contains("10000 deliveries are sent again"), "{told}");
    let path = link(&told, ">replay the next ones");
    let next = text(&browser.get(&path).await);
    assert!(next.contains(&format!("value=\"{endpoint}\" selected")), "{next}");
    assert!(next.contains("value=\"dead_letter\" selected"), "{next}");
    assert_eq!(hidden(&next, PATH, "before"), before);
    let count = next
        .split(" deliveries match")
        .next()
        .unwrap()
        .rsplit('>')
        .next()
        .unwrap();
    let count: u32 = count.trim().parse().unwrap();
    assert!((6..=7).contains(&count), "{count}");
    let after = hidden(&next, PATH, "after");
    let fields = [&fields[..], &[("after", after.as_str())]].concat();
    let sent = submit(&mut browser, &next, PATH, &fields).await;
    assert_eq!(where_to(&sent), format!("/console/deliveries?replayed={count}"));
    // without the place the choice begins anew
    let page = text(&browser.get(&format!("{PATH}?run=dry&state=dead_letter")).await);
    assert!(page.contains("10000 deliveries match"), "{page}");
    for forged in [
        "next_after=x&next_endpoint=ep_1",
        "next_after=evt_1.ep_1&next_from=%22%3E",
        "next_state=acked",
    ] {
        let page = text(
            &browser
                .get(&format!("/console/deliveries?replayed=1&{forged}"))
                .await,
        );
        assert!(!page.contains("replay the next ones"), "{forged}: {page}");
    }
}

/// X9: one replay sends at most 10,000 deliveries and reports that others match; the next one sends
/// those.
#[tokio::test]
async fn replay_is_bounded() {
    let database = Database::open_in_memory().unwrap();
    let (_app, mut browser) = failed_over(database.clone()).await;
    copy_dead_letter(&database, 9_998).await;
    let page = text(&browser.get("/console/replays?run=dry").await);
    assert!(page.contains("More than 10000 deliveries match"), "{page}");
    assert!(
        page.contains("Too many for one replay") && page.contains("Replay 10000 deliveries"),
        "{page}"
    );
    assert_eq!(page.matches("class=\"open\"").count(), 10);
    let dead = text(&browser.get("/console/replays?run=dry&state=dead_letter").await);
    assert!(
        dead.contains("10000 deliveries match") && !dead.contains("Too many"),
        "{dead}"
    );
    let before = hidden(&page, PATH, "before");
    let blind = submit(&mut browser, &dead, PATH, &[("state", "dead_letter")]).await;
    assert_eq!(blind.status(), 422, "a choice that no page has counted");
    let sent = submit(&mut browser, &page, PATH, &[("before", &before)]).await;
    assert!(
        where_to(&sent).starts_with("/console/deliveries?replayed=10000&next_"),
        "{sent:?}"
    );
    let told = text(&browser.get(where_to(&sent)).await);
    assert!(
        told.contains("10000 deliveries are sent again") && told.contains("replay the next ones"),
        "{told}"
    );
    let rest = text(&browser.get("/console/replays?run=dry").await);
    assert!(rest.contains("1 delivery matches"), "{rest}");
    let sent = submit(&mut browser, &rest, PATH, &[("before", &before)]).await;
    assert_eq!(where_to(&sent), "/console/deliveries?replayed=1");
}
