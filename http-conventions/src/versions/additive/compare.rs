//! Traversal of both schemas.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::{Change, ChangeKind, InvalidSchema, Role, operations, rules};

/// Lists all changes from one JSON Schema or OpenAPI document to another.
///
/// - References within the document (`#/…`) are followed, and each pair of schemas is compared
///   once.
/// - Schemas under `components` are compared in the given role.
/// - Operations are compared in their own roles: parameters and request bodies as input, successful
///   responses as output.
/// - A response that refers to another schema than before counts as a replaced resource.
///
/// # Errors
///
/// [`InvalidSchema`] if one of the two is not JSON.
pub fn changes(old: &[u8], new: &[u8], role: Role) -> Result<Vec<Change>, InvalidSchema> {
    let parse = |text| serde_json::from_slice::<Value>(text).map_err(|_| InvalidSchema);
    let (old, new) = (parse(old)?, parse(new)?);
    let mut walk = Walk {
        old: &old,
        new: &new,
        role,
        given: role,
        seen: HashSet::new(),
        open: Vec::new(),
        found: Vec::new(),
    };
    match old.get("openapi").is_some() || old.get("components").is_some() {
        true => walk.whole_documents(),
        false => walk.push(String::new(), &old, &new),
    }
    walk.run();
    Ok(walk.found)
}

pub(super) struct Walk<'a> {
    old: &'a Value,
    new: &'a Value,
    /// Role of the current comparison.
    role: Role,
    /// Role of the schemas under `components`.
    given: Role,
    /// Pairs of schemas that are compared or queued.
    seen: HashSet<(Role, *const Value, *const Value)>,
    /// A queue instead of recursion, because references may nest to any depth.
    open: Vec<Open<'a>>,
    found: Vec<Change>,
}

/// A queued pair of schemas.
struct Open<'a> {
    pointer: String,
    role: Role,
    old: &'a Value,
    new: &'a Value,
}

impl<'a> Walk<'a> {
    pub(super) fn push(&mut self, pointer: String, old: &'a Value, new: &'a Value) {
        let (role, (old, new)) = (self.role, self.followed(old, new));
        if self
            .seen
            .insert((role, std::ptr::from_ref(old), std::ptr::from_ref(new)))
        {
            self.open.push(Open {
                pointer,
                role,
                old,
                new,
            });
        }
    }

    /// Follows references in both documents.
    pub(super) fn followed(&self, old: &'a Value, new: &'a Value) -> (&'a Value, &'a Value) {
        (follow(self.old, old), follow(self.new, new))
    }

    /// Both documents.
    pub(super) const fn documents(&self) -> (&'a Value, &'a Value) {
        (self.old, self.new)
    }

    /// Runs a comparison in this role.
    pub(super) fn in_role(&mut self, role: Role, compare: impl FnOnce(&mut Self)) {
        let before = std::mem::replace(&mut self.role, role);
        compare(self);
        self.role = before;
    }

    /// Returns `true` if the current comparison is of a response.
    pub(super) fn answers(&self) -> bool {
        self.role == Role::Output
    }

    /// Returns `true` if the comparison of `components` covers this role.
    pub(super) fn components_suffice(&self) -> bool {
        self.given == Role::Both || self.given == self.role
    }

    pub(super) fn note(&mut self, pointer: String, kind: ChangeKind) {
        let is_breaking = match kind {
            ChangeKind::Added => false,
            ChangeKind::Removed | ChangeKind::Replaced => true,
            ChangeKind::Tightened => self.role != Role::Output,
            ChangeKind::Loosened => self.role != Role::Input,
        };
        self.found.push(Change {
            pointer,
            kind,
            is_breaking,
        });
    }

    fn run(&mut self) {
        let none = Map::new();
        while !self.open.is_empty() {
            // in the order of discovery
            for open in std::mem::take(&mut self.open) {
                let Open {
                    pointer,
                    role,
                    old,
                    new,
                } = open;
                self.role = role;
                let as_object = |schema: &'a Value| schema.as_object();
                match (as_object(old), as_object(new)) {
                    (Some(old), Some(new)) => rules::compare(self, &pointer, old, new),
                    // `true` allows everything, as an empty object does
                    _ if old == new => {}
                    (None, Some(new)) if *new == none && *old == Value::Bool(true) => {}
                    _ => self.note(pointer, ChangeKind::Replaced),
                }
            }
        }
    }

    fn whole_documents(&mut self) {
        let (old, new) = (self.old, self.new);
        let schemas = |document: &'a Value| object(document.pointer("/components/schemas"));
        self.members("/components/schemas", schemas(old), schemas(new), Self::push);
        let paths = |document: &'a Value| object(document.get("paths"));
        self.members("/paths", paths(old), paths(new), |walk, pointer, old, new| {
            let (old, new) = walk.followed(old, new);
            operations::compare(walk, &pointer, old, new);
        });
    }

    /// Compares members of the same name and records members that only one side has.
    pub(super) fn members(
        &mut self,
        pointer: &str,
        old: Option<&'a Map<String, Value>>,
        new: Option<&'a Map<String, Value>>,
        mut both: impl FnMut(&mut Self, String, &'a Value, &'a Value),
    ) {
        for (name, before) in old.into_iter().flatten() {
            match new.and_then(|new| new.get(name)) {
                Some(after) => both(self, join(pointer, name), before, after),
                None => self.note(join(pointer, name), ChangeKind::Removed),
            }
        }
        let is_new = |name: &&String| old.is_none_or(|old| !old.contains_key(*name));
        for name in new.into_iter().flat_map(Map::keys).filter(is_new) {
            self.note(join(pointer, name), ChangeKind::Added);
        }
    }
}

/// Follows a chain of references; returns the schema itself if the chain is broken or circular.
pub(super) fn follow<'a>(document: &'a Value, schema: &'a Value) -> &'a Value {
    let mut at = schema;
    for _ in 0..64 {
        let reference = at.get("$ref").and_then(Value::as_str);
        let target = reference.and_then(|reference| document.pointer(reference.strip_prefix('#')?));
        match target {
            Some(target) => at = target,
            None => return at,
        }
    }
    schema
}

pub(super) fn object(value: Option<&Value>) -> Option<&Map<String, Value>> {
    value.and_then(Value::as_object)
}

pub(super) fn join(pointer: &str, name: &str) -> String {
    format!("{pointer}/{}", name.replace('~', "~0").replace('/', "~1"))
}
