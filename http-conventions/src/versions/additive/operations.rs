//! Compares operations: parameters, bodies and statuses.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::{
    ChangeKind, Role,
    compare::{Walk, follow, join, object},
    rules,
};

const METHODS: [&str; 9] = [
    "delete", "get", "head", "options", "patch", "post", "put", "query", "trace",
];
/// Keywords for the serialization of a parameter.
const WRITING: [&str; 3] = ["allowReserved", "explode", "style"];

/// Parameters by location and name; header names are compared without case.
type Parameters<'a> = BTreeMap<(&'a str, String), &'a Value>;

/// Records the changes of the operations of one path.
pub(super) fn compare<'a>(walk: &mut Walk<'a>, pointer: &str, old: &'a Value, new: &'a Value) {
    for method in METHODS {
        let place = join(pointer, method);
        match (old.get(method), new.get(method)) {
            (Some(before), Some(after)) => {
                let (old_document, new_document) = walk.documents();
                let taken = (
                    parameters_of(old_document, [old, before]),
                    parameters_of(new_document, [new, after]),
                );
                walk.in_role(Role::Input, |walk| {
                    parameters(walk, &join(&place, "parameters"), &taken.0, &taken.1);
                    let bodies = (before.get("requestBody"), after.get("requestBody"));
                    body(walk, &join(&place, "requestBody"), bodies.0, bodies.1);
                });
                walk.in_role(Role::Output, |walk| {
                    answers(walk, &join(&place, "responses"), before, after);
                });
            }
            (Some(_), None) => walk.note(place, ChangeKind::Removed),
            (None, Some(_)) => walk.note(place, ChangeKind::Added),
            (None, None) => {}
        }
    }
}

/// Parameters of the path, overridden by those of the operation.
fn parameters_of<'a>(document: &'a Value, of: [&'a Value; 2]) -> Parameters<'a> {
    let lists = of.into_iter().filter_map(|of| of.get("parameters")?.as_array());
    let named = lists.flatten().filter_map(|parameter| {
        let parameter = follow(document, parameter);
        let place = parameter.get("in")?.as_str()?;
        let name = parameter.get("name")?.as_str()?;
        let name = match place {
            "header" => name.to_ascii_lowercase(),
            _ => name.to_owned(),
        };
        Some(((place, name), parameter))
    });
    named.collect()
}

fn parameters<'a>(walk: &mut Walk<'a>, pointer: &str, old: &Parameters<'a>, new: &Parameters<'a>) {
    for (key, before) in old {
        let place = join(pointer, &key.1);
        let Some(after) = new.get(key) else {
            walk.note(place, ChangeKind::Removed);
            continue;
        };
        demand(walk, &place, before, after);
        for keyword in WRITING {
            if before.get(keyword) != after.get(keyword) {
                walk.note(join(&place, keyword), ChangeKind::Replaced);
            }
        }
        schema(walk, &place, before, after);
        contents(walk, &place, before, after);
    }
    for (key, after) in new.iter().filter(|(key, _)| !old.contains_key(*key)) {
        walk.note(join(pointer, &key.1), gained(after));
    }
}

fn body<'a>(walk: &mut Walk<'a>, pointer: &str, old: Option<&'a Value>, new: Option<&'a Value>) {
    match (old, new) {
        (Some(old), Some(new)) => {
            let (old, new) = walk.followed(old, new);
            demand(walk, pointer, old, new);
            contents(walk, pointer, old, new);
        }
        (None, Some(new)) => {
            let new = walk.followed(new, new).1;
            walk.note(pointer.to_owned(), gained(new));
        }
        (Some(_), None) => walk.note(pointer.to_owned(), ChangeKind::Removed),
        (None, None) => {}
    }
}

/// Returns `true` if the part is required.
fn is_required(part: &Value) -> bool {
    part.get("required") == Some(&Value::Bool(true))
}

/// Kind of an added part, for clients that do not send it.
fn gained(part: &Value) -> ChangeKind {
    match is_required(part) {
        true => ChangeKind::Tightened,
        false => ChangeKind::Added,
    }
}

fn demand(walk: &mut Walk<'_>, pointer: &str, old: &Value, new: &Value) {
    let kind = match (is_required(old), is_required(new)) {
        (false, true) => ChangeKind::Tightened,
        (true, false) => ChangeKind::Loosened,
        _ => return,
    };
    walk.note(join(pointer, "required"), kind);
}

/// Compares successful responses. A new status is compatible, because clients know its class.
fn answers<'a>(walk: &mut Walk<'a>, pointer: &str, old: &'a Value, new: &'a Value) {
    let successes = |operation: &'a Value| -> BTreeMap<&'a str, &'a Value> {
        let answers = object(operation.get("responses")).into_iter().flatten();
        let successes = answers.filter(|(status, _)| status.starts_with('2'));
        successes
            .map(|(status, answer)| (status.as_str(), answer))
            .collect()
    };
    let (old, new) = (successes(old), successes(new));
    for (status, before) in &old {
        let place = join(pointer, status);
        match new.get(status) {
            Some(after) => {
                let (before, after) = walk.followed(before, after);
                contents(walk, &place, before, after);
            }
            None => walk.note(place, ChangeKind::Removed),
        }
    }
    for status in new.keys().filter(|status| !old.contains_key(*status)) {
        walk.note(join(pointer, status), ChangeKind::Added);
    }
}

/// Compares the media types of a body or a response, each with its schema.
fn contents<'a>(walk: &mut Walk<'a>, pointer: &str, old: &'a Value, new: &'a Value) {
    let content = |of: &'a Value| -> Option<&'a Map<String, Value>> { object(of.get("content")) };
    let place = join(pointer, "content");
    walk.members(&place, content(old), content(new), |walk, place, old, new| {
        schema(walk, &place, old, new);
    });
}

/// Compares the schema of a parameter or of content.
///
/// Named schemas are compared under `components`. A response with another name is another resource.
fn schema<'a>(walk: &mut Walk<'a>, pointer: &str, old: &'a Value, new: &'a Value) {
    let (before, after) = (name(old), name(new));
    if walk.answers() && before.is_some() && before != after {
        walk.note(join(pointer, "schema"), ChangeKind::Replaced);
        return;
    }
    let is_component = before.is_some_and(|name| name.starts_with("#/components/schemas/"));
    if !(is_component && before == after && walk.components_suffice()) {
        rules::subschema(walk, pointer, "schema", old.get("schema"), new.get("schema"));
    }
}

fn name(of: &Value) -> Option<&str> {
    of.pointer("/schema/$ref")?.as_str()
}
