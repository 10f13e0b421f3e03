//! Keys, fingerprints, records and the memory store.

use std::time::{Duration, SystemTime};

use bytes::Bytes;
use http::Request;
use http_conventions::idempotency::{
    AfterCrash, Claim, ClaimOutcome, Fence, Fingerprint, IdempotencyKey, IdempotencyStore as _, KeyScope,
    MemoryIdempotencyStore, Record, RecordKey, RequestOutcome, Settled, State, StoredResponse,
};
use http_conventions::ports::StoreErrorKind;
use proptest::prelude::*;

http_conventions_conformance::idempotency_store!(
    #[tokio::test]
    MemoryIdempotencyStore::default()
);

fn request(target: &str, content_type: Option<&str>, body: &str) -> Request<Bytes> {
    let mut request = Request::post(target);
    if let Some(content_type) = content_type {
        request = request.header("content-type", content_type);
    }
    request.body(Bytes::copy_from_slice(body.as_bytes())).unwrap()
}

/// H6: the hash covers method, target, content type and body, and no byte can move from one part to
/// another.
#[test]
fn requests_that_differ_in_any_part_have_other_fingerprints() {
    let mut put = request("/a", Some("t"), "b");
    *put.method_mut() = http::Method::PUT;
    let requests = [
        request("/a", Some("t"), "b"),
        request("/a", Some("t"), "B"),
        request("/a", Some("tb"), ""),
        request("/a", None, "tb"),
        request("/a", Some(""), "tb"),
        request("/at", Some(""), "b"),
        request("/a?", Some("t"), "b"),
        request("/a?x", Some("t"), "b"),
        put,
    ];
    let fingerprints: std::collections::HashSet<_> = requests.iter().map(Fingerprint::of).collect();
    // an empty content type counts as none
    assert_eq!(fingerprints.len(), requests.len() - 1);
}

/// H6: records outlive a release, so keys and fingerprints never change. The values were computed
/// independently of this crate.
#[test]
fn names_and_fingerprints_never_change() {
    let key = IdempotencyKey::parse(b"k-1").unwrap();
    let name = RecordKey::new(KeyScope::new("user-7", "/v1/charges"), &http::Method::POST, &key);
    assert_eq!(
        format!("{name:?}"),
        "RecordKey(0ffa6dca0b8815812ab814a53dcd37eb7c65899f4c832f64d23273e5c6d8a0f3)"
    );
    let request = request(
        "/v1/charges?expand=customer",
        Some("application/json"),
        "{\"amount\":1000}",
    );
    assert_eq!(
        format!("{:?}", Fingerprint::of(&request)),
        "Fingerprint(fadc395941294853dd3c1af399d9260b24cbdfb8f15f40f07e4b1ba71f1ba3e5)"
    );
}

/// H6: `Debug` hides the key, because a caller with the key may read the stored response.
#[test]
fn a_key_is_not_shown() {
    let key = IdempotencyKey::parse(b"8e03978e-40d5").unwrap();
    assert_eq!(format!("{key:?}"), "IdempotencyKey { .. }");
    assert_eq!(key.as_str(), "8e03978e-40d5");
}

/// H6: `Debug` of a stored response hides its content, which may be a secret.
#[test]
fn a_stored_answer_does_not_show_its_content() {
    let response = StoredResponse {
        status: 201,
        headers: vec![("x-token".to_owned(), Bytes::from_static(b"whsec_header"))],
        body: Bytes::from_static(b"{\"secret\":\"whsec_body\"}"),
    };
    let shown = format!("{:?}", ClaimOutcome::Settled(RequestOutcome::Completed(response)));
    assert!(!shown.contains("whsec"), "{shown}");
    assert!(shown.contains("201") && shown.contains("x-token"), "{shown}");
}

/// H6: a record can be stored as one value, whatever bytes it holds.
#[test]
fn a_record_survives_serde() {
    let response = StoredResponse {
        status: 201,
        headers: vec![("x-bytes".to_owned(), Bytes::from_static(b"caf\xe9 \xff"))],
        body: Bytes::from_static(b"\x00\xff\xfe not text"),
    };
    let state = State::InFlight {
        fence: Fence::from_bytes([9; 16]),
        lease_until: SystemTime::UNIX_EPOCH,
    };
    let states = [
        state,
        State::Settled(RequestOutcome::Completed(response)),
        State::Settled(RequestOutcome::Indeterminate),
    ];
    for state in states {
        let expires_at = SystemTime::UNIX_EPOCH + Duration::new(1_800_000_000, 123_456_789);
        let record = Record {
            fingerprint: Fingerprint::from_bytes([7; 32]),
            state,
            expires_at,
        };
        let json = serde_json::to_string(&record).unwrap();
        assert_eq!(serde_json::from_str::<Record>(&json).unwrap(), record);
    }
    assert!(serde_json::from_str::<Fence>("\"AAAA\"").is_err());
}

const FENCE: Fence = Fence::from_bytes([1; 16]);

fn claim(number: u32, now: SystemTime) -> Claim {
    let mut name = [0; 32];
    name[..4].copy_from_slice(&number.to_be_bytes());
    Claim::new(
        RecordKey::from_bytes(name),
        Fingerprint::from_bytes([0; 32]),
        FENCE,
        now + Duration::from_secs(10),
        now + Duration::from_secs(100),
    )
}

/// H6: expired records do not fill the memory, and live records stay.
#[tokio::test]
async fn the_memory_store_forgets_expired_records() {
    let store = MemoryIdempotencyStore::default();
    let mut now = SystemTime::UNIX_EPOCH;
    for number in 0_u32..20_000 {
        now += Duration::from_secs(1);
        let fresh = store.claim(&claim(number, now), now).await.unwrap();
        assert_eq!(fresh, ClaimOutcome::Claimed);
        let oldest = number.saturating_sub(99);
        let known = store.claim(&claim(oldest, now), now).await.unwrap();
        assert_ne!(known, ClaimOutcome::Claimed, "{oldest}");
    }
    assert!(store.len() <= 1024, "{}", store.len());
}

/// H6: a caller with many keys and large responses does not fill the memory. Stored responses stay,
/// a response without room is not run again, and a key without room is refused before anything
/// runs.
#[tokio::test]
async fn the_memory_store_is_bounded() {
    let (store, now) = (MemoryIdempotencyStore::default(), SystemTime::UNIX_EPOCH);
    let body = Bytes::from(vec![b'x'; 1 << 20]);
    let mut kept = 0;
    for number in 0..200 {
        let claim = claim(number, now);
        assert_eq!(store.claim(&claim, now).await.unwrap(), ClaimOutcome::Claimed);
        let answer = RequestOutcome::Completed(StoredResponse {
            status: 201,
            headers: Vec::new(),
            body: body.clone(),
        });
        let settled = store
            .complete(&claim.key, &FENCE, answer.clone(), claim.expires_at)
            .await;
        assert_eq!(settled.unwrap(), Settled::Done);
        match store.claim(&claim, now).await.unwrap() {
            ClaimOutcome::Settled(RequestOutcome::Unreplayable { status: 201 }) => {}
            repeated => {
                assert_eq!(repeated, ClaimOutcome::Settled(answer));
                kept += body.len();
            }
        }
    }
    assert!((32 << 20..=64 << 20).contains(&kept), "{kept} bytes");
}

/// H6: a full store refuses new keys, keeps old and running ones, and recovers once records have
/// expired.
#[tokio::test]
async fn a_full_memory_store_loses_nothing() {
    let (store, start) = (
        MemoryIdempotencyStore::with_capacity(64 << 10),
        SystemTime::UNIX_EPOCH,
    );
    let (mut claimed, mut now) = (Vec::new(), start);
    let refused = loop {
        now += Duration::from_millis(1);
        let claim = claim(u32::try_from(claimed.len()).unwrap(), start);
        match store.claim(&claim, now).await {
            Ok(outcome) => assert_eq!(outcome, ClaimOutcome::Claimed),
            Err(error) => break error,
        }
        claimed.push(claim);
    };
    assert_eq!(refused.kind(), StoreErrorKind::Unavailable);
    assert!((32..1024).contains(&claimed.len()), "{}", claimed.len());
    assert_eq!(store.len(), claimed.len());
    let answer = |body: &'static [u8]| {
        RequestOutcome::Completed(StoredResponse {
            status: 201,
            headers: vec![("location".to_owned(), Bytes::from_static(b"/v1/charges/1"))],
            body: Bytes::from_static(body),
        })
    };
    for claim in &claimed {
        let settled = store
            .complete(&claim.key, &FENCE, answer(&[b'x'; 2048]), claim.expires_at)
            .await;
        assert_eq!(settled.unwrap(), Settled::Done);
        let repeated = store.claim(claim, now).await.unwrap();
        let not_kept = RequestOutcome::Unreplayable { status: 201 };
        assert_eq!(repeated, ClaimOutcome::Settled(not_kept));
    }
    let fresh = claim(u32::MAX, now);
    let full = store.claim(&fresh, now).await.unwrap_err();
    assert_eq!(full.kind(), StoreErrorKind::Unavailable);
    now += Duration::from_secs(100);
    assert_eq!(store.claim(&fresh, now).await.unwrap(), ClaimOutcome::Claimed);
    assert_eq!(store.len(), 1);
    let settled = store
        .complete(&fresh.key, &FENCE, answer(b"{}"), now + Duration::from_secs(1))
        .await;
    assert_eq!(settled.unwrap(), Settled::Done);
    assert_eq!(
        store.claim(&fresh, now).await.unwrap(),
        ClaimOutcome::Settled(answer(b"{}"))
    );
}

/// H6: released room is usable again, however often.
#[tokio::test]
async fn released_and_replaced_records_take_no_room() {
    let (store, now) = (
        MemoryIdempotencyStore::with_capacity(4 << 10),
        SystemTime::UNIX_EPOCH,
    );
    for number in 0..10_000 {
        let claim = claim(number, now);
        assert_eq!(store.claim(&claim, now).await.unwrap(), ClaimOutcome::Claimed);
        assert_eq!(store.release(&claim.key, &FENCE).await.unwrap(), Settled::Done);
    }
    for seconds in 0..10_000 {
        let now = now + Duration::from_secs(seconds * 10);
        let again = claim(0, now).with_after_crash(AfterCrash::RunAgain);
        assert_eq!(store.claim(&again, now).await.unwrap(), ClaimOutcome::Claimed);
    }
    assert_eq!(store.len(), 1);
}

proptest! {
    #[test]
    fn parsing_a_key_never_panics(value: Vec<u8>) {
        if let Ok(key) = IdempotencyKey::parse(&value) {
            prop_assert!((1..=255).contains(&key.as_str().len()));
        }
    }

    #[test]
    fn a_quoted_key_is_its_content(key in "[ -~]{1,255}") {
        let quoted = format!("\"{}\"", key.replace('\\', "\\\\").replace('"', "\\\""));
        let parsed = IdempotencyKey::parse(quoted.as_bytes()).unwrap();
        prop_assert_eq!(parsed.as_str(), key);
    }

    #[test]
    fn a_bare_key_is_itself(key in "[!#-+--\\[\\]-~]{1,255}") {
        let parsed = IdempotencyKey::parse(key.as_bytes()).unwrap();
        prop_assert_eq!(parsed.as_str(), key);
    }
}
