//! Cached documents: parsed, validated, checked against the limits, and compiled.
//!
//! - `index`: tables of the schema's types · `collect`: field collection · `compile`: plans
//! - `policies`: guards · `arguments`, `variables`: coercion
//! - `introspection`: schema queries · `view`: visible part of the schema · `cache`: documents by
//!   key

mod arguments;
mod cache;
mod collect;
mod compile;
mod index;
mod inspect;
mod introspection;
#[cfg(test)]
mod judged;
mod literal;
pub(crate) mod operation;
pub(crate) mod parse;
mod policies;
pub(crate) mod validate;
mod variables;
mod view;

use std::collections::VecDeque;
use std::mem::size_of;
use std::ops::Deref;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use juniper::{DefaultScalarValue, InputValue, OperationType, Variables};

pub(crate) use self::arguments::coerced as coerced_arguments;
pub(crate) use self::cache::{Cache, Read, Source};
use self::collect::{Collector, is_true};
pub(crate) use self::compile::Facts;
use self::compile::{FIELDS, compile};
pub(crate) use self::index::Index;
pub(crate) use self::introspection::Introspection;
use self::operation::{OperationTree, parsed, validated};
use self::parse::ValueKind;
pub(crate) use self::variables::{Coerced, coerce};
use self::variables::{VariableDefinition, definitions};
pub(crate) use self::view::View;
use crate::error::ErrorCode;
use crate::executor::Plan;
use crate::executor::plan::Field;
use crate::limits::{Estimate, Outline, outline};
use crate::response::GraphResponse;
use crate::validate::Fault;

/// Maximum number of cached plans per document.
const VARIANTS: usize = 8;

/// Maximum length of an operation name in a span, in characters.
#[cfg(feature = "tracing")]
const NAME: usize = 64;

/// Approximate bytes of a field in a plan, with its key, position and arguments.
const FIELD: usize = size_of::<Field>() + 96;

/// Approximate bytes of an input value.
fn size_of_value(value: &InputValue) -> usize {
    let below: usize = match value {
        InputValue::List(values) => values.iter().map(|value| size_of_value(&value.item)).sum(),
        InputValue::Object(fields) => {
            let sizes = fields
                .iter()
                .map(|(name, value)| name.item.len() + size_of_value(&value.item));
            sizes.sum()
        }
        InputValue::Scalar(DefaultScalarValue::String(text))
        | InputValue::Enum(text)
        | InputValue::Variable(text) => text.len(),
        InputValue::Null | InputValue::Scalar(_) => 0,
    };
    below + VALUE
}

/// Approximate bytes of a value with its name and source positions.
const VALUE: usize = 2 * size_of::<juniper::Spanning<InputValue>>();

/// Results that hold for every request of a document.
#[derive(Debug, Default)]
pub(crate) struct Judged {
    /// Estimate without variables. Used if the limits do not depend on the variables.
    pub(crate) estimate: Estimate,
    /// First `__schema` or `__type` field of the operation.
    pub(crate) introspection: Option<Box<str>>,
}

/// Valid operation.
#[derive(Debug)]
pub(crate) struct Document {
    pub(crate) kind: OperationType,
    pub(crate) text: Box<str>,
    pub(crate) operation: Option<Box<str>>,
    /// Operation name, truncated.
    #[cfg(feature = "tracing")]
    pub(crate) name: Option<Box<str>>,
    /// Label in the list of trusted documents; never chosen by a client.
    pub(crate) listed_as: Option<Box<str>>,
    /// Coordinates of the deprecated fields and arguments.
    pub(crate) deprecated: Box<[Box<str>]>,
    pub(crate) variables: Box<[VariableDefinition]>,
    /// Invalid arguments without variables, also in what `@skip` and `@include` exclude.
    pub(crate) invalid: Box<[String]>,
    pub(crate) judged: Judged,
    /// Outline, kept only if the estimate depends on the variables.
    pub(crate) outline: Option<Outline>,
    /// Deciding variables: those used in `@skip` and `@include`.
    deciding: Box<[Box<str>]>,
    /// Conditions of `@defer`, unless no fragment can be deferred.
    deferring: Option<Deferring>,
    /// Plan that is valid for all variables.
    only: Option<Plan>,
    /// Cached plans by the values of the deciding variables.
    plans: RwLock<VecDeque<Variant>>,
    /// Approximate size in bytes, including all plans.
    pub(crate) size: usize,
}

/// Conditions of `@defer` in a query or a mutation.
#[derive(Debug)]
struct Deferring {
    /// A fragment is deferred for all variables.
    always: bool,
    /// Variables that decide.
    variables: Box<[Box<str>]>,
}

/// Plan for given values of the deciding variables.
#[derive(Debug)]
struct Variant {
    /// `true` if the plan defers fragments.
    defers: bool,
    /// Values of the deciding variables, one bit each.
    mask: u64,
    /// Refusing guards of the view that the plan was compiled for.
    hidden: Box<[bool]>,
    plan: Arc<Plan>,
    /// Requested since the last pass of the eviction.
    used: AtomicBool,
}

impl Variant {
    fn is(&self, (mask, defers): (u64, bool), hidden: &[bool]) -> bool {
        self.mask == mask && self.defers == defers && *self.hidden == *hidden
    }
}

/// Plan for the variables of one request.
#[derive(Debug)]
pub(crate) enum Chosen<'d> {
    Only(&'d Plan),
    Variant(Arc<Plan>),
}

impl Deref for Chosen<'_> {
    type Target = Plan;

    fn deref(&self) -> &Plan {
        match self {
            Self::Only(only) => only,
            Self::Variant(variant) => variant,
        }
    }
}

impl Document {
    /// Parses, validates, checks and compiles the document; `variables` are those of the first
    /// request.
    pub(crate) fn new(
        facts: &Facts<'_>,
        source: &Source<'_>,
        variables: &Variables,
        judge: impl FnOnce(&Outline) -> Result<Judged, GraphResponse>,
    ) -> Result<Self, GraphResponse> {
        let ast = parsed(source.text, facts.limits)?;
        validated(facts.schema, &ast)?;
        let tree = OperationTree::new(&ast, source.operation)?;
        let outline = outline(facts.schema, facts.costs, &tree);
        let judged = judge(&outline)?;
        let mut document = Self {
            kind: tree.operation.kind,
            text: source.text.into(),
            operation: source.operation.map(Into::into),
            #[cfg(feature = "tracing")]
            name: tree.operation.name.map(|name| cut(name.text)),
            listed_as: None,
            deprecated: outline.deprecated.iter().map(|name| (**name).into()).collect(),
            variables: Box::default(),
            invalid: Box::default(),
            judged,
            outline: outline.open.then_some(outline),
            deciding: tree.deciding(),
            deferring: Deferring::new(&tree),
            only: None,
            plans: RwLock::default(),
            size: 0,
        };
        let declared = definitions(facts.schema, &tree);
        let value = |name: &str| given(&declared, variables, name);
        let mask = document.mask(value);
        let mut most = None;
        match document.compiled(facts, &tree, &value, Keep::Selected) {
            Ok((plan, size, depends)) => {
                if document.deciding.is_empty() {
                    most = Some(size);
                    document.invalid = invalid(&plan);
                }
                match mask {
                    _ if depends => {}
                    _ if document.deciding.is_empty() && !document.introspects() => {
                        document.only = Some(plan);
                    }
                    Some(mask) => document.keep((mask, false), facts.view, &Arc::new(plan)),
                    None => {}
                }
            }
            // not cached: the error may not occur with other variables
            Err(refused) if document.deciding.is_empty() => return Err(refused),
            Err(_) => {}
        }
        // accounts for the largest variant, so that the first request cannot understate the size
        let most = most.unwrap_or_else(|| {
            let whole = document.compiled(facts, &tree, &value, Keep::Everything);
            whole.map_or(FIELDS * FIELD, |(plan, size, _)| {
                document.invalid = invalid(&plan);
                size
            })
        });
        document.variables = declared;
        document.size = document.size_with(most, facts.index);
        Ok(document)
    }

    /// Approximate size in bytes; `most` is the size of the largest plan.
    fn size_with(&self, most: usize, index: &Index) -> usize {
        // the visible schema depends on the principal
        let is_guarded = self.introspects() && !index.guards().is_empty();
        let variants = if is_guarded || self.deferring.is_some() {
            VARIANTS
        } else {
            VARIANTS.min(1 << self.deciding.len().min(8))
        };
        // each field may be in a group of its own, and each fragment counts like a field
        let most = if self.deferring.is_some() { 3 * most } else { most };
        let defaults = self.variables.iter();
        let defaults = defaults.filter_map(|variable| variable.default.as_ref());
        size_of::<Self>()
            + 4 * self.text.len()
            + self.outline.as_ref().map_or(0, Outline::size)
            + defaults.map(size_of_value).sum::<usize>()
            + self.invalid.iter().map(String::len).sum::<usize>()
            + variants * most
    }

    /// Selects or compiles the plan for these variables.
    pub(crate) fn plan(
        &self,
        facts: &Facts<'_>,
        variables: &Coerced<'_>,
        defers: bool,
    ) -> Result<Chosen<'_>, GraphResponse> {
        let deferring = self.deferring.as_ref();
        let of_defer = deferring.map_or(&[][..], |deferring| &deferring.variables);
        // a nullable variable with a default is allowed in a condition, but its null is not
        if let Some(name) = self
            .deciding
            .iter()
            .chain(of_defer)
            .find(|name| variables.get(name).is_some_and(InputValue::is_null))
        {
            return Err(no_condition(name));
        }
        let value = |name: &str| variables.get(name).cloned();
        let defers = defers && deferring.is_some_and(|deferring| deferring.is_active(value));
        if let (false, Some(only)) = (defers, &self.only) {
            return Ok(Chosen::Only(only));
        }
        let mask = if defers {
            let of_defer = of_defer.iter().map(|name| (name, true));
            mask(
                self.deciding.iter().map(|name| (name, false)).chain(of_defer),
                value,
            )
        } else {
            self.mask(value)
        };
        let mask = mask.map(|mask| (mask, defers));
        if let Some(mask) = mask {
            let plans = self.plans.read().unwrap_or_else(PoisonError::into_inner);
            if let Some(known) = plans.iter().find(|known| known.is(mask, self.hidden(facts.view))) {
                known.used.store(true, Ordering::Relaxed);
                return Ok(Chosen::Variant(Arc::clone(&known.plan)));
            }
        }
        // the text was accepted before
        let ast = parsed(&self.text, facts.limits)?;
        let tree = OperationTree::new(&ast, self.operation.as_deref())?;
        let keep = if defers { Keep::Deferred } else { Keep::Selected };
        let (plan, _, depends) = self.compiled(facts, &tree, &value, keep)?;
        let plan = Arc::new(plan);
        if let (Some(mask), false) = (mask, depends) {
            self.keep(mask, facts.view, &plan);
        }
        Ok(Chosen::Variant(plan))
    }

    fn compiled(
        &self,
        facts: &Facts<'_>,
        tree: &OperationTree<'_, '_>,
        variables: &dyn Fn(&str) -> Option<InputValue>,
        keep: Keep,
    ) -> Result<(Plan, usize, bool), GraphResponse> {
        let collector = Collector {
            schema: facts.schema,
            tree,
            variables,
            everything: keep == Keep::Everything,
            defers: keep == Keep::Deferred,
        };
        let compiled = compile(facts, &collector)?;
        let size = compiled.fields * FIELD + compiled.constants;
        Ok((compiled.plan, size, compiled.depends))
    }

    /// Bit mask of the deciding variables; `None` if there are more than 64.
    fn mask(&self, value: impl Fn(&str) -> Option<InputValue>) -> Option<u64> {
        mask(self.deciding.iter().map(|name| (name, false)), value)
    }

    /// Returns `true` if a fragment of the operation can be deferred.
    pub(crate) fn has_deferred_fragments(&self) -> bool {
        self.deferring.is_some()
    }

    /// Returns `true` if the operation selects `__schema` or `__type`.
    pub(crate) fn introspects(&self) -> bool {
        self.judged.introspection.is_some()
    }

    /// Part of `view` that affects this document.
    fn hidden<'v>(&self, view: &'v View) -> &'v [bool] {
        if self.introspects() { view.denied() } else { &[] }
    }

    fn keep(&self, (mask, defers): (u64, bool), view: &View, plan: &Arc<Plan>) {
        let hidden = self.hidden(view);
        let mut plans = self.plans.write().unwrap_or_else(PoisonError::into_inner);
        if plans.iter().any(|known| known.is((mask, defers), hidden)) {
            return;
        }
        // terminates: each variant is kept at most once per pass
        while plans.len() >= VARIANTS {
            match plans.pop_front() {
                Some(known) if known.used.swap(false, Ordering::Relaxed) => plans.push_back(known),
                _ => {}
            }
        }
        plans.push_back(Variant {
            defers,
            mask,
            hidden: hidden.into(),
            plan: Arc::clone(plan),
            used: AtomicBool::new(false),
        });
    }
}

/// Part of the operation that a plan keeps.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Keep {
    Selected,
    /// Like `Selected`, and defers fragments.
    Deferred,
    /// Also what variables can skip, to compute the maximum size.
    Everything,
}

impl Deferring {
    fn new(tree: &OperationTree<'_, '_>) -> Option<Self> {
        if tree.operation.kind == OperationType::Subscription {
            return None;
        }
        let conditions = tree.deferring();
        let is_always =
            |condition: &Option<&ValueKind<'_>>| matches!(condition, None | Some(ValueKind::Boolean(true)));
        let mut variables: Vec<Box<str>> = Vec::new();
        for condition in &conditions {
            if let Some(ValueKind::Variable(name)) = condition
                && !variables.iter().any(|known| **known == **name)
            {
                variables.push((*name).into());
            }
        }
        let always = conditions.iter().any(is_always);
        (always || !variables.is_empty()).then(|| Self {
            always,
            variables: variables.into(),
        })
    }

    /// Returns `true` if the variables defer a fragment. A variable without a value defers.
    fn is_active(&self, value: impl Fn(&str) -> Option<InputValue>) -> bool {
        let active = |name: &str| value(name).as_ref().is_none_or(is_true);
        self.always || self.variables.iter().any(|name| active(name))
    }
}

/// Bit mask of variables, each with its value if it is absent; `None` if there are more than 64.
fn mask<'n>(
    names: impl Iterator<Item = (&'n Box<str>, bool)>,
    value: impl Fn(&str) -> Option<InputValue>,
) -> Option<u64> {
    let mut mask = 0;
    for (at, (name, absent)) in names.enumerate() {
        let bit = 1_u64.checked_shl(u32::try_from(at).ok()?)?;
        if value(name).as_ref().map_or(absent, is_true) {
            mask |= bit;
        }
    }
    Some(mask)
}

/// Truncates an operation name for a span.
#[cfg(feature = "tracing")]
fn cut(name: &str) -> Box<str> {
    let cut: String = name.chars().take(NAME).collect();
    cut.into()
}

/// Messages for the invalid arguments of `plan`.
fn invalid(plan: &Plan) -> Box<[String]> {
    let faults = plan.faults.iter().flat_map(|field| &field.faults);
    faults.map(Fault::message).collect()
}

fn no_condition(variable: &str) -> GraphResponse {
    let message =
        format!("Argument \"if\" of non-null type \"Boolean!\" must not be null: `${variable}` is null.");
    GraphResponse::request_error(ErrorCode::BadUserInput, message)
}

/// Value of a variable before coercion, which is enough for `@skip` and `@include`.
fn given(declared: &[VariableDefinition], variables: &Variables, name: &str) -> Option<InputValue> {
    let given = variables.get(name).cloned();
    given.or_else(|| {
        let mut declared = declared.iter();
        declared.find(|variable| *variable.name == *name)?.default.clone()
    })
}

#[cfg(test)]
mod tests;
