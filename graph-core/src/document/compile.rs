//! Compiles an operation to a plan.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use juniper::meta::{Field as FieldMeta, MetaType};
use juniper::{DefaultScalarValue, OperationType, SchemaType};

use super::arguments::{self, Prepared};
use super::collect::{Collector, Group};
use super::index::{Entry, Index};
use super::introspection::{Introspection, Reader};
use crate::compat::TypeRef;
use crate::compat::syntax::Selection as Set;
use crate::error::ErrorCode;
use crate::executor::plan::{ArgRef, Field, FieldMeta as Meta, Place, Plan, Selection, SlotPlan};
use crate::executor::write::Key;
use crate::executor::{FieldInfo, Guard};
use crate::response::GraphResponse;

/// How many fields a plan has at most: an interface has a list of them for each of its types.
const FIELDS: usize = 20_000;

/// What a schema is to the compiler.
#[derive(Debug)]
pub(crate) struct Facts<'s> {
    pub(crate) schema: &'s SchemaType<DefaultScalarValue>,
    pub(crate) index: &'s Index,
    pub(crate) introspection: &'s Introspection,
}

/// A compiled operation.
#[derive(Debug)]
pub(super) struct Compiled {
    /// `None`: the operation selects a field that only juniper can execute.
    pub(super) plan: Option<Plan>,
    /// It holds for the variables that it was compiled with only.
    pub(super) depends: bool,
    /// How many fields it has.
    pub(super) fields: usize,
    /// Bytes of constants in it.
    pub(super) constants: usize,
}

/// Why there is no plan.
enum Stop {
    /// A field that only juniper can execute.
    Plain,
    Refused(GraphResponse),
}

/// Compiles the operation of `collector`.
pub(super) fn compile(facts: &Facts<'_>, collector: &Collector<'_>) -> Result<Compiled, GraphResponse> {
    let operation = &collector.syntax.operation;
    let root = match operation.kind {
        OperationType::Query => Some(facts.schema.concrete_query_type()),
        OperationType::Mutation => facts.schema.concrete_mutation_type(),
        OperationType::Subscription => facts.schema.concrete_subscription_type(),
    };
    let Some(name) = root.and_then(MetaType::name) else {
        let message = "the schema has no operations of this kind";
        return Err(GraphResponse::refused(
            ErrorCode::OperationResolutionFailure,
            message,
        ));
    };
    let mut compiler = Compiler {
        facts,
        collector,
        metas: Vec::new(),
        places: Vec::new(),
        known_places: HashMap::new(),
        guards: Vec::new(),
        slots: Vec::new(),
        shared: HashMap::new(),
        abstracts: 0,
        fields: 0,
        constants: 0,
        depends: false,
    };
    let plan = match compiler.object(name, &[&operation.selections], None) {
        Ok((_, fields)) => Some(Plan {
            kind: operation.kind,
            has_async: fields.iter().any(|field| field.has_async),
            fields,
            metas: compiler.metas.into(),
            places: compiler.places.into(),
            guards: compiler.guards.into(),
            slots: compiler.slots.into(),
            size_hint: AtomicUsize::new(0),
        }),
        Err(Stop::Plain) => None,
        Err(Stop::Refused(refused)) => return Err(refused),
    };
    Ok(Compiled {
        plan,
        depends: compiler.depends,
        fields: compiler.fields,
        constants: compiler.constants,
    })
}

struct Compiler<'c, 't> {
    facts: &'c Facts<'c>,
    collector: &'c Collector<'t>,
    metas: Vec<Meta>,
    places: Vec<Place>,
    known_places: HashMap<(Option<u32>, &'t str), u32>,
    guards: Vec<Guard>,
    slots: Vec<SlotPlan>,
    /// What was selected of a place on one object type holds for the next when the same is selected of it.
    shared: HashMap<Below<'t>, (Selection, bool)>,
    /// How many interfaces and unions are around.
    abstracts: usize,
    fields: usize,
    constants: usize,
    depends: bool,
}

/// A field in the table of its type, and in the schema.
struct Found<'f> {
    idx: u16,
    info: &'static FieldInfo,
    meta: &'f FieldMeta<DefaultScalarValue>,
}

/// A place, the type of its value and what is selected of it.
type Below<'t> = (u32, Box<str>, Vec<*const Set<'t>>);

type Sets<'t> = [&'t [Set<'t>]];

impl<'t> Compiler<'_, 't> {
    /// The fields that `sets` select on the object type `name`.
    fn object(
        &mut self,
        name: &str,
        sets: &Sets<'t>,
        parent: Option<u32>,
    ) -> Result<(&'static str, Arc<[Field]>), Stop> {
        let facts = self.facts;
        let entry = facts.index.get(name).ok_or(Stop::Plain)?;
        let meta = facts.schema.concrete_type_by_name(name).ok_or(Stop::Plain)?;
        let groups = self.collector.collect(name, sets);
        let mut fields = Vec::with_capacity(groups.len());
        for group in &groups {
            fields.push(self.field(entry, meta, group, parent)?);
        }
        Ok((entry.info.name, fields.into()))
    }

    fn field(
        &mut self,
        entry: &Entry,
        parent_type: &MetaType<DefaultScalarValue>,
        group: &Group<'t>,
        parent: Option<u32>,
    ) -> Result<Field, Stop> {
        self.fields += 1;
        if self.fields > FIELDS {
            let message = "the operation selects too many fields of interfaces";
            return Err(Stop::Refused(GraphResponse::refused(
                ErrorCode::MaxCostExceeded,
                message,
            )));
        }
        match group.field.name {
            "__typename" => {
                return Ok(self.constant(group.key, format!("\"{}\"", entry.info.name).as_bytes()));
            }
            "__schema" | "__type" if parent.is_none() => {
                let mut reader = Reader {
                    introspection: self.facts.introspection,
                    collector: self.collector,
                    depends: false,
                };
                let value = reader.root(group.field, &group.sets);
                self.depends |= reader.depends;
                return Ok(self.constant(group.key, &value));
            }
            _ => {}
        }
        let idx = *entry.fields.get(group.field.name).ok_or(Stop::Plain)?;
        let info = entry.info.fields.get(usize::from(idx)).ok_or(Stop::Plain)?;
        let meta = parent_type.field_by_name(group.field.name).ok_or(Stop::Plain)?;
        if info.plain {
            return Err(Stop::Plain);
        }
        let found = Found { idx, info, meta };
        self.resolved(&found, group, parent)
    }

    fn constant(&mut self, key: &str, value: &[u8]) -> Field {
        let key = Key::with_value(key, value);
        self.constants += key.heap();
        Field {
            key,
            idx: Field::CONST,
            non_null: true,
            has_async: false,
            sel_async: false,
            checked: false,
            guard: None,
            args: ArgRef::None,
            selection: Selection::Leaf,
            meta: 0,
        }
    }

    /// A field that a resolver stands behind.
    fn resolved(&mut self, found: &Found<'_>, group: &Group<'t>, parent: Option<u32>) -> Result<Field, Stop> {
        let Found { idx, info, meta } = *found;
        let ty = TypeRef::new(&meta.field_type);
        let place = self.place(parent, group.key, ty.lists());
        let number = count(self.metas.len());
        self.metas.push(Meta {
            place,
            location: group.field.location,
        });
        let args = match arguments::prepare(info, meta, group.field) {
            Prepared::None => ArgRef::None,
            Prepared::Const(arguments) => ArgRef::Const(arguments),
            Prepared::Refused(why) => ArgRef::Refused(why.into()),
            Prepared::Slot(slot) => {
                let at = count(self.slots.len());
                self.slots.push(slot);
                ArgRef::Slot(at)
            }
        };
        let guard = info.guard.map(|guard| self.guard(guard));
        let (selection, sel_async) = self.below(meta.field_type.innermost_name(), &group.sets, place)?;
        Ok(Field {
            key: Key::new(group.key),
            idx,
            non_null: matches!(ty, TypeRef::NonNull(_)),
            has_async: info.is_async || sel_async,
            sel_async,
            checked: guard.is_some() || matches!(args, ArgRef::Slot(_) | ArgRef::Refused(_)),
            guard,
            args,
            selection,
            meta: number,
        })
    }

    fn place(&mut self, parent: Option<u32>, key: &'t str, lists: u32) -> u32 {
        let next = count(self.places.len());
        let known = *self.known_places.entry((parent, key)).or_insert(next);
        if known == next {
            let key = key.into();
            self.places.push(Place { parent, key, lists });
        }
        known
    }

    fn guard(&mut self, guard: Guard) -> u16 {
        let known = self.guards.iter().position(|known| *known == guard);
        let at = known.unwrap_or_else(|| {
            self.guards.push(guard);
            self.guards.len() - 1
        });
        u16::try_from(at).unwrap_or(u16::MAX)
    }

    /// What is selected of a value of the type `name`, and whether something of it is asynchronous.
    fn below(&mut self, name: &str, sets: &Sets<'t>, place: u32) -> Result<(Selection, bool), Stop> {
        let Some(meta) = self
            .facts
            .schema
            .concrete_type_by_name(name)
            .filter(|meta| meta.is_composite())
        else {
            return Ok((Selection::Leaf, false));
        };
        if self.abstracts == 0 {
            return self.composite(name, meta, sets, place);
        }
        // implementers of an interface may narrow the type of a field, each in its own way
        let key = (place, name.into(), sets.iter().map(|set| set.as_ptr()).collect());
        if let Some(shared) = self.shared.get(&key) {
            return Ok(shared.clone());
        }
        let below = self.composite(name, meta, sets, place)?;
        self.shared.insert(key, below.clone());
        Ok(below)
    }

    fn composite(
        &mut self,
        name: &str,
        meta: &MetaType<DefaultScalarValue>,
        sets: &Sets<'t>,
        place: u32,
    ) -> Result<(Selection, bool), Stop> {
        let is_async = |fields: &[Field]| fields.iter().any(|field| field.has_async);
        if !meta.is_abstract() {
            let (_, fields) = self.object(name, sets, Some(place))?;
            let sel_async = is_async(&fields);
            return Ok((Selection::Object(fields), sel_async));
        }
        self.abstracts += 1;
        let mut types = Vec::new();
        for object in self.facts.schema.possible_types(meta) {
            let name = object.name().map_or("", |name| name.as_str());
            types.push(self.object(name, sets, Some(place))?);
        }
        self.abstracts -= 1;
        let sel_async = types.iter().any(|(_, fields)| is_async(fields));
        Ok((Selection::Abstract(types.into()), sel_async))
    }
}

fn count(items: usize) -> u32 {
    u32::try_from(items).unwrap_or(u32::MAX)
}
