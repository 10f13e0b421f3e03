//! Files of vectors: compared with the library, or rewritten.

use std::{
    collections::BTreeSet,
    fmt::{Debug, Write as _},
    fs,
    path::Path,
};

use serde::Serialize;

const UPDATE: &str = "UPDATE_VECTORS=1 cargo test -p vectors";

/// A file: an introduction, tables and a list of cases.
pub(crate) struct VectorFile {
    name: &'static str,
    text: String,
    names: BTreeSet<String>,
}

/// A case with a name that is unique in its file.
pub(crate) trait Named: Serialize {
    fn name(&self) -> &str;
}

impl VectorFile {
    pub(crate) fn new(name: &'static str, about: &str) -> Self {
        let about = serde_json::to_string(about).unwrap();
        Self {
            name,
            text: format!("{{\n  \"about\": {about}"),
            names: BTreeSet::new(),
        }
    }

    /// Adds a table, with one entry a line.
    pub(crate) fn with_table<V: Serialize>(mut self, title: &str, entries: &[(&str, V)]) -> Self {
        let lines = entries.iter().map(|(name, value)| {
            let value = serde_json::to_string(value).unwrap();
            format!("    {}: {value}", serde_json::to_string(name).unwrap())
        });
        let lines: Vec<String> = lines.collect();
        let _ = write!(self.text, ",\n  \"{title}\": {{\n{}\n  }}", lines.join(",\n"));
        self
    }

    /// Adds a list of cases, with one case a line.
    pub(crate) fn with_cases<C: Named>(mut self, title: &str, cases: &[C]) -> Self {
        for case in cases {
            let name = format!("{title}: {}", case.name());
            assert!(self.names.insert(name.clone()), "{}: two cases {name}", self.name);
        }
        let lines: Vec<String> = cases
            .iter()
            .map(|case| format!("    {}", serde_json::to_string(case).unwrap()))
            .collect();
        let _ = write!(self.text, ",\n  \"{title}\": [\n{}\n  ]", lines.join(",\n"));
        self
    }

    /// Compares the stored file with this one; writes it if `UPDATE_VECTORS` is set.
    pub(crate) fn check(self) {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(self.name);
        let text = format!("{}\n}}\n", self.text);
        if std::env::var_os("UPDATE_VECTORS").is_some() {
            fs::write(&path, &text).unwrap();
        }
        let stored = fs::read_to_string(&path).unwrap_or_default();
        let differing = stored.lines().zip(text.lines()).find(|(old, new)| old != new);
        assert!(
            stored == text,
            "docs/vectors/{} differs from the library at {differing:?}; if that is intended, run {UPDATE}",
            self.name
        );
    }
}

/// Case of one rule: name, origin of the answer if it is not this suite, input and decision.
#[derive(Clone, Serialize)]
pub(crate) struct Case<I, E> {
    pub(crate) name: String,
    #[serde(skip_serializing_if = "str::is_empty")]
    source: &'static str,
    #[serde(flatten)]
    pub(crate) input: I,
    pub(crate) expect: E,
}

impl<I: Serialize, E: Serialize> Case<I, E> {
    pub(crate) fn new(name: &str, input: I, expect: E) -> Self {
        Self {
            name: name.to_owned(),
            source: "",
            input,
            expect,
        }
    }
}

impl<I: Serialize, E: Serialize + PartialEq + Debug> Case<I, E> {
    /// Case whose decision is the known answer of `source`.
    pub(crate) fn known(mut self, source: &'static str, answer: &E) -> Self {
        assert_eq!(&self.expect, answer, "{}: {source}", self.name);
        self.source = source;
        self
    }
}

impl<I: Serialize, E: Serialize> Named for Case<I, E> {
    fn name(&self) -> &str {
        &self.name
    }
}

/// Implements [`Named`] by the field `name`.
macro_rules! named {
    ($case:ty) => {
        impl crate::file::Named for $case {
            fn name(&self) -> &str {
                &self.name
            }
        }
    };
}
pub(crate) use named;
