//! Idempotency keys and rate limits on the server: expiry and unreadable values.

use std::time::{Duration, SystemTime};

use http_conventions::idempotency::{
    Claim, ClaimOutcome, Fence, Fingerprint, IdempotencyStore, RecordKey, RequestOutcome, Settled,
};
use http_conventions::{
    limits::{Policy, Quota, RateLimitStore},
    ports::StoreErrorKind,
};

use crate::server::{Prefix, prefix};
use crate::support::{LEASE, START};

const KEY: RecordKey = RecordKey::from_bytes([0xAB; 32]);
const DAY: Duration = Duration::from_secs(86_400);

fn claim() -> Claim {
    let (request, fence) = (Fingerprint::from_bytes([1; 32]), Fence::from_bytes([2; 16]));
    Claim::new(KEY, request, fence, START + LEASE, START + LEASE + DAY)
}

fn left(prefix: &Prefix, key: &str) -> Duration {
    Duration::from_millis(prefix.raw("PTTL", key, &[]))
}

/// H6: a record expires on the server some minutes after its end, also after the end has moved.
#[tokio::test]
async fn a_record_stays_as_long_as_it_lives() {
    let prefix = prefix!();
    let database = prefix.database().await;
    assert_eq!(
        database.claim(&claim(), START).await.unwrap(),
        ClaimOutcome::Claimed
    );
    let [record] = <[String; 1]>::try_from(prefix.keys()).unwrap();
    assert_eq!(record, format!("idempotency:{}", "ab".repeat(32)));
    let (fewest, most) = (Duration::from_secs(240), Duration::from_secs(301));
    let rest = left(&prefix, &record);
    assert!(
        rest > DAY + LEASE + fewest && rest < DAY + LEASE + most,
        "{rest:?}"
    );

    // after 10.5 seconds the response is stored, for two days from then
    let end = START + Duration::from_millis(10_500) + DAY * 2;
    let settled = database
        .complete(&KEY, &claim().fence, RequestOutcome::Indeterminate, end)
        .await;
    assert_eq!(settled.unwrap(), Settled::Done);
    let rest = left(&prefix, &record);
    assert!(
        rest > DAY * 2 + fewest && rest < DAY * 2 + Duration::from_secs(11) + most,
        "{rest:?}"
    );
}

/// H6: an unreadable record is neither returned nor overwritten.
#[tokio::test]
async fn a_record_that_cannot_be_read_is_reported_as_corrupt() {
    let prefix = prefix!();
    let database = prefix.database().await;
    let key = format!("idempotency:{}", "ab".repeat(32));
    let fingerprint = "f".repeat(32);
    let digits = "09223372036854775808";
    for broken in [
        &["RPUSH", "another type"][..],
        &["HSET", "fingerprint", "short", "expires", digits, "lease", digits],
        &[
            "HSET",
            "fingerprint",
            &fingerprint,
            "expires",
            "soon",
            "lease",
            digits,
        ],
        &["HSET", "fingerprint", &fingerprint, "expires", digits],
        &[
            "HSET",
            "fingerprint",
            &fingerprint,
            "expires",
            digits,
            "outcome",
            "{}",
        ],
        &["HSET", "expires", digits],
    ] {
        let () = prefix.raw(broken[0], &key, &broken[1..]);
        for _ in 0..2 {
            let error = database.claim(&claim(), START).await.unwrap_err();
            assert_eq!(error.kind(), StoreErrorKind::Corrupt, "{broken:?}");
        }
        let () = prefix.raw("DEL", &key, &[]);
    }
    // an invalid outcome, for an equal request
    let same = "\u{1}".repeat(32);
    let late = "18446744073709551615";
    let fields = [
        "fingerprint",
        &same,
        "expires",
        late,
        "outcome",
        "no JSON",
        "body",
        "",
    ];
    let () = prefix.raw("HSET", &key, &fields);
    let error = database.claim(&claim(), START).await.unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Corrupt);
}

/// H15, X5: a bucket is kept until every machine's clock calls it full; a refused caller makes
/// none.
#[tokio::test]
async fn a_bucket_stays_as_long_as_it_is_not_full() {
    let prefix = prefix!();
    let database = prefix.database().await;
    let policy = Policy::new("user", Quota::per(1, DAY).unwrap()).unwrap();
    for _ in 0..3 {
        database.spend(&[policy.spend("ada")], START).await.unwrap();
    }
    let [bucket] = <[String; 1]>::try_from(prefix.keys()).unwrap();
    assert!(
        !bucket.contains("ada") && bucket.len() == "bucket:".len() + 64,
        "{bucket}"
    );
    let rest = left(&prefix, &bucket);
    assert!(rest > DAY && rest < DAY + Duration::from_secs(301), "{rest:?}");

    for broken in ["7", "no twenty digits at!", ""] {
        let () = prefix.raw("SET", &bucket, &[broken]);
        let spent = database.spend(&[policy.spend("ada")], START).await;
        match broken {
            // an empty value is an unused bucket
            "" => assert!(spent.is_ok()),
            _ => assert_eq!(spent.unwrap_err().kind(), StoreErrorKind::Corrupt, "{broken}"),
        }
    }
    assert!(
        database
            .spend(&[], SystemTime::UNIX_EPOCH)
            .await
            .unwrap()
            .is_empty()
    );
}
