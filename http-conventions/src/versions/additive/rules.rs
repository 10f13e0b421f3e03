//! Compares the keywords of a schema.

use serde_json::{Map, Value};

use super::{
    ChangeKind,
    compare::{Walk, join},
};

type Schema = Map<String, Value>;

/// Bounds whose larger value allows less.
const LOWER_BOUNDS: [&str; 5] = [
    "exclusiveMinimum",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
];
/// Bounds whose smaller value allows less.
const UPPER_BOUNDS: [&str; 5] = [
    "exclusiveMaximum",
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
];
/// Keywords without an order: any other value is another meaning.
const MEANINGS: [&str; 7] = [
    "$ref",
    "const",
    "discriminator",
    "format",
    "multipleOf",
    "not",
    "pattern",
];
/// Keywords with one subschema.
const SCHEMAS: [&str; 2] = ["additionalProperties", "items"];
/// Keywords with alternatives: an additional one allows more.
const ALTERNATIVES: [&str; 2] = ["anyOf", "oneOf"];

/// Records the changes between two schemas and queues their subschemas.
pub(super) fn compare<'a>(walk: &mut Walk<'a>, pointer: &str, old: &'a Schema, new: &'a Schema) {
    types(walk, pointer, old, new);
    sets(walk, pointer, old, new);
    let properties = |schema: &'a Schema| schema.get("properties").and_then(Value::as_object);
    let place = join(pointer, "properties");
    walk.members(&place, properties(old), properties(new), Walk::push);
    for keyword in LOWER_BOUNDS {
        bound(walk, pointer, keyword, (old, new), |before, after| after > before);
    }
    for keyword in UPPER_BOUNDS {
        bound(walk, pointer, keyword, (old, new), |before, after| after < before);
    }
    for keyword in MEANINGS {
        let kind = match (old.get(keyword), new.get(keyword)) {
            (None, Some(_)) => ChangeKind::Tightened,
            (Some(_), None) => ChangeKind::Loosened,
            (before, after) if before == after => continue,
            _ => ChangeKind::Replaced,
        };
        walk.note(join(pointer, keyword), kind);
    }
    for keyword in SCHEMAS {
        subschema(walk, pointer, keyword, old.get(keyword), new.get(keyword));
    }
    for keyword in ALTERNATIVES {
        list(
            walk,
            pointer,
            keyword,
            (old, new),
            (ChangeKind::Loosened, ChangeKind::Tightened),
        );
    }
    list(
        walk,
        pointer,
        "allOf",
        (old, new),
        (ChangeKind::Tightened, ChangeKind::Loosened),
    );
}

/// Compares the types, with `null` in both notations; an absent type allows any.
fn types(walk: &mut Walk<'_>, pointer: &str, old: &Schema, new: &Schema) {
    let names = |schema: &Schema| -> Option<Vec<String>> {
        let mut names: Vec<String> = match schema.get("type")? {
            Value::String(name) => vec![name.clone()],
            Value::Array(names) => names
                .iter()
                .filter_map(Value::as_str)
                .map(str::to_owned)
                .collect(),
            _ => return None,
        };
        if schema.get("nullable") == Some(&Value::Bool(true)) {
            names.push("null".to_owned());
        }
        Some(names)
    };
    let (before, after) = (names(old), names(new));
    let lacks = |one: &Option<Vec<String>>, other: &Option<Vec<String>>| match (one, other) {
        (Some(one), Some(other)) => other.iter().any(|name| !allows(one, name)),
        (Some(_), None) => true,
        (None, _) => false,
    };
    let kind = match (lacks(&after, &before), lacks(&before, &after)) {
        (true, true) => ChangeKind::Replaced,
        (true, false) => ChangeKind::Tightened,
        (false, true) => ChangeKind::Loosened,
        (false, false) => return,
    };
    walk.note(join(pointer, "type"), kind);
}

/// Returns `true` if the names include a type; `number` includes `integer`.
fn allows(names: &[String], name: &str) -> bool {
    names
        .iter()
        .any(|there| there == name || (there == "number" && name == "integer"))
}

/// Compares `required` and `enum`: an added `required` value is stricter, an added `enum` value
/// looser.
fn sets(walk: &mut Walk<'_>, pointer: &str, old: &Schema, new: &Schema) {
    let cases = [
        ("required", ChangeKind::Tightened, ChangeKind::Loosened),
        ("enum", ChangeKind::Loosened, ChangeKind::Tightened),
    ];
    for (keyword, gained, lost) in cases {
        let place = join(pointer, keyword);
        let (before, after) = match (old.get(keyword), new.get(keyword)) {
            (None, Some(_)) if keyword == "enum" => {
                walk.note(place, lost);
                continue;
            }
            (Some(_), None) if keyword == "enum" => {
                walk.note(place, gained);
                continue;
            }
            (before, after) => (values(before), values(after)),
        };
        if after.iter().any(|value| !before.contains(value)) {
            walk.note(place.clone(), gained);
        }
        if before.iter().any(|value| !after.contains(value)) {
            walk.note(place, lost);
        }
    }
}

fn values(list: Option<&Value>) -> &[Value] {
    list.and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn bound(
    walk: &mut Walk<'_>,
    pointer: &str,
    keyword: &str,
    (old, new): (&Schema, &Schema),
    is_tighter: fn(f64, f64) -> bool,
) {
    let number = |schema: &Schema| schema.get(keyword).and_then(Value::as_f64);
    let kind = match (number(old), number(new)) {
        (None, Some(_)) => ChangeKind::Tightened,
        (Some(_), None) => ChangeKind::Loosened,
        (Some(before), Some(after)) if is_tighter(before, after) => ChangeKind::Tightened,
        (Some(before), Some(after)) if is_tighter(after, before) => ChangeKind::Loosened,
        _ => return,
    };
    walk.note(join(pointer, keyword), kind);
}

/// Compares one subschema: absent or `true` allows everything, `false` nothing.
pub(super) fn subschema<'a>(
    walk: &mut Walk<'a>,
    pointer: &str,
    keyword: &str,
    old: Option<&'a Value>,
    new: Option<&'a Value>,
) {
    let allows_all = |schema: Option<&Value>| schema.is_none_or(|schema| *schema == Value::Bool(true));
    let place = join(pointer, keyword);
    match (old, new) {
        _ if allows_all(old) && allows_all(new) => {}
        _ if allows_all(old) => walk.note(place, ChangeKind::Tightened),
        _ if allows_all(new) => walk.note(place, ChangeKind::Loosened),
        (Some(Value::Bool(false)), Some(Value::Object(_))) => walk.note(place, ChangeKind::Loosened),
        (Some(Value::Object(_)), Some(Value::Bool(false))) => walk.note(place, ChangeKind::Tightened),
        (Some(old), Some(new)) => walk.push(place, old, new),
        _ => {}
    }
}

/// Compares lists of schemas by position; `gained` is the kind of an additional item.
fn list<'a>(
    walk: &mut Walk<'a>,
    pointer: &str,
    keyword: &str,
    (old, new): (&'a Schema, &'a Schema),
    (gained, lost): (ChangeKind, ChangeKind),
) {
    let (before, after) = (values(old.get(keyword)), values(new.get(keyword)));
    let place = join(pointer, keyword);
    // an absent list allows everything, so a first alternative is stricter
    let is_first = before.is_empty() && keyword != "allOf";
    let is_last = after.is_empty() && keyword != "allOf";
    if after.len() > before.len() {
        walk.note(place.clone(), if is_first { lost } else { gained });
    }
    if after.len() < before.len() {
        walk.note(place.clone(), if is_last { gained } else { lost });
    }
    for (position, (old, new)) in before.iter().zip(after).enumerate() {
        walk.push(format!("{place}/{position}"), old, new);
    }
}
