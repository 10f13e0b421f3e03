//! Sizes that arguments ask for: the value of a number, the length of a list.

use std::sync::Arc;

use juniper::{DefaultScalarValue, InputValue, Variables};

use crate::document::operation::OperationTree;
use crate::document::parse::{Value, ValueKind};

/// Size in an argument of a field.
#[derive(Clone, Debug)]
pub(crate) enum Size {
    Known(u64),
    /// Depends on a variable.
    Variable {
        name: Arc<str>,
        /// Fields of input objects on the way from the variable to the size.
        path: Arc<Path>,
        /// Number of steps of `path` that are before the variable.
        before: usize,
        /// Size without a value of the variable.
        default: Option<u64>,
    },
}

/// Way from an argument to a size inside its value.
#[derive(Debug, Default)]
pub(crate) struct Path {
    pub(super) steps: Vec<Step>,
    /// The size is that of a list, so a single value counts as one.
    pub(super) is_list: bool,
}

/// Field of an input object.
#[derive(Debug)]
pub(super) struct Step {
    pub(super) name: Box<str>,
    /// Size if the field is absent.
    pub(super) default: Option<u64>,
}

impl Size {
    pub(crate) fn measured(&self, variables: &Variables) -> Option<u64> {
        match self {
            Self::Known(size) => Some(*size),
            Self::Variable {
                name,
                path,
                before,
                default,
            } => match variables.get(&**name) {
                Some(given) => path.measure(*before, given),
                None => *default,
            },
        }
    }

    /// Size at `path` inside a written argument. `default` is that of the schema, and `name` shares
    /// the names of variables.
    pub(super) fn written(
        tree: &OperationTree<'_, '_>,
        value: &Value<'_>,
        (path, from): (&Arc<Path>, usize),
        default: Option<u64>,
        name: &mut dyn FnMut(&str) -> Arc<str>,
    ) -> Option<Self> {
        match (&value.kind, path.steps.get(from)) {
            (ValueKind::Variable(variable), _) => {
                let (ast, operation) = (tree.ast, tree.operation);
                let mut variables = ast.variables(operation.variables).iter();
                let declared = variables.find(|declared| declared.name.text == *variable);
                let of_operation = declared.and_then(|declared| declared.default.as_ref());
                Some(Self::Variable {
                    name: name(variable),
                    path: Arc::clone(path),
                    before: from,
                    default: of_operation.map_or(default, |value| path.known(from, tree, value)),
                })
            }
            (ValueKind::Object(fields), Some(step)) => {
                let mut fields = tree.ast.fields(*fields).iter();
                match fields.find(|field| *field.name.text == *step.name) {
                    Some(field) => Self::written(tree, &field.value, (path, from + 1), step.default, name),
                    None => step.default.map(Self::Known),
                }
            }
            _ => path.known(from, tree, value).map(Self::Known),
        }
    }
}

impl Path {
    /// Size in a literal without variables, after the first `from` steps.
    fn known(&self, from: usize, tree: &OperationTree<'_, '_>, value: &Value<'_>) -> Option<u64> {
        match (&value.kind, self.steps.get(from)) {
            (ValueKind::Null, _) => None,
            (ValueKind::Object(fields), Some(step)) => {
                let mut fields = tree.ast.fields(*fields).iter();
                match fields.find(|field| *field.name.text == *step.name) {
                    Some(field) => self.known(from + 1, tree, &field.value),
                    None => step.default,
                }
            }
            (ValueKind::List(values), None) => Some(length(values.len())),
            (_, None) if self.is_list => Some(1),
            (ValueKind::Int(digits), None) => digits.parse().ok(),
            _ => None,
        }
    }

    /// Size in a value, after the first `from` steps.
    pub(super) fn measure(&self, from: usize, value: &InputValue) -> Option<u64> {
        match (value, self.steps.get(from)) {
            (InputValue::Null, _) => None,
            (InputValue::Object(fields), Some(step)) => {
                // the last of each name, as in coercion
                let mut fields = fields.iter().rev();
                match fields.find(|(name, _)| *name.item == *step.name) {
                    Some((_, value)) => self.measure(from + 1, &value.item),
                    None => step.default,
                }
            }
            (InputValue::List(values), None) => Some(length(values.len())),
            (_, None) if self.is_list => Some(1),
            (InputValue::Scalar(DefaultScalarValue::Int(number)), None) => u64::try_from(*number).ok(),
            // JSON may write an integer as a float
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "a larger size costs the maximum"
            )]
            (InputValue::Scalar(DefaultScalarValue::Float(number)), None) if *number >= 0.0 => {
                Some(*number as u64)
            }
            _ => None,
        }
    }
}

/// A number of items as a size.
pub(super) fn length(items: usize) -> u64 {
    u64::try_from(items).unwrap_or(u64::MAX)
}
