//! Outline of an operation: the tree of its fields with expanded fragments and resolved names. The
//! limits are computed from the outline.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use juniper::{ArcStr, DefaultScalarValue, InputValue, OperationType, Variables};

use super::CostModel;
use super::entries::{Entries, nests_lists};
use super::size::{Path, Size, Step};
use crate::document::operation::OperationTree;
use crate::document::parse::{Directive, Field, List, Selection, ValueKind};
use crate::schema::{Field as FieldDefinition, InputField, Schema, Type, TypeId, TypeKind};

#[derive(Debug)]
pub(crate) struct Outline {
    pub(crate) kind: OperationType,
    pub(crate) fields: Vec<OutlineField>,
    /// `true` if the cost depends on the variables.
    pub(crate) open: bool,
    /// Coordinates of the deprecated fields and arguments in the operation.
    pub(crate) deprecated: BTreeSet<String>,
}

impl Outline {
    /// Approximate memory in bytes.
    pub(crate) fn size(&self) -> usize {
        fn of(fields: &[OutlineField]) -> usize {
            let own = |field: &OutlineField| {
                let sizes = field.slices.len() + field.lists.len() + field.inner_slices.len();
                let entries = field
                    .entries
                    .iter()
                    .map(|entries| size_of::<Entries>() + entries.size());
                let sizes = sizes * size_of::<Size>() + entries.sum::<usize>();
                sizes + field.conditions.len() * size_of::<Condition>()
            };
            let below: usize = fields.iter().map(|field| own(field) + of(&field.children)).sum();
            size_of_val(fields) + below
        }
        of(&self.fields)
    }
}

/// Selected field, with fragments expanded.
#[derive(Debug)]
pub(crate) struct OutlineField {
    /// Type that declares the field.
    pub(crate) parent: ArcStr,
    pub(crate) name: ArcStr,
    pub(crate) aliased: bool,
    /// `true` if the response key was already selected on the same type of the same object.
    pub(crate) repeated: bool,
    pub(crate) shape: Shape,
    /// Sizes in the slicing arguments: `first`, `last`, and those that the host has declared.
    pub(crate) slices: Vec<Size>,
    /// Lengths of the other arguments that are lists.
    pub(crate) lists: Vec<Size>,
    /// Lists inside the arguments.
    pub(crate) entries: Vec<Entries>,
    /// Lengths of lists among `entries` that are slicing arguments.
    pub(crate) inner_slices: Vec<Size>,
    /// `true` if the field declares a slicing argument.
    pub(crate) is_sliced: bool,
    /// Conditions of the field and of the fragments around it. Others are decided.
    pub(crate) conditions: Arc<[Condition]>,
    pub(crate) children: Vec<Self>,
}

impl Shape {
    /// Returns `true` for a list or connection.
    pub(crate) fn is_list(self) -> bool {
        self.connection || self.lists > 0
    }
}

impl OutlineField {
    /// Largest size that a slicing argument asks for.
    pub(crate) fn requested(&self, variables: &Variables) -> Option<u64> {
        self.slices
            .iter()
            .filter_map(|size| size.measured(variables))
            .max()
    }

    /// Returns `true` unless the variables exclude the field.
    pub(crate) fn is_included(&self, variables: &Variables) -> bool {
        self.conditions.iter().all(|condition| condition.holds(variables))
    }
}

/// `@skip` or `@include` with a variable.
#[derive(Clone, Debug)]
pub(crate) struct Condition {
    /// Value that keeps the field.
    wanted: bool,
    variable: Arc<str>,
    default: Option<bool>,
}

impl Condition {
    /// A variable without a value excludes nothing.
    fn holds(&self, variables: &Variables) -> bool {
        let given = match variables.get(&*self.variable) {
            Some(InputValue::Scalar(DefaultScalarValue::Boolean(given))) => Some(*given),
            Some(_) => None,
            None => self.default,
        };
        given.is_none_or(|given| given == self.wanted)
    }
}

/// Shape of a field's return type.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Shape {
    /// Object, interface or union, possibly in lists.
    pub(crate) composite: bool,
    /// Number of list wrappers.
    pub(crate) lists: u32,
    /// Relay connection: an object with `edges` and `pageInfo`, regardless of its name.
    pub(crate) connection: bool,
}

/// Builds the outline of a validated operation. Fragments are acyclic, and their expansion is
/// limited.
pub(crate) fn outline(schema: &Schema, costs: &CostModel, tree: &OperationTree<'_, '_>) -> Outline {
    let operation = tree.operation;
    let root = schema.root(operation.kind);
    let mut walk = Walk {
        schema,
        costs,
        tree,
        open: false,
        deprecated: BTreeSet::new(),
        names: HashMap::new(),
    };
    Outline {
        kind: operation.kind,
        fields: walk.selected(root, operation.selections),
        open: walk.open,
        deprecated: walk.deprecated,
    }
}

struct Walk<'d, 't> {
    schema: &'d Schema,
    costs: &'d CostModel,
    tree: &'d OperationTree<'d, 't>,
    open: bool,
    deprecated: BTreeSet<String>,
    /// Names of variables, which many fields share.
    names: HashMap<Box<str>, Arc<str>>,
}

/// Fields of one selection set, with the response keys so far.
#[derive(Default)]
struct Collected<'t> {
    fields: Vec<OutlineField>,
    keys: HashSet<(Option<TypeId>, &'t str)>,
}

impl<'t> Walk<'_, 't> {
    fn selected(&mut self, parent: Option<TypeId>, selections: List<Selection<'t>>) -> Vec<OutlineField> {
        let mut collected = Collected::default();
        self.collect(parent, selections, &Arc::default(), &mut collected);
        collected.fields
    }

    fn collect(
        &mut self,
        parent: Option<TypeId>,
        selections: List<Selection<'t>>,
        around: &Arc<[Condition]>,
        into: &mut Collected<'t>,
    ) {
        let tree = self.tree;
        for selection in tree.ast.selections(selections) {
            let directives = match selection {
                Selection::Field(field) => field.directives,
                Selection::Spread(spread) => spread.directives,
                Selection::Inline(inline) => inline.directives,
            };
            let Some(conditions) = self.conditions(directives, around) else {
                continue;
            };
            match selection {
                Selection::Field(field) => {
                    let is_repeated = !into.keys.insert((parent, field.key()));
                    let field = self.field(parent, field);
                    into.fields.push(OutlineField {
                        repeated: is_repeated,
                        conditions,
                        ..field
                    });
                }
                Selection::Spread(spread) => {
                    if let Some(fragment) = tree.fragments.get(spread.name.text) {
                        let on = self.schema.id(fragment.on.text);
                        self.collect(on, fragment.selections, &conditions, into);
                    }
                }
                Selection::Inline(inline) => {
                    let on = inline.on.map_or(parent, |on| self.schema.id(on.text));
                    self.collect(on, inline.selections, &conditions, into);
                }
            }
        }
    }

    /// Conditions of a selection and of those around it; `None` if a literal excludes it.
    fn conditions(
        &mut self,
        directives: List<Directive<'t>>,
        around: &Arc<[Condition]>,
    ) -> Option<Arc<[Condition]>> {
        let mut own = Vec::new();
        for (wanted, value) in self.tree.conditions(directives) {
            match value {
                ValueKind::Boolean(given) if *given != wanted => return None,
                ValueKind::Variable(name) => own.push(self.condition(wanted, name)),
                _ => {}
            }
        }
        if own.is_empty() {
            return Some(Arc::clone(around));
        }
        Some(around.iter().cloned().chain(own).collect())
    }

    fn condition(&mut self, wanted: bool, name: &str) -> Condition {
        self.open = true;
        let (ast, operation) = (self.tree.ast, self.tree.operation);
        let mut variables = ast.variables(operation.variables).iter();
        let declared = variables.find(|declared| declared.name.text == name);
        let default = declared.and_then(|declared| declared.default.as_ref());
        let variable = self.names.entry(name.into()).or_insert_with(|| name.into());
        Condition {
            wanted,
            variable: Arc::clone(variable),
            default: default.and_then(|default| match default.kind {
                ValueKind::Boolean(default) => Some(default),
                _ => None,
            }),
        }
    }

    fn field(&mut self, parent: Option<TypeId>, field: &Field<'t>) -> OutlineField {
        let (schema, name) = (self.schema, field.name.text);
        let declared_by = parent.map(|parent| &schema.type_at(parent).name);
        let definition = parent.and_then(|parent| schema.selectable(parent, name));
        if let (Some(declared_by), Some(definition)) = (declared_by, definition) {
            self.note_deprecated(declared_by, definition, field);
        }
        let mut outlined = OutlineField {
            parent: declared_by.cloned().unwrap_or_default(),
            name: definition.map_or_else(|| name.into(), |definition| definition.name.clone()),
            aliased: field.alias.is_some(),
            repeated: false,
            shape: definition
                .map(|definition| shape(definition, schema.type_at(definition.ty.named)))
                .unwrap_or_default(),
            slices: Vec::new(),
            lists: Vec::new(),
            entries: Vec::new(),
            inner_slices: Vec::new(),
            is_sliced: false,
            conditions: Arc::default(),
            children: self.selected(definition.map(|definition| definition.ty.named), field.selections),
        };
        if let Some(definition) = definition {
            self.sizes(definition, field, &mut outlined);
        }
        outlined
    }

    /// Reads the sizes in the arguments of `field`.
    fn sizes(&mut self, definition: &FieldDefinition, field: &Field<'t>, into: &mut OutlineField) {
        let declared = self.costs.slicing(&into.parent, &into.name);
        let slicing = ["first", "last"]
            .into_iter()
            .chain(declared.iter().map(String::as_str));
        let mut sliced = Vec::new();
        for path in slicing {
            let mut steps = path.split('.');
            let Some(argument) = steps.next().and_then(|name| definition.argument(name)) else {
                continue;
            };
            sliced.push(argument.name.as_str());
            let steps: Vec<_> = steps.collect();
            let size = self.size(argument, field, &steps);
            if !steps.is_empty() && self.path(argument, &steps).is_list {
                into.inner_slices.extend(size.clone());
            }
            into.slices.extend(size);
        }
        into.is_sliced = !sliced.is_empty();
        for argument in &definition.arguments {
            if argument.ty.entry().is_some() && !sliced.contains(&argument.name.as_str()) {
                into.lists.extend(self.size(argument, field, &[]));
            }
            if nests_lists(self.schema, argument.ty) {
                into.entries.extend(self.entries(argument, field));
            }
        }
    }

    /// Lists inside an argument.
    fn entries(&mut self, argument: &InputField, field: &Field<'t>) -> Option<Entries> {
        let value = self.tree.argument(field, &argument.name)?;
        let is_list = argument.ty.entry().is_some();
        let names = &mut self.names;
        let mut name = |name: &str| {
            let known = names.entry(name.into()).or_insert_with(|| name.into());
            Arc::clone(known)
        };
        let entries = Entries::written(self.tree, value, is_list, &mut name);
        self.open |= entries.has_variables();
        Some(entries)
    }

    fn size(&mut self, argument: &InputField, field: &Field<'t>, steps: &[&str]) -> Option<Size> {
        let path = Arc::new(self.path(argument, steps));
        let default = argument.default.as_ref();
        let default = default.and_then(|default| path.measure(0, &default.value));
        let names = &mut self.names;
        let mut name = |name: &str| {
            let known = names.entry(name.into()).or_insert_with(|| name.into());
            Arc::clone(known)
        };
        let size = match self.tree.argument(field, &argument.name) {
            Some(value) => Size::written(self.tree, value, (&path, 0), default, &mut name),
            None => default.map(Size::Known),
        };
        self.open |= matches!(size, Some(Size::Variable { .. }));
        size
    }

    /// Way through input objects from `argument`.
    fn path(&self, argument: &InputField, steps: &[&str]) -> Path {
        let mut path = Path::default();
        let mut inputs = vec![argument];
        for step in steps {
            let within = inputs
                .last()
                .map(|input| &self.schema.type_at(input.ty.named).kind);
            if let Some(TypeKind::InputObject(object)) = within {
                inputs.extend(object.fields.get(*step));
            }
        }
        path.is_list = inputs.last().is_some_and(|input| input.ty.entry().is_some());
        // from the innermost, whose default needs no further steps
        for (input, step) in inputs.iter().skip(1).zip(steps).rev() {
            let default = input.default.as_ref();
            let default = default.and_then(|default| path.measure(0, &default.value));
            let name = (*step).into();
            path.steps.insert(0, Step { name, default });
        }
        path
    }

    /// Records deprecated parts of `field` by their
    /// [coordinate](https://spec.graphql.org/September2025/#sec-Schema-Coordinates).
    fn note_deprecated(&mut self, parent: &str, definition: &FieldDefinition, field: &Field<'t>) {
        let name = &definition.name;
        if definition.deprecation.is_deprecated() {
            self.deprecated.insert(format!("{parent}.{name}"));
        }
        for declared in &definition.arguments {
            if declared.deprecation.is_deprecated() && self.tree.argument(field, &declared.name).is_some() {
                self.deprecated
                    .insert(format!("{parent}.{name}({}:)", declared.name));
            }
        }
    }
}

fn shape(definition: &FieldDefinition, inner: &Type) -> Shape {
    let has = |field: &str| inner.field(field).is_some();
    Shape {
        composite: inner.is_composite(),
        lists: definition.ty.wrappers.lists(),
        connection: has("edges") && has("pageInfo"),
    }
}
