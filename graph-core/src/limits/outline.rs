//! Outline of an operation: the tree of its fields with expanded fragments and resolved names. The
//! limits are computed from the outline.

use std::collections::{BTreeSet, HashSet};

use juniper::{ArcStr, DefaultScalarValue, InputValue, OperationType, Variables};

use crate::document::operation::OperationTree;
use crate::document::parse::{Field, List, Selection, Value, ValueKind};
use crate::schema::{Field as FieldDefinition, Schema, Type, TypeId};

#[derive(Debug)]
pub(crate) struct Outline {
    pub(crate) kind: OperationType,
    pub(crate) fields: Vec<OutlineField>,
    /// `true` if the size of a list or connection depends on the variables.
    pub(crate) open: bool,
    /// Coordinates of the deprecated fields and arguments in the operation.
    pub(crate) deprecated: BTreeSet<String>,
}

impl Outline {
    /// Approximate memory in bytes.
    pub(crate) fn size(&self) -> usize {
        fn of(fields: &[OutlineField]) -> usize {
            let below: usize = fields.iter().map(|field| of(&field.children)).sum();
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
    pub(crate) first: Size,
    pub(crate) last: Size,
    pub(crate) children: Vec<Self>,
}

impl OutlineField {
    /// Larger of `first` and `last`, from the document, the variables or a default; `None` if
    /// unset.
    pub(crate) fn requested(&self, variables: &Variables) -> Option<i32> {
        self.first.resolved(variables).max(self.last.resolved(variables))
    }
}

/// Page size in the argument `first` or `last`.
#[derive(Clone, Debug, Default)]
pub(crate) enum Size {
    #[default]
    Unknown,
    Known(i32),
    /// Variable name and its default; the given value takes precedence.
    Variable(Box<str>, Option<i32>),
}

impl Size {
    fn resolved(&self, variables: &Variables) -> Option<i32> {
        match self {
            Self::Unknown => None,
            Self::Known(size) => Some(*size),
            Self::Variable(name, default) => match variables.get(&**name) {
                Some(given) => integer(given),
                None => *default,
            },
        }
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
pub(crate) fn outline(schema: &Schema, tree: &OperationTree<'_, '_>) -> Outline {
    let operation = tree.operation;
    let root = schema.root(operation.kind);
    let mut walk = Walk {
        schema,
        tree,
        open: false,
        deprecated: BTreeSet::new(),
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
    tree: &'d OperationTree<'d, 't>,
    open: bool,
    deprecated: BTreeSet<String>,
}

impl<'t> Walk<'_, 't> {
    fn selected(&mut self, parent: Option<TypeId>, selections: List<Selection<'t>>) -> Vec<OutlineField> {
        let (mut fields, mut keys) = (Vec::with_capacity(selections.len()), HashSet::new());
        self.collect(parent, selections, &mut fields, &mut keys);
        fields
    }

    fn collect(
        &mut self,
        parent: Option<TypeId>,
        selections: List<Selection<'t>>,
        fields: &mut Vec<OutlineField>,
        keys: &mut HashSet<(Option<TypeId>, &'t str)>,
    ) {
        let tree = self.tree;
        for selection in tree.ast.selections(selections) {
            match selection {
                Selection::Field(field) => fields.push(self.field(parent, field, keys)),
                Selection::Spread(spread) => {
                    if let Some(fragment) = tree.fragments.get(spread.name.text) {
                        self.collect(
                            self.schema.id(fragment.on.text),
                            fragment.selections,
                            fields,
                            keys,
                        );
                    }
                }
                Selection::Inline(inline) => {
                    let parent = inline.on.map_or(parent, |on| self.schema.id(on.text));
                    self.collect(parent, inline.selections, fields, keys);
                }
            }
        }
    }

    fn field(
        &mut self,
        parent: Option<TypeId>,
        field: &Field<'t>,
        keys: &mut HashSet<(Option<TypeId>, &'t str)>,
    ) -> OutlineField {
        let (schema, name) = (self.schema, field.name.text);
        let declared_by = parent.map(|parent| &schema.type_at(parent).name);
        let definition = parent.and_then(|parent| schema.selectable(parent, name));
        let inner = definition.map(|definition| definition.ty.named);
        if let (Some(declared_by), Some(definition)) = (declared_by, definition) {
            self.note_deprecated(declared_by, definition, field);
        }
        let mut size =
            |name| definition.map_or(Size::Unknown, |definition| self.size(definition, field, name));
        OutlineField {
            parent: declared_by.cloned().unwrap_or_default(),
            name: definition.map_or_else(|| name.into(), |definition| definition.name.clone()),
            aliased: field.alias.is_some(),
            repeated: !keys.insert((parent, field.key())),
            shape: definition
                .map(|definition| shape(definition, schema.type_at(definition.ty.named)))
                .unwrap_or_default(),
            first: size("first"),
            last: size("last"),
            children: self.selected(inner, field.selections),
        }
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

    /// Size in the argument `name`: the literal, the variable, or the schema's default.
    fn size(&mut self, definition: &FieldDefinition, field: &Field<'t>, name: &str) -> Size {
        let Some(declared) = definition.argument(name) else {
            return Size::Unknown;
        };
        let of_schema = declared.default.as_ref();
        let of_schema = || of_schema.and_then(|default| integer(&default.value));
        match self.tree.argument(field, name).map(|value| &value.kind) {
            Some(ValueKind::Variable(variable)) => {
                self.open = true;
                let (ast, operation) = (self.tree.ast, self.tree.operation);
                let mut variables = ast.variables(operation.variables).iter();
                let known = variables.find(|known| known.name.text == *variable);
                let default = known.and_then(|known| known.default.as_ref());
                let default = default.map_or_else(of_schema, written_integer);
                Size::Variable((*variable).into(), default)
            }
            Some(_) => {
                let written = self.tree.argument(field, name).and_then(written_integer);
                written.map_or(Size::Unknown, Size::Known)
            }
            None => of_schema().map_or(Size::Unknown, Size::Known),
        }
    }
}

fn integer(value: &InputValue) -> Option<i32> {
    match value {
        InputValue::Scalar(DefaultScalarValue::Int(size)) => Some(*size),
        _ => None,
    }
}

fn written_integer(value: &Value<'_>) -> Option<i32> {
    match value.kind {
        ValueKind::Int(digits) => digits.parse().ok(),
        _ => None,
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
