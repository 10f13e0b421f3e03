//! Outline of an operation: the tree of its fields with expanded fragments and resolved names. The
//! limits are computed from the outline.

use juniper::meta::{Field as FieldMeta, MetaType};
use juniper::{ArcStr, DefaultScalarValue, InputValue, OperationType, SchemaType, Variables};

use crate::compat::TypeRef;
use crate::compat::syntax::{Field, Selection, Syntax};
use std::collections::{BTreeSet, HashSet};

type Schema = SchemaType<DefaultScalarValue>;

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

/// Builds the outline of a validated operation. Fragments are acyclic, and juniper limits their
/// expansion.
pub(crate) fn outline(schema: &Schema, syntax: &Syntax<'_>) -> Outline {
    let root = match syntax.operation.kind {
        OperationType::Query => Some(schema.concrete_query_type()),
        OperationType::Mutation => schema.concrete_mutation_type(),
        OperationType::Subscription => schema.concrete_subscription_type(),
    };
    let mut walk = Walk {
        schema,
        syntax,
        open: false,
        deprecated: BTreeSet::new(),
    };
    Outline {
        kind: syntax.operation.kind,
        fields: walk.selected(root, &syntax.operation.selections),
        open: walk.open,
        deprecated: walk.deprecated,
    }
}

struct Walk<'d> {
    schema: &'d Schema,
    syntax: &'d Syntax<'d>,
    open: bool,
    deprecated: BTreeSet<String>,
}

impl<'d> Walk<'d> {
    fn selected(
        &mut self,
        parent: Option<&'d MetaType<DefaultScalarValue>>,
        selections: &'d [Selection<'d>],
    ) -> Vec<OutlineField> {
        let (mut fields, mut keys) = (Vec::with_capacity(selections.len()), HashSet::new());
        self.collect(parent, selections, &mut fields, &mut keys);
        fields
    }

    fn collect(
        &mut self,
        parent: Option<&'d MetaType<DefaultScalarValue>>,
        selections: &'d [Selection<'d>],
        fields: &mut Vec<OutlineField>,
        keys: &mut HashSet<(&'d str, &'d str)>,
    ) {
        for selection in selections {
            match selection {
                Selection::Field(field) => fields.push(self.field(parent, field, keys)),
                Selection::Spread { name, .. } => {
                    let syntax = self.syntax;
                    if let Some(fragment) = syntax.fragments.get(name) {
                        self.collect(self.type_named(fragment.on), &fragment.selections, fields, keys);
                    }
                }
                Selection::Inline { on, selections, .. } => {
                    let parent = on.map_or(parent, |on| self.type_named(on));
                    self.collect(parent, selections, fields, keys);
                }
            }
        }
    }

    fn field(
        &mut self,
        parent: Option<&'d MetaType<DefaultScalarValue>>,
        field: &'d Field<'d>,
        keys: &mut HashSet<(&'d str, &'d str)>,
    ) -> OutlineField {
        let declared_by = parent.and_then(MetaType::name);
        let meta = parent.and_then(|parent| parent.field_by_name(field.name));
        let inner = meta.and_then(|meta| self.type_named(meta.field_type.innermost_name()));
        if let (Some(declared_by), Some(meta)) = (declared_by, meta) {
            self.note_deprecated(declared_by, meta, field);
        }
        let mut size = |name| meta.map_or(Size::Unknown, |meta| self.size(meta, field, name));
        OutlineField {
            parent: declared_by.cloned().unwrap_or_default(),
            name: meta.map_or_else(|| field.name.into(), |meta| meta.name.clone()),
            aliased: field.alias.is_some(),
            repeated: !keys.insert((declared_by.map_or("", ArcStr::as_str), field.key())),
            shape: meta
                .zip(inner)
                .map(|(meta, inner)| shape(meta, inner))
                .unwrap_or_default(),
            first: size("first"),
            last: size("last"),
            children: self.selected(inner, &field.selections),
        }
    }

    /// Records deprecated parts of `field` by their
    /// [coordinate](https://spec.graphql.org/September2025/#sec-Schema-Coordinates).
    fn note_deprecated(&mut self, parent: &str, meta: &FieldMeta<DefaultScalarValue>, field: &Field<'_>) {
        if meta.deprecation_status.is_deprecated() {
            self.deprecated.insert(format!("{parent}.{}", meta.name));
        }
        for declared in meta.arguments.iter().flatten() {
            if declared.deprecation_status.is_deprecated() && field.argument(&declared.name).is_some() {
                self.deprecated
                    .insert(format!("{parent}.{}({}:)", meta.name, declared.name));
            }
        }
    }

    fn type_named(&self, name: &str) -> Option<&'d MetaType<DefaultScalarValue>> {
        self.schema.concrete_type_by_name(name)
    }

    /// Size in the argument `name`: the literal, the variable, or the schema's default.
    fn size(&mut self, meta: &FieldMeta<DefaultScalarValue>, field: &Field<'_>, name: &str) -> Size {
        let declared = meta.arguments.iter().flatten();
        let Some(declared) = declared
            .into_iter()
            .find(|argument| argument.name.as_str() == name)
        else {
            return Size::Unknown;
        };
        let of_schema = declared.default_value.as_ref();
        let known = |value: Option<&InputValue>| value.and_then(integer).map_or(Size::Unknown, Size::Known);
        match field.argument(name) {
            Some(InputValue::Variable(variable)) => {
                self.open = true;
                let operation = self.syntax.operation.variables.get(variable.as_str());
                let default = operation.and_then(|variable| variable.default.as_ref());
                Size::Variable(variable.as_str().into(), default.or(of_schema).and_then(integer))
            }
            Some(written) => known(Some(written)),
            None => known(of_schema),
        }
    }
}

fn integer(value: &InputValue) -> Option<i32> {
    match value {
        InputValue::Scalar(DefaultScalarValue::Int(size)) => Some(*size),
        _ => None,
    }
}

fn shape(meta: &FieldMeta<DefaultScalarValue>, inner: &MetaType<DefaultScalarValue>) -> Shape {
    let has = |field: &str| inner.field_by_name(field).is_some();
    Shape {
        composite: inner.is_composite(),
        lists: TypeRef::new(&meta.field_type).lists(),
        connection: has("edges") && has("pageInfo"),
    }
}
