//! Keys, fingerprints, records and the memory store.

use std::time::{Duration, SystemTime};

use bytes::Bytes;
use http::Request;
use http_conventions::idempotency::{
    Claim, ClaimOutcome, Fence, Fingerprint, IdempotencyKey, IdempotencyStore as _, MemoryIdempotencyStore,
    Outcome, Record, RecordKey, Scope, State, StoredResponse,
};
use proptest::prelude::*;

http_conventions::testing::idempotency_store!(
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

/// H6: the hash covers method, target, content type and body, and no byte can move from one to the next.
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

/// H6: records outlive a release, so their names and fingerprints are made in one way for good. The values were computed
/// apart from this crate.
#[test]
fn names_and_fingerprints_never_change() {
    let key = IdempotencyKey::parse(b"k-1").unwrap();
    let name = RecordKey::new(Scope::new("user-7", "/v1/charges"), &http::Method::POST, &key);
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

/// H6: an answer may hold a secret that is shown once; a log of what is stored shows none.
#[test]
fn a_stored_answer_does_not_show_its_content() {
    let response = StoredResponse {
        status: 201,
        headers: vec![("x-token".to_owned(), Bytes::from_static(b"whsec_header"))],
        body: Bytes::from_static(b"{\"secret\":\"whsec_body\"}"),
    };
    let shown = format!("{:?}", ClaimOutcome::Settled(Outcome::Completed(response)));
    assert!(!shown.contains("whsec"), "{shown}");
    assert!(shown.contains("201") && shown.contains("x-token"), "{shown}");
}

/// H6: a record can be kept as one value, whatever bytes it holds.
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
        State::Settled(Outcome::Completed(response)),
        State::Settled(Outcome::Indeterminate),
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

fn claim(number: u32, now: SystemTime) -> Claim {
    let mut name = [0; 32];
    name[..4].copy_from_slice(&number.to_be_bytes());
    Claim::new(
        RecordKey::from_bytes(name),
        Fingerprint::from_bytes([0; 32]),
        Fence::from_bytes([1; 16]),
        now + Duration::from_secs(10),
        now + Duration::from_secs(100),
    )
}

/// H6: records that expired do not fill the memory, and no other is forgotten with them.
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
