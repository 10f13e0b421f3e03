//! Header fields of responses.

use http::{HeaderName, header};
use serde_json::{Map, Value, json};

use super::{Described, named, reference};
use crate::{
    content::WANT_CONTENT_DIGEST,
    idempotency::IDEMPOTENCY_REPLAYED,
    patching::ACCEPT_PATCH,
    routing::X_REQUEST_ID,
    tracing::SERVER_TIMING,
    versions::{DEPRECATION, SUNSET},
};

/// All fields that the conventions send.
pub(super) fn all(conventions: &Described<'_>) -> Map<String, Value> {
    let mut fields = vec![
        request_id(),
        (
            header::CACHE_CONTROL,
            text(true, "Caching policy of the response."),
        ),
        (header::ETAG, entity_tag(true)),
        (header::LOCATION, location()),
        (header::ALLOW, text(true, "Methods that the resource supports.")),
        (
            ACCEPT_PATCH,
            text(false, "Formats of patches that the resource supports (RFC 5789)."),
        ),
        (header::WWW_AUTHENTICATE, text(true, "Authentication challenges.")),
        (header::RETRY_AFTER, retry_after()),
        (
            header::CONTENT_RANGE,
            text(true, "Length of the complete content: `bytes */N`."),
        ),
    ];
    if conventions.requires_digest {
        let description = "Algorithms of the missing Content-Digest.";
        fields.push((WANT_CONTENT_DIGEST, text(false, description)));
    }
    if conventions.pages.is_some() || conventions.versions.is_some_and(|versions| versions.are_linked()) {
        fields.push((header::LINK, text(false, "Related resources (RFC 8288).")));
    }
    if conventions.idempotency.is_some() {
        let schema = json!({ "type": "string", "const": "true" });
        let description = "Marks a replay of the first response to this Idempotency-Key.";
        fields.push((IDEMPOTENCY_REPLAYED, field(false, description, &schema)));
    }
    if conventions.sends_timing {
        let description = "Durations in milliseconds (W3C Server Timing); `total` is that of the response.";
        fields.push((SERVER_TIMING, text(true, description)));
    }
    fields.extend(lifecycle(conventions));
    fields.extend(rate_limits(conventions));
    named(fields.into_iter().map(|(name, value)| (spelled(&name), value)))
}

/// Member `headers` of a response: references to the fields that every response has or may have.
pub(crate) fn of_every_answer(conventions: &Described<'_>) -> Map<String, Value> {
    let mut names = vec![X_REQUEST_ID, header::CACHE_CONTROL];
    if conventions.versions.is_some_and(|versions| versions.are_linked()) {
        names.push(header::LINK);
    }
    if conventions.sends_timing {
        names.push(SERVER_TIMING);
    }
    names.extend(lifecycle(conventions).map(|(name, _)| name));
    names.extend(rate_limits(conventions).map(|(name, _)| name));
    refer(names)
}

/// Validators of a 304: `ETag` or `Last-Modified`.
pub(super) fn of_state() -> Map<String, Value> {
    let date = text(
        false,
        "Time of the last change as an HTTP date, if there is no entity tag.",
    );
    let fields = [(header::ETAG, entity_tag(false)), (header::LAST_MODIFIED, date)];
    named(fields.into_iter().map(|(name, value)| (spelled(&name), value)))
}

/// References to these fields.
pub(super) fn refer(names: impl IntoIterator<Item = HeaderName>) -> Map<String, Value> {
    named(names.into_iter().map(|name| {
        let name = spelled(&name);
        let field = reference("headers", &name);
        (name, field)
    }))
}

fn lifecycle(conventions: &Described<'_>) -> impl Iterator<Item = (HeaderName, Value)> {
    let versions = conventions.versions;
    let since = versions
        .is_some_and(|versions| versions.are_deprecated())
        .then(|| {
            let schema = json!({ "type": "string", "pattern": "^@-?[0-9]+$" });
            (
                DEPRECATION,
                field(false, "Date of deprecation of the version (RFC 9745).", &schema),
            )
        });
    let until = versions.is_some_and(|versions| versions.end()).then(|| {
        (
            SUNSET,
            text(
                false,
                "Date of removal of the version (RFC 8594), as an HTTP date.",
            ),
        )
    });
    since.into_iter().chain(until)
}

fn rate_limits(conventions: &Described<'_>) -> impl Iterator<Item = (HeaderName, Value)> {
    let names = conventions.limiter.map(|limiter| limiter.profile().names());
    names.into_iter().flatten().map(|name| {
        let (description, schema) = match name.as_str() {
            "ratelimit-policy" => (
                "The policies, as a list of structured strings.",
                json!({ "type": "string" }),
            ),
            "ratelimit" => (
                "Remaining quota of each policy, and the seconds until the next unit.",
                json!({ "type": "string" }),
            ),
            name if name.ends_with("-limit") => (
                "Limit of the policy with the smallest remaining share.",
                counted(),
            ),
            name if name.ends_with("-remaining") => ("Remaining units of that policy.", counted()),
            _ => ("Unix time at which that quota is full.", counted()),
        };
        (name, field(false, description, &schema))
    })
}

fn counted() -> Value {
    json!({ "type": "integer", "minimum": 0 })
}

fn request_id() -> (HeaderName, Value) {
    let schema = json!({ "type": "string", "pattern": "^[A-Za-z0-9._~-]{8,128}$" });
    (
        X_REQUEST_ID,
        field(true, "Request id: that of the client if it is valid.", &schema),
    )
}

fn entity_tag(required: bool) -> Value {
    let schema = json!({ "type": "string", "pattern": "^(W/)?\"[^\" ]*\"$" });
    field(
        required,
        "Entity tag of this state, for If-Match and If-None-Match.",
        &schema,
    )
}

fn location() -> Value {
    let schema = json!({ "type": "string", "format": "uri-reference" });
    field(true, "The created resource, or the resource to poll.", &schema)
}

fn retry_after() -> Value {
    let schema = json!({ "type": "integer", "minimum": 1 });
    field(true, "Wait in seconds before a retry.", &schema)
}

fn text(required: bool, description: &str) -> Value {
    field(required, description, &json!({ "type": "string" }))
}

fn field(required: bool, description: &str, schema: &Value) -> Value {
    json!({ "description": description, "required": required, "schema": schema })
}

/// Spells a field name in its usual case: `x-request-id` becomes `X-Request-Id`.
pub(super) fn spelled(name: &HeaderName) -> String {
    let words = name.as_str().split('-').map(|word| match word {
        "etag" => "ETag".to_owned(),
        "www" => "WWW".to_owned(),
        "ratelimit" => "RateLimit".to_owned(),
        word => {
            let mut rest = word.chars();
            let first = rest.next().map(|first| first.to_ascii_uppercase());
            first.into_iter().chain(rest).collect()
        }
    });
    words.collect::<Vec<_>>().join("-")
}
