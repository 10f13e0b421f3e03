//! Ranges of a content.

use std::time::{Duration, SystemTime};

use bytes::Bytes;
use host_ports::testing::SeededEntropy;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Response, header};
use http_conventions::{
    audit::{self, audit},
    caching::{EntityTag, Preconditions, Validators},
    content::{ContentCoding, ContentPiece, RangeDecision},
    errors::{Problem, ProblemBase, ReceivedProblem},
};

use crate::pipeline_fixture::{BASE, Desk, assert_complete, request};

type Field<'a> = (HeaderName, &'a str);

fn now() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_777)
}

fn tagged(tag: &str) -> Validators {
    let tag = EntityTag::strong(tag).unwrap();
    Validators::default().with_entity_tag(tag)
}

fn fields(fields: &[Field<'_>]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for (name, value) in fields {
        headers.append(name.clone(), HeaderValue::from_str(value).unwrap());
    }
    headers
}

fn ask_with(
    method: &Method,
    sent: &[Field<'_>],
    current: &Validators,
    answer: Response<Bytes>,
) -> Result<Response<Bytes>, Problem> {
    let base = ProblemBase::new(BASE).unwrap();
    let headers = fields(sent);
    let preconditions = Preconditions::new(method, &headers, now());
    preconditions.answer_ranges(current, answer, &SeededEntropy::new(7), &base)
}

fn text(content: &Bytes) -> Response<Bytes> {
    let mut answer = Response::new(content.clone());
    let plain = HeaderValue::from_static("text/plain");
    answer.headers_mut().insert(header::CONTENT_TYPE, plain);
    answer
}

pub(crate) fn ask(range: &str, content: &Bytes) -> Result<Response<Bytes>, Problem> {
    ask_with(
        &Method::GET,
        &[(header::RANGE, range)],
        &tagged("7"),
        text(content),
    )
}

/// Bytes that differ from their neighbours.
pub(crate) fn content(length: usize) -> Bytes {
    (0..=250).cycle().take(length).collect()
}

fn decide(range: &str, length: u64) -> String {
    match RangeDecision::of(range.as_bytes(), length) {
        RangeDecision::Whole => "whole".to_owned(),
        RangeDecision::Unsatisfiable => "none".to_owned(),
        RangeDecision::Partial(ranges) => {
            let ranges = ranges.iter().map(|range| (range.first(), range.last()));
            let ranges = ranges.map(|(first, last)| format!("{first}-{last}"));
            ranges.collect::<Vec<_>>().join(" ")
        }
    }
}

/// H32: ranges are cut to the content, joined, and kept in the order of the field.
#[test]
fn range_is_decided_by_the_length() {
    for (range, expected) in [
        ("bytes=0-499", "0-499"),
        ("bytes=500-", "500-9999"),
        ("bytes=-500", "9500-9999"),
        ("bytes=-20000", "0-9999"),
        ("bytes=0-", "0-9999"),
        ("bytes=9999-9999", "9999-9999"),
        ("bytes=9999-99999999999999999999999", "9999-9999"),
        ("bytes=0-0,-1", "0-0 9999-9999"),
        ("bytes=-1,0-0", "9999-9999 0-0"),
        ("bytes=500-600,601-999", "500-999"),
        ("bytes=500-700,601-999", "500-999"),
        // a gap of 127 bytes is smaller than the head of a part
        ("bytes=0-0,128-128", "0-128"),
        ("bytes=0-0,129-129", "0-0 129-129"),
        ("bytes=5000-5100,0-100,5050-5200", "5000-5200 0-100"),
        ("bytes=0-100,10000-,-0", "0-100"),
        ("bytes=10000-", "none"),
        ("bytes=-0", "none"),
        ("bytes=-0,10000-10001", "none"),
        ("bytes=1-0", "whole"),
        ("items=0-1", "whole"),
        ("bytes=0-1,x", "whole"),
    ] {
        assert_eq!(decide(range, 10_000), expected, "{range}");
    }
    // empty content has no bytes to ask for
    for range in ["bytes=0-", "bytes=-5", "bytes=0-0,5-"] {
        assert_eq!(decide(range, 0), "whole", "{range}");
    }
    let end = u64::MAX - 1;
    assert_eq!(decide("bytes=-1", u64::MAX), format!("{end}-{end}"));
}

/// H32: many small or overlapping ranges never ask for more than the content.
#[test]
fn overlapping_ranges_do_not_multiply_the_content() {
    assert_eq!(
        decide(&format!("bytes={}", vec!["0-"; 32].join(",")), 1000),
        "0-999"
    );
    assert_eq!(
        decide(&format!("bytes={}", vec!["0-"; 33].join(",")), 1000),
        "whole"
    );
    let small: Vec<String> = (0..32).map(|at| format!("{}-{}", at * 2, at * 2)).collect();
    assert_eq!(decide(&format!("bytes={}", small.join(",")), 1000), "0-62");
    let content = content(100_000);
    let apart: Vec<String> = (0..32).map(|at| format!("{}-{}", at * 1000, at * 1000)).collect();
    let answer = ask(&format!("bytes={}", apart.join(",")), &content).unwrap();
    assert_eq!(answer.status(), 206);
    assert!(answer.body().len() < 32 * 160, "{}", answer.body().len());
}

/// H32: one range is a slice of the content with `Content-Range`; nothing is copied.
#[test]
fn single_range_is_a_slice() {
    let content = content(10_000);
    let answer = ask("bytes=1000-1999", &content).unwrap();
    assert_eq!(answer.status(), 206);
    let headers = answer.headers();
    for (name, expected) in [
        ("content-range", "bytes 1000-1999/10000"),
        ("content-length", "1000"),
        ("content-type", "text/plain"),
        ("accept-ranges", "bytes"),
        ("etag", "\"7\""),
    ] {
        assert_eq!(headers[name], expected);
    }
    assert_eq!(answer.body().as_ref(), &content[1000..2000]);
    assert_eq!(answer.body().as_ptr(), content[1000..].as_ptr());
}

/// H32: several ranges are parts of `multipart/byteranges`, byte for byte.
#[test]
fn several_ranges_are_parts() {
    let letters: Bytes = [b"a".repeat(300), b"b".repeat(300), b"c".repeat(300)]
        .concat()
        .into();
    let answer = ask("bytes=0-1,-2,450-452", &letters).unwrap();
    assert_eq!(answer.status(), 206);
    let content_type = answer.headers()["content-type"].to_str().unwrap();
    let boundary = content_type
        .strip_prefix("multipart/byteranges; boundary=")
        .unwrap();
    assert_eq!(boundary.len(), 32);
    assert!(!answer.headers().contains_key("content-range"));
    let part = |range: &str, bytes: &str| {
        format!(
            "--{boundary}\r\nContent-Type: text/plain\r\nContent-Range: bytes {range}/900\r\n\r\n{bytes}\r\n"
        )
    };
    let expected = [
        part("0-1", "aa"),
        part("898-899", "cc"),
        part("450-452", "bbb"),
        format!("--{boundary}--\r\n"),
    ]
    .concat();
    assert_eq!(answer.body(), &expected);
    assert_eq!(
        answer.headers()["content-length"],
        expected.len().to_string().as_str()
    );
}

/// H32: the boundary is random, so that a content cannot contain it.
#[test]
fn boundary_is_random() {
    let (content, base) = (content(1000), ProblemBase::new(BASE).unwrap());
    let headers = fields(&[(header::RANGE, "bytes=0-0,-1")]);
    let preconditions = Preconditions::new(&Method::GET, &headers, now());
    let entropy = SeededEntropy::new(7);
    let boundaries: Vec<HeaderValue> = (0..2)
        .map(|_| {
            let answer = preconditions.answer_ranges(&tagged("7"), text(&content), &entropy, &base);
            answer.unwrap().headers()["content-type"].clone()
        })
        .collect();
    assert_ne!(boundaries[0], boundaries[1]);
}

/// H32: preconditions come before ranges, in the order of RFC 9110 13.2.2.
#[test]
fn preconditions_come_before_ranges() {
    let content = content(1000);
    let range = (header::RANGE, "bytes=0-9");
    let beyond = (header::RANGE, "bytes=1000-");
    let status = |method: Method, sent: &[Field<'_>], current: &Validators| {
        let answer = ask_with(&method, sent, current, text(&content));
        answer.map_or_else(
            |problem| problem.status().as_u16(),
            |answer| answer.status().as_u16(),
        )
    };
    let strong = tagged("7");
    let other = [(header::IF_MATCH, "\"8\""), range.clone()];
    let same = [(header::IF_NONE_MATCH, "\"7\""), beyond.clone()];
    let dated = Validators::default().with_strong_last_modified(now());
    let weakly_dated = Validators::default().with_last_modified(now());
    let date = (header::IF_RANGE, "Sun, 06 Nov 1994 08:49:37 GMT");
    for (sent, current, expected) in [
        (std::slice::from_ref(&range), &strong, 206),
        (std::slice::from_ref(&beyond), &strong, 416),
        (&other, &strong, 412),
        (&same, &strong, 304),
        (&[(header::IF_RANGE, "\"7\""), range.clone()], &strong, 206),
        (&[(header::IF_RANGE, "\"8\""), range.clone()], &strong, 200),
        // another state: the client needs the whole content, not a 416
        (&[(header::IF_RANGE, "\"8\""), beyond.clone()], &strong, 200),
        (&[(header::IF_RANGE, "\"7\""), beyond.clone()], &strong, 416),
        (&[date.clone(), range.clone()], &dated, 206),
        (&[date, range.clone()], &weakly_dated, 200),
        (&[range.clone(), range.clone()], &strong, 200),
        (&[(header::RANGE, "lines=0-9")], &strong, 200),
        (&[], &strong, 200),
    ] {
        assert_eq!(status(Method::GET, sent, current), expected, "{sent:?}");
    }
    for method in [Method::HEAD, Method::QUERY] {
        for sent in [&range, &beyond] {
            assert_eq!(
                status(method.clone(), std::slice::from_ref(sent), &strong),
                200,
                "{method}"
            );
        }
    }
    assert_eq!(status(Method::HEAD, &same, &strong), 304);
}

/// H32, H2: a HEAD has the fields of a GET without a range.
#[test]
fn head_has_the_fields_of_the_whole() {
    let content = content(1000);
    let sent = [(header::RANGE, "bytes=0-9")];
    let get = ask_with(&Method::GET, &[], &tagged("7"), text(&content)).unwrap();
    let head = ask_with(&Method::HEAD, &sent, &tagged("7"), text(&content)).unwrap();
    assert_eq!(get.headers()["accept-ranges"], "bytes");
    assert_eq!(get.headers()["content-length"], "1000");
    let mut headless = head;
    // as a server sends it
    *headless.body_mut() = Bytes::new();
    let request_id = |answer: &mut Response<Bytes>| {
        let id = HeaderValue::from_static("checkout-7f3a");
        answer.headers_mut().insert("x-request-id", id);
    };
    let mut get = get;
    request_id(&mut get);
    request_id(&mut headless);
    assert_eq!(audit::head(&get, &headless), []);
}

/// H32: other responses than a 200 are unchanged.
#[test]
fn other_statuses_have_no_ranges() {
    for status in [201, 203, 204, 404, 500] {
        let mut answer = text(&content(100));
        *answer.status_mut() = status.try_into().unwrap();
        let sent = [(header::RANGE, "bytes=0-0"), (header::IF_MATCH, "\"8\"")];
        let answer = ask_with(&Method::GET, &sent, &tagged("7"), answer).unwrap();
        assert_eq!(answer.status(), status);
        assert_eq!(answer.body().len(), 100);
        assert!(!answer.headers().contains_key("accept-ranges"));
    }
}

/// H32, H33: ranges are of the coded form; a part has no `Content-Digest` of the whole, and keeps
/// the other fields of the 200.
#[test]
fn ranges_are_of_the_coded_form() {
    let packed = content(500);
    let current = tagged("7").in_coding(&ContentCoding::GZIP);
    let mut answer = text(&packed);
    let headers = answer.headers_mut();
    for (name, value) in [
        ("content-encoding", "gzip"),
        ("content-digest", "sha-256=:AA==:"),
        ("repr-digest", "sha-256=:AA==:"),
        ("vary", "accept-encoding"),
        ("cache-control", "private, max-age=60"),
        ("content-length", "500"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    let sent = [(header::RANGE, "bytes=490-"), (header::IF_RANGE, "\"7-gzip\"")];
    let part = ask_with(&Method::GET, &sent, &current, answer.clone()).unwrap();
    assert_eq!(part.status(), 206);
    assert_eq!(part.body().as_ref(), &packed[490..]);
    assert!(!part.headers().contains_key("content-digest"));
    for name in ["content-encoding", "repr-digest", "vary", "cache-control"] {
        assert_eq!(part.headers()[name], answer.headers()[name]);
    }
    assert_eq!(part.headers()["content-length"], "10");
    assert_eq!(part.headers()["etag"], "\"7-gzip\"");
    // the tag of the plain form names other bytes
    let sent = [(header::RANGE, "bytes=490-"), (header::IF_RANGE, "\"7\"")];
    let whole = ask_with(&Method::GET, &sent, &current, answer).unwrap();
    assert_eq!(whole.status(), 200);
    assert!(whole.headers().contains_key("content-digest"));
}

/// H32, H13: a 416 is a problem with the length of the content.
#[test]
fn unsatisfiable_range_is_a_problem() {
    let refused = ask("bytes=1000-", &content(1000)).unwrap_err().into_response();
    assert_eq!(refused.status(), 416);
    assert_eq!(refused.headers()["content-range"], "bytes */1000");
    assert_eq!(refused.headers()["accept-ranges"], "bytes");
    assert_eq!(refused.headers()["cache-control"], "no-store");
    let problem = ReceivedProblem::parse(refused.body()).unwrap();
    assert_eq!(problem.type_uri(), format!("{BASE}range-not-satisfiable"));
}

/// H32, H22: 206, 304 and 416 pass through the pipeline, and the audit finds nothing.
#[test]
fn ranges_pass_through_the_pipeline() {
    let desk = Desk::new();
    let content = content(10_000);
    for (range, status) in [
        ("bytes=0-9", 206),
        ("bytes=0-9,5000-5009", 206),
        ("bytes=10000-", 416),
        ("bytes=9-0", 200),
    ] {
        let sent = request("GET", "/v1/charges", &[("range", range)]);
        let exchange = desk.conventions.begin(&sent).admit(&sent).unwrap();
        let answer = exchange.finish(ask(range, &content));
        assert_eq!(answer.status(), status);
        assert_complete(&answer, "/v1/charges");
        assert_eq!(audit(&sent, &answer), [], "{range}");
        let policy = if status == 416 {
            "no-store"
        } else {
            "private, no-cache"
        };
        assert_eq!(answer.headers()["cache-control"], policy);
    }
}

/// H32: a plan has the pieces of a stream, without content.
#[test]
fn stream_gets_head_and_pieces() {
    let base = ProblemBase::new(BASE).unwrap();
    let plan = |range: &str, length: u64| {
        let headers = fields(&[(header::RANGE, range)]);
        Preconditions::new(&Method::GET, &headers, now())
            .plan_ranges(&tagged("7"), Response::new(length), &SeededEntropy::new(7), &base)
            .unwrap()
    };
    let length = 1 << 40;
    let planned = plan("bytes=1-1000,-5", length);
    let total: u64 = planned.body().iter().map(ContentPiece::length).sum();
    assert_eq!(planned.headers()["content-length"], total.to_string().as_str());
    let ranges = |pieces: &[ContentPiece]| -> Vec<u64> {
        let of = |piece: &ContentPiece| match piece {
            ContentPiece::Range(range) => Some(range.first()),
            ContentPiece::Text(_) => None,
        };
        pieces.iter().filter_map(of).collect()
    };
    assert_eq!(ranges(planned.body()), [1, length - 5]);
    assert_eq!(ranges(plan("bytes=5-", length).body()), [5]);
    assert_eq!(ranges(plan("", length).body()), [0]);
    assert_eq!(plan("bytes=0-", 0).body(), &[]);
    // a content that is shorter than its announced length
    let ContentPiece::Range(range) = planned.body()[1] else {
        panic!()
    };
    assert_eq!(range.slice(&Bytes::from_static(b"short")), None);
}
