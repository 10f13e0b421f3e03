//! Visible part of the schema for a principal.
//!
//! A field is visible if its guards and those of its type allow the principal. As a consequence,
//! these are hidden, too:
//!
//! - types without visible fields, and fields of hidden types;
//! - a field of an interface, if an object type of the interface hides its own field of that name;
//! - types that are no longer reachable.
//!
//! The result is a valid schema or empty.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Arc, PoisonError, RwLock};

use serde_json::Value;

use super::index::Index;
use super::introspection::Introspection;
use crate::executor::Guard;

/// Maximum number of cached views.
const VIEWS: usize = 16;

/// Hidden types and fields for one combination of refusing guards.
#[derive(Debug, Default)]
pub(crate) struct View {
    /// By index in [`Index::guards`]; empty if all guards allow.
    denied: Box<[bool]>,
    types: HashSet<Box<str>>,
    fields: HashMap<Box<str>, HashSet<Box<str>>>,
    /// `true` if the query root is hidden, and with it the whole schema.
    nothing: bool,
}

impl View {
    /// Refusing guards of this view.
    pub(super) fn denied(&self) -> &[bool] {
        &self.denied
    }

    pub(crate) fn hides(&self, ty: &str) -> bool {
        self.types.contains(ty)
    }

    pub(super) fn hides_field(&self, ty: &str, field: &str) -> bool {
        self.fields.get(ty).is_some_and(|fields| fields.contains(field))
    }

    /// Returns `true` if nothing is hidden.
    pub(crate) fn is_whole(&self) -> bool {
        self.denied.is_empty()
    }

    /// Returns `true` if everything is hidden.
    pub(crate) fn is_nothing(&self) -> bool {
        self.nothing
    }
}

/// Recently used views.
#[derive(Debug, Default)]
pub(super) struct Views {
    whole: Arc<View>,
    known: RwLock<VecDeque<Arc<View>>>,
}

impl Introspection {
    /// View of the whole schema.
    pub(crate) fn whole(&self) -> &Arc<View> {
        &self.views.whole
    }

    /// View for a principal that some guards refuse.
    pub(crate) fn view(&self, index: &Index, refuses: impl Fn(Guard) -> bool) -> Arc<View> {
        let denied: Box<[bool]> = index.guards().iter().map(|guard| refuses(*guard)).collect();
        if !denied.contains(&true) {
            return Arc::clone(&self.views.whole);
        }
        let known = self.views.known.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(view) = known.iter().find(|view| view.denied == denied) {
            return Arc::clone(view);
        }
        drop(known);
        let is_denied = |guards: &[Guard]| {
            let mut all = index.guards().iter().zip(&denied);
            all.any(|(guard, denied)| *denied && guards.contains(guard))
        };
        let mut sieve = Sieve::new(&self.schema, index, &is_denied);
        while sieve.round() {}
        sieve.unreachable();
        let view = Arc::new(sieve.view(&denied));
        let mut known = self.views.known.write().unwrap_or_else(PoisonError::into_inner);
        known.truncate(VIEWS - 1);
        known.push_front(Arc::clone(&view));
        view
    }
}

/// Type with its dependencies.
#[derive(Default)]
struct Node<'s> {
    /// Fields of an object or interface: name, type and argument types.
    fields: Vec<(&'s str, &'s str, Vec<&'s str>)>,
    interfaces: Vec<&'s str>,
    /// Object types of a union or interface.
    objects: Vec<&'s str>,
    is_union: bool,
    /// Types of an input object's fields.
    inputs: Vec<&'s str>,
    /// `true` if the guards of the type refuse the principal.
    barred: bool,
}

/// Computes the hidden types and fields.
struct Sieve<'s> {
    schema: &'s Value,
    nodes: HashMap<&'s str, Node<'s>>,
    types: HashSet<&'s str>,
    fields: HashSet<(&'s str, &'s str)>,
}

impl<'s> Sieve<'s> {
    fn new(schema: &'s Value, index: &Index, is_denied: &dyn Fn(&[Guard]) -> bool) -> Self {
        let (mut nodes, mut types, mut fields) = (HashMap::new(), HashSet::new(), HashSet::new());
        for ty in entries(schema, "types") {
            let name = text(ty, "name");
            let mut node = Node {
                fields: entries(ty, "fields")
                    .map(|field| (text(field, "name"), innermost(field), types_of(field, "args")))
                    .collect(),
                interfaces: names(ty, "interfaces"),
                objects: names(ty, "possibleTypes"),
                is_union: text(ty, "kind") == "UNION",
                inputs: types_of(ty, "inputFields"),
                barred: false,
            };
            if is_denied(index.type_guards(name)) {
                node.barred = true;
                types.insert(name);
            }
            let refused = |field: &str| {
                let found = index.get(name).and_then(|entry| entry.field(field));
                found.is_some_and(|(_, info)| is_denied(info.guards))
            };
            let of_fields = node.fields.iter().map(|(field, ..)| *field);
            fields.extend(
                of_fields
                    .filter(|field| refused(field))
                    .map(|field| (name, field)),
            );
            nodes.insert(name, node);
        }
        Self {
            schema,
            nodes,
            types,
            fields,
        }
    }

    /// Hides types and fields that depend on hidden types and fields. Returns `true` if it hid any.
    fn round(&mut self) -> bool {
        let before = (self.types.len(), self.fields.len());
        for (name, node) in &self.nodes {
            for (field, ty, _) in &node.fields {
                if self.types.contains(ty) {
                    self.fields.insert((name, field));
                }
            }
            for (interface, field) in self.broken(name, node) {
                self.fields.insert((interface, field));
            }
            let shown = |(field, ..): &(&'s str, _, _)| !self.fields.contains(&(*name, *field));
            let no_fields = !node.fields.is_empty() && !node.fields.iter().any(shown);
            let no_objects = node.is_union && node.objects.iter().all(|object| self.types.contains(object));
            if no_fields || no_objects {
                self.types.insert(name);
            }
        }
        before != (self.types.len(), self.fields.len())
    }

    /// Interface fields to hide, because the type `name` hides its own field of that name.
    fn broken(&self, name: &'s str, node: &Node<'s>) -> Vec<(&'s str, &'s str)> {
        if node.barred {
            return Vec::new();
        }
        let mut broken = Vec::new();
        for interface in &node.interfaces {
            let fields = self.nodes.get(interface).map(|interface| &interface.fields);
            let hidden = fields.into_iter().flatten().map(|(field, ..)| *field);
            let hidden = hidden.filter(|field| self.fields.contains(&(name, *field)));
            broken.extend(hidden.map(|field| (*interface, field)));
        }
        broken
    }

    /// Hides unreachable types.
    fn unreachable(&mut self) {
        let roots = ["queryType", "mutationType", "subscriptionType"].into_iter();
        let roots = roots
            .filter_map(|root| self.schema.get(root))
            .map(|root| text(root, "name"));
        let directives = entries(self.schema, "directives").flat_map(|directive| types_of(directive, "args"));
        let of_introspection = self.nodes.keys().copied().filter(|name| name.starts_with("__"));
        let mut next: Vec<_> = roots.chain(directives).chain(of_introspection).collect();
        let mut reached = HashSet::new();
        while let Some(name) = next.pop() {
            let Some(node) = self.nodes.get(name).filter(|_| !self.types.contains(name)) else {
                continue;
            };
            if !reached.insert(name) {
                continue;
            }
            let shown = node
                .fields
                .iter()
                .filter(|(field, ..)| !self.fields.contains(&(name, *field)));
            for (_, ty, arguments) in shown {
                next.push(ty);
                next.extend(arguments);
            }
            next.extend(node.interfaces.iter().chain(&node.objects).chain(&node.inputs));
        }
        let lost = self.nodes.keys().filter(|name| !reached.contains(*name));
        self.types.extend(lost);
    }

    fn view(&self, denied: &[bool]) -> View {
        let mut fields: HashMap<Box<str>, HashSet<Box<str>>> = HashMap::new();
        for (ty, field) in &self.fields {
            fields.entry((*ty).into()).or_default().insert((*field).into());
        }
        let query = self.schema.get("queryType");
        View {
            denied: denied.into(),
            types: self.types.iter().map(|name| (*name).into()).collect(),
            fields,
            nothing: query.is_none_or(|query| self.types.contains(text(query, "name"))),
        }
    }
}

fn entries<'s>(of: &'s Value, key: &str) -> impl Iterator<Item = &'s Value> + use<'s> {
    of.get(key).and_then(Value::as_array).into_iter().flatten()
}

fn text<'s>(of: &'s Value, key: &str) -> &'s str {
    of.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn names<'s>(of: &'s Value, key: &str) -> Vec<&'s str> {
    entries(of, key).map(|ty| text(ty, "name")).collect()
}

/// Types of arguments or of input object fields.
fn types_of<'s>(of: &'s Value, key: &str) -> Vec<&'s str> {
    entries(of, key).map(innermost).collect()
}

/// Innermost named type of a field or argument.
fn innermost(field: &Value) -> &str {
    let mut ty = field.get("type").unwrap_or(&Value::Null);
    while let Some(inner) = ty.get("ofType").filter(|inner| !inner.is_null()) {
        ty = inner;
    }
    text(ty, "name")
}
