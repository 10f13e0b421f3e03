//! Parameters of requests.

use serde_json::{Map, Value, json};

use super::{Described, fields::spelled, named};
use crate::{
    content::CONTENT_DIGEST,
    idempotency::{IDEMPOTENCY_KEY, Idempotency},
    paging::PageRules,
    versions::{VersionScheme, Versions},
};

/// Component name of the version parameter.
pub(super) const VERSION: &str = "Version";

/// An unquoted key, or a key as a quoted string.
const KEY: &str = r#"^([!#-+\-.-\[\]-~]{1,255}|"([ !#-\[\]-~]|\\["\\]){1,255}")$"#;

/// All parameters that the conventions read.
pub(super) fn all(conventions: &Described<'_>) -> Map<String, Value> {
    let mut parameters = vec![
        (
            "IfMatch",
            optional_header("If-Match", "Entity tag of the state to change."),
        ),
        (
            "IfNoneMatch",
            optional_header("If-None-Match", "Entity tag of the state that the client has."),
        ),
        (
            "Range",
            optional_header("Range", "Bytes to read, such as `bytes=0-499`."),
        ),
        (
            "IfRange",
            optional_header("If-Range", "Entity tag of the state whose bytes to read."),
        ),
    ];
    if let Some(rules) = conventions.pages {
        parameters.push(("Limit", limit(rules)));
        parameters.push(("After", cursor("after", "The `next_cursor` of the page before.")));
        if rules.walks_back() {
            parameters.push((
                "Before",
                cursor(
                    "before",
                    "A cursor of the link `prev`; not together with `after`.",
                ),
            ));
        }
    }
    parameters.extend(
        conventions
            .idempotency
            .map(|keys| ("IdempotencyKey", idempotency_key(keys))),
    );
    parameters.extend(
        conventions
            .requires_digest
            .then(|| ("ContentDigest", content_digest())),
    );
    parameters.extend(version(conventions).map(|version| (VERSION, version)));
    named(
        parameters
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value)),
    )
}

/// Parameter that names the version.
///
/// `None` for versions in the path or the media type: OpenAPI ignores `Accept` as a parameter
/// ([OpenAPI 3.1.1](https://spec.openapis.org/oas/v3.1.1.html#fixed-fields-9)).
pub(super) fn version(conventions: &Described<'_>) -> Option<Value> {
    let versions = conventions.versions?;
    let (place, name) = match versions.scheme() {
        VersionScheme::Header(name) => ("header", name.as_str()),
        VersionScheme::Query(name) => ("query", name.as_str()),
        VersionScheme::Path | VersionScheme::MediaType(_) => return None,
    };
    let required = versions.default.is_none() && !conventions.pins_versions;
    Some(json!({
        "name": name,
        "in": place,
        "required": required,
        "description": "Version of the API.",
        "schema": version_schema(versions),
    }))
}

fn version_schema(versions: &Versions) -> Value {
    let all = versions.all.iter();
    if all.clone().any(|(version, _)| version.is_date()) {
        return json!({ "type": "string", "format": "date" });
    }
    let numbers: Vec<String> = all.map(|(version, _)| version.to_string()).collect();
    json!({ "type": "string", "enum": numbers })
}

fn limit(rules: PageRules) -> Value {
    json!({
        "name": "limit",
        "in": "query",
        "description": "Maximum number of items of a page.",
        "schema": { "type": "integer", "minimum": 1, "maximum": rules.max(), "default": rules.default_limit() },
    })
}

fn cursor(name: &str, description: &str) -> Value {
    json!({
        "name": name,
        "in": "query",
        "description": description,
        "schema": { "type": "string", "format": "cursor", "minLength": 1, "maxLength": 512 },
    })
}

fn idempotency_key(keys: &Idempotency) -> Value {
    json!({
        "name": spelled(&IDEMPOTENCY_KEY),
        "in": "header",
        "required": keys.is_key_required(),
        "description": "One random value for each operation, repeated with each retry of it.",
        "schema": { "type": "string", "pattern": KEY },
    })
}

fn content_digest() -> Value {
    json!({
        "name": spelled(&CONTENT_DIGEST),
        "in": "header",
        "required": true,
        "description": "SHA-256 or SHA-512 of the content as sent (RFC 9530).",
        "schema": { "type": "string", "pattern": "sha-(256|512)=:[A-Za-z0-9+/]+={0,2}:" },
    })
}

fn optional_header(name: &str, description: &str) -> Value {
    json!({
        "name": name,
        "in": "header",
        "description": description,
        "schema": { "type": "string" },
    })
}
