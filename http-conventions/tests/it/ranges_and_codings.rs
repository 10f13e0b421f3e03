//! `If-Range`, and the tags of content codings.

use std::time::{Duration, SystemTime};

use http::{HeaderMap, HeaderName, HeaderValue, Method, header};
use http_conventions::{
    caching::{EntityTag, PreconditionDecision, Preconditions, Validators},
    content::ContentCoding,
};

static CODINGS: [ContentCoding; 2] = [ContentCoding::GZIP, ContentCoding::BROTLI];

fn now() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_777)
}

fn tagged(tag: &[u8]) -> Validators {
    Validators::default().with_entity_tag(EntityTag::parse(tag).unwrap())
}

fn takes_range(method: &Method, fields: &[(HeaderName, &'static str)], current: &Validators) -> bool {
    let mut headers = HeaderMap::new();
    for (name, value) in fields {
        headers.append(name.clone(), HeaderValue::from_static(value));
    }
    Preconditions::new(method, &headers, now()).takes_range(current)
}

/// H7, H32: a range counts only for a GET of the state that If-Range names.
#[test]
fn a_range_is_of_the_state_that_if_range_names() {
    let range = || (header::RANGE, "bytes=0-9");
    let strong = tagged(b"\"a\"");
    assert!(takes_range(&Method::GET, &[range()], &strong));
    assert!(!takes_range(&Method::GET, &[], &strong));
    for method in [Method::HEAD, Method::QUERY, Method::PUT] {
        assert!(!takes_range(&method, &[range()], &strong));
    }

    let names = |value: &'static str, current: &Validators| {
        assert!(!takes_range(&Method::GET, &[(header::IF_RANGE, value)], current));
        takes_range(&Method::GET, &[range(), (header::IF_RANGE, value)], current)
    };
    assert!(names("\"a\"", &strong));
    for other in ["\"b\"", "W/\"a\"", "\"a\", \"b\"", "*", "a", "", "\"a"] {
        assert!(!names(other, &strong), "{other}");
    }
    // strong comparison: a weak tag does not identify bytes
    assert!(!names("W/\"a\"", &tagged(b"W/\"a\"")));
    assert!(!names("\"a\"", &tagged(b"W/\"a\"")));
    let twice = [range(), (header::IF_RANGE, "\"a\""), (header::IF_RANGE, "\"a\"")];
    assert!(!takes_range(&Method::GET, &twice, &strong));
}

/// H7, H32: a date identifies a state only if the host declares it strong.
#[test]
fn if_range_takes_a_date_only_where_it_is_strong() {
    let names = |value: &'static str, current: &Validators| {
        let fields = [(header::RANGE, "bytes=0-9"), (header::IF_RANGE, value)];
        takes_range(&Method::GET, &fields, current)
    };
    let weak = Validators::default().with_last_modified(now());
    let strong = Validators::default().with_strong_last_modified(now());
    for same in ["Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT"] {
        assert!(names(same, &strong));
        assert!(!names(same, &weak));
        assert!(!names(same, &tagged(b"\"a\"")));
        // the same second in another coding is another state
        assert!(!names(same, &strong.in_coding(&ContentCoding::GZIP)));
        assert!(names(same, &strong.in_coding(&ContentCoding::IDENTITY)));
    }
    for other in [
        "Sun, 06 Nov 1994 08:49:38 GMT",
        "Sun, 06 Nov 1994 08:49:36 GMT",
        "yesterday",
    ] {
        assert!(!names(other, &strong), "{other}");
    }
}

fn decide(
    method: &Method,
    name: HeaderName,
    value: &'static str,
    current: &Validators,
) -> PreconditionDecision {
    let headers = HeaderMap::from_iter([(name, HeaderValue::from_static(value))]);
    Preconditions::new(method, &headers, now()).evaluate(Some(current))
}

/// H7: each coding has its own tag, and a read is compared with the tag of the coding that is sent.
#[test]
fn a_read_is_compared_in_the_coding_that_is_sent() {
    let current = tagged(b"\"a\"").with_codings(&CODINGS);
    let packed = current.in_coding(&ContentCoding::GZIP);
    assert_eq!(packed.entity_tag().unwrap().header_value(), "\"a-gzip\"");
    let weak = EntityTag::weak("a").unwrap().in_coding(&ContentCoding::BROTLI);
    assert_eq!(weak.header_value(), "W/\"a-br\"");

    let read = |value, current| decide(&Method::GET, header::IF_NONE_MATCH, value, current);
    assert_eq!(read("\"a-gzip\"", &packed), PreconditionDecision::NotModified);
    for other in ["\"a\"", "\"a-br\"", "\"a-gzip-gzip\""] {
        assert_eq!(read(other, &packed), PreconditionDecision::Proceed, "{other}");
    }
    let plain = current.in_coding(&ContentCoding::IDENTITY);
    assert_eq!(read("\"a\"", &plain), PreconditionDecision::NotModified);
    assert_eq!(read("\"a-gzip\"", &plain), PreconditionDecision::Proceed);
}

/// H7: a write passes with the tag of any configured coding, and with no other.
#[test]
fn a_write_may_name_the_state_in_any_of_its_codings() {
    let write = |value, current: &Validators| decide(&Method::PUT, header::IF_MATCH, value, current);
    let current = tagged(b"\"a\"").with_codings(&CODINGS);
    for same in ["\"a\"", "\"a-gzip\"", "\"b\", \"a-br\""] {
        assert_eq!(write(same, &current), PreconditionDecision::Proceed, "{same}");
    }
    for other in [
        "\"b-gzip\"",
        "\"a-zstd\"",
        "W/\"a-gzip\"",
        "\"a-\"",
        "\"agzip\"",
        "\"-gzip\"",
        "\"\"",
        "\"a-gzip-br\"",
    ] {
        assert_eq!(
            write(other, &current),
            PreconditionDecision::PreconditionFailed,
            "{other}"
        );
    }
    assert_eq!(
        write("\"a-gzip\"", &tagged(b"\"a\"")),
        PreconditionDecision::PreconditionFailed
    );
    // a weak tag stays weak in every coding
    assert_eq!(
        write("\"a-gzip\"", &tagged(b"W/\"a\"").with_codings(&CODINGS)),
        PreconditionDecision::PreconditionFailed
    );
}
