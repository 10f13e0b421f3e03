//! OpenAPI operations: the members that the conventions give, and those of the desk.

use std::collections::BTreeMap;

use http::StatusCode;
use http_conventions::openapi::Takes;
use http_conventions::pipeline::Conventions;
use serde_json::{Map, Value, json};

use super::super::body::MERGE_PATCH;
use super::proofs;

/// Builder for an operation.
pub(super) struct Operation<'a> {
    conventions: &'a Conventions,
    members: Map<String, Value>,
    parameters: Vec<Value>,
    responses: Map<String, Value>,
}

impl<'a> Operation<'a> {
    /// Creates an operation that requires `scope` and follows these conventions.
    pub(super) fn new(
        conventions: &'a Conventions,
        (id, summary): (&str, &str),
        scope: &str,
        takes: &[Takes],
    ) -> Self {
        let takes = [takes, &[Takes::Credentials, Takes::ConcurrencyLimit]].concat();
        let mut shared = conventions.openapi_operation(&takes);
        let taken = |member: &str, shared: &mut Value| shared.get_mut(member).map(Value::take);
        let parameters = match taken("parameters", &mut shared) {
            Some(Value::Array(parameters)) => parameters,
            _ => Vec::new(),
        };
        let responses = match taken("responses", &mut shared) {
            Some(Value::Object(responses)) => responses,
            _ => Map::new(),
        };
        let patch = taken("requestBody", &mut shared).map(|body| ("requestBody", body));
        let members = [
            ("operationId", json!(id)),
            ("summary", json!(summary)),
            ("security", json!([{ "oauth": [scope] }])),
        ];
        Self {
            conventions,
            members: members
                .into_iter()
                .chain(patch)
                .map(|(name, value)| (name.to_owned(), value))
                .collect(),
            parameters,
            responses,
        }
    }

    /// Adds a query parameter that filters the list.
    pub(super) fn filtered(mut self, name: &str, description: &str, schema: &Value) -> Self {
        self.parameters.push(json!({
            "name": name, "in": "query", "description": description, "schema": schema,
        }));
        self
    }

    /// Adds the schema and an example of the request body.
    pub(super) fn reads(self, schema: &str, required: bool, example: &Value) -> Self {
        self.reads_as("application/json", (schema, required), example)
    }

    /// Adds the schema and an example of a JSON merge patch (RFC 7396).
    pub(super) fn patches(mut self, schema: &str, example: &Value) -> Self {
        let body = self.members.get_mut("requestBody");
        match body.and_then(|body| body.pointer_mut("/content")?.as_object_mut()) {
            // the other format is that of the conventions
            Some(formats) => {
                let merge_patch = json!({ "schema": to(schema), "example": example });
                formats.insert(MERGE_PATCH.to_owned(), merge_patch);
                self
            }
            None => self.reads_as(MERGE_PATCH, (schema, true), example),
        }
    }

    fn reads_as(mut self, media_type: &str, (schema, required): (&str, bool), example: &Value) -> Self {
        let body = json!({
            "required": required,
            "content": { media_type: { "schema": to(schema), "example": example } },
        });
        self.members.insert("requestBody".to_owned(), body);
        self
    }

    /// Adds the success response, with its own headers, and links to further operations.
    pub(super) fn answers(
        mut self,
        (status, description): (StatusCode, &str),
        schema: &Value,
        fields: &[&str],
        links: &Value,
    ) -> Self {
        let success = json!({
            "description": description,
            "headers": self.headers(fields),
            "content": { "application/json": { "schema": schema } },
            "links": links,
        });
        self.responses.insert(status.as_str().to_owned(), success);
        self
    }

    /// Adds the success response without content.
    pub(super) fn answers_without_content(mut self, description: &str) -> Self {
        let success = json!({ "description": description, "headers": self.headers(&[]) });
        self.responses
            .insert(StatusCode::NO_CONTENT.as_str().to_owned(), success);
        self
    }

    fn headers(&self, fields: &[&str]) -> Map<String, Value> {
        let mut headers = self.conventions.openapi_headers();
        headers.extend([proofs::nonce()]);
        headers.extend(fields.iter().map(|name| {
            let field = json!({ "$ref": format!("#/components/headers/{name}") });
            ((*name).to_owned(), field)
        }));
        headers
    }

    /// Adds the refusals of the desk.
    pub(super) fn refuses(mut self, refusals: &[(StatusCode, &str)]) -> Self {
        for (status, name) in refusals {
            let refusal = json!({ "$ref": format!("#/components/responses/{name}") });
            self.responses.insert(status.as_str().to_owned(), refusal);
        }
        self
    }

    pub(super) fn value(mut self) -> Value {
        self.members
            .insert("parameters".to_owned(), Value::Array(self.parameters));
        // sorted by status
        let responses: BTreeMap<String, Value> = self.responses.into_iter().collect();
        self.members.insert("responses".to_owned(), json!(responses));
        Value::Object(self.members)
    }
}

/// Reference to a schema.
pub(super) fn to(schema: &str) -> Value {
    json!({ "$ref": format!("#/components/schemas/{schema}") })
}

/// Schema of a page of such items.
pub(super) fn page_of(schema: &str) -> Value {
    json!({ "allOf": [to("Page")], "properties": { "data": { "items": to(schema) } } })
}

/// Link to an operation, with parameters from this response.
pub(super) fn link(operation: &str, parameters: &Value) -> Value {
    json!({ "operationId": operation, "parameters": parameters })
}
