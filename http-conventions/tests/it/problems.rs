//! Problem details, written and read.

use std::{collections::HashSet, time::Duration};

use http::{HeaderValue, Method, StatusCode, header};
use http_conventions::{
    errors::{
        Challenge, ErrorStatus, InvalidErrorStatus, InvalidProblem, Member, Problem, ProblemBase,
        ReceivedProblem, types,
    },
    limits::RetryAfter,
    routing::{Allow, RequestId},
};
use proptest::{collection::vec, prelude::*};

fn base() -> ProblemBase {
    ProblemBase::new("https://api.example.com/problems/").unwrap()
}

fn text(problem: &Problem) -> String {
    String::from_utf8(problem.to_bytes().to_vec()).unwrap()
}

/// H13: type, title, status, detail, instance and extensions, as application/problem+json, with the
/// status of the response.
#[test]
fn a_problem_has_all_its_members() {
    let request_id: RequestId = "checkout-7f3a".parse().unwrap();
    let problem = types::INVALID_CURSOR
        .problem(&base())
        .with_detail("a \"cursor\"\nof another service")
        .with_instance("/v1/charges")
        .with_extension("parameter", "after")
        .with_extension("retryable", false)
        .with_extension("tried", vec![1, 2])
        .with_request_id(&request_id);
    assert_eq!(
        text(&problem),
        concat!(
            r#"{"type":"https://api.example.com/problems/invalid-cursor","title":"Invalid cursor","status":400,"#,
            r#""detail":"a \"cursor\"\nof another service","instance":"/v1/charges","parameter":"after","#,
            r#""retryable":false,"tried":[1,2],"request_id":"checkout-7f3a"}"#
        )
    );
    let response = problem.into_response();
    assert_eq!(response.status(), 400);
    assert_eq!(
        response.headers()[header::CONTENT_TYPE],
        "application/problem+json"
    );
    assert_eq!(response.headers()[header::CACHE_CONTROL], "no-store");
}

/// H13: a member is never written twice, and an extension cannot take the place of a standard
/// member.
#[test]
fn a_member_is_written_once() {
    let problem = Problem::new(ErrorStatus::NOT_FOUND)
        .with_extension("status", 200)
        .with_extension("type", "https://evil.example/")
        .with_extension("hint", "one")
        .with_extension("hint", "two");
    assert_eq!(
        text(&problem),
        r#"{"type":"about:blank","title":"Not Found","status":404,"hint":"two"}"#
    );
}

/// H13, H14: a header of the host is sent once; it can neither replace nor repeat a required
/// header.
#[test]
fn a_problem_has_the_headers_that_its_host_adds() {
    let one = RetryAfter::new(Duration::from_secs(1));
    let challenge = Challenge::new("DPoP").unwrap();
    let mut problem = Problem::service_unavailable(one).with_challenge(challenge);
    for (name, value) in [
        ("dpop-nonce", "first"),
        ("dpop-nonce", "second"),
        ("content-type", "text/html"),
        ("cache-control", "public, max-age=60"),
        ("www-authenticate", "Basic"),
        ("retry-after", "0"),
        ("allow", "TRACE"),
    ] {
        problem = problem.with_header(name.parse().unwrap(), HeaderValue::from_static(value));
    }
    let headers = problem.into_response().into_parts().0.headers;
    let mut sent: Vec<_> = headers
        .iter()
        .map(|(name, value)| format!("{name}: {}", value.to_str().unwrap()))
        .collect();
    sent.sort();
    assert_eq!(
        sent,
        [
            "cache-control: no-store",
            "content-type: application/problem+json",
            "dpop-nonce: second",
            "retry-after: 1",
            "www-authenticate: DPoP",
        ]
    );
}

/// H13: a problem without a type has the status phrase of RFC 9110 as its title.
#[test]
fn a_plain_problem_is_titled_by_its_status() {
    for (status, title) in [
        (ErrorStatus::BAD_REQUEST, "Bad Request"),
        (ErrorStatus::CONTENT_TOO_LARGE, "Content Too Large"),
        (ErrorStatus::UNPROCESSABLE_CONTENT, "Unprocessable Content"),
        (ErrorStatus::INTERNAL_SERVER_ERROR, "Internal Server Error"),
        (StatusCode::from_u16(599).unwrap().try_into().unwrap(), "Error"),
    ] {
        let problem = ReceivedProblem::parse(&Problem::new(status).to_bytes()).unwrap();
        assert_eq!(
            (problem.type_uri(), problem.title()),
            ("about:blank", Some(title))
        );
    }
}

/// H3: a status that requires a header has no plain problem. H12: no success is a problem, so no
/// response is a 200 with an error in it.
#[test]
fn only_statuses_without_obligations_make_a_plain_problem() {
    for code in 100..1000 {
        let status = StatusCode::from_u16(code).unwrap();
        let expected = (400..600).contains(&code) && ![401, 405, 407, 426, 429, 503].contains(&code);
        match ErrorStatus::try_from(status) {
            Ok(status) => assert!(expected && Problem::new(status).into_response().status().as_u16() == code),
            Err(InvalidErrorStatus) => assert!(!expected, "{code}"),
        }
    }
}

/// H13: a refusal by a server or framework is a problem too. H12: no status results in a success or
/// in a response without a required header.
#[test]
fn every_status_makes_a_complete_problem() {
    for code in 100..1000 {
        let status = StatusCode::from_u16(code).unwrap();
        let response = Problem::of_status(status).into_response();
        let owes_nothing = ErrorStatus::try_from(status).is_ok();
        let expected = if owes_nothing || [429, 503].contains(&code) {
            code
        } else {
            500
        };
        assert_eq!(response.status(), expected, "{code}");
        let waits = response.headers().contains_key(header::RETRY_AFTER);
        assert_eq!(waits, [429, 503].contains(&expected), "{code}");
    }
}

/// H12: a 405 lists the supported methods, also if there are none.
#[test]
fn a_405_carries_its_methods() {
    let response = Problem::method_not_allowed(&[Method::GET, Method::HEAD]).into_response();
    assert_eq!(response.status(), 405);
    assert_eq!(response.headers()[header::ALLOW], "GET, HEAD");
    assert_eq!(
        Problem::method_not_allowed(Allow::of(&[]))
            .into_response()
            .headers()[header::ALLOW],
        ""
    );
}

/// H18: the response to OPTIONS lists the methods of the 405.
#[test]
fn options_lists_what_a_405_lists() {
    let allow = Allow::of(&[Method::GET, Method::OPTIONS]);
    let response = allow.no_content();
    assert_eq!((response.status().as_u16(), response.body().len()), (204, 0));
    assert_eq!(response.headers()[header::ALLOW], "GET, OPTIONS");
    let refused = Problem::method_not_allowed(allow).into_response();
    assert_eq!(refused.headers()[header::ALLOW], "GET, OPTIONS");
}

/// H15: a 429 has Retry-After. H16: a 503 has it too.
#[test]
fn a_429_and_a_503_carry_their_wait() {
    let wait = RetryAfter::new(Duration::from_millis(1_500));
    for (problem, status) in [
        (Problem::too_many_requests(wait), 429),
        (Problem::service_unavailable(wait), 503),
    ] {
        let response = problem.into_response();
        assert_eq!(response.status(), status);
        assert_eq!(response.headers()[header::RETRY_AFTER], "2");
        assert_eq!(
            response.headers()[header::CONTENT_TYPE],
            "application/problem+json"
        );
    }
}

/// H13: the registry has one entry for each slug, and slugs are lower-case words.
#[test]
fn each_registered_type_has_its_own_slug() {
    let slugs: HashSet<_> = types::ALL.iter().map(|kind| kind.slug()).collect();
    assert_eq!(slugs.len(), types::ALL.len());
    for kind in types::ALL {
        assert!(
            kind.slug()
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte == b'-'),
            "{kind:?}"
        );
        assert!(!kind.title().is_empty() && !kind.description().is_empty());
        assert_eq!(kind.problem(&base()).status(), kind.status().status());
    }
}

/// H13: the parser treats members of the wrong type as absent (RFC 9457 3.1) and keeps unknown
/// ones.
#[test]
fn the_reader_ignores_members_of_the_wrong_type() {
    for body in [
        r#"{}"#,
        r#"{"type":7,"title":[],"status":"404","detail":null,"instance":{}}"#,
        r#"{"status":404.5}"#,
        r#"{"status":-1}"#,
        r#"{"status":99}"#,
        r#"{"status":600}"#,
        r#"{"status":65940}"#,
    ] {
        let problem = ReceivedProblem::parse(body.as_bytes()).unwrap();
        assert_eq!(problem.type_uri(), "about:blank");
        assert_eq!((problem.title(), problem.status()), (None, None), "{body}");
        assert_eq!((problem.detail(), problem.instance()), (None, None));
    }
    let body = r#"{"status":404,"title":"T","n":null,"f":1.5,"big":18446744073709551615,"o":{"a":[true]}}"#;
    let problem = ReceivedProblem::parse(body.as_bytes()).unwrap();
    assert_eq!((problem.status(), problem.title()), (Some(404), Some("T")));
    assert_eq!(problem.extension("n"), Some(&Member::Null));
    assert_eq!(problem.extension("f"), Some(&Member::Number(1.5)));
    assert_eq!(
        problem.extension("big"),
        Some(&Member::Number(18_446_744_073_709_551_615.0))
    );
    let list = Member::List(vec![Member::Bool(true)]);
    assert_eq!(
        problem.extension("o"),
        Some(&Member::Object(vec![("a".into(), list)]))
    );
    assert_eq!(problem.extension("title"), None);
}

/// H13: only a body that is not a JSON object fails to parse.
#[test]
fn refuses_problems_that_are_not_objects() {
    let nested = "[".repeat(10_000);
    let deep = format!("{{\"a\":{nested}");
    for body in [
        "",
        "null",
        "[]",
        "\"x\"",
        "7",
        "{",
        "{\"a\":1,}",
        "\u{feff}{}",
        &nested,
        &deep,
    ] {
        assert_eq!(ReceivedProblem::parse(body.as_bytes()), Err(InvalidProblem));
    }
    assert_eq!(
        ReceivedProblem::parse(b"{\"title\":\"\xff\"}"),
        Err(InvalidProblem)
    );
}

fn member() -> impl Strategy<Value = Member> {
    let leaf = prop_oneof![
        Just(Member::Null),
        any::<bool>().prop_map(Member::Bool),
        any::<i64>().prop_map(Member::Integer),
        any::<String>().prop_map(|text| Member::Text(text.into())),
    ];
    leaf.prop_recursive(4, 32, 6, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..6).prop_map(Member::List),
            // parsed objects are sorted and have each name once
            proptest::collection::btree_map("[a-z]{1,8}", inner, 0..6).prop_map(|members| Member::Object(
                members.into_iter().map(|(name, it)| (name.into(), it)).collect()
            )),
        ]
    })
}

proptest! {
    #[test]
    fn a_written_problem_reads_back(detail: String, instance: String, extra in member()) {
        let problem = Problem::new(ErrorStatus::GONE)
            .with_type("https://example.com/p", "\u{0}\u{1f}\u{7f} title")
            .with_detail(detail.clone())
            .with_instance(instance.clone())
            .with_extension("extra", extra.clone());
        let read = ReceivedProblem::parse(&problem.to_bytes()).unwrap();
        prop_assert_eq!(read.type_uri(), "https://example.com/p");
        prop_assert_eq!(read.title(), Some("\u{0}\u{1f}\u{7f} title"));
        prop_assert_eq!(read.status(), Some(410));
        prop_assert_eq!(read.detail(), Some(detail.as_str()));
        prop_assert_eq!(read.instance(), Some(instance.as_str()));
        prop_assert_eq!(read.extension("extra"), Some(&extra));
    }

    #[test]
    fn a_number_is_json_or_null(number in proptest::num::f64::ANY) {
        let problem = Problem::new(ErrorStatus::GONE).with_extension("number", Member::Number(number));
        prop_assert!(ReceivedProblem::parse(&problem.to_bytes()).is_ok());
        let body = text(&problem);
        let written = body.split_once("\"number\":").unwrap().1.trim_end_matches('}');
        match number.is_finite() {
            true => prop_assert_eq!(written.parse::<f64>(), Ok(number)),
            false => prop_assert_eq!(written, "null"),
        }
    }

    #[test]
    fn reading_never_panics(body: Vec<u8>) {
        let _read = ReceivedProblem::parse(&body);
    }
}
