//! `preconditions.json`.

use std::time::{Duration, SystemTime};

use http::{HeaderMap, HeaderName, Method};
use http_conventions::caching::{EntityTag, PreconditionDecision, Preconditions, Validators};
use serde::Serialize;

use crate::file::{Case, VectorFile};

/// `Sun, 06 Nov 1994 08:49:37 GMT`, the example of RFC 9110.
const MODIFIED: u64 = 784_111_777;
const BEFORE: &str = "Sun, 06 Nov 1994 08:49:36 GMT";
const EQUAL: &str = "Sun, 06 Nov 1994 08:49:37 GMT";
const AFTER: &str = "Sun, 06 Nov 1994 08:49:38 GMT";

#[derive(Serialize)]
struct Input {
    method: String,
    headers: Vec<(&'static str, &'static str)>,
    /// Current state of the resource; absent if it does not exist.
    #[serde(skip_serializing_if = "Option::is_none")]
    resource: Option<Resource>,
    /// A write must have a precondition.
    required: bool,
    now: u64,
}

#[derive(Clone, Copy, Serialize)]
struct Resource {
    #[serde(skip_serializing_if = "Option::is_none")]
    entity_tag: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_modified: Option<u64>,
}

const TAGGED: Option<Resource> = Some(Resource {
    entity_tag: Some("\"now\""),
    last_modified: None,
});
const WEAK: Option<Resource> = Some(Resource {
    entity_tag: Some("W/\"now\""),
    last_modified: None,
});
const DATED: Option<Resource> = Some(Resource {
    entity_tag: None,
    last_modified: Some(MODIFIED),
});
const BOTH: Option<Resource> = Some(Resource {
    entity_tag: Some("\"now\""),
    last_modified: Some(MODIFIED),
});
const BARE: Option<Resource> = Some(Resource {
    entity_tag: None,
    last_modified: None,
});

fn decide(input: &Input) -> &'static str {
    let headers: HeaderMap = {
        let mut headers = HeaderMap::new();
        for (name, value) in &input.headers {
            headers.append(HeaderName::from_static(name), value.parse().unwrap());
        }
        headers
    };
    let at = |seconds| SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
    let validators = input.resource.map(|resource| {
        let mut validators = Validators::default();
        if let Some(tag) = resource.entity_tag {
            validators = validators.with_entity_tag(EntityTag::parse(tag.as_bytes()).unwrap());
        }
        if let Some(seconds) = resource.last_modified {
            validators = validators.with_last_modified(at(seconds));
        }
        validators
    });
    let method: Method = input.method.parse().unwrap();
    let mut preconditions = Preconditions::new(&method, &headers, at(input.now));
    if input.required {
        preconditions = preconditions.with_required();
    }
    match preconditions.evaluate(validators.as_ref()) {
        PreconditionDecision::Proceed => "proceed",
        PreconditionDecision::NotModified => "not-modified",
        PreconditionDecision::PreconditionFailed => "precondition-failed",
        PreconditionDecision::PreconditionRequired => "precondition-required",
    }
}

type Fields = &'static [(&'static str, &'static str)];

/// Name, header fields and resource of a request; each is tried with five methods.
const REQUESTS: &[(&str, Fields, Option<Resource>)] = &[
    ("no precondition", &[], BOTH),
    ("If-Match is the tag", &[("if-match", "\"now\"")], TAGGED),
    ("If-Match is another tag", &[("if-match", "\"old\"")], TAGGED),
    (
        "If-Match lists the tag",
        &[("if-match", "\"old\", \"now\"")],
        TAGGED,
    ),
    (
        "If-Match lists the tag on two lines",
        &[("if-match", "\"old\""), ("if-match", "\"now\"")],
        TAGGED,
    ),
    ("If-Match is the weak tag", &[("if-match", "W/\"now\"")], TAGGED),
    (
        "If-Match is the tag, which is weak",
        &[("if-match", "W/\"now\"")],
        WEAK,
    ),
    ("If-Match is any", &[("if-match", "*")], TAGGED),
    ("If-Match is any, no resource", &[("if-match", "*")], None),
    ("If-Match is a tag, no resource", &[("if-match", "\"now\"")], None),
    ("If-Match is a tag, no tag", &[("if-match", "\"now\"")], DATED),
    ("If-Match is malformed", &[("if-match", "now")], TAGGED),
    (
        "If-Match lists any and a tag",
        &[("if-match", "\"old\", *")],
        TAGGED,
    ),
    ("If-Match is empty", &[("if-match", "")], TAGGED),
    (
        "If-None-Match is the tag",
        &[("if-none-match", "\"now\"")],
        TAGGED,
    ),
    (
        "If-None-Match is the weak tag",
        &[("if-none-match", "W/\"now\"")],
        TAGGED,
    ),
    (
        "If-None-Match is another tag",
        &[("if-none-match", "\"old\"")],
        TAGGED,
    ),
    ("If-None-Match is any", &[("if-none-match", "*")], TAGGED),
    (
        "If-None-Match is any, no resource",
        &[("if-none-match", "*")],
        None,
    ),
    ("If-None-Match is malformed", &[("if-none-match", "now")], TAGGED),
    (
        "If-None-Match lists any and another tag",
        &[("if-none-match", "\"old\", *")],
        TAGGED,
    ),
    (
        "If-None-Match lists any and the tag",
        &[("if-none-match", "\"now\", *")],
        TAGGED,
    ),
    ("If-None-Match is empty", &[("if-none-match", "")], TAGGED),
    (
        "If-Modified-Since is before",
        &[("if-modified-since", BEFORE)],
        DATED,
    ),
    (
        "If-Modified-Since is equal",
        &[("if-modified-since", EQUAL)],
        DATED,
    ),
    (
        "If-Modified-Since is after",
        &[("if-modified-since", AFTER)],
        DATED,
    ),
    (
        "If-Modified-Since is no date",
        &[("if-modified-since", "yesterday")],
        DATED,
    ),
    (
        "If-Modified-Since twice",
        &[("if-modified-since", EQUAL), ("if-modified-since", EQUAL)],
        DATED,
    ),
    (
        "If-Modified-Since, no date of the resource",
        &[("if-modified-since", EQUAL)],
        BARE,
    ),
    (
        "If-Modified-Since in the form of RFC 850",
        &[("if-modified-since", "Sunday, 06-Nov-94 08:49:37 GMT")],
        DATED,
    ),
    (
        "If-Modified-Since in the form of asctime",
        &[("if-modified-since", "Sun Nov  6 08:49:37 1994")],
        DATED,
    ),
    (
        "If-Unmodified-Since is before",
        &[("if-unmodified-since", BEFORE)],
        DATED,
    ),
    (
        "If-Unmodified-Since is equal",
        &[("if-unmodified-since", EQUAL)],
        DATED,
    ),
    (
        "If-Unmodified-Since is after",
        &[("if-unmodified-since", AFTER)],
        DATED,
    ),
    (
        "If-Unmodified-Since is no date",
        &[("if-unmodified-since", "yesterday")],
        DATED,
    ),
    (
        "If-Unmodified-Since, no resource",
        &[("if-unmodified-since", EQUAL)],
        None,
    ),
    (
        "If-Match counts before If-Unmodified-Since",
        &[("if-match", "\"now\""), ("if-unmodified-since", BEFORE)],
        BOTH,
    ),
    (
        "If-None-Match counts before If-Modified-Since",
        &[("if-none-match", "\"old\""), ("if-modified-since", AFTER)],
        BOTH,
    ),
    (
        "If-Match fails before If-None-Match",
        &[("if-match", "\"old\""), ("if-none-match", "\"now\"")],
        BOTH,
    ),
    (
        "If-Match passes, then If-None-Match",
        &[("if-match", "\"now\""), ("if-none-match", "\"now\"")],
        BOTH,
    ),
];

/// H7, H8: the file says what RFC 9110, section 13.2.2, decides.
#[test]
fn preconditions_are_as_the_crate_decides() {
    let mut cases = Vec::new();
    for (name, headers, resource) in REQUESTS {
        for (method, required) in [
            ("GET", false),
            ("QUERY", false),
            ("PUT", false),
            ("PUT", true),
            ("OPTIONS", false),
        ] {
            let input = Input {
                method: method.to_owned(),
                headers: headers.to_vec(),
                resource: *resource,
                required,
                now: 1_800_000_000,
            };
            let expect = decide(&input);
            let suffix = if required { ", required" } else { "" };
            cases.push(Case::new(&format!("{method}{suffix}: {name}"), input, expect));
        }
    }
    VectorFile::new(
        "preconditions.json",
        "Preconditions of requests, RFC 9110, section 13.2.2; 428 by RFC 6585",
    )
    .with_cases("cases", &cases)
    .check();
}
