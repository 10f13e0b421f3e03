//! Parses the operations of a JSON Patch.

use serde_json::{Map, Value};

use super::pointer::Pointer;
use crate::content::{
    Fault, Faults,
    json::{MAX_DEPTH, MOST_FAULTS},
};

/// Maximum number of operations.
pub(crate) const MOST_OPERATIONS: usize = 1000;

/// Names of the operations.
const NAMES: &str = "must be one of `add`, `remove`, `replace`, `move`, `copy`, `test`";

/// An operation, [RFC 6902 §4](https://www.rfc-editor.org/rfc/rfc6902#section-4).
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Operation {
    Add { path: Pointer, value: Value },
    Remove { path: Pointer },
    Replace { path: Pointer, value: Value },
    Move { from: Pointer, path: Pointer },
    Copy { from: Pointer, path: Pointer },
    Test { path: Pointer, value: Value },
}

/// Parses all operations, and collects their faults.
pub(super) fn parse(document: Value) -> Result<Vec<Operation>, Faults> {
    let Value::Array(items) = document else {
        return Err(Fault::new("", "wrong-type", "a JSON Patch is an array of operations").into());
    };
    if items.len() > MOST_OPERATIONS {
        let detail = format!("a JSON Patch has at most {MOST_OPERATIONS} operations");
        return Err(Fault::new("", "wrong-length", detail).into());
    }
    let mut faults = Vec::new();
    let mut operations = Vec::with_capacity(items.len());
    for (index, item) in items.into_iter().enumerate() {
        let mut source = Source {
            index,
            members: Map::new(),
            faults: &mut faults,
        };
        if let Value::Object(members) = item {
            source.members = members;
            operations.extend(source.operation());
        } else {
            source.fault("", "wrong-type", "an operation is an object");
        }
        if faults.len() >= MOST_FAULTS {
            return Err(Faults::new(faults, false));
        }
    }
    match faults.is_empty() {
        true => Ok(operations),
        false => Err(Faults::new(faults, true)),
    }
}

/// Members of one operation that is being parsed.
struct Source<'f> {
    index: usize,
    members: Map<String, Value>,
    faults: &'f mut Vec<Fault>,
}

impl Source<'_> {
    fn operation(mut self) -> Option<Operation> {
        let name = self.text("op", "the member is missing; it names the operation")?;
        match name.as_str() {
            "add" => self.with_value(|path, value| Operation::Add { path, value }),
            "replace" => self.with_value(|path, value| Operation::Replace { path, value }),
            "test" => self.with_value(|path, value| Operation::Test { path, value }),
            "remove" => self.pointer("path").map(|path| Operation::Remove { path }),
            "copy" => self
                .with_from()
                .map(|(from, path)| Operation::Copy { from, path }),
            "move" => {
                let (from, path) = self.with_from()?;
                if from.contains(&path) {
                    self.fault("/path", "invalid-value", "a value cannot be moved into itself");
                    return None;
                }
                Some(Operation::Move { from, path })
            }
            _ => {
                self.fault("/op", "unknown-value", NAMES);
                None
            }
        }
    }

    fn with_value(mut self, operation: fn(Pointer, Value) -> Operation) -> Option<Operation> {
        let path = self.pointer("path");
        let value = self.members.remove("value");
        if value.is_none() {
            self.fault("/value", "missing", "the member is missing");
        }
        Some(operation(path?, value?))
    }

    fn with_from(&mut self) -> Option<(Pointer, Pointer)> {
        let (from, path) = (self.pointer("from"), self.pointer("path"));
        Some((from?, path?))
    }

    fn pointer(&mut self, name: &'static str) -> Option<Pointer> {
        let text = self.text(name, "the member is missing; it is a JSON pointer")?;
        let pointer = Pointer::parse(&text);
        match pointer {
            Some(pointer) if pointer.depth() <= MAX_DEPTH => return Some(pointer),
            Some(_) => self.fault(
                &["/", name].concat(),
                "invalid-value",
                "the JSON pointer is too deep",
            ),
            None => self.fault(
                &["/", name].concat(),
                "invalid-value",
                "the JSON pointer is malformed",
            ),
        }
        None
    }

    fn text(&mut self, name: &'static str, missing: &'static str) -> Option<String> {
        match self.members.remove(name) {
            Some(Value::String(text)) => return Some(text),
            Some(_) => self.fault(&["/", name].concat(), "wrong-type", "must be a string"),
            None => self.fault(&["/", name].concat(), "missing", missing),
        }
        None
    }

    fn fault(&mut self, below: &str, code: &'static str, detail: &'static str) {
        let pointer = format!("/{}{below}", self.index);
        self.faults.push(Fault::new(pointer, code, detail));
    }
}
