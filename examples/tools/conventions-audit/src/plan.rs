//! The requests of an audit.

use serde_json::{Map, Value};

/// Paths to send a GET request to, and POST requests with an `Idempotency-Key`.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Plan {
    reads: Vec<String>,
    writes: Vec<Write>,
}

/// POST request of an endpoint that accepts an `Idempotency-Key`.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Write {
    /// Path of the request.
    pub path: String,
    /// JSON body: the example in the OpenAPI document, or the value of `--write`.
    pub body: Value,
}

/// Error of a document that is not JSON or has no `paths`.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("no OpenAPI document with paths")]
pub struct InvalidDocument;

impl Plan {
    /// Creates a plan with a GET request to each of these paths.
    #[must_use]
    pub fn from_paths(paths: &[String]) -> Self {
        Self {
            reads: paths.to_vec(),
            writes: Vec::new(),
        }
    }

    /// Adds POST requests with an `Idempotency-Key`.
    #[must_use]
    pub fn with_writes(mut self, writes: &[Write]) -> Self {
        self.writes.extend_from_slice(writes);
        self
    }

    /// Creates a plan from the paths of an OpenAPI document that have no path parameters.
    ///
    /// The plan contains each GET operation without a required query parameter, and each POST
    /// operation with the parameter `Idempotency-Key` and an example body.
    ///
    /// # Errors
    ///
    /// The document is not JSON or has no `paths`.
    pub fn from_openapi(document: &[u8]) -> Result<Self, InvalidDocument> {
        let document: Value = serde_json::from_slice(document).map_err(|_| InvalidDocument)?;
        let paths = document
            .get("paths")
            .and_then(Value::as_object)
            .ok_or(InvalidDocument)?;
        let mut plan = Self::default();
        for (path, item) in paths.iter().filter(|(path, _)| !path.contains('{')) {
            if item.get("get").is_some_and(|get| !needs_query(get, &document)) {
                plan.reads.push(path.clone());
            }
            let post = item.get("post").filter(|post| takes_key(post, &document));
            if let Some(body) = post.and_then(example) {
                plan.writes.push(Write {
                    path: path.clone(),
                    body: body.clone(),
                });
            }
        }
        Ok(plan)
    }

    /// Adds the requests of another plan.
    pub fn extend(&mut self, other: Self) {
        self.reads.extend(other.reads);
        self.writes.extend(other.writes);
    }

    /// Returns `true` if the plan has no request.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.reads.is_empty() && self.writes.is_empty()
    }

    /// Paths of the GET requests.
    #[must_use]
    pub fn reads(&self) -> &[String] {
        &self.reads
    }

    /// POST requests with an `Idempotency-Key`.
    #[must_use]
    pub fn writes(&self) -> &[Write] {
        &self.writes
    }
}

fn parameters<'a>(operation: &'a Value, document: &'a Value) -> impl Iterator<Item = &'a Map<String, Value>> {
    let listed = operation.get("parameters").and_then(Value::as_array);
    let resolved = listed.into_iter().flatten().map(|parameter| {
        let reference = parameter.get("$ref").and_then(Value::as_str);
        let pointed = reference.and_then(|reference| document.pointer(reference.strip_prefix('#')?));
        pointed.unwrap_or(parameter)
    });
    resolved.filter_map(Value::as_object)
}

fn needs_query(operation: &Value, document: &Value) -> bool {
    parameters(operation, document).any(|parameter| {
        parameter.get("in").is_some_and(|place| place == "query")
            && parameter.get("required").is_some_and(|required| required == true)
    })
}

fn takes_key(operation: &Value, document: &Value) -> bool {
    parameters(operation, document).any(|parameter| {
        let name = parameter.get("name").and_then(Value::as_str);
        name.is_some_and(|name| name.eq_ignore_ascii_case("idempotency-key"))
    })
}

fn example(operation: &Value) -> Option<&Value> {
    let content = operation.pointer("/requestBody/content/application~1json")?;
    let named = || {
        content
            .get("examples")?
            .as_object()?
            .values()
            .next()?
            .get("value")
    };
    content
        .get("example")
        .or_else(named)
        .or_else(|| content.pointer("/schema/example"))
}
