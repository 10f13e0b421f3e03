//! Parses a batch: a JSON array of requests, see the [appendix of GraphQL over
//! HTTP](https://github.com/graphql/graphql-over-http/pull/307).

use std::fmt;

use bytes::Bytes;
use serde::de::{DeserializeSeed, Deserializer, Error as _, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::refusal::Refusal;
use super::request::GraphRequest;

/// Parses at most `limit` requests of `body`. An object that is not a valid request is refused
/// alone; the other requests of the batch still run.
pub(super) fn read(
    body: &Bytes,
    limit: usize,
    values: usize,
) -> Result<Vec<Result<GraphRequest, Refusal>>, Refusal> {
    let mut json = serde_json::Deserializer::from_slice(body);
    let entries = Entries { limit }.deserialize(&mut json);
    let entries = entries.and_then(|entries| json.end().map(|()| entries));
    let entries = entries.map_err(|error| Refusal::bad_request(not_a_batch(&error)))?;
    if entries.is_empty() {
        return Err(Refusal::bad_request("the batch is empty"));
    }
    let requests = entries
        .into_iter()
        .map(|entry| GraphRequest::from_json(&body.slice_ref(entry.get().as_bytes()), values));
    Ok(requests.collect())
}

fn not_a_batch(error: &serde_json::Error) -> String {
    if error.is_data() {
        return error.to_string();
    }
    let (line, column) = (error.line(), error.column());
    format!("the batch is not valid JSON at line {line}, column {column}")
}

/// JSON array of objects, parsed up to its limit.
struct Entries {
    limit: usize,
}

impl<'de> DeserializeSeed<'de> for Entries {
    type Value = Vec<&'de RawValue>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Entries {
    type Value = Vec<&'de RawValue>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of requests")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = list.next_element::<&RawValue>()? {
            if entries.len() == self.limit {
                let message = format_args!("more than {} operations", self.limit);
                return Err(A::Error::custom(message));
            }
            if !entry.get().starts_with('{') {
                return Err(A::Error::custom("an entry is not an object"));
            }
            entries.push(entry);
        }
        Ok(entries)
    }
}
