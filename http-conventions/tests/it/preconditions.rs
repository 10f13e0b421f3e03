//! The evaluator against a naive reference, over the full truth table.

use std::time::{Duration, SystemTime};

use bytes::Bytes;
use http::{
    HeaderMap, HeaderName, HeaderValue, Method, Response,
    header::{CONTENT_TYPE, ETAG, IF_MATCH, IF_MODIFIED_SINCE, IF_NONE_MATCH, IF_UNMODIFIED_SINCE, VARY},
};
use http_conventions::{
    caching::{EntityTag, PreconditionDecision, Preconditions, Validators},
    errors::ProblemBase,
};

/// Time of a clock that was never set; a valid date, so it must not pass a write.
const ANCIENT: &str = "Wed, 31 Dec 1969 23:59:59 GMT";
const BEFORE: &str = "Sun, 06 Nov 1994 08:49:36 GMT";
const EQUAL: &str = "Sun, 06 Nov 1994 08:49:37 GMT";
const AFTER: &str = "Sun, 06 Nov 1994 08:49:38 GMT";
const TAGS: [&[&str]; 9] = [
    &[],
    &["*"],
    &["\"now\""],
    &["W/\"now\""],
    &["\"old\""],
    &["\"old\"", "\"older\", \"now\""],
    &["\"old\"", "*"],
    &["now"],
    &[""],
];
const DATES: [&[&str]; 7] = [
    &[],
    &[ANCIENT],
    &[BEFORE],
    &[EQUAL],
    &[AFTER],
    &["yesterday"],
    &[EQUAL, EQUAL],
];
const METHODS: [&str; 10] = [
    "GET", "HEAD", "QUERY", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT",
];

fn last_modified() -> SystemTime {
    // the fraction of a second must not count
    SystemTime::UNIX_EPOCH + Duration::from_millis(784_111_777_900)
}

fn states() -> Vec<Option<Validators>> {
    let strong = EntityTag::strong("now").unwrap();
    let tagged = [None, Some(strong.to_weak()), Some(strong)];
    let mut states = vec![None];
    for tag in tagged {
        for dated in [false, true] {
            let mut state = Validators::default();
            if let Some(tag) = tag.clone() {
                state = state.with_entity_tag(tag);
            }
            states.push(Some(if dated {
                state.with_last_modified(last_modified())
            } else {
                state
            }));
        }
    }
    states
}

/// One combination of fields for the reference.
#[derive(Clone, Copy, Debug)]
struct Fields {
    if_match: &'static [&'static str],
    if_unmodified_since: &'static [&'static str],
    if_none_match: &'static [&'static str],
    if_modified_since: &'static [&'static str],
}

impl Fields {
    fn headers(&self) -> HeaderMap {
        let mut headers = HeaderMap::new();
        append(&mut headers, &IF_MATCH, self.if_match);
        append(&mut headers, &IF_UNMODIFIED_SINCE, self.if_unmodified_since);
        append(&mut headers, &IF_NONE_MATCH, self.if_none_match);
        append(&mut headers, &IF_MODIFIED_SINCE, self.if_modified_since);
        headers
    }
}

fn append(headers: &mut HeaderMap, name: &HeaderName, lines: &'static [&'static str]) {
    for line in lines {
        headers.append(name.clone(), HeaderValue::from_static(line));
    }
}

/// RFC 9110 §13.2.2 written down literally for the values of the tables above.
fn reference(
    method: &str,
    fields: &Fields,
    current: Option<&Validators>,
    required: bool,
) -> PreconditionDecision {
    if ["OPTIONS", "TRACE", "CONNECT"].contains(&method) {
        return PreconditionDecision::Proceed;
    }
    let reads = ["GET", "HEAD", "QUERY"].contains(&method);
    let exists = current.is_some();
    let tag = current.and_then(Validators::entity_tag);
    let is_dated = current.is_some_and(|state| state.last_modified().is_some());
    let date = |lines: &[&'static str]| match lines {
        [date] if is_dated && *date != "yesterday" => Some(*date),
        _ => None,
    };

    let mut guarded = false;
    if !fields.if_match.is_empty() {
        let holds = match fields.if_match {
            ["*"] => exists,
            ["\"now\""] | ["\"old\"", "\"older\", \"now\""] => tag.is_some_and(|tag| !tag.is_weak()),
            _ => false,
        };
        if !holds {
            return PreconditionDecision::PreconditionFailed;
        }
        guarded = true;
    } else if let Some(since) = date(fields.if_unmodified_since) {
        if [ANCIENT, BEFORE].contains(&since) {
            return PreconditionDecision::PreconditionFailed;
        }
        guarded = true;
    }
    guarded |= fields.if_none_match == ["*"];
    if required && !reads && !guarded {
        return PreconditionDecision::PreconditionRequired;
    }
    let has_it = match fields.if_none_match {
        [] => reads && matches!(date(fields.if_modified_since), Some(EQUAL | AFTER)),
        ["*"] => exists,
        ["\"now\""] | ["W/\"now\""] | ["\"old\"", "\"older\", \"now\""] => tag.is_some(),
        // malformed
        ["now"] | ["\"old\"", "*"] => !reads,
        _ => false,
    };
    match (has_it, reads) {
        (true, true) => PreconditionDecision::NotModified,
        (true, false) => PreconditionDecision::PreconditionFailed,
        (false, _) => PreconditionDecision::Proceed,
    }
}

/// H7: evaluates in the order of RFC 9110 13.2.2, strong comparison for If-Match, 428 where
/// required. H8: If-None-Match compares weakly and responds with 304 to reads. H9:
/// If-Modified-Since counts whole seconds, and only without If-None-Match.
#[test]
fn every_combination_is_decided_as_the_rfc_orders() {
    let mut cases = 0_u32;
    for state in states() {
        for if_match in TAGS {
            for if_none_match in TAGS {
                for if_unmodified_since in DATES {
                    for if_modified_since in DATES {
                        let fields = Fields {
                            if_match,
                            if_unmodified_since,
                            if_none_match,
                            if_modified_since,
                        };
                        cases += check(&fields, state.as_ref());
                    }
                }
            }
        }
    }
    assert_eq!(cases, 7 * 9 * 9 * 7 * 7 * 10 * 2);
}

fn check(fields: &Fields, current: Option<&Validators>) -> u32 {
    let headers = fields.headers();
    let mut cases = 0;
    for name in METHODS {
        let method = name.parse::<Method>().unwrap();
        let preconditions = Preconditions::new(&method, &headers, SystemTime::UNIX_EPOCH);
        for (required, preconditions) in [(false, preconditions), (true, preconditions.with_required())] {
            let expected = reference(name, fields, current, required);
            let context = || format!("{name} {fields:?} {current:?} required: {required}");
            assert_eq!(preconditions.evaluate(current), expected, "{}", context());
            cases += 1;
        }
    }
    cases
}

/// H7: a stale If-Match gets 412, a missing one 428 if it is required.
#[test]
fn a_refusal_is_a_problem_with_its_own_type() {
    let base = ProblemBase::new("https://api.example.com/problems/").unwrap();
    for (decision, status, slug) in [
        (
            PreconditionDecision::PreconditionFailed,
            412,
            "precondition-failed",
        ),
        (
            PreconditionDecision::PreconditionRequired,
            428,
            "precondition-required",
        ),
    ] {
        let problem = decision.problem(&base).unwrap();
        assert_eq!(problem.status(), status);
        assert!(
            String::from_utf8(problem.to_bytes().to_vec())
                .unwrap()
                .contains(slug)
        );
    }
    assert!(PreconditionDecision::Proceed.problem(&base).is_none());
    assert!(PreconditionDecision::NotModified.problem(&base).is_none());
}

/// H7: a write passes in the state that it names; another state gets 412, and a missing
/// precondition 428.
#[test]
fn a_write_passes_in_its_own_state_alone() {
    let base = ProblemBase::new("https://api.example.com/problems/").unwrap();
    let current = Validators::default().with_entity_tag(EntityTag::strong("now").unwrap());
    for (tag, expected) in [
        (Some("\"now\""), None),
        (Some("\"old\""), Some(412)),
        (Some("now"), Some(412)),
        (None, Some(428)),
    ] {
        let mut headers = HeaderMap::new();
        headers.extend(tag.map(|tag| (IF_MATCH, HeaderValue::from_static(tag))));
        let preconditions = Preconditions::new(&Method::PUT, &headers, last_modified()).with_required();
        let refused = preconditions.check_write(Some(&current), &base).err();
        assert_eq!(
            refused.map(|problem| problem.status().as_u16()),
            expected,
            "{tag:?}"
        );
    }
    let mut headers = HeaderMap::new();
    headers.insert(IF_NONE_MATCH, HeaderValue::from_static("*"));
    let creates = Preconditions::new(&Method::PUT, &headers, last_modified());
    assert!(creates.check_write(None, &base).is_ok());
    assert!(creates.check_write(Some(&current), &base).is_err());
}

/// H8: a read of a state that the client has is a 304 with validators and without content. H7: a
/// read carries its tag, and an If-Match for another state refuses it.
#[test]
fn a_read_is_answered_as_its_preconditions_say() {
    let base = ProblemBase::new("https://api.example.com/problems/").unwrap();
    let current = Validators::default().with_entity_tag(EntityTag::strong("now").unwrap());
    let answer = |status: u16, name: &HeaderName, tag: &'static str| {
        let mut headers = HeaderMap::new();
        headers.insert(name.clone(), HeaderValue::from_static(tag));
        let full = Response::builder().status(status).header(VARY, "Authorization");
        let full = full
            .header(CONTENT_TYPE, "text/plain")
            .body(Bytes::from_static(b"x"));
        Preconditions::new(&Method::GET, &headers, last_modified()).answer_read(
            &current,
            full.unwrap(),
            &base,
        )
    };
    let full = answer(200, &IF_NONE_MATCH, "\"old\"").unwrap();
    assert_eq!((full.status().as_u16(), full.body().as_ref()), (200, &b"x"[..]));
    assert_eq!(full.headers()[ETAG], "\"now\"");

    let unchanged = answer(200, &IF_NONE_MATCH, "W/\"now\"").unwrap();
    assert_eq!((unchanged.status().as_u16(), unchanged.body().len()), (304, 0));
    assert_eq!(unchanged.headers()[ETAG], "\"now\"");
    assert_eq!(unchanged.headers()[VARY], "Authorization");
    assert!(!unchanged.headers().contains_key(CONTENT_TYPE));

    let refused = answer(200, &IF_MATCH, "\"old\"").unwrap_err();
    assert_eq!(refused.status(), 412);

    // an error response ignores preconditions
    let error = answer(404, &IF_MATCH, "\"old\"").unwrap();
    assert_eq!(error.status(), 404);
    assert!(!error.headers().contains_key(ETAG));
}
