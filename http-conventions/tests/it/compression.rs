//! Compression of complete responses: only those that gain by it and reveal nothing.

use std::io::{Read as _, Write as _};

use bytes::Bytes;
use flate2::{read::GzDecoder, write::GzEncoder};
use http::{Request, Response, StatusCode};
use http_conventions::{
    audit,
    caching::{EntityTag, Preconditions, Validators, not_modified},
    content::{Compression, ContentCoding},
};
use proptest::prelude::*;

pub(crate) static CODINGS: [ContentCoding; 2] = [ContentCoding::GZIP, ContentCoding::ZSTD];

/// `gzip`, and a stand-in for `zstd`.
pub(crate) fn compression() -> Compression {
    Compression::new(&CODINGS, |coding, content| {
        if *coding == ContentCoding::ZSTD {
            return Some(b"zstd".to_vec());
        }
        let mut encoder = GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(content).unwrap();
        encoder.finish().ok()
    })
}

pub(crate) fn decoded(response: &Response<Bytes>) -> Bytes {
    match response.headers().get("content-encoding") {
        None => response.body().clone(),
        Some(coding) => {
            assert_eq!(coding, "gzip");
            let mut content = Vec::new();
            GzDecoder::new(response.body().as_ref())
                .read_to_end(&mut content)
                .unwrap();
            content.into()
        }
    }
}

fn sent(method: &str, fields: &[(&str, &str)]) -> Request<()> {
    let request = Request::builder().method(method);
    let request = fields
        .iter()
        .fold(request, |request, (name, value)| request.header(*name, *value));
    request.body(()).unwrap()
}

/// A response of 2000 bytes that every cache may store; a field without a value is removed.
fn response(status: u16, fields: &[(&str, &str)]) -> Response<Bytes> {
    let mut response = Response::new(Bytes::from(vec![b'0'; 2000]));
    *response.status_mut() = StatusCode::from_u16(status).unwrap();
    let usual = [
        ("content-type", "application/json"),
        ("cache-control", "public, max-age=60"),
    ];
    for (name, value) in usual.iter().chain(fields) {
        let name: http::HeaderName = name.parse().unwrap();
        match value.is_empty() {
            true => response.headers_mut().remove(name),
            false => response.headers_mut().insert(name, value.parse().unwrap()),
        };
    }
    response
}

fn apply(accept: &str, response: Response<Bytes>) -> Response<Bytes> {
    compression()
        .negotiate(&sent("GET", &[("accept-encoding", accept)]))
        .apply(response)
}

fn field<'a>(response: &'a Response<Bytes>, name: &str) -> Option<&'a str> {
    Some(response.headers().get(name)?.to_str().unwrap())
}

/// H30: the client chooses the coding; `Vary` names its field in each case.
#[test]
fn coding_is_negotiated() {
    let without_field = compression()
        .negotiate(&sent("GET", &[]))
        .apply(response(200, &[]));
    assert_eq!(field(&without_field, "content-encoding"), None);
    assert_eq!(field(&without_field, "vary"), Some("accept-encoding"));
    for (accept, expected) in [
        ("gzip", Some("gzip")),
        ("gzip, zstd", Some("gzip")),
        ("gzip;q=0.5, zstd", Some("zstd")),
        ("br, *;q=0.1", Some("gzip")),
        ("X-GZIP", Some("gzip")),
        ("br", None),
        ("", None),
        ("identity", None),
        ("gzip;q=0", None),
        ("identity, gzip;q=0.5", None),
        // nothing is acceptable, and the plain content is better than none
        ("identity;q=0, br", None),
    ] {
        let sent = apply(accept, response(200, &[("vary", "origin")]));
        assert_eq!(field(&sent, "content-encoding"), expected, "{accept}");
        assert_eq!(field(&sent, "vary"), Some("origin, accept-encoding"), "{accept}");
    }
    let packed = apply("gzip", response(200, &[]));
    assert_eq!(decoded(&packed), response(200, &[]).body());
    assert!(packed.body().len() < 100);
}

/// H30: content that is small, partial, encoded, or does not compress well is sent as it is, and so
/// is each response that may contain a secret.
#[test]
fn ineligible_responses_are_not_compressed() {
    type Case = (u16, &'static [(&'static str, &'static str)], bool);
    let cases: [Case; 18] = [
        (200, &[], true),
        (
            404,
            &[("content-type", "application/problem+json; charset=utf-8")],
            true,
        ),
        (200, &[("content-type", "Text/HTML; charset=utf-8")], true),
        (200, &[("content-type", "image/svg+XML")], true),
        (200, &[("content-type", "application/x-ndjson")], true),
        (200, &[("cache-control", "")], true),
        (200, &[("cache-control", "max-age=0, must-revalidate")], true),
        (200, &[("content-type", "")], false),
        (200, &[("content-type", "image/png")], false),
        (200, &[("content-type", "application/zip")], false),
        (200, &[("content-type", "text")], false),
        (200, &[("content-encoding", "br")], false),
        (416, &[("content-range", "bytes */9")], false),
        (200, &[("cache-control", "public, No-Transform")], false),
        (200, &[("cache-control", "no-store")], false),
        (200, &[("cache-control", "PRIVATE, max-age=60")], false),
        (200, &[("cache-control", "max-age=60, private=\"x-user\"")], false),
        (200, &[("set-cookie", "session=1")], false),
    ];
    for (status, fields, is_compressed) in cases {
        let before = response(status, fields);
        let sent = apply("gzip", before.clone());
        let is_changed = sent.headers() != before.headers() || sent.body() != before.body();
        assert_eq!(is_changed, is_compressed, "{status} {fields:?}");
    }
}

/// H30, H32: a part is sent as it is, and has the `Vary` of the 200.
#[test]
fn part_varies_like_the_complete_response() {
    let secret = ("cache-control", "private, no-cache");
    for (fields, expected) in [
        (&[][..], Some("accept-encoding")),
        (
            &[("content-type", "multipart/byteranges; boundary=a")],
            Some("accept-encoding"),
        ),
        (&[("content-type", "image/png")], None),
        (&[secret], None),
    ] {
        let before = response(206, fields);
        let sent = apply("gzip", before.clone());
        assert_eq!(field(&sent, "vary"), expected, "{fields:?}");
        assert_eq!(field(&sent, "content-encoding"), None);
        assert_eq!(sent.body(), before.body());
    }
}

/// H30: 1023 bytes are sent as they are, 1024 compressed; the host may set another threshold.
#[test]
fn threshold_decides_by_the_length() {
    let coding = |compression: &Compression, length: usize| {
        let request = sent("GET", &[("accept-encoding", "gzip")]);
        let sent = compression
            .negotiate(&request)
            .apply(response(200, &[]).map(|body| body.slice(..length)));
        field(&sent, "content-encoding").map(str::to_owned)
    };
    let default = compression();
    assert_eq!(coding(&default, 1023), None);
    assert_eq!(coding(&default, 1024).as_deref(), Some("gzip"));
    let low = default.with_threshold(100);
    assert_eq!(coding(&low, 99), None);
    assert_eq!(coding(&low, 100).as_deref(), Some("gzip"));
    assert_eq!(coding(&low.with_threshold(0), 0), None);
}

/// H30: content that does not become smaller, or that the encoder refuses, is sent as it is.
#[test]
fn content_that_does_not_shrink_is_sent_as_it_is() {
    static GZIP: [ContentCoding; 1] = [ContentCoding::GZIP];
    let grows = Compression::new(&GZIP, |_, content| Some(content.to_vec()));
    let fails = Compression::new(&GZIP, |_, _| None);
    for compression in [grows, fails] {
        let request = sent("GET", &[("accept-encoding", "gzip")]);
        let sent = compression
            .negotiate(&request)
            .apply(response(200, &[("etag", "\"v\"")]));
        assert_eq!(field(&sent, "content-encoding"), None);
        assert_eq!(
            (field(&sent, "etag"), field(&sent, "vary")),
            (Some("\"v\""), Some("accept-encoding"))
        );
        assert_eq!(sent.body().len(), 2000);
    }
}

/// H30: only a named opt-in compresses a response that may contain secrets.
#[test]
fn secrets_are_compressed_by_opt_in() {
    let request = sent("GET", &[("accept-encoding", "gzip")]);
    for secret in [
        ("set-cookie", "session=1"),
        ("cache-control", "private, no-store"),
    ] {
        let opted_in = compression().negotiate(&request).danger_with_secrets();
        let sent = opted_in.apply(response(200, &[secret]));
        assert_eq!(field(&sent, "content-encoding"), Some("gzip"));
        let kept = opted_in.apply(response(200, &[secret, ("content-type", "image/png")]));
        assert_eq!(field(&kept, "content-encoding"), None);
    }
    let sent = compression().negotiate(&request).danger_with_secrets();
    let kept = sent.apply(response(200, &[("cache-control", "no-store, no-transform")]));
    assert_eq!(field(&kept, "content-encoding"), None);
}

/// H30, H7: a strong tag names the coding, a weak one stays; length and digests are those of the
/// bytes that are sent.
#[test]
fn fields_describe_the_compressed_bytes() {
    const DIGEST: &str = "sha-256=:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=:";
    let before = response(
        200,
        &[
            ("etag", "\"v\""),
            ("content-length", "2000"),
            ("content-digest", DIGEST),
            ("repr-digest", DIGEST),
        ],
    );
    let sent = apply("gzip", before.clone());
    assert_eq!(field(&sent, "etag"), Some("\"v-gzip\""));
    assert_eq!(
        field(&sent, "content-length"),
        Some(sent.body().len().to_string().as_str())
    );
    let digest = field(&sent, "content-digest").unwrap();
    assert!(
        digest.starts_with("sha-256=:") && digest.ends_with("=:") && digest != DIGEST,
        "{digest}"
    );
    assert_eq!(field(&sent, "repr-digest"), Some(digest));
    assert_eq!(audit::codings(&apply("", before), &sent), []);
    for (tag, expected) in [("W/\"v\"", "W/\"v\""), ("v", "v")] {
        assert_eq!(
            field(&apply("gzip", response(200, &[("etag", tag)])), "etag"),
            Some(expected)
        );
    }
    assert_eq!(field(&apply("gzip", response(200, &[])), "content-length"), None);
}

/// H30, H7: the 304 has the tag under which the client has cached the response.
#[test]
fn not_modified_names_the_cached_tag() {
    for (listed, tag, expected) in [
        ("\"v-gzip\"", "\"v\"", "\"v-gzip\""),
        ("\"u-gzip\", W/\"v-zstd\"", "\"v\"", "\"v-zstd\""),
        ("\"v\"", "\"v\"", "\"v\""),
        ("*", "\"v\"", "\"v\""),
        ("\"v-br\"", "\"v\"", "\"v\""),
        ("W/\"v-gzip\"", "W/\"v\"", "W/\"v\""),
    ] {
        // also if the client no longer accepts the coding
        for accept in ["gzip", "identity"] {
            let request = sent("GET", &[("accept-encoding", accept), ("if-none-match", listed)]);
            let unchanged = not_modified(response(200, &[("etag", tag)]).into_parts().0.headers);
            let sent = compression().negotiate(&request).apply(unchanged);
            assert_eq!(field(&sent, "etag"), Some(expected), "{listed}");
            assert_eq!(field(&sent, "vary"), Some("accept-encoding"));
            assert_eq!(field(&sent, "content-encoding"), None);
        }
    }
}

/// H30, H2: the response to HEAD has the fields of the response to GET.
#[test]
fn head_has_the_fields_of_get() {
    let accept = ("accept-encoding", "gzip");
    let fields = [("etag", "\"v\""), ("content-length", "2000")];
    let get = apply("gzip", response(200, &fields));
    let compress = compression().negotiate(&sent("HEAD", &[accept]));
    let head = compress.apply(response(200, &fields).map(|_| Bytes::new()));
    assert_eq!(audit::head(&get, &head), []);
    let with_content = compress.apply(response(200, &fields));
    assert_eq!(
        (with_content.headers(), with_content.body()),
        (get.headers(), get.body())
    );
    let small = [("etag", "\"v\""), ("content-length", "20")];
    let head = compress.apply(response(200, &small).map(|_| Bytes::new()));
    assert_eq!(
        (field(&head, "etag"), field(&head, "vary")),
        (Some("\"v\""), None)
    );
    let unknown = compress.apply(response(200, &[("etag", "\"v\"")]).map(|_| Bytes::new()));
    assert_eq!(
        (field(&unknown, "etag"), field(&unknown, "vary")),
        (Some("\"v\""), Some("accept-encoding"))
    );
}

/// H30, H7: a write accepts the tag of each coding, by the validators of a host without pipeline.
#[test]
fn write_accepts_the_tag_of_a_coding() {
    let current = Validators::default().with_entity_tag(EntityTag::strong("v").unwrap());
    let request = sent("PUT", &[("if-match", "\"v-gzip\"")]);
    let now = std::time::SystemTime::UNIX_EPOCH;
    let evaluate = |current: &Validators| Preconditions::of(&request, now).evaluate(Some(current));
    use http_conventions::caching::PreconditionDecision::{PreconditionFailed, Proceed};
    assert_eq!(evaluate(&current), PreconditionFailed);
    assert_eq!(evaluate(&current.with_codings(&CODINGS)), Proceed);
}

/// H30, H22: the audit reports a tag that two codings share, and a missing `Vary`.
#[test]
fn audit_compares_two_codings() {
    let names = |plain: &[(&str, &str)], packed: &[(&str, &str)]| {
        let findings = audit::codings(&response(200, plain), &response(200, packed));
        findings
            .iter()
            .map(|finding| finding.rule().name())
            .collect::<Vec<_>>()
    };
    let (vary, gzip) = (("vary", "Accept-Encoding"), ("content-encoding", "gzip"));
    let (tag, other, weak) = (("etag", "\"v\""), ("etag", "\"v-gzip\""), ("etag", "W/\"v\""));
    assert_eq!(names(&[vary, tag], &[vary, gzip, tag]), ["shared-entity-tag"]);
    assert!(names(&[vary, tag], &[vary, gzip, other]).is_empty());
    assert!(names(&[vary, weak], &[vary, gzip, weak]).is_empty());
    assert_eq!(names(&[], &[vary, gzip]), ["no-vary-encoding"]);
    assert_eq!(names(&[vary], &[gzip]), ["no-vary-encoding"]);
    let stored = ("cache-control", "no-store");
    assert!(names(&[stored], &[stored, gzip]).is_empty());
    assert!(names(&[tag], &[tag]).is_empty());
    assert!(names(&[gzip, tag], &[gzip, tag]).is_empty());
}

/// H30: the coder of the feature `gzip` writes what other decoders read.
#[cfg(feature = "gzip")]
#[test]
fn gzip_is_decoded_by_others() {
    let request = sent("GET", &[("accept-encoding", "gzip, br")]);
    let sent = Compression::gzip().negotiate(&request).apply(response(200, &[]));
    assert_eq!(field(&sent, "content-encoding"), Some("gzip"));
    assert_eq!(decoded(&sent), response(200, &[]).body());
}

proptest! {
    /// H30: any content is decoded to itself, and a second application changes nothing.
    #[test]
    fn any_content_is_decoded_to_itself(
        (length, values) in (0_usize..5000, 1_usize..=256),
        accept in "(gzip|br|identity|\\*|[ -~]{0,8})(;q=[01](\\.[0-9])?)?(, ?gzip)?",
    ) {
        let request = sent("GET", &[("accept-encoding", accept.trim())]);
        let gzip = Compression::new(&CODINGS[..1], |_, content| {
            let mut encoder = GzEncoder::new(Vec::new(), flate2::Compression::fast());
            encoder.write_all(content).unwrap();
            encoder.finish().ok()
        });
        let compress = gzip.negotiate(&request);
        // the more values, the less it shrinks
        let bytes = (0..length).map(|at| u8::try_from(at * at / 7 % values).unwrap());
        let content: Bytes = bytes.collect();
        let sent = compress.apply(response(200, &[("etag", "\"v\"")]).map(|_| content.clone()));
        prop_assert_eq!(decoded(&sent), content);
        prop_assert_eq!(field(&sent, "etag") == Some("\"v-gzip\""), sent.headers().contains_key("content-encoding"));
        let again = compress.apply(sent.clone());
        prop_assert_eq!((again.headers(), again.body()), (sent.headers(), sent.body()));
    }
}
