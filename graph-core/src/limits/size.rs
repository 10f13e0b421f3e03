//! Sizes that arguments ask for: the value of a number, the length of a list.

use juniper::{DefaultScalarValue, InputValue, Variables};

use crate::document::operation::OperationTree;
use crate::document::parse::{Value, ValueKind};

/// Size in an argument of a field.
#[derive(Clone, Debug)]
pub(crate) enum Size {
    Known(u64),
    /// Depends on a variable.
    Variable {
        name: Box<str>,
        /// Fields of input objects on the way from the variable to the size.
        path: Box<[Box<str>]>,
        /// Size without a value of the variable.
        default: Option<u64>,
    },
}

impl Size {
    pub(crate) fn measured(&self, variables: &Variables) -> Option<u64> {
        match self {
            Self::Known(size) => Some(*size),
            Self::Variable { name, path, default } => match variables.get(&**name) {
                Some(given) => inside(given, path).and_then(measure),
                None => *default,
            },
        }
    }

    /// Size at `path` inside a written argument. `default` is that of the schema.
    pub(super) fn written(
        tree: &OperationTree<'_, '_>,
        value: &Value<'_>,
        path: &[&str],
        default: Option<u64>,
    ) -> Option<Self> {
        match (&value.kind, path) {
            (ValueKind::Variable(name), _) => {
                let (ast, operation) = (tree.ast, tree.operation);
                let mut variables = ast.variables(operation.variables).iter();
                let declared = variables.find(|declared| declared.name.text == *name);
                let of_operation = declared.and_then(|declared| declared.default.as_ref());
                let default = match of_operation {
                    Some(value) => known(tree, value, path),
                    None => default,
                };
                Some(Self::Variable {
                    name: (*name).into(),
                    path: path.iter().map(|step| (*step).into()).collect(),
                    default,
                })
            }
            (ValueKind::Object(fields), [step, rest @ ..]) => {
                let mut fields = tree.ast.fields(*fields).iter();
                let field = fields.find(|field| field.name.text == *step)?;
                Self::written(tree, &field.value, rest, None)
            }
            _ => known(tree, value, path).map(Self::Known),
        }
    }
}

/// Size at `path` inside a literal without variables.
fn known(tree: &OperationTree<'_, '_>, value: &Value<'_>, path: &[&str]) -> Option<u64> {
    match (&value.kind, path) {
        (ValueKind::Object(fields), [step, rest @ ..]) => {
            let mut fields = tree.ast.fields(*fields).iter();
            known(tree, &fields.find(|field| field.name.text == *step)?.value, rest)
        }
        (ValueKind::Int(digits), []) => digits.parse().ok(),
        (ValueKind::List(values), []) => Some(length(values.len())),
        _ => None,
    }
}

/// Value at `path` inside `value`.
pub(super) fn inside<'v>(value: &'v InputValue, path: &[impl AsRef<str>]) -> Option<&'v InputValue> {
    let mut value = value;
    for step in path {
        let InputValue::Object(fields) = value else {
            return None;
        };
        let mut fields = fields.iter();
        value = fields.find_map(|(name, value)| (name.item == step.as_ref()).then_some(&value.item))?;
    }
    Some(value)
}

/// A number that is not negative, or the length of a list.
pub(super) fn measure(value: &InputValue) -> Option<u64> {
    match value {
        InputValue::Scalar(DefaultScalarValue::Int(number)) => u64::try_from(*number).ok(),
        // JSON may write an integer as a float
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a larger size costs the maximum"
        )]
        InputValue::Scalar(DefaultScalarValue::Float(number)) if *number >= 0.0 => Some(*number as u64),
        InputValue::List(values) => Some(length(values.len())),
        _ => None,
    }
}

fn length(items: usize) -> u64 {
    u64::try_from(items).unwrap_or(u64::MAX)
}
