//! Applies a JSON Merge Patch, [RFC 7396 §2](https://www.rfc-editor.org/rfc/rfc7396#section-2).

use serde_json::{Map, Value};

/// Changes `target` by `patch`: null removes a member.
pub(super) fn merge(target: &mut Value, patch: &Value) {
    let Value::Object(changes) = patch else {
        *target = patch.clone();
        return;
    };
    if !target.is_object() {
        *target = Value::Object(Map::new());
    }
    let Value::Object(members) = target else {
        return;
    };
    for (name, change) in changes {
        match change {
            Value::Null => {
                let _removed = members.remove(name);
            }
            _ => merge(members.entry(name.as_str()).or_insert(Value::Null), change),
        }
    }
}
