//! Locations of a resource that patches may change.

use serde_json::Value;

use crate::content::{
    Fault, Faults, JsonReader,
    json::{MOST_FAULTS, Path, is_within},
};

/// Writable locations of a resource, and the reader of the changed resource.
#[derive(Clone, Copy, Debug)]
pub struct PatchRules {
    writable: &'static [&'static str],
    reader: JsonReader,
}

impl PatchRules {
    /// Creates rules from the JSON pointers of the writable locations, such as `/description`. A
    /// pointer includes all locations below it; the empty pointer includes the whole resource.
    ///
    /// An array is writable as a whole or not at all.
    #[must_use]
    pub const fn new(writable: &'static [&'static str]) -> Self {
        Self {
            writable,
            reader: JsonReader::new(),
        }
    }

    /// Sets the reader of the changed resource, for example with messages of the host.
    #[must_use]
    pub const fn with_reader(mut self, reader: JsonReader) -> Self {
        self.reader = reader;
        self
    }

    pub(super) const fn reader(&self) -> JsonReader {
        self.reader
    }

    /// Faults of members that changed and are not writable.
    pub(super) fn read_only(&self, before: &Value, after: &Value) -> Option<Faults> {
        let mut faults = Vec::new();
        self.compare(Some(before), Some(after), &Path::Root, &mut faults);
        let is_complete = faults.len() < MOST_FAULTS;
        (!faults.is_empty()).then(|| Faults::new(faults, is_complete))
    }

    fn compare(
        &self,
        before: Option<&Value>,
        after: Option<&Value>,
        path: &Path<'_>,
        faults: &mut Vec<Fault>,
    ) {
        if before == after || faults.len() >= MOST_FAULTS {
            return;
        }
        let pointer = path.pointer();
        if self.writable.iter().any(|writable| is_within(&pointer, writable)) {
            return;
        }
        let (Some(Value::Object(before)), Some(Value::Object(after))) = (before, after) else {
            faults.push(Fault::new(pointer, "read-only", "the member cannot be written"));
            return;
        };
        for (name, value) in before {
            self.compare(Some(value), after.get(name), &Path::Member(path, name), faults);
        }
        for (name, value) in after.iter().filter(|(name, _)| !before.contains_key(*name)) {
            self.compare(None, Some(value), &Path::Member(path, name), faults);
        }
    }
}
