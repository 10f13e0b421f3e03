//! The only module that touches what juniper exports without documenting it.
//!
//! juniper is pinned to 0.18: `parser::parse_document_source`, the fields of the syntax tree (whose types cannot be named),
//! the fields of `RootNode` and the fields of `meta::{Field, Argument}` may move in any release. What comes
//! out is an [`Outline`]: the operation with fragments expanded, names resolved against the schema, and sizes resolved against
//! the variables, for [`limits`](crate::limits) to judge.

mod spread;

pub(crate) use self::spread::{Spreadable, spreadable};

use std::collections::{BTreeMap, HashMap, HashSet};

use juniper::meta::{Field as FieldMeta, MetaType};
use juniper::parser::parse_document_source;
use juniper::{
    DefaultScalarValue, Definition, GraphQLType, InputValue, Operation, OperationType, RootNode, SchemaType,
    Selection, Type, Variables,
};

type Scalar = DefaultScalarValue;

/// An operation as the limits see it.
#[derive(Debug)]
pub(crate) struct Outline<'d> {
    pub(crate) kind: OperationType,
    pub(crate) fields: Vec<OutlineField<'d>>,
}

/// A selected field; fragments around it are gone.
#[derive(Debug)]
pub(crate) struct OutlineField<'d> {
    /// The type that declares the field.
    pub(crate) parent: &'d str,
    pub(crate) name: &'d str,
    pub(crate) aliased: bool,
    /// Its response key was selected on the same type of the same object before; juniper runs the resolver again.
    pub(crate) repeated: bool,
    pub(crate) shape: Shape,
    /// The larger of `first` and `last`, from the document, the variables or a default; `None` when nothing says.
    pub(crate) requested: Option<i32>,
    pub(crate) children: Vec<Self>,
}

/// What a field returns.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Shape {
    /// An object, an interface or a union, perhaps in lists.
    pub(crate) composite: bool,
    /// How many lists are around it.
    pub(crate) lists: u32,
    /// A Relay connection: an object with `edges` and `pageInfo`, whatever its name.
    pub(crate) connection: bool,
}

/// Takes introspection out of the hands of `root`, which can only switch it off without a code.
///
/// Returns whether `root` had it switched on.
pub(crate) fn take_introspection<Q, M, S>(root: RootNode<Q, M, S>) -> (RootNode<Q, M, S>, bool)
where
    Q: GraphQLType<Scalar>,
    M: GraphQLType<Scalar>,
    S: GraphQLType<Scalar>,
{
    let enabled = !root.introspection_disabled;
    (root.enable_introspection(), enabled)
}

/// Whether the schema has the field `Type.field`.
pub(crate) fn has_field<Q, M, S>(root: &RootNode<Q, M, S>, coordinate: &str) -> bool
where
    Q: GraphQLType<Scalar>,
    M: GraphQLType<Scalar>,
    S: GraphQLType<Scalar>,
{
    coordinate.split_once('.').is_some_and(|(parent, field)| {
        let parent = root.schema.concrete_type_by_name(parent);
        parent.is_some_and(|parent| parent.field_by_name(field).is_some())
    })
}

/// The object types behind every interface of the schema, by name.
pub(crate) fn implementers<Q, M, S>(root: &RootNode<Q, M, S>) -> BTreeMap<String, Vec<String>>
where
    Q: GraphQLType<Scalar>,
    M: GraphQLType<Scalar>,
    S: GraphQLType<Scalar>,
{
    let mut implementers: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for ty in root.schema.concrete_type_list() {
        if let MetaType::Object(object) = ty {
            for interface in &object.interface_names {
                let objects = implementers.entry(interface.to_string()).or_default();
                objects.push(object.name.to_string());
            }
        }
    }
    implementers
}

/// Hands the outline of an operation to `judge`.
///
/// `None` when `source` does not parse or has no such operation. The document must have passed validation: the walk trusts
/// that fragments do not form a cycle, and juniper's own limits bound how far they expand.
pub(crate) fn with_outline<Q, M, S, R>(
    root: &RootNode<Q, M, S>,
    source: &str,
    operation_name: Option<&str>,
    variables: &Variables,
    judge: impl FnOnce(&Outline<'_>) -> R,
) -> Option<R>
where
    Q: GraphQLType<Scalar>,
    M: GraphQLType<Scalar>,
    S: GraphQLType<Scalar>,
{
    let definitions = parse_document_source(source, &root.schema).ok()?;
    let operation = definitions.iter().rev().find_map(|definition| match definition {
        Definition::Operation(found) => {
            let name = found.item.name.as_ref().map(|name| name.item);
            (operation_name.is_none() || name == operation_name).then_some(&found.item)
        }
        Definition::Fragment(_) => None,
    })?;
    let fragments = definitions
        .iter()
        .filter_map(|definition| match definition {
            Definition::Fragment(fragment) => Some((
                fragment.item.name.item,
                (
                    fragment.item.type_condition.item,
                    fragment.item.selection_set.as_slice(),
                ),
            )),
            Definition::Operation(_) => None,
        })
        .collect();
    let walk = Walk {
        schema: &root.schema,
        fragments,
        variables: resolved(operation, variables),
    };
    let outline = Outline {
        kind: operation.operation_type,
        fields: walk.selected(
            root_type(&root.schema, operation.operation_type),
            &operation.selection_set,
        ),
    };
    Some(judge(&outline))
}

/// The variables of the request, with the defaults of the operation behind them.
fn resolved<'v>(
    operation: &'v Operation<'_, Scalar>,
    variables: &'v Variables,
) -> HashMap<&'v str, &'v InputValue<Scalar>> {
    let definitions = operation.variables_definition.iter();
    let defaults = definitions
        .flat_map(|definitions| definitions.item.iter())
        .filter_map(|(name, definition)| {
            definition
                .default_value
                .as_ref()
                .map(|default| (name.item, &default.item))
        });
    let given = variables.iter().map(|(name, value)| (name.as_str(), value));
    defaults.chain(given).collect()
}

fn root_type(schema: &SchemaType<Scalar>, kind: OperationType) -> Option<&MetaType<Scalar>> {
    match kind {
        OperationType::Query => Some(schema.concrete_query_type()),
        OperationType::Mutation => schema.concrete_mutation_type(),
        OperationType::Subscription => schema.concrete_subscription_type(),
    }
}

struct Walk<'d> {
    schema: &'d SchemaType<Scalar>,
    fragments: HashMap<&'d str, (&'d str, &'d [Selection<'d, Scalar>])>,
    variables: HashMap<&'d str, &'d InputValue<Scalar>>,
}

impl<'d> Walk<'d> {
    fn selected(
        &self,
        parent: Option<&'d MetaType<Scalar>>,
        selections: &'d [Selection<'d, Scalar>],
    ) -> Vec<OutlineField<'d>> {
        let (mut fields, mut keys) = (Vec::with_capacity(selections.len()), HashSet::new());
        self.collect(parent, selections, &mut fields, &mut keys);
        fields
    }

    fn collect(
        &self,
        parent: Option<&'d MetaType<Scalar>>,
        selections: &'d [Selection<'d, Scalar>],
        fields: &mut Vec<OutlineField<'d>>,
        keys: &mut HashSet<(&'d str, &'d str)>,
    ) {
        for selection in selections {
            match selection {
                Selection::Field(field) => {
                    let field = &field.item;
                    let name = field.name.item;
                    let key = field.alias.as_ref().map_or(name, |alias| alias.item);
                    let declared_by = parent.and_then(MetaType::name).map_or("", |name| name.as_str());
                    let meta = parent.and_then(|parent| parent.field_by_name(name));
                    let inner = meta.and_then(|meta| self.type_named(meta.field_type.innermost_name()));
                    let written = |wanted: &str| {
                        let arguments = field.arguments.iter().flat_map(|arguments| &arguments.item.items);
                        let mut values = arguments
                            .filter_map(|(name, value)| (name.item == wanted).then_some(&value.item));
                        values.next()
                    };
                    fields.push(OutlineField {
                        parent: declared_by,
                        name,
                        aliased: field.alias.is_some(),
                        repeated: !keys.insert((declared_by, key)),
                        shape: meta
                            .zip(inner)
                            .map(|(meta, inner)| shape(meta, inner))
                            .unwrap_or_default(),
                        requested: meta.and_then(|meta| self.requested(meta, written)),
                        children: match &field.selection_set {
                            Some(selections) => self.selected(inner, selections),
                            None => Vec::new(),
                        },
                    });
                }
                Selection::FragmentSpread(spread) => {
                    if let Some((condition, selections)) = self.fragments.get(spread.item.name.item) {
                        self.collect(self.type_named(condition), selections, fields, keys);
                    }
                }
                Selection::InlineFragment(fragment) => {
                    let condition = fragment.item.type_condition.as_ref();
                    let parent = condition.map_or(parent, |condition| self.type_named(condition.item));
                    self.collect(parent, &fragment.item.selection_set, fields, keys);
                }
            }
        }
    }

    fn type_named(&self, name: &str) -> Option<&'d MetaType<Scalar>> {
        self.schema.concrete_type_by_name(name)
    }

    /// The larger of `first` and `last`: the value written, or the variable's, or the schema's default.
    fn requested(
        &self,
        meta: &FieldMeta<Scalar>,
        written: impl Fn(&str) -> Option<&'d InputValue<Scalar>>,
    ) -> Option<i32> {
        let size = |name: &str| {
            let given = match written(name) {
                Some(InputValue::Variable(variable)) => self.variables.get(variable.as_str()).copied(),
                written => written,
            };
            let declared = meta
                .arguments
                .iter()
                .flatten()
                .find(|argument| argument.name.as_str() == name)?;
            match given.or(declared.default_value.as_ref())? {
                InputValue::Scalar(DefaultScalarValue::Int(size)) => Some(*size),
                _ => None,
            }
        };
        size("first").max(size("last"))
    }
}

fn shape(meta: &FieldMeta<Scalar>, inner: &MetaType<Scalar>) -> Shape {
    let has = |field: &str| inner.field_by_name(field).is_some();
    Shape {
        composite: inner.is_composite(),
        lists: lists(&meta.field_type),
        connection: has("edges") && has("pageInfo"),
    }
}

/// How many lists `ty` has; `Type::is_list` is wrong for `[X!]!`, and a modifier can be compared but not named outside juniper.
fn lists(ty: &Type) -> u32 {
    let sample: Type = Type::nullable("").wrap_non_null();
    ty.modifiers()
        .iter()
        .map(|modifier| u32::from(Some(modifier) != sample.modifier()))
        .sum()
}
