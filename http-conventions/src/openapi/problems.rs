//! Schemas of problems: any problem, a problem without a type, and each registered type.

use http::StatusCode;
use serde_json::{Map, Value, json};

use super::{Described, named};
use crate::{
    errors::{ProblemType, types},
    limits::QUOTA_EXCEEDED,
    versions::VersionScheme,
};

/// Component name of a problem without a type.
pub(super) const BLANK: &str = "BlankProblem";

const QUOTA: &str = "QuotaExceededProblem";

/// Component names that no problem type of a host may have.
pub(crate) const RESERVED_NAMES: [&str; 3] = ["Problem", BLANK, QUOTA];

/// A problem type in a document.
pub(super) struct Kind {
    pub(super) name: String,
    uri: String,
    pub(super) status: StatusCode,
    title: &'static str,
    description: &'static str,
}

/// Problem types that the conventions send.
pub(crate) fn own_types(conventions: &Described<'_>) -> Vec<ProblemType> {
    let mut kinds = vec![
        types::PRECONDITION_FAILED,
        types::PRECONDITION_REQUIRED,
        types::NOT_ACCEPTABLE,
        types::UNSUPPORTED_CONTENT,
        types::MALFORMED_CONTENT,
        types::INVALID_CONTENT,
        types::PATCH_CONFLICT,
        types::CONTENT_TOO_LARGE,
        types::TARGET_TOO_LONG,
        types::FIELDS_TOO_LARGE,
        types::RANGE_NOT_SATISFIABLE,
        types::CONTENT_DIGEST_MISMATCH,
    ];
    kinds.extend(
        conventions
            .requires_digest
            .then_some(types::CONTENT_DIGEST_MISSING),
    );
    if conventions.pages.is_some() {
        kinds.extend([
            types::INVALID_PAGE_REQUEST,
            types::INVALID_CURSOR,
            types::EXPIRED_CURSOR,
            types::CURSOR_MISMATCH,
        ]);
    }
    if let Some(idempotency) = conventions.idempotency {
        kinds.extend(
            idempotency
                .is_key_required()
                .then_some(types::IDEMPOTENCY_KEY_MISSING),
        );
        kinds.extend([
            types::IDEMPOTENCY_KEY_INVALID,
            types::IDEMPOTENCY_KEY_REUSED,
            types::IDEMPOTENCY_IN_FLIGHT,
            types::IDEMPOTENCY_RESULT_NOT_REPLAYABLE,
            types::IDEMPOTENCY_OUTCOME_UNKNOWN,
        ]);
    }
    if let Some(versions) = conventions.versions {
        let said_apart = matches!(
            versions.scheme(),
            VersionScheme::Header(_) | VersionScheme::Query(_)
        );
        kinds.extend(said_apart.then_some(types::UNSUPPORTED_VERSION));
        kinds.extend(versions.end().then_some(types::VERSION_GONE));
    }
    kinds
}

/// Problem types that a response may have.
pub(super) fn kinds(conventions: &Described<'_>) -> Vec<Kind> {
    let mut kinds: Vec<Kind> = own_types(conventions)
        .iter()
        .chain(conventions.kinds)
        .map(|kind| Kind::of(kind, conventions))
        .collect();
    kinds.extend(conventions.limiter.map(|_| Kind {
        name: QUOTA.to_owned(),
        uri: QUOTA_EXCEEDED.to_owned(),
        status: StatusCode::TOO_MANY_REQUESTS,
        title: "Request cannot be satisfied as assigned quota has been exceeded",
        description: "A quota is exhausted. Retry after the time in Retry-After.",
    }));
    kinds
}

impl Kind {
    fn of(kind: &ProblemType, conventions: &Described<'_>) -> Self {
        let mismatch = conventions.idempotency.map(|keys| keys.mismatch_status());
        let status = match (*kind == types::IDEMPOTENCY_KEY_REUSED, mismatch) {
            (true, Some(status)) => status,
            _ => kind.status().status(),
        };
        Self {
            name: problem_name(kind.slug()),
            uri: kind.uri(conventions.base),
            status,
            title: kind.title(),
            description: kind.description(),
        }
    }

    fn schema(&self, extensions: Vec<(&str, bool, Value)>) -> Value {
        let required: Vec<&str> = extensions
            .iter()
            .filter_map(|(name, always, _)| always.then_some(*name))
            .collect();
        let mut properties = Map::from_iter([
            ("type".to_owned(), json!({ "const": self.uri })),
            ("title".to_owned(), json!({ "const": self.title })),
            ("status".to_owned(), json!({ "const": self.status.as_u16() })),
        ]);
        properties.extend(
            extensions
                .into_iter()
                .map(|(name, _, schema)| (name.to_owned(), schema)),
        );
        json!({
            "description": self.description,
            "allOf": [super::reference("schemas", "Problem")],
            "properties": properties,
            "required": required,
        })
    }
}

/// Component name of a slug: `out-of-stock` becomes `OutOfStockProblem`.
pub(crate) fn problem_name(slug: &str) -> String {
    let words = slug.split(|character: char| !character.is_ascii_alphanumeric());
    let mut name = String::with_capacity(slug.len() + 7);
    for word in words {
        let mut rest = word.chars();
        name.extend(rest.next().map(|first| first.to_ascii_uppercase()));
        name.push_str(rest.as_str());
    }
    name.push_str("Problem");
    name
}

/// Schemas of all problem types, and of their common members.
pub(super) fn schemas(conventions: &Described<'_>) -> Map<String, Value> {
    let own = own_types(conventions);
    let mut schemas = named(kinds(conventions).iter().map(|kind| {
        let of_ours = own.iter().find(|own| own.uri(conventions.base) == kind.uri);
        let slug = of_ours.map(ProblemType::slug);
        let slug = slug.or_else(|| (kind.uri == QUOTA_EXCEEDED).then_some(QUOTA_EXCEEDED));
        let extensions = slug.map(|slug| extensions(slug, conventions)).unwrap_or_default();
        (kind.name.clone(), kind.schema(extensions))
    }));
    schemas.insert("Problem".to_owned(), problem());
    schemas.insert(BLANK.to_owned(), blank());
    schemas
}

/// Extension members of a type: name, whether it is required, and schema.
fn extensions(slug: &str, conventions: &Described<'_>) -> Vec<(&'static str, bool, Value)> {
    let texts = || json!({ "type": "array", "items": { "type": "string" } });
    match slug {
        "invalid-page-request" | "invalid-cursor" | "expired-cursor" | "cursor-mismatch" => {
            vec![(
                "parameter",
                true,
                json!({ "enum": page_parameters(slug, conventions) }),
            )]
        }
        "idempotency-in-flight" => vec![("retryable", true, json!({ "const": true }))],
        "idempotency-key-reused" | "idempotency-outcome-unknown" => {
            vec![("retryable", true, json!({ "const": false }))]
        }
        "idempotency-result-not-replayable" => vec![
            ("retryable", true, json!({ "const": false })),
            (
                "original_status",
                true,
                json!({ "type": "integer", "minimum": 100, "maximum": 599 }),
            ),
        ],
        "not-acceptable" => vec![("available", false, texts()), ("supported", false, texts())],
        "unsupported-content" => vec![("supported", false, texts())],
        "malformed-content" => vec![("errors", false, faults())],
        "invalid-content" | "patch-conflict" => vec![("errors", true, faults())],
        "unsupported-version" => vec![("supported", true, texts())],
        "content-too-large" | "target-too-long" | "fields-too-large" => {
            vec![("limit", true, json!({ "type": "integer", "minimum": 0 }))]
        }
        "range-not-satisfiable" => vec![("length", true, json!({ "type": "integer", "minimum": 0 }))],
        QUOTA_EXCEEDED => vec![("violated-policies", true, texts())],
        _ => Vec::new(),
    }
}

/// Schema of a list of faults.
fn faults() -> Value {
    json!({
        "type": "array",
        "minItems": 1,
        "items": {
            "type": "object",
            "required": ["pointer", "code", "detail"],
            "properties": {
                "pointer": { "type": "string", "format": "json-pointer", "description": "Faulty member (RFC 6901)." },
                "code": { "type": "string", "description": "Kind of the fault; stable." },
                "detail": { "type": "string", "description": "Explanation of the fault." },
            },
        },
    })
}

fn page_parameters(slug: &str, conventions: &Described<'_>) -> Vec<&'static str> {
    let mut names = vec!["after"];
    names.extend((slug == "invalid-page-request").then_some("limit"));
    names.extend(
        conventions
            .pages
            .filter(|rules| rules.walks_back())
            .map(|_| "before"),
    );
    names
}

fn problem() -> Value {
    json!({
        "type": "object",
        "description": "Problem details (RFC 9457).",
        "required": ["type", "title", "status", "request_id"],
        "properties": {
            "type": { "type": "string", "format": "uri", "description": "Type URI of the problem; stable." },
            "title": { "type": "string", "description": "Short summary of the type." },
            "status": { "type": "integer", "minimum": 400, "maximum": 599, "description": "Status of the response." },
            "detail": { "type": "string", "description": "Explanation of this occurrence." },
            "instance": { "type": "string", "format": "uri-reference", "description": "Path of the request, unless it is too long." },
            "request_id": { "type": "string", "description": "X-Request-Id of the response." },
        },
    })
}

fn blank() -> Value {
    json!({
        "description": "A problem that its status explains.",
        "allOf": [super::reference("schemas", "Problem")],
        "properties": { "type": { "const": "about:blank" } },
    })
}
