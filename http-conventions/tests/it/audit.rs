//! The audit finds each seeded fault.

use std::collections::BTreeSet;

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_conventions::audit::{self, Finding, Rule, audit};

pub(crate) const STRANGE: &str = "https://audit.invalid";

/// A response that keeps every rule, with these fields changed; a field without a value is removed.
pub(crate) fn answer(status: u16, body: &str, fields: &[(&'static str, &str)]) -> Response<Bytes> {
    let mut answer = Response::new(Bytes::copy_from_slice(body.as_bytes()));
    *answer.status_mut() = StatusCode::from_u16(status).unwrap();
    let content_type = match status {
        204 | 304 => "",
        400.. => "application/problem+json",
        _ => "application/json",
    };
    let usual = [
        ("x-request-id", "checkout-7f3a"),
        ("content-type", content_type),
        ("cache-control", "no-store"),
    ];
    for (name, value) in usual.iter().chain(fields) {
        match value.is_empty() {
            true => answer.headers_mut().remove(*name),
            false => answer.headers_mut().insert(*name, value.parse().unwrap()),
        };
    }
    answer
}

pub(crate) fn problem(status: u16, fields: &[(&'static str, &str)]) -> Response<Bytes> {
    let body = format!("{{\"type\":\"about:blank\",\"title\":\"x\",\"status\":{status}}}");
    answer(status, &body, fields)
}

pub(crate) fn sent(method: &str, fields: &[(&'static str, &'static str)]) -> Request<Bytes> {
    let mut request = Request::new(Bytes::new());
    *request.method_mut() = method.parse().unwrap();
    for (name, value) in fields {
        request.headers_mut().insert(*name, value.parse().unwrap());
    }
    request
}

pub(crate) fn get(answer: &Response<Bytes>) -> Vec<Finding> {
    audit(&sent("GET", &[]), answer)
}

fn rules(findings: &[Finding]) -> Vec<Rule> {
    findings.iter().map(Finding::rule).collect()
}

/// Each rule with the findings of a response that breaks it alone.
fn faults_of_one() -> Vec<(Rule, Vec<Finding>)> {
    let echoed = ("x-request-id", "a; drop table");
    vec![
        (
            Rule::NoRequestId,
            get(&answer(200, "{}", &[("x-request-id", "")])),
        ),
        (
            Rule::HarmfulRequestId,
            audit(&sent("GET", &[echoed]), &answer(200, "{}", &[echoed])),
        ),
        (
            Rule::NoContentType,
            get(&answer(200, "{}", &[("content-type", "")])),
        ),
        (
            Rule::UnexpectedContent,
            get(&answer(304, "", &[("content-type", "application/json")])),
        ),
        (Rule::NoChallenge, get(&problem(401, &[]))),
        (Rule::NoAllow, get(&problem(405, &[]))),
        (
            Rule::NoAcceptPatch,
            audit(&sent("PATCH", &[]), &problem(415, &[])),
        ),
        (
            Rule::AllowsWhatItRefuses,
            get(&problem(405, &[("allow", "HEAD, GET")])),
        ),
        (
            Rule::NoLocation,
            audit(&sent("POST", &[]), &answer(201, "{}", &[])),
        ),
        (
            Rule::LosesMethod,
            audit(&sent("POST", &[]), &answer(301, "", &[("location", "/v2")])),
        ),
        (Rule::NoRetryAfter, get(&problem(429, &[]))),
        (
            Rule::InvalidRetryAfter,
            get(&problem(503, &[("retry-after", "0")])),
        ),
    ]
}

/// H27: a 415 to PATCH names what to send instead: formats, or codings if the coding was refused.
#[test]
fn refused_patch_names_an_alternative() {
    let check = |method: &str, fields: &[(&'static str, &str)], expected: &[Rule]| {
        assert_eq!(
            rules(&audit(&sent(method, &[]), &problem(415, fields))),
            expected,
            "{method} {fields:?}"
        );
    };
    check("PATCH", &[], &[Rule::NoAcceptPatch]);
    check("PATCH", &[("accept", "application/json")], &[Rule::NoAcceptPatch]);
    check("PATCH", &[("accept-patch", "application/merge-patch+json")], &[]);
    check("PATCH", &[("accept-encoding", "identity")], &[]);
    check("POST", &[], &[]);
}

/// Faults of content and of single fields.
fn faults_of_content_and_fields() -> Vec<(Rule, Vec<Finding>)> {
    let listed = [("access-control-allow-origin", "https://app.example.com")];
    let any = [
        ("access-control-allow-origin", "*"),
        ("access-control-allow-credentials", "true"),
    ];
    let over = [
        ("deprecation", "@1688169599"),
        ("sunset", "Thu, 29 Jun 2023 23:59:59 GMT"),
    ];
    vec![
        (
            Rule::NoProblem,
            get(&answer(404, "not found", &[("content-type", "text/plain")])),
        ),
        (
            Rule::InvalidProblem,
            get(&answer(404, "{\"type\":\"about:blank\",\"status\":400}", &[])),
        ),
        (
            Rule::ProblemInSuccess,
            get(&answer(
                200,
                "{}",
                &[("content-type", "application/problem+json")],
            )),
        ),
        (
            Rule::InvalidRateLimit,
            get(&answer(200, "{}", &[("ratelimit", "limit=100")])),
        ),
        (
            Rule::StoredRefusal,
            get(&problem(428, &[("cache-control", "max-age=60")])),
        ),
        (Rule::NoVaryOrigin, get(&answer(200, "{}", &listed))),
        (Rule::CredentialsForAnyOrigin, get(&answer(200, "{}", &any))),
        (Rule::InvalidEntityTag, get(&answer(200, "{}", &[("etag", "v7")]))),
        (
            Rule::InvalidServerTiming,
            get(&answer(200, "{}", &[("server-timing", "db;dur=fast")])),
        ),
        (
            Rule::InvalidLifecycle,
            get(&answer(200, "{}", &[("deprecation", "true")])),
        ),
        (Rule::SunsetBeforeDeprecation, get(&answer(200, "{}", &over))),
        (Rule::InvalidRange, get(&problem(416, &[]))),
        (
            Rule::InvalidDigest,
            get(&answer(200, "{}", &[("content-digest", "sha-256=:AAAA:")])),
        ),
        (
            Rule::InvalidPage,
            get(&answer(
                200,
                "{\"data\":[],\"has_more\":true,\"next_cursor\":null}",
                &[],
            )),
        ),
    ]
}

/// Faults that need several responses.
fn faults_of_codings() -> [(Rule, Vec<Finding>); 2] {
    let response = |tag, vary, coding: &[(&'static str, &'static str)]| {
        let fields = [("cache-control", "public"), ("etag", tag), ("vary", vary)];
        answer(200, "", &[&fields, coding].concat())
    };
    let plain = response("\"1\"", "accept-encoding", &[]);
    let coded = |tag, vary| response(tag, vary, &[("content-encoding", "gzip")]);
    [
        (
            Rule::SharedEntityTag,
            audit::codings(&plain, &coded("\"1\"", "accept-encoding")),
        ),
        (
            Rule::NoVaryEncoding,
            audit::codings(&plain, &coded("\"2\"", "origin")),
        ),
    ]
}

fn faults_of_several() -> Vec<(Rule, Vec<Finding>)> {
    let tagged = |status| answer(status, "", &[("etag", "\"1\""), ("vary", "origin")]);
    let made = |body| answer(201, body, &[("location", "/v1/charges/1")]);
    let replayed = |body| {
        let mut again = made(body);
        again
            .headers_mut()
            .insert("idempotency-replayed", "true".parse().unwrap());
        again
    };
    let credentials = [
        ("access-control-allow-origin", STRANGE),
        ("access-control-allow-credentials", "true"),
    ];
    vec![
        (
            Rule::HeadDiffers,
            audit::head(&answer(200, "{}", &[]), &answer(404, "", &[])),
        ),
        (
            Rule::NotRevalidated,
            audit::conditional_read(&tagged(200), &tagged(200)),
        ),
        (Rule::LostUpdate, audit::stale_write(&answer(200, "{}", &[]))),
        (
            Rule::NotReplayed,
            audit::duplicates(&[made("{\"id\":1}"), replayed("{\"id\":2}")]),
        ),
        (
            Rule::RanTwice,
            audit::duplicates(&[made("{\"id\":1}"), made("{\"id\":2}")]),
        ),
        (Rule::KeyReused, audit::reused_key(&made("{\"id\":2}"))),
        (Rule::TamperedCursor, audit::changed_cursor(&problem(500, &[]))),
        (
            Rule::LimitOutOfRange,
            audit::limit_out_of_range(&answer(200, "{}", &[])),
        ),
        (
            Rule::UnknownMethod,
            audit::unknown_method(&answer(200, "{}", &[])),
        ),
        (
            Rule::ReflectedOrigin,
            audit::unlisted_origin(STRANGE, &answer(200, "{}", &credentials)),
        ),
    ]
}

/// H22: each rule has a seeded fault, which is found under that rule alone; each rule names a
/// section.
#[test]
fn each_seeded_fault_is_found_under_its_rule() {
    let faults: Vec<_> = faults_of_one()
        .into_iter()
        .chain(faults_of_content_and_fields())
        .chain(faults_of_codings())
        .chain(faults_of_several())
        .collect();
    for (rule, findings) in &faults {
        assert_eq!(rules(findings), [*rule], "{findings:?}");
        let said = findings[0].to_string();
        assert!(
            said.starts_with(rule.name()) && said.ends_with(&format!("({})", rule.section())),
            "{said}"
        );
    }
    let seeded: BTreeSet<Rule> = faults.into_iter().map(|(rule, _)| rule).collect();
    assert_eq!(seeded, Rule::all().collect());
    let names: BTreeSet<&str> = Rule::all().map(Rule::name).collect();
    assert_eq!(names.len(), seeded.len());
}

/// H22: all other ways to break a rule are found.
#[test]
fn a_fault_is_found_in_each_of_its_forms() {
    for (rule, findings) in [
        (Rule::UnexpectedContent, get(&answer(204, "{}", &[]))),
        (
            Rule::UnexpectedContent,
            get(&answer(204, "", &[("content-length", "0")])),
        ),
        (Rule::NoLocation, get(&answer(202, "{}", &[]))),
        (Rule::NoLocation, get(&answer(307, "", &[]))),
        (
            Rule::InvalidRetryAfter,
            get(&problem(503, &[("retry-after", "soon")])),
        ),
        (Rule::NoProblem, get(&answer(500, "", &[("content-type", "")]))),
        (Rule::InvalidProblem, get(&answer(404, "[]", &[]))),
        (
            Rule::InvalidProblem,
            get(&answer(404, "{\"type\":\"/p/x\"}", &[])),
        ),
        (Rule::InvalidProblem, get(&answer(404, "{\"title\":7}", &[]))),
        (
            Rule::InvalidProblem,
            get(&answer(404, "{\"instance\":\"a b\"}", &[])),
        ),
    ] {
        assert_eq!(rules(&findings), [rule], "{findings:?}");
    }
}

/// H22: all ways to break a field or a page are found.
#[test]
fn a_malformed_field_or_page_is_found_in_each_of_its_forms() {
    for (rule, findings) in [
        (
            Rule::InvalidRateLimit,
            get(&answer(200, "{}", &[("ratelimit", "\"user\";t=1")])),
        ),
        (
            Rule::InvalidRateLimit,
            get(&answer(200, "{}", &[("ratelimit", "\"user\";r=1.5")])),
        ),
        (
            Rule::InvalidRateLimit,
            get(&answer(200, "{}", &[("ratelimit-policy", "user;q=1")])),
        ),
        (
            Rule::InvalidRateLimit,
            get(&answer(200, "{}", &[("x-ratelimit-reset", "soon")])),
        ),
        (
            Rule::InvalidLifecycle,
            get(&answer(200, "{}", &[("sunset", "2027-01-01")])),
        ),
        (
            Rule::InvalidPage,
            get(&answer(200, "{\"data\":[],\"has_more\":false}", &[])),
        ),
        (
            Rule::InvalidPage,
            get(&answer(
                200,
                "{\"data\":{},\"has_more\":false,\"next_cursor\":null}",
                &[],
            )),
        ),
        (
            Rule::InvalidPage,
            get(&answer(
                200,
                "{\"data\":[],\"has_more\":false,\"next_cursor\":\"x\"}",
                &[],
            )),
        ),
    ] {
        assert_eq!(rules(&findings), [rule], "{findings:?}");
    }
}

/// H22, H32: the audit finds each kind of wrong range.
#[test]
fn audit_finds_each_wrong_range() {
    let asked = sent("GET", &[("range", "bytes=0-1")]);
    let parts = ("content-type", "multipart/byteranges; boundary=x");
    let range = |value| ("content-range", value);
    for (request, response, is_wrong) in [
        (&asked, answer(206, "{}", &[range("bytes 0-1/2")]), false),
        (&asked, answer(206, "{}", &[range("bytes 0-1/*")]), false),
        (&asked, answer(206, "{}", &[parts]), false),
        (&asked, answer(206, "{}", &[]), true),
        (&asked, answer(206, "{}", &[range("bytes */2")]), true),
        (&asked, answer(206, "{}", &[range("bytes 0-2/9")]), true),
        (&asked, answer(206, "{}", &[range("bytes 0-1/1")]), true),
        (&asked, answer(206, "{}", &[parts, range("bytes 0-1/2")]), true),
        (&asked, problem(416, &[range("bytes */2")]), false),
        (&asked, problem(416, &[range("bytes 0-1/2")]), true),
        (
            &sent("GET", &[]),
            answer(206, "{}", &[range("bytes 0-1/2")]),
            true,
        ),
        (
            &sent("PUT", &[("range", "bytes=0-1")]),
            answer(206, "{}", &[range("bytes 0-1/2")]),
            true,
        ),
    ] {
        let expected: &[Rule] = if is_wrong { &[Rule::InvalidRange] } else { &[] };
        assert_eq!(rules(&audit(request, &response)), expected, "{response:?}");
    }
}

/// H22: fields of one exchange may differ between a GET and its HEAD.
#[test]
fn fields_of_one_exchange_may_differ() {
    for name in [
        "age",
        "date",
        "set-cookie",
        "x-request-id",
        "retry-after",
        "ratelimit",
    ] {
        let (get, head) = (answer(200, "{}", &[(name, "1")]), answer(200, "", &[(name, "2")]));
        assert_eq!(audit::head(&get, &head), [], "{name}");
    }
}

/// H22: a finding escapes and truncates what it quotes, so it cannot control a terminal.
#[test]
fn a_quote_cannot_steer_the_terminal() {
    let steering = "\u{9b}31m\u{202e}\u{2028}";
    let long = "x".repeat(10_000);
    let status = format!("{{\"status\":\"{steering}{long}\"}}");
    let mut answers: Vec<_> = [
        "ratelimit",
        "ratelimit-limit",
        "retry-after",
        "etag",
        "content-type",
    ]
    .map(|name| answer(400, "{}", &[(name, &format!("{steering}{long}"))]))
    .into();
    answers.push(answer(400, &status, &[]));
    for answer in answers {
        let findings = get(&answer);
        assert!(!findings.is_empty(), "{answer:?}");
        for finding in findings {
            let shown = finding.to_string();
            assert!(
                shown
                    .chars()
                    .all(|c| c == ' ' || c.is_ascii_graphic() || c == '§'),
                "{shown:?}"
            );
            assert!(shown.len() < 1000, "{} bytes", shown.len());
        }
    }
}

/// H22: all ways in which several responses break a rule are found.
#[test]
fn answers_that_differ_are_found_in_each_of_their_forms() {
    for (rule, findings) in [
        (
            Rule::HeadDiffers,
            audit::head(&answer(200, "{}", &[]), &answer(200, "{}", &[])),
        ),
        (
            Rule::HeadDiffers,
            audit::head(&answer(200, "{}", &[]), &answer(200, "", &[("content-type", "")])),
        ),
        (
            Rule::HeadDiffers,
            audit::head(
                &answer(200, "{}", &[("content-length", "2")]),
                &answer(200, "", &[("content-length", "0")]),
            ),
        ),
        (
            Rule::NotRevalidated,
            audit::conditional_read(
                &answer(200, "{}", &[("etag", "\"1\""), ("vary", "origin")]),
                &answer(304, "", &[("etag", "\"1\"")]),
            ),
        ),
        (
            Rule::NotReplayed,
            audit::duplicates(&[answer(200, "{}", &[]), problem(409, &[])]),
        ),
        (
            Rule::NotReplayed,
            audit::duplicates(&[answer(200, "{}", &[]), problem(500, &[])]),
        ),
        (
            Rule::TamperedCursor,
            audit::changed_cursor(&answer(200, "{}", &[])),
        ),
    ] {
        assert_eq!(rules(&findings), [rule], "{findings:?}");
    }
}
