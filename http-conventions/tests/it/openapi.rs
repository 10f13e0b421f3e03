//! Components of an OpenAPI document, and the responses of the pipeline.

use std::sync::Arc;

use host_ports::testing::{ManualClock, SeededEntropy};
use http::HeaderName;
use http_conventions::{
    errors::{ErrorStatus, ProblemBase, ProblemType},
    idempotency::{Idempotency, MemoryIdempotencyStore, MismatchStatus},
    limits::{HeaderProfile, MemoryRateLimitStore, OnStoreFailure, RateLimiter},
    openapi::Takes,
    paging::PageRules,
    pipeline::{Conventions, ConventionsBuilder},
    versions::{Lifecycle, VersionScheme},
};
use serde_json::{Map, Value, json};

use crate::pipeline_fixture::BASE;

const OUT_OF_STOCK: ProblemType =
    ProblemType::new("out-of-stock", ErrorStatus::CONFLICT, "Out of stock", "It is.");
const EVERYTHING: [Takes; 7] = [
    Takes::PageBothWays,
    Takes::IdempotencyKey,
    Takes::ReadPreconditions,
    Takes::WritePreconditions,
    Takes::Content,
    Takes::Patch,
    Takes::Credentials,
];

fn clock() -> Arc<ManualClock> {
    Arc::new(ManualClock::new(std::time::SystemTime::UNIX_EPOCH))
}

fn bare() -> ConventionsBuilder {
    Conventions::builder(BASE, clock(), Arc::new(SeededEntropy::new(1)))
}

fn keys() -> Idempotency {
    let base = ProblemBase::new(BASE).unwrap();
    let store = Arc::new(MemoryIdempotencyStore::default());
    Idempotency::new(store, clock(), &SeededEntropy::new(1), base)
}

fn limiter(on_failure: OnStoreFailure) -> RateLimiter {
    RateLimiter::new(Arc::new(MemoryRateLimitStore::default()), clock(), on_failure)
}

/// Sorted, because a feature of serde_json can change the order of JSON objects.
fn names(components: &Value, kind: &str) -> Vec<String> {
    let mut names: Vec<String> = components[kind].as_object().unwrap().keys().cloned().collect();
    names.sort_unstable();
    names
}

fn sorted(object: &Map<String, Value>) -> Vec<&str> {
    let mut names: Vec<&str> = object.keys().map(String::as_str).collect();
    names.sort_unstable();
    names
}

/// Parameters and responses of an operation.
fn asked(operation: &Value) -> (Vec<&str>, Vec<&str>) {
    let parameters = operation["parameters"].as_array().unwrap().iter();
    let parameters =
        parameters.map(|parameter| parameter["$ref"].as_str().unwrap().rsplit('/').next().unwrap());
    let responses = operation["responses"].as_object().unwrap().keys();
    let mut responses: Vec<&str> = responses.map(String::as_str).collect();
    responses.sort_unstable();
    (parameters.collect(), responses)
}

/// H22: without configuration there are neither pages, keys, limits nor versions in the components.
#[test]
fn unconfigured_features_do_not_appear() {
    let conventions = bare().build().unwrap();
    let components = conventions.openapi_components();
    assert_eq!(
        names(&components, "parameters"),
        ["IfMatch", "IfNoneMatch", "IfRange", "Range"]
    );
    assert_eq!(
        names(&components, "headers"),
        [
            "Accept-Patch",
            "Allow",
            "Cache-Control",
            "Content-Range",
            "ETag",
            "Location",
            "Retry-After",
            "WWW-Authenticate",
            "X-Request-Id"
        ]
    );
    assert_eq!(
        names(&components, "schemas"),
        [
            "BlankProblem",
            "ContentDigestMismatchProblem",
            "ContentTooLargeProblem",
            "FieldsTooLargeProblem",
            "InvalidContentProblem",
            "MalformedContentProblem",
            "NotAcceptableProblem",
            "PatchConflictProblem",
            "PreconditionFailedProblem",
            "PreconditionRequiredProblem",
            "Problem",
            "RangeNotSatisfiableProblem",
            "TargetTooLongProblem",
            "UnsupportedContentProblem",
        ]
    );
    let operation = conventions.openapi_operation(&[Takes::Page, Takes::IdempotencyKey]);
    assert_eq!(
        asked(&operation),
        (Vec::new(), vec!["408", "413", "414", "431", "500"])
    );
}

/// H22: each setting adds its components.
#[test]
fn configured_features_appear() {
    let with = |configure: fn(ConventionsBuilder) -> ConventionsBuilder| {
        configure(bare()).build().unwrap().openapi_components()
    };
    let pages = with(|builder| builder.with_page_rules(PageRules::new(5, 50).unwrap().with_before()));
    assert_eq!(
        names(&pages, "parameters"),
        [
            "After",
            "Before",
            "IfMatch",
            "IfNoneMatch",
            "IfRange",
            "Limit",
            "Range"
        ]
    );
    let back = bare()
        .with_page_rules(PageRules::default().with_before())
        .build()
        .unwrap();
    let asked_by = |takes| asked(&back.openapi_operation(&[takes])).0.join(" ");
    assert_eq!(asked_by(Takes::Page), "Limit After");
    assert_eq!(asked_by(Takes::PageBothWays), "Limit After Before");
    let limit = &pages["parameters"]["Limit"]["schema"];
    assert_eq!(
        *limit,
        json!({"type": "integer", "minimum": 1, "maximum": 50, "default": 5})
    );
    assert_eq!(
        pages["schemas"]["Page"]["required"],
        json!(["data", "has_more", "next_cursor"])
    );
    let culprits = |kind: &str| pages["schemas"][kind]["properties"]["parameter"]["enum"].clone();
    assert_eq!(
        culprits("InvalidPageRequestProblem"),
        json!(["after", "limit", "before"])
    );
    assert_eq!(culprits("InvalidCursorProblem"), json!(["after", "before"]));
    let forwards = with(|builder| builder.with_page_rules(PageRules::default()));
    assert_eq!(
        names(&forwards, "parameters"),
        ["After", "IfMatch", "IfNoneMatch", "IfRange", "Limit", "Range"]
    );
}

/// H22, H6, H13, H15: keys, limits and problem types of the host appear as configured.
#[test]
fn configured_values_appear() {
    let with = |configure: fn(ConventionsBuilder) -> ConventionsBuilder| {
        configure(bare()).build().unwrap().openapi_components()
    };
    let keyed = with(|builder| builder.with_idempotency(keys().with_key_required()));
    assert_eq!(keyed["parameters"]["IdempotencyKey"]["required"], true);
    assert!(keyed["schemas"].get("IdempotencyKeyMissingProblem").is_some());
    assert!(keyed["headers"].get("Idempotency-Replayed").is_some());
    let optional = with(|builder| builder.with_idempotency(keys()));
    assert_eq!(optional["parameters"]["IdempotencyKey"]["required"], false);
    assert!(optional["schemas"].get("IdempotencyKeyMissingProblem").is_none());

    let limited = with(|builder| {
        let profile = HeaderProfile::STRUCTURED.and(HeaderProfile::X_UNIX);
        builder.with_rate_limiter(limiter(OnStoreFailure::FailOpen).with_profile(profile))
    });
    let fields = names(&limited, "headers");
    for name in [
        "RateLimit",
        "RateLimit-Policy",
        "X-RateLimit-Limit",
        "X-RateLimit-Remaining",
        "X-RateLimit-Reset",
    ] {
        assert!(fields.contains(&name.to_owned()), "{name} in {fields:?}");
    }
    assert!(!fields.contains(&"RateLimit-Limit".to_owned()));
    assert!(limited["responses"].get("TooManyRequests").is_some());

    let own = with(|builder| builder.with_problem_types([OUT_OF_STOCK]));
    let conflict = &own["responses"]["Conflict"]["content"]["application/problem+json"]["schema"]["oneOf"];
    let own_conflict = json!({"$ref": "#/components/schemas/OutOfStockProblem"});
    assert!(conflict.as_array().unwrap().contains(&own_conflict));
    let kind = &own["schemas"]["OutOfStockProblem"]["properties"];
    assert_eq!(
        kind["type"]["const"],
        "https://api.example.com/problems/out-of-stock"
    );
    assert_eq!(
        (&kind["status"]["const"], &kind["title"]["const"]),
        (&json!(409), &json!("Out of stock"))
    );
}

const ON_EVERY_ANSWER: [&str; 10] = [
    "Cache-Control",
    "RateLimit",
    "RateLimit-Limit",
    "RateLimit-Policy",
    "RateLimit-Remaining",
    "RateLimit-Reset",
    "X-RateLimit-Limit",
    "X-RateLimit-Remaining",
    "X-RateLimit-Reset",
    "X-Request-Id",
];

/// H5, H12, H14, H15, H32: a response has the fields that its status requires, and the fields of
/// every response.
#[test]
fn a_response_has_the_headers_of_its_status() {
    let conventions = bare()
        .with_rate_limiter(limiter(OnStoreFailure::FailClosed))
        .build()
        .unwrap();
    let components = conventions.openapi_components();
    for (response, owed) in [
        ("Unauthorized", &["WWW-Authenticate"][..]),
        ("MethodNotAllowed", &["Allow"]),
        ("TooManyRequests", &["Retry-After"]),
        ("ServiceUnavailable", &["Retry-After"]),
        ("RangeNotSatisfiable", &["Content-Range"]),
        ("NotModified", &["ETag", "Last-Modified"]),
        ("NotFound", &[]),
        ("RequestTimeout", &[]),
    ] {
        let headers = components["responses"][response]["headers"].as_object().unwrap();
        let mut expected: Vec<&str> = ON_EVERY_ANSWER.iter().chain(owed).copied().collect();
        expected.sort_unstable();
        assert_eq!(sorted(headers), expected, "{response}");
    }
    for (name, required) in [
        ("X-Request-Id", true),
        ("Retry-After", true),
        ("RateLimit", false),
    ] {
        assert_eq!(components["headers"][name]["required"], required, "{name}");
    }
    let not_modified = &components["responses"]["NotModified"]["headers"];
    for name in ["ETag", "Last-Modified"] {
        assert_eq!(
            not_modified[name]["required"], false,
            "a 304 has one of them: {name}"
        );
    }
    assert_eq!(sorted(&conventions.openapi_headers()), ON_EVERY_ANSWER);
}

/// H20: the version is a parameter if the scheme has one, and its end is documented.
#[test]
fn versions_appear_as_their_scheme_has_them() {
    let old = Lifecycle::deprecated(std::time::SystemTime::UNIX_EPOCH);
    let ended = old
        .clone()
        .with_sunset(std::time::SystemTime::UNIX_EPOCH)
        .unwrap();
    let with = |scheme: VersionScheme, version: &str, lifecycle: &Lifecycle| {
        let listed = [(version.parse().unwrap(), lifecycle.clone())];
        let built = bare().with_versions(scheme, listed).build().unwrap();
        (built.openapi_components(), built.openapi_operation(&[]))
    };
    let header = || VersionScheme::Header(HeaderName::from_static("api-version"));
    let (components, operation) = with(header(), "1", &ended);
    assert_eq!(components["parameters"]["Version"]["in"], "header");
    assert_eq!(components["parameters"]["Version"]["required"], true);
    assert_eq!(
        components["parameters"]["Version"]["schema"]["enum"],
        json!(["1"])
    );
    assert_eq!(asked(&operation).0, ["Version"]);
    assert_eq!(
        asked(&operation).1,
        ["400", "408", "410", "413", "414", "431", "500"]
    );
    let gone = &components["responses"]["Gone"]["headers"];
    assert!(gone.get("Deprecation").is_some() && gone.get("Sunset").is_some());

    let (components, operation) = with(VersionScheme::Query("v".to_owned()), "2026-11-21", &old);
    assert_eq!(components["parameters"]["Version"]["schema"]["format"], "date");
    assert!(components["responses"].get("Gone").is_none());
    assert!(components["headers"].get("Sunset").is_none());
    assert_eq!(asked(&operation).1, ["400", "408", "413", "414", "431", "500"]);

    let (components, operation) = with(VersionScheme::Path, "1", &Lifecycle::default());
    assert!(components["parameters"].get("Version").is_none());
    assert!(components["headers"].get("Deprecation").is_none());
    assert_eq!(asked(&operation).1, ["404", "408", "413", "414", "431", "500"]);

    let (_, operation) = with(
        VersionScheme::MediaType("v".to_owned()),
        "1",
        &Lifecycle::default(),
    );
    assert_eq!(
        asked(&operation).1,
        ["406", "408", "413", "414", "415", "431", "500"]
    );
}

/// H6, H15: a configured status appears in the document.
#[test]
fn an_operation_may_end_as_its_conventions_say() {
    let keyed = |status: MismatchStatus| {
        let built = bare()
            .with_idempotency(keys().with_mismatch_status(status))
            .build()
            .unwrap();
        let operation = built.openapi_operation(&[Takes::IdempotencyKey]);
        let statuses = asked(&operation).1.join(" ");
        (statuses, built.openapi_components())
    };
    let (statuses, components) = keyed(MismatchStatus::Conflict);
    assert_eq!(statuses, "400 408 409 413 414 431 500 503");
    let schema = &components["schemas"]["IdempotencyKeyReusedProblem"]["properties"]["status"];
    assert_eq!(*schema, json!({"const": 409}));
    let (statuses, components) = keyed(MismatchStatus::UnprocessableContent);
    assert_eq!(statuses, "400 408 409 413 414 422 431 500 503");
    let schema = &components["schemas"]["IdempotencyKeyReusedProblem"]["properties"]["status"];
    assert_eq!(*schema, json!({"const": 422}));

    let limited = |on_failure| {
        let built = bare().with_rate_limiter(limiter(on_failure)).build().unwrap();
        asked(&built.openapi_operation(&[])).1.join(" ")
    };
    assert_eq!(limited(OnStoreFailure::FailOpen), "408 413 414 429 431 500");
    assert_eq!(limited(OnStoreFailure::FailClosed), "408 413 414 429 431 500 503");
}

/// H27, H28: a PATCH reads both formats and may be refused with `Accept-Patch`; content may be
/// refused with all faults.
#[test]
fn patch_has_content_and_refusals() {
    let conventions = bare().build().unwrap();
    let operation = conventions.openapi_operation(&[Takes::Patch, Takes::WritePreconditions]);
    assert_eq!(
        asked(&operation).1.join(" "),
        "400 408 409 412 413 414 415 422 428 431 500"
    );
    let content = operation["requestBody"]["content"].as_object().unwrap();
    assert_eq!(
        sorted(content),
        ["application/json-patch+json", "application/merge-patch+json"]
    );
    let components = conventions.openapi_components();
    let unsupported = &components["responses"]["UnsupportedMediaType"]["headers"];
    assert_eq!(
        unsupported["Accept-Patch"]["$ref"],
        "#/components/headers/Accept-Patch"
    );
    let errors = |kind: &str| &components["schemas"][kind]["properties"]["errors"]["items"]["required"];
    for kind in [
        "InvalidContentProblem",
        "MalformedContentProblem",
        "PatchConflictProblem",
    ] {
        assert_eq!(*errors(kind), json!(["pointer", "code", "detail"]), "{kind}");
    }

    let post = conventions.openapi_operation(&[Takes::Content]);
    assert_eq!(asked(&post).1.join(" "), "400 408 413 414 415 422 431 500");
    assert!(post.get("requestBody").is_none());
}

/// H22: every reference has a target, for every configuration.
#[test]
fn every_reference_leads_to_a_component() {
    let configured: [fn(ConventionsBuilder) -> ConventionsBuilder; 3] = [
        |builder| builder,
        |builder| {
            builder
                .with_page_rules(PageRules::default())
                .with_idempotency(keys())
        },
        |builder| {
            let scheme = VersionScheme::Header(HeaderName::from_static("api-version"));
            let lifecycle = Lifecycle::default().with_successor("/v2".parse().unwrap());
            builder
                .with_rate_limiter(limiter(OnStoreFailure::FailClosed))
                .with_problem_types([OUT_OF_STOCK])
                .with_versions(scheme, [("1".parse().unwrap(), lifecycle)])
        },
    ];
    for configure in configured {
        let conventions = configure(bare()).build().unwrap();
        let document = json!({
            "components": conventions.openapi_components(),
            "operation": conventions.openapi_operation(&EVERYTHING),
            "headers": conventions.openapi_headers(),
        });
        let mut seen = 0;
        follow(&document, &document, &mut seen);
        assert!(seen > 20, "{seen}");
    }
}

fn follow(document: &Value, part: &Value, seen: &mut usize) {
    if let Some(reference) = part.get("$ref").and_then(Value::as_str) {
        *seen += 1;
        let found = document.pointer(reference.strip_prefix('#').unwrap());
        assert!(found.is_some(), "{reference}");
    }
    match part {
        Value::Array(items) => items.iter().for_each(|item| follow(document, item, seen)),
        Value::Object(members) => members.values().for_each(|member| follow(document, member, seen)),
        _ => {}
    }
}
