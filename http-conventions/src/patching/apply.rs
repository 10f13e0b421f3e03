//! Applies the operations of a JSON Patch, [RFC
//! 6902 §4](https://www.rfc-editor.org/rfc/rfc6902#section-4).

use serde_json::{Number, Value};

use super::{
    PatchRefusal,
    operation::Operation,
    pointer::{Pointer, find_mut, index},
};
use crate::content::{Fault, json::MAX_DEPTH};

/// Maximum size of all copied values together, as counted by [`Copies`].
const MOST_COPIED: usize = 1 << 20;

/// Size that is counted for each value, in addition to its text.
const VALUE_SIZE: usize = 32;

/// Floats represent all integers below this magnitude exactly.
const EXACT_FLOATS: f64 = 9_007_199_254_740_992.0;

/// Cause of a failed operation.
enum Failure {
    NoPath,
    NoFrom,
    TestFailed,
    RootRemoved,
    TooDeep,
    TooManyCopies,
}

/// Applies all operations. The document is unusable after an error.
pub(super) fn apply(document: &mut Value, operations: &[Operation]) -> Result<(), PatchRefusal> {
    let mut copies = Copies { left: MOST_COPIED };
    for (index, operation) in operations.iter().enumerate() {
        let applied = operation.apply(document, &mut copies);
        applied.map_err(|failure| failure.refusal(index))?;
    }
    Ok(())
}

impl Operation {
    fn apply(&self, document: &mut Value, copies: &mut Copies) -> Result<(), Failure> {
        match self {
            Self::Add { path, value } => {
                within_depth(path, depth(value))?;
                add(document, path, value.clone())
            }
            Self::Replace { path, value } => {
                within_depth(path, depth(value))?;
                replace(document, path, value.clone())
            }
            Self::Remove { path } => remove(document, path).map(drop),
            Self::Move { from, path } => {
                let source = from.find(document).ok_or(Failure::NoFrom)?;
                if path.depth() > from.depth() {
                    within_depth(path, depth(source))?;
                }
                if from == path {
                    return Ok(());
                }
                let moved = remove(document, from)?;
                add(document, path, moved)
            }
            Self::Copy { from, path } => {
                let source = from.find(document).ok_or(Failure::NoFrom)?;
                copies.take(source)?;
                within_depth(path, depth(source))?;
                let copy = source.clone();
                add(document, path, copy)
            }
            Self::Test { path, value } => {
                let found = path.find(document).ok_or(Failure::NoPath)?;
                are_equal(found, value).then_some(()).ok_or(Failure::TestFailed)
            }
        }
    }
}

impl Failure {
    fn refusal(&self, index: usize) -> PatchRefusal {
        let fault = |member: &str, code, detail| Fault::new(format!("/{index}{member}"), code, detail);
        match self {
            Self::NoPath => PatchRefusal::Conflict(fault(
                "/path",
                "no-such-location",
                "the location does not exist in the resource",
            )),
            Self::NoFrom => PatchRefusal::Conflict(fault(
                "/from",
                "no-such-location",
                "the location does not exist in the resource",
            )),
            Self::TestFailed => {
                PatchRefusal::Conflict(fault("/value", "test-failed", "the resource has another value"))
            }
            Self::RootRemoved => PatchRefusal::Faulty(
                fault("/path", "invalid-value", "the whole resource cannot be removed").into(),
            ),
            Self::TooDeep => PatchRefusal::Faulty(
                fault("/path", "invalid-value", "the result would be nested too deep").into(),
            ),
            Self::TooManyCopies => PatchRefusal::Faulty(
                fault("", "invalid-value", "the copies of the patch are too large").into(),
            ),
        }
    }
}

fn add(document: &mut Value, path: &Pointer, value: Value) -> Result<(), Failure> {
    let Some((parents, last)) = path.split_last() else {
        *document = value;
        return Ok(());
    };
    match find_mut(parents, document) {
        Some(Value::Object(members)) => {
            members.insert(last.to_owned(), value);
            Ok(())
        }
        Some(Value::Array(items)) => {
            let at = match last {
                "-" => Some(items.len()),
                last => index(last).filter(|at| *at <= items.len()),
            };
            items.insert(at.ok_or(Failure::NoPath)?, value);
            Ok(())
        }
        _ => Err(Failure::NoPath),
    }
}

fn replace(document: &mut Value, path: &Pointer, value: Value) -> Result<(), Failure> {
    let place = match path.split_last() {
        None => Some(document),
        Some((parents, last)) => match find_mut(parents, document) {
            Some(Value::Object(members)) => members.get_mut(last),
            Some(Value::Array(items)) => index(last).and_then(|at| items.get_mut(at)),
            _ => None,
        },
    };
    *place.ok_or(Failure::NoPath)? = value;
    Ok(())
}

fn remove(document: &mut Value, path: &Pointer) -> Result<Value, Failure> {
    let (parents, last) = path.split_last().ok_or(Failure::RootRemoved)?;
    let removed = match find_mut(parents, document) {
        Some(Value::Object(members)) => members.remove(last),
        Some(Value::Array(items)) => {
            let at = index(last).filter(|at| *at < items.len());
            at.map(|at| items.remove(at))
        }
        _ => None,
    };
    removed.ok_or(Failure::NoPath)
}

/// Checks that a value with this depth does not exceed the maximum depth at `path`.
fn within_depth(path: &Pointer, depth: usize) -> Result<(), Failure> {
    match path.depth() + depth <= MAX_DEPTH {
        true => Ok(()),
        false => Err(Failure::TooDeep),
    }
}

/// Number of arrays and objects around the deepest value, including `value` itself.
fn depth(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        Value::Object(members) => 1 + members.values().map(depth).max().unwrap_or(0),
        _ => 0,
    }
}

/// Size that is left for copied values. Without a limit, repeated copies of a growing value would
/// double the document each time.
struct Copies {
    left: usize,
}

impl Copies {
    fn take(&mut self, value: &Value) -> Result<(), Failure> {
        let text = if let Value::String(text) = value {
            text.len()
        } else {
            0
        };
        self.take_bytes(VALUE_SIZE + text)?;
        match value {
            Value::Array(items) => items.iter().try_for_each(|item| self.take(item)),
            Value::Object(members) => members.iter().try_for_each(|(name, member)| {
                self.take_bytes(VALUE_SIZE + name.len())?;
                self.take(member)
            }),
            _ => Ok(()),
        }
    }

    fn take_bytes(&mut self, bytes: usize) -> Result<(), Failure> {
        self.left = self.left.checked_sub(bytes).ok_or(Failure::TooManyCopies)?;
        Ok(())
    }
}

/// Equality of [RFC 6902 §4.6](https://www.rfc-editor.org/rfc/rfc6902#section-4.6): numbers are
/// compared by value.
fn are_equal(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => are_same_number(one, other),
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| are_equal(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            let is_same =
                |(name, one): (&String, &Value)| other.get(name).is_some_and(|other| are_equal(one, other));
            one.len() == other.len() && one.iter().all(is_same)
        }
        (one, other) => one == other,
    }
}

fn are_same_number(one: &Number, other: &Number) -> bool {
    // beyond this, several integers have the same float
    let float = |number: &Number| number.as_f64().filter(|float| float.abs() < EXACT_FLOATS);
    one == other || float(one).is_some_and(|one| float(other) == Some(one))
}
