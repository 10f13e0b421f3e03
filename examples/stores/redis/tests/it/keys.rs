//! Keys on the server, and their expiry.

use std::time::{Duration, SystemTime};

use futures_util::future::join_all;
use webhook_core::receiver::{Claim, Dedupe, Finish, Inbox};

use crate::server::{Prefix, prefix};
use crate::support::{LEASE, START, incoming};

/// W7: a finished event leaves only its claim, which expires on the server some time after its end.
#[tokio::test]
async fn an_empty_queue_holds_only_claims_that_pass() {
    let prefix = prefix!();
    let database = prefix.database().await;
    let memory = Duration::from_secs(3_600);
    for number in 0..3 {
        database
            .claim_and_enqueue(incoming(number, START + memory), START)
            .await
            .unwrap();
    }
    database.take(1, START, LEASE).await.unwrap();
    for job in database.take(3, START + LEASE, LEASE).await.unwrap() {
        assert_eq!(database.finish(&job.ticket).await.unwrap(), Finish::Done);
    }
    let mut keys = prefix.keys();
    keys.sort();
    assert_eq!(
        keys,
        [
            "arrivals",
            "claim:4:peer:evt_0",
            "claim:4:peer:evt_1",
            "claim:4:peer:evt_2",
            "last-lease"
        ]
    );
    let left: u64 = prefix.raw("PTTL", "claim:4:peer:evt_0", &[]);
    let left = Duration::from_millis(left);
    assert!(left > memory && left < memory * 2, "{left:?}");
}

/// X5: two prefixes on one server are two stores.
#[tokio::test]
async fn prefixes_share_nothing() {
    let databases = [prefix!().database().await, prefix!().database().await];
    for database in &databases {
        let claim = database
            .claim_and_enqueue(incoming(1, START + LEASE), START)
            .await
            .unwrap();
        assert_eq!(claim, Claim::Enqueued);
    }
    for database in &databases {
        assert_eq!(database.take(10, START, LEASE).await.unwrap().len(), 1);
    }
}

/// X5: two processes with one prefix behave as one.
#[tokio::test]
async fn two_processes_claim_as_one() {
    let prefix = prefix!();
    let processes = [prefix.database().await, prefix.database().await];
    let claims = (0..64).map(|n| processes[n % 2].claim_and_enqueue(incoming(n / 8, START + LEASE), START));
    let claims = join_all(claims).await;
    let enqueued = claims
        .iter()
        .filter(|claim| matches!(claim, Ok(Claim::Enqueued)))
        .count();
    let duplicate = claims
        .iter()
        .filter(|claim| matches!(claim, Ok(Claim::Duplicate)))
        .count();
    assert_eq!((enqueued, duplicate), (8, 56));
}

/// W7: a claim ends at its nanosecond, despite the precision of a script's numbers.
#[tokio::test]
async fn a_claim_ends_at_its_nanosecond() {
    let database = prefix!().database().await;
    let now = SystemTime::UNIX_EPOCH + Duration::new(1_700_000_000, 123_456_789);
    let (tick, end) = (Duration::from_nanos(1), now + LEASE);
    let mut claims = Vec::new();
    for at in [now, end - tick, end] {
        claims.push(database.claim_and_enqueue(incoming(1, end), at).await.unwrap());
    }
    assert_eq!(claims, [Claim::Enqueued, Claim::Duplicate, Claim::Enqueued]);

    assert_eq!(database.take(2, now, LEASE).await.unwrap().len(), 2);
    assert_eq!(database.take(2, end - tick, LEASE).await.unwrap().len(), 0);
    assert_eq!(database.take(2, end, LEASE).await.unwrap().len(), 2);
}

#[tokio::test]
async fn a_server_that_forgot_the_scripts_is_given_them_again() {
    let prefix = prefix!();
    let database = prefix.database().await;
    database
        .claim_and_enqueue(incoming(1, START + LEASE), START)
        .await
        .unwrap();
    Prefix::command(&["SCRIPT", "FLUSH"]);
    let claim = database
        .claim_and_enqueue(incoming(1, START + LEASE), START)
        .await
        .unwrap();
    assert_eq!(claim, Claim::Duplicate);
}
