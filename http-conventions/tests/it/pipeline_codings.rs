//! Compression beside digests, ranges and cache policies.

use std::time::{Duration, SystemTime};

use bytes::Bytes;
use host_ports::testing::SeededEntropy;
use http::{Request, Response, header};
use http_conventions::{
    audit::{self, audit},
    caching::{CacheControl, EntityTag, Validators},
    content::{CONTENT_DIGEST, DigestAlgorithm, Digests, REPR_DIGEST, add_wanted_digests},
    idempotency::KeyScope,
    pipeline::{Exchange, Limited},
};

use crate::{
    compression::{compression, decoded},
    pipeline_fixture::{Desk, assert_complete, json, request},
};

type Field<'a> = (&'a str, &'a str);

const GZIP: Field<'static> = ("accept-encoding", "gzip");
const KEY: Field<'static> = ("idempotency-key", "8e03978e-40d5-43dd-bc93-6894a57f9324");
const SCOPE: KeyScope<'static> = KeyScope::new("user-7", "/v1/charges");
const MODIFIED: &str = "Sun, 06 Nov 1994 08:49:37 GMT";

fn desk() -> Desk {
    Desk::configured(|builder| builder.with_compression(compression()))
}

fn begin(desk: &Desk, request: &Request<Bytes>) -> Exchange<Limited> {
    let exchange = desk.conventions.begin(request).admit(request).unwrap();
    exchange.skip_rate_limit()
}

/// Public content of 2011 bytes.
fn page() -> Response<Bytes> {
    let mut response = json(&format!("{{\"text\":\"{}\"}}", "0123456789".repeat(200)));
    CacheControl::public(Duration::from_secs(60)).apply(response.headers_mut());
    response
}

fn tag() -> Validators {
    Validators::default().with_entity_tag(EntityTag::strong("v").unwrap())
}

fn time() -> Validators {
    let modified = SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_777);
    Validators::default().with_strong_last_modified(modified)
}

/// Serves the page by ranges and with the digests that the client asks for.
async fn send(desk: &Desk, fields: &[Field<'_>], current: &Validators) -> Response<Bytes> {
    let request = request("GET", "/v1/charges", fields);
    let exchange = begin(desk, &request);
    let preconditions = exchange.preconditions(&request);
    let base = desk.conventions.problems();
    let handler = async {
        let mut whole = page();
        add_wanted_digests(request.headers(), &mut whole);
        let mut answer = preconditions.answer_ranges(current, whole, &SeededEntropy::new(7), base)?;
        add_wanted_digests(request.headers(), &mut answer);
        Ok::<_, http_conventions::errors::Problem>(answer)
    };
    let response = exchange.run(&request, SCOPE, handler).await;
    assert_complete(&response, "/v1/charges");
    assert_eq!(audit(&request, &response), [], "{fields:?}");
    response
}

fn field<'a>(response: &'a Response<Bytes>, name: &str) -> Option<&'a str> {
    Some(response.headers().get(name)?.to_str().unwrap())
}

fn varies_by_encoding(response: &Response<Bytes>) -> bool {
    field(response, "vary").unwrap().contains("accept-encoding")
}

fn digest_of(content: &[u8], algorithm: DigestAlgorithm) -> String {
    let value = Digests::of(content, algorithm).header_value();
    value.to_str().unwrap().to_owned()
}

/// H30, H33: digests are those of the bytes that are sent, by the algorithm that the client wants.
#[tokio::test]
async fn digests_are_those_of_the_sent_coding() {
    let desk = desk();
    let wants = [
        ("want-content-digest", "sha-512=10, sha-256=1"),
        ("want-repr-digest", "sha-256=1"),
    ];
    for (accept, coding) in [("gzip", Some("gzip")), ("identity", None)] {
        let sent = send(&desk, &[("accept-encoding", accept), wants[0], wants[1]], &tag()).await;
        assert_eq!(field(&sent, "content-encoding"), coding);
        assert_eq!(decoded(&sent), page().body());
        for (name, algorithm) in [
            (CONTENT_DIGEST, DigestAlgorithm::Sha512),
            (REPR_DIGEST, DigestAlgorithm::Sha256),
        ] {
            let expected = digest_of(sent.body(), algorithm);
            assert_eq!(field(&sent, name.as_str()), Some(expected.as_str()));
        }
    }
}

/// H30, H33: several algorithms stay, and a digest that cannot be computed again is removed.
#[test]
fn digests_keep_their_algorithms() {
    let desk = desk();
    let request = request("GET", "/v1/charges", &[GZIP]);
    let content = page().into_body();
    let [sha256, sha512] =
        [DigestAlgorithm::Sha256, DigestAlgorithm::Sha512].map(|algorithm| digest_of(&content, algorithm));
    for (before, algorithms) in [
        (format!("{sha512}, {sha256}"), Some("sha-256, sha-512")),
        (format!("md5=:AAAA:, {sha512}"), Some("sha-512")),
        ("md5=:AAAA:".to_owned(), None),
        ("?".to_owned(), None),
    ] {
        let mut answer = page();
        answer
            .headers_mut()
            .insert(CONTENT_DIGEST, before.parse().unwrap());
        let sent = begin(&desk, &request).finish(Ok(answer));
        let digests = field(&sent, "content-digest").map(|value| {
            let members = value.split(", ");
            let names = members.map(|member| member.split_once('=').unwrap().0);
            names.collect::<Vec<_>>().join(", ")
        });
        assert_eq!(digests.as_deref(), algorithms, "{before}");
        assert_eq!(audit(&request, &sent), []);
    }
}

/// H30, H33, H6: the stored digest is that of the plain content, and each replay has its own.
#[tokio::test]
async fn replay_has_the_digest_of_its_coding() {
    let desk = desk();
    for accept in ["gzip", "identity", "gzip"] {
        let want = ("want-content-digest", "sha-256=1");
        let fields = [KEY, ("accept-encoding", accept), want];
        let request = request("POST", "/v1/charges", &fields);
        let handler = async {
            let mut response = page();
            add_wanted_digests(request.headers(), &mut response);
            response
        };
        let sent = begin(&desk, &request).run(&request, SCOPE, handler).await;
        let expected = digest_of(sent.body(), DigestAlgorithm::Sha256);
        assert_eq!(field(&sent, "content-digest"), Some(expected.as_str()));
        assert_eq!(field(&sent, "content-encoding").is_some(), accept == "gzip");
        assert_eq!(audit(&request, &sent), []);
    }
}

/// H30, H32, H33: a part is one of the plain content, with its tag, and varies like the 200.
#[tokio::test]
async fn part_is_not_compressed() {
    let desk = desk();
    let wants = [
        ("want-content-digest", "sha-256=1"),
        ("want-repr-digest", "sha-256=1"),
    ];
    for range in ["bytes=0-1899", "bytes=0-999,1200-"] {
        let sent = send(&desk, &[GZIP, ("range", range), wants[0], wants[1]], &tag()).await;
        assert_eq!(sent.status(), 206, "{range}");
        assert_eq!(field(&sent, "content-encoding"), None);
        assert_eq!(field(&sent, "etag"), Some("\"v\""));
        assert!(varies_by_encoding(&sent));
        let part = digest_of(sent.body(), DigestAlgorithm::Sha256);
        let whole = digest_of(page().body(), DigestAlgorithm::Sha256);
        assert_eq!(field(&sent, "content-digest"), Some(part.as_str()));
        assert_eq!(field(&sent, "repr-digest"), Some(whole.as_str()));
    }
    let single = send(&desk, &[GZIP, ("range", "bytes=9-1899")], &tag()).await;
    assert_eq!(single.body(), &page().body().slice(9..1900));
}

/// H30, H32: no part of the plain content continues a compressed response.
#[tokio::test]
async fn compressed_download_is_not_continued() {
    let desk = desk();
    let whole = send(&desk, &[GZIP], &tag()).await;
    assert_eq!(field(&whole, "etag"), Some("\"v-gzip\""));
    assert_eq!(field(&whole, "accept-ranges"), None);
    let plain = send(&desk, &[], &tag()).await;
    assert_eq!(field(&plain, "accept-ranges"), Some("bytes"));

    let range = ("range", "bytes=20-");
    for (name, value, status) in [
        ("if-range", "\"v-gzip\"", 200),
        ("if-range", "\"v\"", 206),
        ("if-match", "\"v-gzip\"", 200),
        ("if-match", "\"u\", \"v-gzip\"", 200),
        ("if-match", "\"v-gzip\", \"v\"", 206),
        ("if-match", "\"v\"", 206),
        ("if-match", "*", 206),
        ("if-match", "\"u-gzip\"", 412),
        ("if-none-match", "\"v-gzip\"", 304),
    ] {
        let sent = send(&desk, &[GZIP, range, (name, value)], &tag()).await;
        assert_eq!(sent.status(), status, "{name}: {value}");
        if status == 200 {
            assert_eq!(sent.body(), whole.body());
        }
    }
}

/// H30, H32: with compression, `If-Range` with a date gets the whole content, because all codings
/// have the same date.
#[tokio::test]
async fn if_range_date_with_compression_gets_200() {
    let fields = [("range", "bytes=20-"), ("if-range", MODIFIED)];
    assert_eq!(send(&desk(), &fields, &time()).await.status(), 200);
    assert_eq!(send(&Desk::new(), &fields, &time()).await.status(), 206);
}

/// H30, H9: a tagged read without a policy is `private`, and so it is compressed by opt-in only.
#[tokio::test]
async fn tagged_read_is_compressed_by_opt_in() {
    let desk = desk();
    for opts_in in [false, true] {
        let read = async |fields: &[Field<'_>]| {
            let request = request("GET", "/v1/charges", fields);
            let mut exchange = begin(&desk, &request);
            if opts_in {
                exchange.danger_compress_secrets();
            }
            let preconditions = exchange.preconditions(&request);
            let handler = async {
                let mut answer = page();
                answer.headers_mut().remove(header::CACHE_CONTROL);
                preconditions.answer_read(&tag(), answer, desk.conventions.problems())
            };
            exchange.run(&request, SCOPE, handler).await
        };
        let first = read(&[GZIP]).await;
        assert_eq!(field(&first, "cache-control"), Some("private, no-cache"));
        assert_eq!(field(&first, "content-encoding"), opts_in.then_some("gzip"));
        assert_eq!(varies_by_encoding(&first), opts_in);
        let etag = field(&first, "etag").unwrap();
        assert_eq!(etag, if opts_in { "\"v-gzip\"" } else { "\"v\"" });
        let again = read(&[GZIP, ("if-none-match", etag)]).await;
        assert_eq!(audit::conditional_read(&first, &again), []);
    }
}
