//! Nodes of a document. Lists of nodes are runs in the vectors of [`Ast`]; positions are byte
//! offsets in the text.

use std::borrow::Cow;
use std::marker::PhantomData;

use juniper::OperationType;

use crate::schema::Wrappers;

/// Run of nodes in a vector of [`Ast`].
pub(crate) struct List<T> {
    start: u32,
    end: u32,
    of: PhantomData<fn() -> T>,
}

impl<T> Clone for List<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for List<T> {}

impl<T> std::fmt::Debug for List<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}..{}", self.start, self.end)
    }
}

impl<T> Default for List<T> {
    fn default() -> Self {
        Self {
            start: 0,
            end: 0,
            of: PhantomData,
        }
    }
}

impl<T> List<T> {
    pub(super) fn of(range: std::ops::Range<usize>) -> Self {
        let place = |at| u32::try_from(at).unwrap_or(u32::MAX);
        Self {
            start: place(range.start),
            end: place(range.end),
            of: PhantomData,
        }
    }

    pub(crate) fn is_empty(self) -> bool {
        self.start == self.end
    }

    pub(crate) fn len(self) -> usize {
        (self.end - self.start) as usize
    }

    /// Identifies the run in its document.
    pub(crate) fn id(self) -> u32 {
        self.start
    }

    fn get(self, all: &[T]) -> &[T] {
        all.get(self.start as usize..self.end as usize)
            .unwrap_or_default()
    }
}

/// Parsed document.
#[derive(Debug, Default)]
pub(crate) struct Ast<'t> {
    pub(crate) text: &'t str,
    pub(crate) definitions: Vec<Definition<'t>>,
    pub(super) variables: Vec<VariableDefinition<'t>>,
    pub(super) selections: Vec<Selection<'t>>,
    pub(super) arguments: Vec<Argument<'t>>,
    pub(super) directives: Vec<Directive<'t>>,
    pub(super) values: Vec<Value<'t>>,
    pub(super) fields: Vec<ObjectField<'t>>,
}

impl<'t> Ast<'t> {
    pub(crate) fn variables(&self, list: List<VariableDefinition<'t>>) -> &[VariableDefinition<'t>] {
        list.get(&self.variables)
    }

    pub(crate) fn selections(&self, list: List<Selection<'t>>) -> &[Selection<'t>] {
        list.get(&self.selections)
    }

    pub(crate) fn arguments(&self, list: List<Argument<'t>>) -> &[Argument<'t>] {
        list.get(&self.arguments)
    }

    pub(crate) fn directives(&self, list: List<Directive<'t>>) -> &[Directive<'t>] {
        list.get(&self.directives)
    }

    pub(crate) fn values(&self, list: List<Value<'t>>) -> &[Value<'t>] {
        list.get(&self.values)
    }

    pub(crate) fn fields(&self, list: List<ObjectField<'t>>) -> &[ObjectField<'t>] {
        list.get(&self.fields)
    }

    pub(crate) fn operations(&self) -> impl Iterator<Item = &Operation<'t>> {
        self.definitions.iter().filter_map(|definition| match definition {
            Definition::Operation(operation) => Some(operation),
            Definition::Fragment(_) | Definition::TypeSystem { .. } => None,
        })
    }

    pub(crate) fn fragments(&self) -> impl Iterator<Item = &Fragment<'t>> {
        self.definitions.iter().filter_map(|definition| match definition {
            Definition::Fragment(fragment) => Some(fragment),
            Definition::Operation(_) | Definition::TypeSystem { .. } => None,
        })
    }

    /// Value of the argument `name` of a field or directive.
    pub(crate) fn argument(&self, list: List<Argument<'t>>, name: &str) -> Option<&Value<'t>> {
        let mut arguments = self.arguments(list).iter();
        arguments.find_map(|argument| (argument.name.text == name).then_some(&argument.value))
    }
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Name<'t> {
    pub(crate) text: &'t str,
    pub(crate) at: u32,
}

#[derive(Debug)]
pub(crate) enum Definition<'t> {
    Operation(Operation<'t>),
    Fragment(Fragment<'t>),
    /// Definition or extension of the type system, which no request may contain. A schema has no
    /// name.
    TypeSystem {
        at: u32,
        name: Option<&'t str>,
    },
}

#[derive(Debug)]
pub(crate) struct Operation<'t> {
    /// Of its description, if it has one.
    pub(crate) at: u32,
    pub(crate) kind: OperationType,
    pub(crate) name: Option<Name<'t>>,
    pub(crate) variables: List<VariableDefinition<'t>>,
    pub(crate) directives: List<Directive<'t>>,
    pub(crate) selections: List<Selection<'t>>,
}

#[derive(Debug)]
pub(crate) struct Fragment<'t> {
    /// Of its description, if it has one.
    pub(crate) at: u32,
    pub(crate) name: Name<'t>,
    /// Type condition.
    pub(crate) on: Name<'t>,
    pub(crate) directives: List<Directive<'t>>,
    pub(crate) selections: List<Selection<'t>>,
}

#[derive(Debug)]
pub(crate) struct VariableDefinition<'t> {
    /// Of its description, if it has one.
    pub(crate) at: u32,
    /// Name after the `$`, with the position of the name.
    pub(crate) name: Name<'t>,
    pub(crate) ty: TypeNode<'t>,
    pub(crate) default: Option<Value<'t>>,
    pub(crate) directives: List<Directive<'t>>,
}

/// Reference to a type, for example `[Int!]!`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TypeNode<'t> {
    pub(crate) at: u32,
    pub(crate) name: Name<'t>,
    pub(crate) wrappers: Wrappers,
}

#[derive(Debug)]
pub(crate) enum Selection<'t> {
    Field(Field<'t>),
    Spread(Spread<'t>),
    Inline(Inline<'t>),
}

#[derive(Debug)]
pub(crate) struct Field<'t> {
    pub(crate) alias: Option<Name<'t>>,
    pub(crate) name: Name<'t>,
    pub(crate) arguments: List<Argument<'t>>,
    pub(crate) directives: List<Directive<'t>>,
    /// Empty without a selection set, because an empty set is not valid syntax.
    pub(crate) selections: List<Selection<'t>>,
    /// Position of the selection set.
    pub(crate) selections_at: u32,
}

impl<'t> Field<'t> {
    /// The response key.
    pub(crate) fn key(&self) -> &'t str {
        self.alias.unwrap_or(self.name).text
    }

    pub(crate) fn at(&self) -> u32 {
        self.alias.unwrap_or(self.name).at
    }
}

#[derive(Debug)]
pub(crate) struct Spread<'t> {
    pub(crate) at: u32,
    pub(crate) name: Name<'t>,
    pub(crate) directives: List<Directive<'t>>,
}

#[derive(Debug)]
pub(crate) struct Inline<'t> {
    pub(crate) at: u32,
    /// Type condition.
    pub(crate) on: Option<Name<'t>>,
    pub(crate) directives: List<Directive<'t>>,
    pub(crate) selections: List<Selection<'t>>,
}

#[derive(Debug)]
pub(crate) struct Directive<'t> {
    pub(crate) at: u32,
    pub(crate) name: Name<'t>,
    pub(crate) arguments: List<Argument<'t>>,
}

#[derive(Debug)]
pub(crate) struct Argument<'t> {
    pub(crate) name: Name<'t>,
    pub(crate) value: Value<'t>,
}

#[derive(Debug)]
pub(crate) struct ObjectField<'t> {
    pub(crate) name: Name<'t>,
    pub(crate) value: Value<'t>,
}

#[derive(Debug)]
pub(crate) struct Value<'t> {
    pub(crate) at: u32,
    pub(crate) kind: ValueKind<'t>,
}

#[derive(Debug)]
pub(crate) enum ValueKind<'t> {
    /// Name after the `$`.
    Variable(&'t str),
    /// Digits, with a sign if negative.
    Int(&'t str),
    Float(&'t str),
    String {
        text: Cow<'t, str>,
        is_block: bool,
    },
    Boolean(bool),
    Null,
    Enum(&'t str),
    List(List<Value<'t>>),
    Object(List<ObjectField<'t>>),
}
