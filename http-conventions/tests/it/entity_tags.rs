//! Entity tags, validators and 304 responses.

use std::time::{Duration, SystemTime};

use http::{HeaderMap, HeaderValue, header};
use http_conventions::caching::{EntityTag, InvalidEntityTag, Validators, not_modified};

/// H7: the comparison table of RFC 9110 8.8.3.2.
#[test]
fn tags_compare_as_the_table_of_the_rfc() {
    for (one, other, strong, weak) in [
        ("W/\"1\"", "W/\"1\"", false, true),
        ("W/\"1\"", "W/\"2\"", false, false),
        ("W/\"1\"", "\"1\"", false, true),
        ("\"1\"", "\"1\"", true, true),
    ] {
        let parse = |text: &str| EntityTag::parse(text.as_bytes()).unwrap();
        let (one, other) = (parse(one), parse(other));
        assert_eq!(one.strong_eq(&other), strong);
        assert_eq!(other.strong_eq(&one), strong);
        assert_eq!(one.weak_eq(&other), weak);
        assert_eq!(other.weak_eq(&one), weak);
    }
}

/// H7: the grammar of an entity tag, over bytes.
#[test]
fn only_the_grammar_of_the_rfc_is_a_tag() {
    let valid: [&[u8]; 5] = [
        b"\"\"",
        b"\"xyzzy\"",
        b"W/\"xyzzy\"",
        b"\"caf\xe9\"",
        b"\"a,b\\\"",
    ];
    for value in valid {
        assert_eq!(EntityTag::parse(value).unwrap().header_value().as_bytes(), value);
    }
    let invalid: [&[u8]; 9] = [
        b"",
        b"xyzzy",
        b"\"",
        b"\"a",
        b"a\"",
        b"w/\"a\"",
        b"W/a",
        b"\"a b\"",
        b"\"a\"\"b\"",
    ];
    for value in invalid {
        assert_eq!(EntityTag::parse(value), Err(InvalidEntityTag), "{value:?}");
    }
    for opaque in ["a b", "a\"b", "caf\u{e9}", "\u{7f}", "\n"] {
        assert_eq!(EntityTag::strong(opaque), Err(InvalidEntityTag));
        assert_eq!(EntityTag::weak(opaque), Err(InvalidEntityTag));
    }
}

/// H7: the tag of a representation is strong and comes from a collision-resistant hash.
#[test]
fn the_tag_of_content_is_half_a_sha_256() {
    // SHA-256 of "abc" starts ba7816bf 8f01cfea 414140de 5dae2223
    let tag = EntityTag::of_content(b"abc");
    assert_eq!(tag.header_value(), "\"ungWv48Bz-pBQUDeXa4iIw\"");
    assert!(!tag.is_weak());
    assert!(!tag.weak_eq(&EntityTag::of_content(b"abd")));
}

#[test]
fn a_weakened_tag_means_the_same() {
    let tag = EntityTag::strong("v7").unwrap();
    assert!(tag.to_weak().is_weak());
    assert_eq!(tag.to_weak().to_weak(), EntityTag::weak("v7").unwrap());
    assert!(tag.to_weak().weak_eq(&tag));
}

/// H9: Last-Modified has whole seconds.
#[test]
fn validators_write_their_headers() {
    let mut headers = HeaderMap::new();
    Validators::default()
        .with_entity_tag(EntityTag::strong("v7").unwrap())
        .with_last_modified(SystemTime::UNIX_EPOCH + Duration::from_millis(784_111_777_999))
        .apply(&mut headers);
    assert_eq!(headers[header::ETAG], "\"v7\"");
    assert_eq!(headers[header::LAST_MODIFIED], "Sun, 06 Nov 1994 08:49:37 GMT");

    let mut none = HeaderMap::new();
    Validators::default().apply(&mut none);
    assert!(none.is_empty());
}

/// H8: a 304 has no body, keeps ETag, Vary, Cache-Control and Date, and drops fields about content.
/// H5: a 304 has no Content-Type, and keeps the request id.
#[test]
fn a_304_keeps_cache_fields_and_drops_content_fields() {
    let kept = [
        ("etag", "\"v7\""),
        ("vary", "Accept, Origin"),
        ("cache-control", "private, max-age=0"),
        ("date", "Sun, 06 Nov 1994 08:49:37 GMT"),
        ("expires", "Sun, 06 Nov 1994 08:49:37 GMT"),
        ("content-location", "/v1/charges/ch_1"),
        ("x-request-id", "checkout-7f3a"),
        ("access-control-allow-origin", "https://app.example.com"),
    ];
    let dropped = [
        ("content-type", "application/json"),
        ("content-length", "17"),
        ("content-encoding", "gzip"),
        ("content-language", "en"),
        ("last-modified", "Sun, 06 Nov 1994 08:49:37 GMT"),
        ("content-range", "bytes 0-16/17"),
        ("content-digest", "sha-256=:AAAA:"),
        ("repr-digest", "sha-256=:AAAA:"),
        ("trailer", "content-digest"),
        ("transfer-encoding", "chunked"),
    ];
    let mut headers = HeaderMap::new();
    for (name, value) in kept.into_iter().chain(dropped) {
        headers.insert(name, HeaderValue::from_static(value));
    }
    let response = not_modified(headers);
    assert_eq!(response.status(), 304);
    assert!(response.body().is_empty());
    for (name, value) in kept {
        assert_eq!(response.headers()[name], value);
    }
    assert_eq!(response.headers().len(), kept.len());
}

/// H9: without an ETag the weaker validator stays.
#[test]
fn a_304_without_etag_keeps_last_modified() {
    let mut headers = HeaderMap::new();
    headers.insert(
        header::LAST_MODIFIED,
        HeaderValue::from_static("Sun, 06 Nov 1994 08:49:37 GMT"),
    );
    assert!(
        not_modified(headers)
            .headers()
            .contains_key(header::LAST_MODIFIED)
    );
}

proptest::proptest! {
    #[test]
    fn a_written_tag_reads_back(opaque in "[!#-~]{0,40}", weak: bool) {
        let tag = if weak { EntityTag::weak(&opaque) } else { EntityTag::strong(&opaque) }.unwrap();
        proptest::prop_assert_eq!(EntityTag::parse(tag.header_value().as_bytes()), Ok(tag));
    }

    #[test]
    fn parsing_a_tag_never_panics(value: Vec<u8>) {
        let _parsed = EntityTag::parse(&value);
    }
}
