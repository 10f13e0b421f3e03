//! Parses a [`GraphRequest`] from a body or a query string.

use std::borrow::Cow;
use std::collections::HashMap;

use bytes::Bytes;
use juniper::Variables;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

use super::json::{JsonObject, values};
use super::refusal::Refusal;
use super::request::{GraphRequest, Text};
use crate::persisted::DocumentId;

/// Supported version of `extensions.persistedQuery`.
const VERSION: u64 = 1;

impl GraphRequest {
    /// Parses the body of a POST or the payload of a message. Variables of more than `values` are
    /// not decoded.
    pub(crate) fn from_json(body: &Bytes, values: usize) -> Result<Self, Refusal> {
        let JsonObject(parameters): JsonObject<Parameters<'_>> = from_json("the request", body)?;
        let query = parameters.query.map(|query| Text::from_json(query.get(), body));
        let relay = [parameters.doc_id, parameters.id];
        Self::from_parameters(
            query.transpose()?,
            parameters.operation_name,
            variables(parameters.variables.map(RawValue::get), values)?,
            Ids {
                document_id: parameters.document_id,
                persisted: parameters.extensions.and_then(Extensions::persisted_query),
                relay: relay.into_iter().flatten().find_map(Lenient::text),
            },
        )
    }

    /// Parses the query string of a GET.
    pub(super) fn from_query(text: &str, values: usize) -> Result<Self, Refusal> {
        let mut parameters = HashMap::new();
        for (name, value) in form_urlencoded::parse(text.as_bytes()) {
            if parameters.insert(name, value).is_some() {
                return Err(Refusal::parameters("a query parameter occurs twice"));
            }
        }
        let mut take = |name: &str| parameters.remove(name);
        let (query, operation_name) = (take("query"), take("operationName"));
        let document_id = take("documentId");
        let relay = take("doc_id").or_else(|| take("id"));
        let variables = variables(take("variables").as_deref(), values)?;
        let extensions = take("extensions");
        let extensions = match &extensions {
            Some(text) => from_json::<Option<JsonObject<Extensions<'_>>>>("`extensions`", text.as_bytes())?,
            None => None,
        };
        let ids = Ids {
            document_id,
            persisted: extensions.and_then(Extensions::persisted_query),
            relay,
        };
        Self::from_parameters(
            query.map(|text| Text::Plain(text.into_owned())),
            operation_name,
            variables,
            ids,
        )
    }

    fn from_parameters(
        query: Option<Text>,
        operation_name: Option<Cow<'_, str>>,
        variables: Option<Variables>,
        ids: Ids<'_>,
    ) -> Result<Self, Refusal> {
        let document_id = ids.read(query.is_some())?;
        // some clients send an empty text instead of none
        let query = query.filter(|text| document_id.is_none() || !text.is_empty());
        if query.is_none() && document_id.is_none() {
            return Err(Refusal::parameters("`query` is missing"));
        }
        Ok(Self {
            query,
            document_id,
            operation_name: operation_name.map(Cow::into_owned),
            variables: variables.unwrap_or_default(),
            cost_report: false,
        })
    }
}

impl Text {
    fn from_json(json: &str, body: &Bytes) -> Result<Self, Refusal> {
        // `RawValue` does not detect an unpaired surrogate, so text with `\u` is decoded now
        let halves = json.contains('\\') && json.contains("\\u");
        if json.starts_with('"') && !halves {
            return Ok(Self::Json(body.slice_ref(json.as_bytes())));
        }
        from_json("`query`", json.as_bytes()).map(Self::Plain)
    }

    fn is_empty(&self) -> bool {
        match self {
            Self::Plain(text) => text.is_empty(),
            Self::Json(json) => json.len() <= 2,
        }
    }
}

/// Body of a POST.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Parameters<'b> {
    #[serde(borrow)]
    query: Option<&'b RawValue>,
    #[serde(borrow)]
    operation_name: Option<Cow<'b, str>>,
    #[serde(borrow)]
    variables: Option<&'b RawValue>,
    #[serde(borrow)]
    extensions: Option<JsonObject<Extensions<'b>>>,
    #[serde(borrow)]
    document_id: Option<Cow<'b, str>>,
    #[serde(borrow, rename = "doc_id")]
    doc_id: Option<Lenient<'b>>,
    #[serde(borrow)]
    id: Option<Lenient<'b>>,
}

/// `extensions`; other members are ignored.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Extensions<'b> {
    #[serde(borrow)]
    persisted_query: Option<JsonObject<PersistedQuery<'b>>>,
}

impl<'b> Extensions<'b> {
    fn persisted_query(JsonObject(extensions): JsonObject<Self>) -> Option<PersistedQuery<'b>> {
        extensions.persisted_query.map(|JsonObject(query)| query)
    }
}

/// `extensions.persistedQuery`; other members are ignored.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PersistedQuery<'b> {
    version: u64,
    #[serde(borrow)]
    sha256_hash: Cow<'b, str>,
}

/// String, or any other value, which is ignored.
#[derive(Deserialize)]
#[serde(untagged)]
enum Lenient<'b> {
    Text(#[serde(borrow)] Cow<'b, str>),
    Other(IgnoredAny),
}

impl<'b> Lenient<'b> {
    fn text(self) -> Option<Cow<'b, str>> {
        match self {
            Self::Text(text) => Some(text),
            Self::Other(IgnoredAny) => None,
        }
    }
}

/// All document ids of one request.
struct Ids<'b> {
    document_id: Option<Cow<'b, str>>,
    persisted: Option<PersistedQuery<'b>>,
    /// `doc_id` or `id`; used only without another id, because other clients use these names
    /// differently.
    relay: Option<Cow<'b, str>>,
}

impl Ids<'_> {
    fn read(self, has_query: bool) -> Result<Option<DocumentId>, Refusal> {
        if self
            .persisted
            .as_ref()
            .is_some_and(|query| query.version != VERSION)
        {
            return Err(Refusal::parameters("Unsupported persisted query version"));
        }
        let document_id = self.document_id.map(|id| DocumentId::from(&*id));
        let persisted = self.persisted.map(|query| DocumentId::from(&*query.sha256_hash));
        match (document_id, persisted) {
            (Some(one), Some(other)) if one != other => {
                Err(Refusal::parameters("the request has two different document ids"))
            }
            (Some(id), _) | (None, Some(id)) => Ok(Some(id)),
            (None, None) if has_query => Ok(None),
            (None, None) => Ok(self.relay.map(|id| DocumentId::from(&*id))),
        }
    }
}

fn from_json<'b, T: Deserialize<'b>>(what: &str, text: &'b [u8]) -> Result<T, Refusal> {
    serde_json::from_slice(text).map_err(|error: serde_json::Error| {
        let (line, column) = (error.line(), error.column());
        match error.is_data() {
            true => Refusal::parameters(format!(
                "{what} has a value of a wrong type at line {line}, column {column}"
            )),
            false => Refusal::bad_request(format!(
                "{what} is not valid JSON at line {line}, column {column}"
            )),
        }
    })
}

/// Decodes `variables`, unless they have more than `limit` values.
fn variables(json: Option<&str>, limit: usize) -> Result<Option<Variables>, Refusal> {
    match json {
        // the object itself is no value
        Some(json) if values(json).saturating_sub(1) > limit => Err(Refusal::too_many_values(limit)),
        Some(json) => from_json("`variables`", json.as_bytes()),
        None => Ok(None),
    }
}
