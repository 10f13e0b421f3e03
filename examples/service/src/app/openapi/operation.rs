//! One operation: what the conventions say of it, and what the desk alone knows.

use std::collections::BTreeMap;

use http::StatusCode;
use http_conventions::openapi::Takes;
use http_conventions::pipeline::Conventions;
use serde_json::{Map, Value, json};

use super::proofs;

/// An operation, put together from its members.
pub(super) struct Operation<'a> {
    conventions: &'a Conventions,
    members: Map<String, Value>,
    parameters: Vec<Value>,
    responses: Map<String, Value>,
}

impl<'a> Operation<'a> {
    /// An operation of a caller with this scope, which takes part in these conventions.
    pub(super) fn new(
        conventions: &'a Conventions,
        (id, summary): (&str, &str),
        scope: &str,
        takes: &[Takes],
    ) -> Self {
        let takes = [takes, &[Takes::Credentials]].concat();
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
        let members = [
            ("operationId", json!(id)),
            ("summary", json!(summary)),
            ("security", json!([{ "oauth": [scope] }])),
        ];
        Self {
            conventions,
            members: members
                .map(|(name, value)| (name.to_owned(), value))
                .into_iter()
                .collect(),
            parameters,
            responses,
        }
    }

    /// A parameter of the query that chooses among what is listed.
    pub(super) fn filtered(mut self, name: &str, description: &str, schema: &Value) -> Self {
        self.parameters.push(json!({
            "name": name, "in": "query", "description": description, "schema": schema,
        }));
        self
    }

    /// The schema of the content that is sent, and an example of it.
    pub(super) fn reads(mut self, schema: &str, required: bool, example: &Value) -> Self {
        let body = json!({
            "required": required,
            "content": { "application/json": { "schema": to(schema), "example": example } },
        });
        self.members.insert("requestBody".to_owned(), body);
        self
    }

    /// The success, with these fields beside those of every answer, and links to what can be done with it.
    pub(super) fn answers(
        mut self,
        (status, description): (StatusCode, &str),
        schema: &Value,
        fields: &[&str],
        links: &Value,
    ) -> Self {
        let mut headers = self.conventions.openapi_headers();
        headers.extend([proofs::nonce()]);
        headers.extend(fields.iter().map(|name| {
            let field = json!({ "$ref": format!("#/components/headers/{name}") });
            ((*name).to_owned(), field)
        }));
        let success = json!({
            "description": description,
            "headers": headers,
            "content": { "application/json": { "schema": schema } },
            "links": links,
        });
        self.responses.insert(status.as_str().to_owned(), success);
        self
    }

    /// Refusals that the desk chooses.
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
        // in the order that people look for them
        let responses: BTreeMap<String, Value> = self.responses.into_iter().collect();
        self.members.insert("responses".to_owned(), json!(responses));
        Value::Object(self.members)
    }
}

/// A reference to a schema.
pub(super) fn to(schema: &str) -> Value {
    json!({ "$ref": format!("#/components/schemas/{schema}") })
}

/// The envelope with items of this schema.
pub(super) fn page_of(schema: &str) -> Value {
    json!({ "allOf": [to("Page")], "properties": { "data": { "items": to(schema) } } })
}

/// A link to an operation, with what it needs of this answer.
pub(super) fn link(operation: &str, parameters: &Value) -> Value {
    json!({ "operationId": operation, "parameters": parameters })
}
