//! OpenAPI 3.1 document of `/v1`, built once from the conventions that the service applies.

mod operation;
mod paths;
mod proofs;
mod schemas;

use std::time::Duration;

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderValue, Response};
use http_conventions::caching::CacheControl;
use http_conventions::caching::{EntityTag, Preconditions, Validators};
use http_conventions::pipeline::Conventions;
use serde_json::{Value, json};

use super::body::to_json;
use super::{App, Handled};

/// Cache lifetime of the document.
const FRESH: Duration = Duration::from_secs(5 * 60);

/// The serialized document.
pub(super) struct Document {
    content: Bytes,
    validators: Validators,
}

impl Document {
    pub(super) fn new(base_url: &str, conventions: &Conventions) -> Self {
        let content = to_json(&document(base_url, conventions));
        let tag = EntityTag::of_content(&content);
        Self {
            content,
            validators: Validators::default().with_entity_tag(tag),
        }
    }

    fn response(&self) -> Response<Bytes> {
        let mut response = Response::new(self.content.clone());
        let json = HeaderValue::from_static("application/json");
        response.headers_mut().insert(CONTENT_TYPE, json);
        CacheControl::public(FRESH).apply(response.headers_mut());
        response
    }
}

impl App {
    pub(super) fn show_document(&self, preconditions: &Preconditions<'_>) -> Handled {
        let document = &self.document;
        preconditions.answer_read(
            &document.validators,
            document.response(),
            self.conventions.problems(),
        )
    }
}

fn document(base_url: &str, conventions: &Conventions) -> Value {
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "The payments desk",
            "version": "1",
            "description": "Charges, refunds, customers and webhooks. Every resource supports HEAD, which responds like GET without \
                the content, and OPTIONS, which lists its methods.",
        },
        "servers": [{ "url": base_url }],
        "paths": paths::paths(conventions),
        "components": components(base_url, conventions),
    })
}

fn components(base_url: &str, conventions: &Conventions) -> Value {
    let mut components = conventions.openapi_components();
    if let Some(schemas) = components.pointer_mut("/schemas").and_then(Value::as_object_mut) {
        schemas.extend(schemas::own());
        schemas::extend_problems(schemas);
    }
    if let Some(components) = components.as_object_mut() {
        proofs::extend(components);
        components.insert("securitySchemes".to_owned(), json!({ "oauth": oauth(base_url) }));
    }
    components
}

fn oauth(base_url: &str) -> Value {
    let scopes = json!({
        "read:charges": "read charges, refunds, customers and webhooks",
        "write:charges": "create and change charges, customers and webhooks",
        "write:refunds": "request refunds",
    });
    let token_url = format!("{base_url}/token");
    json!({
        "type": "oauth2",
        "description": format!("OAuth 2.0. A user signs in with PKCE; a service uses its own credentials. {}", proofs::OF_TOKENS),
        "flows": {
            "authorizationCode": {
                "authorizationUrl": format!("{base_url}/authorize"),
                "tokenUrl": token_url,
                "refreshUrl": token_url,
                "scopes": scopes,
            },
            "clientCredentials": { "tokenUrl": token_url, "scopes": scopes },
        },
    })
}

#[cfg(test)]
mod tests;
