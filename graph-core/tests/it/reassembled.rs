//! Merges the payloads of an incremental response as a strict client does. Panics if a payload
//! cannot be merged: an unknown member, a fragment that is not announced, a path without an object,
//! a field that is sent twice, or a fragment that is missing at the end.
//! `tests/oracle/reassemble.mjs` has the same rules for graphql-js.

use std::collections::HashMap;

use futures_util::StreamExt as _;
use graph_core::http::HttpResponse;
use serde_json::{Map, Value};

/// Announced fragment.
#[derive(Clone, Debug)]
pub(crate) struct Fragment {
    pub(crate) path: Value,
    pub(crate) label: Value,
    /// Errors, if it has failed.
    pub(crate) failure: Option<Vec<Value>>,
}

/// The response so far. In Apollo's format, `fragments` has the failed ones only.
#[derive(Default)]
pub(crate) struct Reassembled {
    pub(crate) data: Value,
    /// Errors of the data that was sent.
    pub(crate) errors: Vec<Value>,
    pub(crate) fragments: Vec<Fragment>,
    /// Paths and data of the later payloads.
    pub(crate) sent: Vec<(Value, Value)>,
    pub(crate) is_complete: bool,
    is_begun: bool,
    is_apollo: bool,
    /// Ids of the open fragments.
    open: HashMap<String, usize>,
    /// All ids.
    ids: Vec<String>,
}

impl Reassembled {
    pub(crate) fn of(payloads: &[String]) -> Self {
        let mut reassembled = Self::default();
        for payload in payloads {
            reassembled.add(&serde_json::from_str(payload).unwrap());
        }
        reassembled
    }

    pub(crate) fn failed(&self) -> impl Iterator<Item = &Fragment> {
        self.fragments
            .iter()
            .filter(|fragment| fragment.failure.is_some())
    }

    /// Errors of the data and of the failed fragments.
    pub(crate) fn all_errors(&self) -> Vec<Value> {
        let failures = self
            .failed()
            .flat_map(|fragment| fragment.failure.iter().flatten());
        self.errors.iter().chain(failures).cloned().collect()
    }

    pub(crate) fn add(&mut self, payload: &Value) {
        assert!(!self.is_complete, "a payload after the last one: {payload}");
        if self.is_begun {
            check(payload, &["pending", "incremental", "completed", "hasNext"]);
        } else {
            self.begin(payload);
        }
        list(payload, "pending")
            .iter()
            .for_each(|pending| self.announce(pending));
        for entry in list(payload, "incremental") {
            match self.is_apollo {
                true => self.add_apollo(entry),
                false => self.add_data(entry),
            }
        }
        for pending in list(payload, "pending") {
            assert!(self.at(&pending["path"]).is_object(), "{payload}");
        }
        list(payload, "completed")
            .iter()
            .for_each(|completed| self.complete(completed));
        self.is_complete = payload.get("hasNext") != Some(&Value::Bool(true));
        assert!(!self.is_complete || self.open.is_empty(), "{payload}");
    }

    fn begin(&mut self, payload: &Value) {
        self.is_begun = true;
        self.is_apollo = payload.get("pending").is_none();
        let members = ["data", "errors", "pending", "hasNext", "extensions"];
        check(payload, &members);
        self.data = payload["data"].clone();
        self.errors.extend_from_slice(list(payload, "errors"));
        match payload.get("hasNext") {
            Some(has_next) => assert!(*has_next == true && self.data.is_object(), "{payload}"),
            None => assert!(self.is_apollo, "{payload}"),
        }
    }

    fn announce(&mut self, pending: &Value) {
        check(pending, &["id", "path", "label"]);
        let id = pending["id"].as_str().unwrap().to_owned();
        assert!(!self.ids.contains(&id), "{id} is announced twice");
        self.ids.push(id.clone());
        self.open.insert(id, self.fragments.len());
        self.fragments.push(Fragment {
            path: pending["path"].clone(),
            label: pending["label"].clone(),
            failure: None,
        });
    }

    fn add_data(&mut self, entry: &Value) {
        check(entry, &["id", "subPath", "data", "errors"]);
        let fragment = self.open[entry["id"].as_str().unwrap()];
        let mut path = self.fragments[fragment].path.as_array().unwrap().clone();
        path.extend_from_slice(list(entry, "subPath"));
        self.merge(Value::Array(path), entry);
    }

    fn add_apollo(&mut self, entry: &Value) {
        check(entry, &["path", "data", "label", "errors"]);
        if entry["data"].is_null() {
            assert!(self.at(&entry["path"]).is_object(), "{entry}");
            self.fragments.push(Fragment {
                path: entry["path"].clone(),
                label: entry["label"].clone(),
                failure: Some(list(entry, "errors").to_vec()),
            });
        } else {
            self.merge(entry["path"].clone(), entry);
        }
    }

    fn merge(&mut self, path: Value, entry: &Value) {
        self.errors.extend_from_slice(list(entry, "errors"));
        let data = entry["data"].as_object().unwrap();
        let into: &mut Map<String, Value> = self.at(&path).as_object_mut().unwrap();
        for (key, value) in data {
            let before = into.insert(key.clone(), value.clone());
            assert_eq!(before, None, "{key} at {path} is sent twice");
        }
        self.sent.push((path, entry["data"].clone()));
    }

    fn complete(&mut self, completed: &Value) {
        check(completed, &["id", "errors"]);
        let fragment = self.open.remove(completed["id"].as_str().unwrap()).unwrap();
        let errors = list(completed, "errors");
        self.fragments[fragment].failure = (!errors.is_empty()).then(|| errors.to_vec());
    }

    fn at(&mut self, path: &Value) -> &mut Value {
        let path = path.as_array().unwrap();
        path.iter().fold(&mut self.data, |value, step| match step {
            Value::String(key) => value.get_mut(key).unwrap(),
            index => value
                .get_mut(usize::try_from(index.as_u64().unwrap()).unwrap())
                .unwrap(),
        })
    }
}

/// An object has only these members, and no member is an empty list, but for a path.
fn check(object: &Value, members: &[&str]) {
    for (name, value) in object.as_object().unwrap() {
        assert!(members.contains(&name.as_str()), "{name} in {object}");
        let is_empty = value.as_array().is_some_and(Vec::is_empty);
        assert!(!is_empty || name == "path", "{name} in {object}");
    }
}

/// Entries of a member, if there is one.
pub(crate) fn list<'v>(value: &'v Value, key: &str) -> &'v [Value] {
    value[key].as_array().map(Vec::as_slice).unwrap_or_default()
}

/// Bodies of the parts, or the only body.
pub(crate) async fn payloads(response: HttpResponse) -> Vec<String> {
    let body = match response {
        HttpResponse::Stream(response) => response.into_body(),
        HttpResponse::Full(response) => {
            return vec![String::from_utf8(response.into_body().to_vec()).unwrap()];
        }
    };
    let chunks: Vec<bytes::Bytes> = body.collect().await;
    let text = String::from_utf8(chunks.concat()).unwrap();
    let text = text.strip_prefix("--graphql\r\n").unwrap();
    let text = text.strip_suffix("\r\n--graphql--\r\n").unwrap();
    let parts = text.split("\r\n--graphql\r\n");
    parts
        .map(|part| {
            let (head, body) = part.split_once("\r\n\r\n").unwrap();
            let length = body.len();
            assert_eq!(
                head,
                format!("content-type: application/json\r\ncontent-length: {length}")
            );
            body.to_owned()
        })
        .collect()
}
