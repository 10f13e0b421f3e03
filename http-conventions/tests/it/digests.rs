//! Digests of a content.

use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Request, Response};
use http_conventions::{
    audit::{Rule, audit},
    content::{
        CONTENT_DIGEST, DigestAlgorithm, DigestRefusal, Digests, InvalidDigests, REPR_DIGEST,
        WANT_CONTENT_DIGEST, WANT_REPR_DIGEST, add_wanted_digests, check_digests, require_content_digest,
    },
    errors::{Problem, ReceivedProblem},
    idempotency::{KeyScope, Reply},
    openapi::Takes,
};
use proptest::prelude::*;
use serde_json::json;

use crate::pipeline_fixture::{BASE, Desk, assert_complete, json as body, request};

/// The example of RFC 9530 appendix B.
const HELLO: &[u8] = b"{\"hello\": \"world\"}\n";
const SHA_256: &str = "sha-256=:RK/0qy18MlBSVnWgjwz6lZEWjP/lF5HF9bvEF8FabDg=:";
const SHA_512: &str =
    "sha-512=:YMAam51Jz/jOATT6/zvHrLVgOYTGFy1d6GJiOHTohq4yP+pgk4vf2aCsyRZOtw8MjkM7iw7yZ/WkppmM44T3qg==:";

fn fields(name: &HeaderName, lines: &[&str]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for line in lines {
        headers.append(name.clone(), line.parse().unwrap());
    }
    headers
}

/// H33: digests are written as in the RFC, and read back.
#[test]
fn digests_are_those_of_the_rfc() {
    for (algorithm, expected) in [
        (DigestAlgorithm::Sha256, SHA_256),
        (DigestAlgorithm::Sha512, SHA_512),
    ] {
        let digests = Digests::of(HELLO, algorithm);
        assert_eq!(digests.header_value(), expected);
        let read = Digests::parse(&fields(&CONTENT_DIGEST, &[expected]), &CONTENT_DIGEST);
        assert_eq!(read, Ok(Some(digests)));
    }
    let both = Digests::parse(&fields(&REPR_DIGEST, &[SHA_512, SHA_256]), &REPR_DIGEST);
    let both = both.unwrap().unwrap();
    assert!(both.sha256().is_some() && both.sha512().is_some());
    assert_eq!(both.header_value(), format!("{SHA_256}, {SHA_512}").as_str());
    assert!(both.match_content(HELLO) && !both.match_content(b"{}"));
    let streamed = [
        both.sha256().copied().map(Digests::from_sha256),
        both.sha512().copied().map(Digests::from_sha512),
    ];
    assert!(
        streamed
            .iter()
            .flatten()
            .all(|digests| digests.match_content(HELLO))
    );
}

/// Results of a check, and of a check that requires a digest, for these lines.
fn checked(lines: &[&str]) -> [Result<(), DigestRefusal>; 2] {
    let headers = fields(&CONTENT_DIGEST, lines);
    [
        check_digests(&headers, HELLO),
        require_content_digest(&headers, HELLO),
    ]
}

/// H33: each digest of a supported algorithm must fit; the other algorithms count for nothing.
#[test]
fn only_secure_algorithms_count() {
    let wrong = SHA_256.replace("RK/0", "AAAA");
    // correct, but not secure
    let md5 = "md5=:IFQUHMLMjKmlnpbyHvP6Mg==:";
    for fitting in [
        &[SHA_256][..],
        &[SHA_512],
        &[SHA_256, SHA_512],
        // the last member of a key counts
        &["sha-256=:AAAA:", SHA_256],
        &[&wrong, SHA_256],
        &["md5=:AAAA:", SHA_256],
    ] {
        assert_eq!(checked(fitting), [Ok(()), Ok(())], "{fitting:?}");
    }
    for ignored in [&[][..], &[md5], &["unixsum=:AAA=:, crc32c=7"], &[""]] {
        let expected = [Ok(()), Err(DigestRefusal::Missing)];
        assert_eq!(checked(ignored), expected, "{ignored:?}");
    }
    for refused in [&[SHA_256, &wrong][..], &[&wrong, SHA_512], &[&wrong, md5]] {
        assert_eq!(checked(refused), [Err(DigestRefusal::Mismatch); 2], "{refused:?}");
    }
}

/// H33: a malformed field is refused and not ignored.
#[test]
fn malformed_digest_is_refused() {
    for lines in [
        &["sha-256"][..],
        &["sha-256=1"],
        &["sha-256=:AAAA:"],
        &["sha-512=:AAAA:", SHA_256],
        &["SHA-256=:AAAA:"],
        &["sha-256=RK/0qy18"],
        &[SHA_256, ","],
    ] {
        assert_eq!(checked(lines), [Err(DigestRefusal::Malformed); 2], "{lines:?}");
        let parsed = Digests::parse(&fields(&CONTENT_DIGEST, lines), &CONTENT_DIGEST);
        assert_eq!(parsed, Err(InvalidDigests));
    }
}

/// H33: `Repr-Digest` of a request is checked too, and does not replace a required
/// `Content-Digest`. Empty content needs none.
#[test]
fn repr_digest_of_a_request_is_checked() {
    let right = fields(&REPR_DIGEST, &[SHA_256]);
    assert_eq!(check_digests(&right, HELLO), Ok(()));
    assert_eq!(check_digests(&right, b""), Err(DigestRefusal::Mismatch));
    assert_eq!(require_content_digest(&right, HELLO), Err(DigestRefusal::Missing));
    assert_eq!(require_content_digest(&HeaderMap::new(), b""), Ok(()));
    // a part of the representation
    let mut part = right;
    part.insert("content-range", HeaderValue::from_static("bytes 0-1/19"));
    assert_eq!(check_digests(&part, b"{\""), Ok(()));
    part.insert(CONTENT_DIGEST, HeaderValue::from_static(SHA_256));
    assert_eq!(check_digests(&part, b"{\""), Err(DigestRefusal::Mismatch));
}

/// H33: the preferred supported algorithm is sent; a malformed wish is ignored.
#[test]
fn wanted_digest_is_the_preferred_one() {
    for (want, expected) in [
        ("sha-256=1", Some(SHA_256)),
        ("sha-512=3, sha-256=10, unixsum=0", Some(SHA_256)),
        ("sha-512=10, sha-256=3", Some(SHA_512)),
        ("sha-512=5, sha-256=5", Some(SHA_256)),
        ("sha-512=1, sha-256=0", Some(SHA_512)),
        ("sha-256=0", None),
        ("sha-256=11", None),
        ("sha-256=-1", None),
        ("sha-256=1.5", None),
        ("sha-256", None),
        ("md5=10, sha=9", None),
        ("sha-256=1,", None),
        ("sha-256=1, sha-256=0", None),
        ("", None),
    ] {
        for (wish, name) in [
            (WANT_CONTENT_DIGEST, CONTENT_DIGEST),
            (WANT_REPR_DIGEST, REPR_DIGEST),
        ] {
            let mut response = Response::new(Bytes::from_static(HELLO));
            add_wanted_digests(&fields(&wish, &[want]), &mut response);
            let sent = response.headers().get(&name).map(|value| value.to_str().unwrap());
            assert_eq!(sent, expected, "{wish}: {want}");
            assert_eq!(response.headers().len(), usize::from(expected.is_some()));
        }
    }
}

/// H33: a part of a representation gets no `Repr-Digest`, and digests of the host stay.
#[test]
fn digests_fit_the_status() {
    let mut wish = fields(&WANT_CONTENT_DIGEST, &["sha-256=1"]);
    wish.extend(fields(&WANT_REPR_DIGEST, &["sha-256=1"]));
    for (status, has_content, has_repr) in [
        (200, true, true),
        (206, true, false),
        (201, true, false),
        (404, true, false),
        (204, false, false),
        (304, false, false),
    ] {
        let mut response = Response::new(Bytes::from_static(HELLO));
        *response.status_mut() = status.try_into().unwrap();
        add_wanted_digests(&wish, &mut response);
        let has = |name: &HeaderName| response.headers().contains_key(name);
        assert_eq!(
            (has(&CONTENT_DIGEST), has(&REPR_DIGEST)),
            (has_content, has_repr),
            "{status}"
        );
    }
    let mut response = Response::new(Bytes::from_static(HELLO));
    response
        .headers_mut()
        .insert(REPR_DIGEST, HeaderValue::from_static(SHA_512));
    add_wanted_digests(&wish, &mut response);
    assert_eq!(response.headers()[REPR_DIGEST], SHA_512);
}

/// Status and problem type of a POST of [`HELLO`] with this digest and key, and the handler's runs.
async fn post(desk: &Desk, digest: &str, key: &str, is_in_transaction: bool) -> (Response<Bytes>, u32) {
    let mut sent: Request<Bytes> = request(
        "POST",
        "/v1/charges",
        &[("content-digest", digest), ("idempotency-key", key)],
    );
    *sent.body_mut() = Bytes::from_static(HELLO);
    let exchange = desk
        .conventions
        .begin(&sent)
        .admit(&sent)
        .unwrap()
        .skip_rate_limit();
    let scope = KeyScope::new("user-7", "/v1/charges");
    let runs = AtomicU32::new(0);
    let handle = async || {
        runs.fetch_add(1, SeqCst);
        Reply::Final(body("{}"))
    };
    let answer = match is_in_transaction {
        true => exchange.run_in_transaction(&sent, scope, |_| handle()).await,
        false => exchange.run(&sent, scope, handle()).await,
    };
    assert_complete(&answer, "/v1/charges");
    assert_eq!(audit(&sent, &answer), []);
    (answer, runs.into_inner())
}

fn kind(answer: &Response<Bytes>) -> String {
    ReceivedProblem::parse(answer.body())
        .unwrap()
        .type_uri()
        .to_owned()
}

/// H33, H6: damaged content is refused before its key is claimed, so that the retry runs.
#[tokio::test]
async fn damaged_content_claims_no_key() {
    let desk = Desk::new();
    let wrong = SHA_256.replace("RK/0", "AAAA");
    for (index, is_in_transaction) in [false, true].into_iter().enumerate() {
        let key = format!("key-{index}");
        for digest in [&wrong, "sha-256=1"] {
            let (refused, runs) = post(&desk, digest, &key, is_in_transaction).await;
            assert_eq!((refused.status().as_u16(), runs), (400, 0));
            assert_eq!(kind(&refused), format!("{BASE}content-digest-mismatch"));
        }
        let (created, runs) = post(&desk, SHA_256, &key, is_in_transaction).await;
        assert_eq!((created.status().as_u16(), runs), (200, 1));
        // the refusal comes before the replay, and the digest is no part of the request
        let (refused, _) = post(&desk, &wrong, &key, is_in_transaction).await;
        assert_eq!(refused.status(), 400);
        let (replayed, runs) = post(&desk, SHA_512, &key, is_in_transaction).await;
        assert_eq!((replayed.status().as_u16(), runs), (200, 0));
        assert_eq!(replayed.headers()["idempotency-replayed"], "true");
    }
    let (plain, runs) = post(&desk, "", "", false).await;
    assert_eq!((plain.status().as_u16(), runs), (200, 1));
}

/// H33: a required digest that is missing is a 400 that names the algorithms, and so is one by an
/// insecure algorithm.
#[tokio::test]
async fn required_digest_is_asked_for() {
    let desk = Desk::configured(|builder| builder.with_required_content_digest());
    for digest in ["", "md5=:IFQUHMLMjKmlnpbyHvP6Mg==:"] {
        let (refused, runs) = post(&desk, digest, "", false).await;
        assert_eq!((refused.status().as_u16(), runs), (400, 0));
        assert_eq!(refused.headers()["want-content-digest"], "sha-256=10, sha-512=10");
        assert_eq!(kind(&refused), format!("{BASE}content-digest-missing"));
    }
    assert_eq!(post(&desk, SHA_512, "", false).await.1, 1);
    let empty = desk.send(&request("GET", "/v1/charges", &[])).await;
    assert_eq!(empty.status(), 200);
}

/// H33, H22, H27: the document lists the parameter and the problem if a digest is required.
#[test]
fn required_digest_is_in_the_document() {
    let required = Desk::configured(|builder| builder.with_required_content_digest()).conventions;
    let components = required.openapi_components();
    assert_eq!(components["parameters"]["ContentDigest"]["required"], true);
    assert!(components["schemas"].get("ContentDigestMissingProblem").is_some());
    let bad_request = &components["responses"]["BadRequest"]["headers"];
    assert!(bad_request.get("Want-Content-Digest").is_some());
    let parameter = json!({ "$ref": "#/components/parameters/ContentDigest" });
    let has = |takes| {
        let operation = required.openapi_operation(&[takes]);
        operation["parameters"].as_array().unwrap().contains(&parameter)
    };
    assert!(has(Takes::Content) && has(Takes::Patch) && !has(Takes::ReadPreconditions));

    let optional = Desk::new().conventions;
    let components = optional.openapi_components();
    assert!(components["parameters"].get("ContentDigest").is_none());
    assert!(components["schemas"].get("ContentDigestMissingProblem").is_none());
    assert!(
        components["schemas"]
            .get("ContentDigestMismatchProblem")
            .is_some()
    );
}

/// H33: a response whose digest does not fit its content is found.
#[test]
fn audit_finds_wrong_digests() {
    let found = |method: &str, status: u16, name: &HeaderName, digest: &str| {
        let sent = request(method, "/v1/charges", &[("range", "bytes=0-")]);
        let mut response = match status {
            400.. => Problem::of_status(status.try_into().unwrap()).into_response(),
            _ => body("{\"hello\": \"world\"}\n"),
        };
        *response.status_mut() = status.try_into().unwrap();
        if status == 206 {
            let range = HeaderValue::from_static("bytes 0-18/19");
            response.headers_mut().insert("content-range", range);
        }
        let headers = response.headers_mut();
        headers.insert("x-request-id", HeaderValue::from_static("checkout-7f3a"));
        headers.insert(name, digest.parse().unwrap());
        let findings = audit(&sent, &response);
        assert!(
            findings
                .iter()
                .all(|finding| finding.rule() == Rule::InvalidDigest),
            "{findings:?}"
        );
        !findings.is_empty()
    };
    let wrong = SHA_256.replace("RK/0", "AAAA");
    for (method, status, name, digest, expected) in [
        ("GET", 200, &CONTENT_DIGEST, SHA_256, false),
        ("GET", 200, &CONTENT_DIGEST, &wrong, true),
        ("GET", 206, &CONTENT_DIGEST, &wrong, true),
        ("GET", 404, &CONTENT_DIGEST, SHA_256, true),
        ("POST", 200, &CONTENT_DIGEST, &wrong, true),
        ("HEAD", 200, &CONTENT_DIGEST, &wrong, false),
        ("GET", 200, &REPR_DIGEST, &wrong, true),
        ("GET", 206, &REPR_DIGEST, &wrong, false),
        ("GET", 200, &REPR_DIGEST, "sha-256=1", true),
        ("GET", 200, &CONTENT_DIGEST, "sha-256=:", true),
        ("GET", 200, &CONTENT_DIGEST, "md5=:AAAA:", false),
    ] {
        assert_eq!(
            found(method, status, name, digest),
            expected,
            "{method} {status} {name} {digest}"
        );
    }
}

proptest! {
    /// H33: a computed digest is accepted for its content, and for no other.
    #[test]
    fn computed_digest_is_accepted(content: Vec<u8>, other: Vec<u8>, is_long: bool) {
        let algorithm = if is_long { DigestAlgorithm::Sha512 } else { DigestAlgorithm::Sha256 };
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_DIGEST, Digests::of(&content, algorithm).header_value());
        prop_assert_eq!(require_content_digest(&headers, &content), Ok(()));
        prop_assert_eq!(check_digests(&headers, &other).is_ok(), content == other);
    }

    /// H33: any field is read without a panic, and a field that is read is written and read again.
    #[test]
    fn any_field_is_read(value in "(sha-(256|512)=)?[:=, -~]{0,60}") {
        let Ok(value) = HeaderValue::from_str(&value) else { return Ok(()) };
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_DIGEST, value);
        if let Ok(Some(digests)) = Digests::parse(&headers, &CONTENT_DIGEST) {
            headers.insert(CONTENT_DIGEST, digests.header_value());
            prop_assert_eq!(Digests::parse(&headers, &CONTENT_DIGEST), Ok(Some(digests)));
        }
    }
}
