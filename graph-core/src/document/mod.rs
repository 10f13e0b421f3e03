//! Documents as the engine keeps them: parsed, validated, judged and compiled once.
//!
//! - `index` the tables of the schema's types · `collect` which fields an object is asked for · `compile` the plan of them
//! - `policies` what a principal needs for it · `arguments`, `variables` values from outside
//! - `introspection` what is asked of the schema · `view` how much of it is shown to whom · `cache` documents by their text

mod arguments;
mod cache;
mod collect;
mod compile;
mod index;
mod introspection;
mod policies;
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
use self::collect::{Collector, deciding, given, is_true};
pub(crate) use self::compile::Facts;
use self::compile::{FIELDS, compile};
pub(crate) use self::index::Index;
pub(crate) use self::introspection::Introspection;
use self::variables::VariableDefinition;
pub(crate) use self::variables::{Coerced, coerce};
pub(crate) use self::view::View;
use crate::compat::syntax::Syntax;
use crate::compat::{again, read};
use crate::executor::Plan;
use crate::executor::plan::Field;
use crate::guard::demand::Policies;
use crate::limits::{Estimate, Outline, outline};
use crate::response::GraphResponse;

/// How many plans of one document are kept.
const VARIANTS: usize = 8;

/// How many characters of an operation's name are told.
#[cfg(feature = "tracing")]
const NAME: usize = 64;

/// How many bytes a field of a plan takes, with its key, its place and its arguments beside it.
const FIELD: usize = size_of::<Field>() + 96;

/// How many bytes a value takes that stays as it was written.
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

/// A value with its name, and where both stand.
const VALUE: usize = 2 * size_of::<juniper::Spanning<InputValue>>();

/// What holds for every request that asks for a document.
#[derive(Debug, Default)]
pub(crate) struct Judged {
    /// What it asks for, as far as it does not depend on the variables.
    pub(crate) estimate: Estimate,
    /// The first `__schema` or `__type` that it selects.
    pub(crate) introspection: Option<Box<str>>,
}

/// An operation that fits the schema.
#[derive(Debug)]
pub(crate) struct Document {
    pub(crate) kind: OperationType,
    pub(crate) text: Box<str>,
    pub(crate) operation: Option<Box<str>>,
    /// What the operation calls itself, cut where it is long.
    #[cfg(feature = "tracing")]
    pub(crate) name: Option<Box<str>>,
    /// What it is known by in a list of trusted documents: never a word of a client.
    pub(crate) listed_as: Option<Box<str>>,
    /// The deprecated fields and arguments that it names.
    pub(crate) deprecated: Box<[Box<str>]>,
    pub(crate) variables: Box<[VariableDefinition]>,
    pub(crate) judged: Judged,
    /// Its limits, when they depend on the variables.
    pub(crate) outline: Option<Outline>,
    /// The variables that decide what is selected.
    deciding: Box<[Box<str>]>,
    /// What is executed whatever the variables are.
    only: Option<Executable>,
    /// The plans for the values that the deciding variables had last.
    plans: RwLock<VecDeque<Variant>>,
    /// How many bytes it takes, its plans included.
    pub(crate) size: usize,
}

/// A plan for some values of the deciding variables.
#[derive(Debug)]
struct Variant {
    /// The values, a bit for each.
    mask: u64,
    /// The guards that hide something of the schema in it.
    hidden: Box<[bool]>,
    executable: Arc<Executable>,
    /// Asked for since it was looked at for leaving.
    used: AtomicBool,
}

impl Variant {
    fn is(&self, mask: u64, hidden: &[bool]) -> bool {
        self.mask == mask && *self.hidden == *hidden
    }
}

/// How an operation is executed.
#[derive(Debug)]
pub(crate) enum Executable {
    Plan(Plan),
    /// By juniper: it selects a field of a plain type of juniper's.
    Plain(Foreign),
}

/// What is ours of an operation that juniper executes.
#[derive(Debug)]
pub(crate) struct Foreign {
    pub(crate) policies: Policies,
    /// The values of `__schema` and `__type`, by their response keys.
    pub(crate) introspection: Box<[(Box<str>, Vec<u8>)]>,
}

/// What is executed with the variables of one request.
#[derive(Debug)]
pub(crate) enum Chosen<'d> {
    Only(&'d Executable),
    Variant(Arc<Executable>),
}

impl Deref for Chosen<'_> {
    type Target = Executable;

    fn deref(&self) -> &Executable {
        match self {
            Self::Only(only) => only,
            Self::Variant(variant) => variant,
        }
    }
}

impl Document {
    /// Parses, validates, judges and compiles; `variables` are those of the first request.
    pub(crate) fn new(
        facts: &Facts<'_>,
        source: &Source<'_>,
        variables: &Variables,
        judge: impl FnOnce(&Outline) -> Result<Judged, GraphResponse>,
    ) -> Result<Self, GraphResponse> {
        let syntax = read(facts.schema, source.text, source.operation)?;
        let outline = outline(facts.schema, &syntax);
        let judged = judge(&outline)?;
        let mut document = Self {
            kind: syntax.operation.kind,
            text: source.text.into(),
            operation: source.operation.map(Into::into),
            #[cfg(feature = "tracing")]
            name: syntax.operation.name.map(cut),
            listed_as: None,
            deprecated: outline.deprecated.iter().map(|name| (**name).into()).collect(),
            variables: definitions(&syntax),
            judged,
            outline: outline.open.then_some(outline),
            deciding: deciding(&syntax),
            only: None,
            plans: RwLock::default(),
            size: 0,
        };
        let value = |name: &str| given(&syntax, variables, name);
        let mask = document.mask(value);
        let mut most = None;
        match document.compiled(facts, &syntax, &value, false) {
            Ok((executable, size, depends)) => {
                most = document.deciding.is_empty().then_some(size);
                match mask {
                    _ if depends => {}
                    _ if document.deciding.is_empty() && !document.introspects() => {
                        document.only = Some(executable);
                    }
                    Some(mask) => document.keep(mask, facts.view, &Arc::new(executable)),
                    None => {}
                }
            }
            // with other variables it may be fine: what one caller is refused must not be kept for all
            Err(refused) if document.deciding.is_empty() => return Err(refused),
            Err(_) => {}
        }
        // whoever asks first must not say how much room those take who leave out less
        let most = most.unwrap_or_else(|| {
            let whole = document.compiled(facts, &syntax, &value, true);
            whole.map_or(FIELDS * FIELD, |(_, size, _)| size)
        });
        // what is seen of the schema depends on who asks
        let variants = if document.introspects() && !facts.index.guards().is_empty() {
            VARIANTS
        } else {
            VARIANTS.min(1 << document.deciding.len().min(8))
        };
        let defaults = document
            .variables
            .iter()
            .filter_map(|variable| variable.default.as_ref());
        document.size = size_of::<Self>()
            + 4 * source.text.len()
            + document.outline.as_ref().map_or(0, Outline::size)
            + defaults.map(size_of_value).sum::<usize>()
            + variants * most;
        Ok(document)
    }

    /// What to execute with these variables.
    pub(crate) fn executable(
        &self,
        facts: &Facts<'_>,
        variables: &Coerced<'_>,
    ) -> Result<Chosen<'_>, GraphResponse> {
        if let Some(only) = &self.only {
            return Ok(Chosen::Only(only));
        }
        let mask = self.mask(|name| variables.get(name).cloned());
        if let Some(mask) = mask {
            let plans = self.plans.read().unwrap_or_else(PoisonError::into_inner);
            if let Some(known) = plans.iter().find(|known| known.is(mask, self.hidden(facts.view))) {
                known.used.store(true, Ordering::Relaxed);
                return Ok(Chosen::Variant(Arc::clone(&known.executable)));
            }
        }
        let syntax = again(facts.schema, &self.text, self.operation.as_deref())?;
        let value = |name: &str| variables.get(name).cloned();
        let (executable, _, depends) = self.compiled(facts, &syntax, &value, false)?;
        let executable = Arc::new(executable);
        if let (Some(mask), false) = (mask, depends) {
            self.keep(mask, facts.view, &executable);
        }
        Ok(Chosen::Variant(executable))
    }

    fn compiled(
        &self,
        facts: &Facts<'_>,
        syntax: &Syntax<'_>,
        variables: &dyn Fn(&str) -> Option<InputValue>,
        everything: bool,
    ) -> Result<(Executable, usize, bool), GraphResponse> {
        let collector = Collector {
            schema: facts.schema,
            syntax,
            variables,
            everything,
        };
        let compiled = compile(facts, &collector)?;
        let size = compiled.fields * FIELD + compiled.constants;
        Ok((compiled.executable, size, compiled.depends))
    }

    /// The values of the deciding variables; `None` when there are too many of them.
    fn mask(&self, value: impl Fn(&str) -> Option<InputValue>) -> Option<u64> {
        if self.deciding.len() > 64 {
            return None;
        }
        let bits = self.deciding.iter().enumerate();
        Some(bits.fold(0, |mask, (at, name)| {
            mask | u64::from(value(name).as_ref().is_some_and(is_true)) << at
        }))
    }

    /// Whether it selects `__schema` or `__type`.
    pub(crate) fn introspects(&self) -> bool {
        self.judged.introspection.is_some()
    }

    /// What of `view` makes a difference to it.
    fn hidden<'v>(&self, view: &'v View) -> &'v [bool] {
        if self.introspects() { view.denied() } else { &[] }
    }

    fn keep(&self, mask: u64, view: &View, executable: &Arc<Executable>) {
        let hidden = self.hidden(view);
        let mut plans = self.plans.write().unwrap_or_else(PoisonError::into_inner);
        if plans.iter().any(|known| known.is(mask, hidden)) {
            return;
        }
        // each is used at most once more while this goes around
        while plans.len() >= VARIANTS {
            match plans.pop_front() {
                Some(known) if known.used.swap(false, Ordering::Relaxed) => plans.push_back(known),
                _ => {}
            }
        }
        plans.push_back(Variant {
            mask,
            hidden: hidden.into(),
            executable: Arc::clone(executable),
            used: AtomicBool::new(false),
        });
    }
}

/// As much of a name as is told.
#[cfg(feature = "tracing")]
fn cut(name: &str) -> Box<str> {
    let cut: String = name.chars().take(NAME).collect();
    cut.into()
}

fn definitions(syntax: &Syntax<'_>) -> Box<[VariableDefinition]> {
    let declared = syntax
        .operation
        .variables
        .iter()
        .map(|(name, variable)| VariableDefinition {
            name: (*name).into(),
            ty: variable.ty.clone(),
            default: variable.default.clone(),
            location: variable.location,
        });
    declared.collect()
}

#[cfg(test)]
mod tests;
