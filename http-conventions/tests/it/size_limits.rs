//! Requests that are too large.

use http::{HeaderMap, HeaderName, HeaderValue, Uri, header};
use http_conventions::{
    content::{SizeLimits, TooLarge},
    errors::{Member, ProblemBase, ReceivedProblem},
};

fn target(length: usize) -> Uri {
    format!("/{}", "a".repeat(length - 1)).parse().unwrap()
}

fn announced(length: &'static str) -> HeaderMap {
    HeaderMap::from_iter([(header::CONTENT_LENGTH, HeaderValue::from_static(length))])
}

/// H19: each limit is inclusive, and one byte more is refused before content is read.
#[test]
fn a_head_is_refused_from_the_first_byte_too_many() {
    let limits = SizeLimits::default();
    let (none, root) = (HeaderMap::new(), Uri::from_static("/"));
    assert_eq!(limits.check_head(&target(8192), &none), Ok(()));
    assert_eq!(
        limits.check_head(&target(8193), &none),
        Err(TooLarge::Target(8192))
    );
    let query: Uri = format!("https://api.example.com/?{}", "a".repeat(8191))
        .parse()
        .unwrap();
    assert_eq!(limits.check_head(&query, &none), Err(TooLarge::Target(8192)));

    let lines = |count: u64, length| -> HeaderMap {
        let name = |number| HeaderName::try_from(format!("x-{number:02}")).unwrap();
        (0..count)
            .map(|number| (name(number), HeaderValue::try_from("v".repeat(length)).unwrap()))
            .collect()
    };
    assert_eq!(limits.check_head(&root, &lines(100, 0)), Ok(()));
    assert_eq!(
        limits.check_head(&root, &lines(101, 0)),
        Err(TooLarge::FieldLines(100))
    );
    let mut repeated = HeaderMap::new();
    for _ in 0..101 {
        repeated.append("x-a", HeaderValue::from_static(""));
    }
    assert_eq!(
        limits.check_head(&root, &repeated),
        Err(TooLarge::FieldLines(100))
    );
    let small = limits.with_fields(10, 40);
    assert_eq!(small.check_head(&root, &lines(4, 6)), Ok(()));
    assert_eq!(small.check_head(&root, &lines(4, 7)), Err(TooLarge::Fields(40)));

    assert_eq!(limits.check_head(&root, &announced("1048576")), Ok(()));
    assert_eq!(
        limits.check_head(&root, &announced("1048577")),
        Err(TooLarge::Content(1 << 20))
    );
    assert_eq!(
        limits.with_content(5, 9).check_head(&root, &announced("6")),
        Err(TooLarge::Content(5))
    );
    // a malformed length is left to the server
    assert_eq!(limits.check_head(&root, &announced("many")), Ok(()));
}

/// H19: content is counted as sent and after decompression, each against its limit.
#[test]
fn content_is_counted_packed_and_unpacked() {
    let mut meter = SizeLimits::default().with_content(10, 100).meter();
    assert_eq!(
        (meter.add_encoded(6), meter.add_encoded(4), meter.add_encoded(0)),
        (Ok(()), Ok(()), Ok(()))
    );
    assert_eq!((meter.add_decoded(99), meter.decoded_left()), (Ok(()), 1));
    assert_eq!((meter.add_decoded(1), meter.decoded_left()), (Ok(()), 0));
    assert_eq!(meter.add_decoded(1), Err(TooLarge::Unpacked(100)));
    assert_eq!(
        (meter.add_decoded(usize::MAX), meter.decoded_left()),
        (Err(TooLarge::Unpacked(100)), 0)
    );
    assert_eq!(meter.add_encoded(1), Err(TooLarge::Content(10)));
    assert_eq!(meter.add_encoded(usize::MAX), Err(TooLarge::Content(10)));
}

/// H19: each limit has its status and problem type, and the problem names the limit.
#[test]
fn too_large_requests_get_413_414_or_431() {
    let base = ProblemBase::new("https://api.example.com/problems/").unwrap();
    for (refused, status, slug) in [
        (TooLarge::Content(7), 413, "/content-too-large"),
        (TooLarge::Unpacked(7), 413, "/content-too-large"),
        (TooLarge::Target(7), 414, "/target-too-long"),
        (TooLarge::Fields(7), 431, "/fields-too-large"),
        (TooLarge::FieldLines(7), 431, "/fields-too-large"),
    ] {
        let response = refused.problem(&base).into_response();
        let problem = ReceivedProblem::parse(response.body()).unwrap();
        assert_eq!(
            (response.status().as_u16(), problem.type_uri().ends_with(slug)),
            (status, true)
        );
        assert_eq!(problem.extension("limit").and_then(Member::as_integer), Some(7));
        assert_eq!(response.headers()["cache-control"], "no-store");
    }
}
