//! Versions and their lifecycle.

use std::time::{Duration, SystemTime};

use http::{HeaderMap, HeaderName, HeaderValue, Uri, header};
use http_conventions::{
    errors::{Member, ProblemBase, ReceivedProblem},
    versions::{ApiVersion, Lifecycle, Stage, SunsetTooEarly, VersionMistake, VersionScheme, Versions},
};
use proptest::prelude::*;

const NOW: SystemTime = SystemTime::UNIX_EPOCH;

fn at(seconds: u64) -> SystemTime {
    NOW + Duration::from_secs(seconds)
}

fn version(text: &str) -> ApiVersion {
    text.parse().unwrap()
}

fn versions(scheme: VersionScheme, all: &[&str]) -> Versions {
    Versions::new(
        scheme,
        all.iter().map(|text| (version(text), Lifecycle::default())),
    )
    .unwrap()
}

fn api_version() -> HeaderName {
    HeaderName::from_static("api-version")
}

fn headers(fields: &[(HeaderName, &'static str)]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for (name, value) in fields {
        headers.append(name.clone(), HeaderValue::from_static(value));
    }
    headers
}

/// Resolved version, or the status of the refusal.
fn resolved(
    versions: &Versions,
    uri: &'static str,
    fields: &[(HeaderName, &'static str)],
) -> Result<String, u16> {
    pinned(versions, uri, fields, None)
}

fn pinned(
    versions: &Versions,
    uri: &'static str,
    fields: &[(HeaderName, &'static str)],
    pin: Option<&str>,
) -> Result<String, u16> {
    let base = ProblemBase::new("https://api.example.com/problems/").unwrap();
    match versions.resolve(&Uri::from_static(uri), &headers(fields), pin.map(version), NOW) {
        Ok(resolved) => Ok(format!("{} {}", resolved.version(), resolved.path())),
        Err(refused) => Err(refused.problem(&base).status().as_u16()),
    }
}

/// H20: the version is the first segment of the path, and an unknown version is a 404.
#[test]
fn a_version_is_read_from_the_path() {
    let versions = versions(VersionScheme::Path, &["2", "1", "10"])
        .with_default(version("2"))
        .unwrap();
    for (path, expected) in [
        ("/v1/charges", Ok("1 /charges")),
        ("/v10/charges/ch_1?limit=2", Ok("10 /charges/ch_1")),
        ("/v2", Ok("2 /")),
        ("/v2/", Ok("2 /")),
        ("/v3/charges", Err(404)),
        ("/v01/charges", Err(404)),
        ("/V1/charges", Err(404)),
        ("/charges", Err(404)),
        ("/", Err(404)),
        ("/vx/charges", Err(404)),
        ("/v1-charges", Err(404)),
    ] {
        assert_eq!(
            pinned(&versions, path, &[], Some("1")),
            expected.map(str::to_owned),
            "{path}"
        );
    }
}

/// H20: in a field or the query, a missing, malformed, repeated or unknown version is a 400 that
/// lists the versions.
#[test]
fn a_version_is_read_from_a_field_or_the_query() {
    let by_field = versions(VersionScheme::Header(api_version()), &["1", "2"]);
    let field = |values: &[&'static str]| {
        let fields: Vec<_> = values.iter().map(|value| (api_version(), *value)).collect();
        resolved(&by_field, "/charges", &fields)
    };
    assert_eq!(field(&["2"]).unwrap(), "2 /charges");
    for refused in [
        &[][..],
        &["3"],
        &["v2"],
        &[""],
        &["2", "2"],
        &["2, 2"],
        &["2026-01-01"],
    ] {
        assert_eq!(field(refused), Err(400), "{refused:?}");
    }
    let by_query = versions(VersionScheme::Query("api-version".to_owned()), &["1", "2"]);
    for (uri, expected) in [
        ("/charges?limit=1&api-version=2", Ok("2 /charges")),
        ("/charges?api-version=3", Err(400)),
        ("/charges?api-version=", Err(400)),
        ("/charges?api-version=2&api-version=2", Err(400)),
        ("/charges", Err(400)),
    ] {
        assert_eq!(
            resolved(&by_query, uri, &[]),
            expected.map(str::to_owned),
            "{uri}"
        );
    }
    let base = ProblemBase::new("https://api.example.com/problems/").unwrap();
    let uri = Uri::from_static("/charges");
    let refused = by_query
        .resolve(&uri, &HeaderMap::new(), None, NOW)
        .unwrap_err()
        .problem(&base);
    let problem = ReceivedProblem::parse(&refused.to_bytes()).unwrap();
    assert!(problem.type_uri().ends_with("/unsupported-version"));
    assert_eq!(
        problem.extension("supported"),
        Some(&Member::List(vec!["1".into(), "2".into()]))
    );
}

/// H20: in the media type, an unknown version is 406 in Accept and 415 in Content-Type.
#[test]
fn a_version_is_read_from_the_media_type() {
    let versions = versions(VersionScheme::MediaType("version".to_owned()), &["1", "2"])
        .with_default(version("1"))
        .unwrap();
    let (accept, content) = (header::ACCEPT, header::CONTENT_TYPE);
    for (fields, expected) in [
        (vec![(accept.clone(), "application/json;version=2")], Ok("2 /c")),
        (
            vec![(accept.clone(), "a/b;version=1;q=0.5, a/b; Version=\"2\"")],
            Ok("2 /c"),
        ),
        (
            vec![(accept.clone(), "a/b;version=3;q=0, a/b;version=2;q=0.1")],
            Ok("2 /c"),
        ),
        (
            vec![(accept.clone(), "*/*"), (content.clone(), "a/b;version=2")],
            Ok("2 /c"),
        ),
        (vec![(accept.clone(), "*/*")], Ok("1 /c")),
        (vec![], Ok("1 /c")),
        (vec![(accept.clone(), "a/b;version=3")], Err(406)),
        (vec![(accept.clone(), "a/b;version=x")], Err(406)),
        (vec![(content, "a/b;version=3")], Err(415)),
    ] {
        assert_eq!(
            resolved(&versions, "/c", &fields),
            expected.map(str::to_owned),
            "{fields:?}"
        );
    }
}

/// H20: the version in the request precedes the pin of the account, which precedes the default; for
/// dates the latest that is not later is used.
#[test]
fn an_account_keeps_the_version_of_its_day() {
    let dates = versions(
        VersionScheme::Header(api_version()),
        &["2026-06-01", "2025-01-15", "2026-01-01"],
    );
    let ask = |said: Option<&'static str>, pin: Option<&str>| {
        let fields: Vec<_> = said.map(|said| (api_version(), said)).into_iter().collect();
        pinned(&dates, "/", &fields, pin)
    };
    for (said, pin, expected) in [
        (Some("2026-01-01"), None, Ok("2026-01-01 /")),
        (Some("2026-05-31"), None, Ok("2026-01-01 /")),
        (Some("2099-12-31"), None, Ok("2026-06-01 /")),
        (Some("2025-01-14"), None, Err(400)),
        (Some("2026-06-01"), Some("2025-03-01"), Ok("2026-06-01 /")),
        (None, Some("2025-03-01"), Ok("2025-01-15 /")),
        (Some("nonsense"), Some("2025-03-01"), Err(400)),
        (Some("1"), None, Err(400)),
        (None, None, Err(400)),
    ] {
        assert_eq!(ask(said, pin), expected.map(str::to_owned), "{said:?} {pin:?}");
    }
    let with_default = dates.with_default(version("2026-01-01")).unwrap();
    assert_eq!(resolved(&with_default, "/", &[]).unwrap(), "2026-01-01 /");
    assert_eq!(
        pinned(&with_default, "/", &[], Some("2025-03-01")).unwrap(),
        "2025-01-15 /"
    );
}

/// H20: a deprecated version has its headers, its field is in Vary, and a removed version is a 410
/// with its successor.
#[test]
fn a_version_sends_its_lifecycle() {
    let base = ProblemBase::new("https://api.example.com/problems/").unwrap();
    let old = Lifecycle::deprecated(at(10)).with_sunset(at(20)).unwrap();
    let old = old
        .with_successor("/v2".parse().unwrap())
        .with_information("https://docs.example.com/v1".parse().unwrap());
    let all = [(version("1"), old), (version("2"), Lifecycle::default())];
    let versions = Versions::new(VersionScheme::Header(api_version()), all).unwrap();
    let uri = Uri::from_static("/charges");
    let asks_old = headers(&[(api_version(), "1")]);

    let mut answer = HeaderMap::new();
    versions
        .resolve(&uri, &asks_old, None, at(19))
        .unwrap()
        .apply(&mut answer);
    assert_eq!(
        (&answer["deprecation"], &answer["sunset"]),
        (
            &HeaderValue::from_static("@10"),
            &HeaderValue::from_static("Thu, 01 Jan 1970 00:00:20 GMT")
        )
    );
    assert_eq!(answer["vary"], "api-version");
    let links: Vec<_> = answer.get_all(header::LINK).iter().collect();
    assert_eq!(
        links,
        [
            r#"<https://docs.example.com/v1>; rel="deprecation""#,
            r#"<https://docs.example.com/v1>; rel="sunset""#,
            r#"</v2>; rel="successor-version""#
        ]
    );

    let gone = versions
        .resolve(&uri, &asks_old, None, at(20))
        .unwrap_err()
        .problem(&base)
        .into_response();
    assert_eq!(
        (gone.status().as_u16(), &gone.headers()["link"]),
        (
            410,
            &HeaderValue::from_static(r#"</v2>; rel="successor-version""#)
        )
    );
    let mut answer = HeaderMap::new();
    versions
        .resolve(&uri, &headers(&[(api_version(), "2")]), None, at(20))
        .unwrap()
        .apply(&mut answer);
    assert_eq!(answer.len(), 1);
}

/// H20: a sunset is not before the deprecation, and each stage starts at its second.
#[test]
fn a_sunset_follows_a_deprecation() {
    assert_eq!(
        Lifecycle::deprecated(at(10)).with_sunset(at(9)),
        Err(SunsetTooEarly)
    );
    let lifecycle = Lifecycle::deprecated(at(10) + Duration::from_millis(1))
        .with_sunset(at(10))
        .unwrap();
    assert_eq!(
        [9, 10].map(|second| lifecycle.stage(at(second))),
        [Stage::Active, Stage::Sunset]
    );
    let lifecycle = Lifecycle::deprecated(at(10)).with_sunset(at(12)).unwrap();
    let stages = [9, 10, 11, 12].map(|second| lifecycle.stage(at(second)));
    assert_eq!(
        stages,
        [Stage::Active, Stage::Deprecated, Stage::Deprecated, Stage::Sunset]
    );
    let mut headers = HeaderMap::new();
    let long_ago = NOW - Duration::from_secs(1);
    Lifecycle::deprecated(long_ago)
        .with_sunset(long_ago)
        .unwrap()
        .apply(&mut headers);
    assert!(headers.is_empty());
}

/// H20: contradictory versions are refused with all mistakes.
#[test]
fn every_mistake_of_the_versions_is_reported_at_once() {
    let new = |all: &[&str]| {
        let all = all.iter().map(|text| (version(text), Lifecycle::default()));
        Versions::new(VersionScheme::Path, all)
    };
    assert_eq!(new(&[]).unwrap_err().mistakes(), [VersionMistake::NoVersion]);
    let both = new(&["1", "2026-01-01", "1"]).unwrap_err();
    assert_eq!(
        both.mistakes(),
        [
            VersionMistake::Repeated(version("1")),
            VersionMistake::NumbersAndDates
        ]
    );
    assert_eq!(
        both.to_string(),
        "invalid versions: version 1 is listed twice; versions are numbers or dates, not both"
    );
    let refused = new(&["1"]).unwrap().with_default(version("2")).unwrap_err();
    assert_eq!(refused.mistakes(), [VersionMistake::UnknownDefault(version("2"))]);
    for text in [
        "",
        "0",
        "01",
        "-1",
        "1.0",
        "v1",
        "4294967296",
        "2026-13-01",
        "2026-02-29",
        "2026-1-1",
        "26-01-01",
        "2026-01-01-01",
        "2026-01-00",
        "+026-01-01",
    ] {
        assert!(text.parse::<ApiVersion>().is_err(), "{text}");
    }
    assert_eq!(version("2024-02-29").to_string(), "2024-02-29");
}

proptest! {
    #[test]
    fn a_version_reads_back_as_it_is_written(text in "[0-9-]{0,10}") {
        if let Ok(version) = text.parse::<ApiVersion>() {
            prop_assert_eq!(version.to_string(), text);
        }
    }
}
