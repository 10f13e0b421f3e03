//! Parses JSON text whose objects have no member twice.

use std::{borrow::Cow, cell::RefCell, collections::HashSet, fmt};

use serde::{
    Deserializer,
    de::{DeserializeSeed, MapAccess, SeqAccess, Visitor},
};
use serde_json::{Value, error::Category};

use super::{
    fault::{Fault, Faults},
    path::Path,
};
use crate::errors::{Problem, ProblemBase, types};

/// Maximum number of arrays and objects around a value.
pub(crate) const MAX_DEPTH: usize = 64;

/// A parsed document.
#[derive(Debug)]
pub(crate) struct Document {
    pub(crate) root: Value,
    /// Number of values, including the root.
    pub(crate) size: usize,
}

impl Document {
    /// Parses the text.
    pub(crate) fn parse(text: &[u8]) -> Result<Self, MalformedJson> {
        if text.trim_ascii().is_empty() {
            return Err(MalformedJson(Defect::Empty));
        }
        let scan = Scan::default();
        let mut source = serde_json::Deserializer::from_slice(text);
        let seed = ValueSeed {
            scan: &scan,
            path: Path::Root,
            depth: 0,
        };
        let scanned = seed.deserialize(&mut source).and_then(|()| source.end());
        let root = scanned.and_then(|()| serde_json::from_slice(text));
        let Findings { defect, size } = scan.0.into_inner();
        root.map(|root| Self { root, size })
            .map_err(|error| MalformedJson(defect.unwrap_or_else(|| Defect::of(&error))))
    }
}

/// Error for content that is not JSON, that is nested more than 64 levels deep, or that has a
/// member twice in one object.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("malformed JSON: {0}")]
pub struct MalformedJson(Defect);

#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
enum Defect {
    #[error("the content is empty")]
    Empty,
    #[error("the content ends before its JSON value is complete")]
    Truncated,
    #[error("the content is not valid JSON at line {line}, column {column}")]
    Syntax { line: usize, column: usize },
    #[error("the content is nested more than {MAX_DEPTH} levels deep")]
    TooDeep,
    #[error("an object has the same member twice")]
    Duplicate { pointer: String },
}

impl Defect {
    fn of(error: &serde_json::Error) -> Self {
        match error.classify() {
            Category::Eof => Self::Truncated,
            Category::Syntax | Category::Data | Category::Io => Self::Syntax {
                line: error.line(),
                column: error.column(),
            },
        }
    }
}

impl MalformedJson {
    /// Creates the 400 problem. Its `errors` has the pointer of a member that is given twice.
    #[must_use]
    pub fn problem(self, base: &ProblemBase) -> Problem {
        let detail = self.0.to_string();
        let problem = types::MALFORMED_CONTENT.problem(base).with_detail(detail);
        match self.0 {
            Defect::Duplicate { pointer } => {
                let fault = Fault::new(pointer, "duplicate-member", "the member is given twice");
                problem.with_extension("errors", Faults::from(fault).members())
            }
            _ => problem,
        }
    }
}

/// Results of the pass over the text that counts values and finds repeated members.
#[derive(Default)]
struct Scan(RefCell<Findings>);

#[derive(Default)]
struct Findings {
    defect: Option<Defect>,
    size: usize,
}

impl Scan {
    fn count(&self) {
        self.0.borrow_mut().size += 1;
    }

    /// Records the defect, and ends the pass.
    fn fail<E: serde::de::Error>(&self, defect: Defect) -> E {
        self.0.borrow_mut().defect = Some(defect);
        E::custom("")
    }
}

/// Seed of one value of the pass, with its location.
#[derive(Clone, Copy)]
struct ValueSeed<'s> {
    scan: &'s Scan,
    path: Path<'s>,
    depth: usize,
}

impl ValueSeed<'_> {
    /// Depth of the values inside this one.
    fn deeper<E: serde::de::Error>(&self) -> Result<usize, E> {
        match self.depth < MAX_DEPTH {
            true => Ok(self.depth + 1),
            false => Err(self.scan.fail(Defect::TooDeep)),
        }
    }
}

impl<'de> DeserializeSeed<'de> for ValueSeed<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, source: D) -> Result<(), D::Error> {
        self.scan.count();
        source.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for ValueSeed<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        let depth = self.deeper()?;
        let mut index = 0;
        let item = |index| ValueSeed {
            scan: self.scan,
            path: Path::Item(&self.path, index),
            depth,
        };
        while items.next_element_seed(item(index))?.is_some() {
            index += 1;
        }
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        let depth = self.deeper()?;
        let mut names = HashSet::new();
        while let Some(name) = members.next_key_seed(NameSeed)? {
            let path = Path::Member(&self.path, &name);
            if names.contains(&name) {
                let pointer = path.pointer();
                return Err(self.scan.fail(Defect::Duplicate { pointer }));
            }
            members.next_value_seed(ValueSeed {
                scan: self.scan,
                path,
                depth,
            })?;
            names.insert(name);
        }
        Ok(())
    }
}

/// Seed of the name of a member. The name is borrowed unless it has escapes.
struct NameSeed;

impl<'de> DeserializeSeed<'de> for NameSeed {
    type Value = Cow<'de, str>;

    fn deserialize<D: Deserializer<'de>>(self, source: D) -> Result<Self::Value, D::Error> {
        source.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for NameSeed {
    type Value = Cow<'de, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }

    fn visit_borrowed_str<E>(self, name: &'de str) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(name))
    }

    fn visit_str<E>(self, name: &str) -> Result<Self::Value, E> {
        Ok(Cow::Owned(name.to_owned()))
    }
}
