//! Search for the value that an error without a location is about.

use serde_json::Value;

use super::{collect::Run, path::Path, stop::Trace};

/// Returns `true` if the value has the properties of the trace.
pub(super) fn has_trace(value: &Value, trace: Trace) -> bool {
    match value {
        Value::Null => trace == Trace::Null,
        Value::Bool(value) => trace == Trace::Bool(*value),
        Value::Number(number) => match (number.as_u64(), number.as_i64(), number.as_f64()) {
            (Some(value), ..) => trace == Trace::Unsigned(value),
            (None, Some(value), _) => trace == Trace::Signed(value),
            (None, None, value) => value.is_some_and(|value| trace == Trace::Float(value)),
        },
        Value::String(text) => trace == Trace::of_text(text),
        Value::Array(_) => trace == Trace::Array,
        Value::Object(_) => trace == Trace::Object,
    }
}

/// Search for the one value that an error is about.
pub(super) struct Search<'de, 'r> {
    run: &'r Run<'r>,
    trace: Trace,
    found: Vec<(String, &'de Value)>,
    /// True if the search ended before it saw every value.
    is_cut: bool,
}

impl<'de, 'r> Search<'de, 'r> {
    pub(super) const fn new(run: &'r Run<'r>, trace: Trace) -> Self {
        Self {
            run,
            trace,
            found: Vec::new(),
            is_cut: false,
        }
    }

    /// Searches the values below `value`. `path` is relative to the start of the search.
    pub(super) fn below(&mut self, value: &'de Value, path: &Path<'_>) {
        match value {
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    self.at(item, &Path::Item(path, index));
                }
            }
            Value::Object(members) => {
                for (name, member) in members {
                    self.at(member, &Path::Member(path, name));
                }
            }
            _ => {}
        }
    }

    fn at(&mut self, value: &'de Value, path: &Path<'_>) {
        self.is_cut |= self.found.len() > 1 || self.run.take_work(1).is_err();
        // a repaired value was not part of the run
        if self.is_cut || self.run.repair(value).is_some() {
            return;
        }
        if has_trace(value, self.trace) {
            self.found.push((path.pointer(), value));
        }
        self.below(value, path);
    }

    /// Returns the value with its pointer; `None` unless the search has found exactly one.
    pub(super) fn found(mut self) -> Option<(String, &'de Value)> {
        let found = self.found.pop();
        found.filter(|_| self.found.is_empty() && !self.is_cut)
    }
}
