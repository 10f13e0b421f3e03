//! Compiles an operation to a plan.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use super::arguments::{self, Prepared, Target};
use super::collect::{Collector, Group};
use super::index::{Entry, Index};
use super::introspection::{Introspection, Reader};
use super::parse::{List, ParseLimits, Selection as Set};
use super::policies::PolicyList;
use super::size_of_value;
use super::view::View;
use crate::error::ErrorCode;
use crate::executor::FieldInfo;
use crate::executor::plan::{
    ArgRef, Field, FieldFaults, FieldIndex, FieldMeta as Meta, Place, Plan, Selection, SlotPlan,
};
use crate::executor::write::Key;
use crate::limits::CostModel;
use crate::response::{GraphResponse, Location, MISTAKES};
use crate::schema::{Field as FieldDefinition, Schema, TypeId};
use crate::validate::Fault;

/// Maximum number of fields of a plan. A field of an interface counts once per object type.
pub(super) const FIELDS: usize = 20_000;

/// Maximum bytes of introspection results in a plan. Nested aliases can repeat the same data.
const CONSTANTS: usize = 16 << 20;

/// Initial buffer capacity of the first execution.
const FIRST: usize = 64;

/// Schema data for the compiler.
#[derive(Debug)]
pub(crate) struct Facts<'s> {
    pub(crate) schema: &'s Schema,
    pub(crate) limits: ParseLimits,
    pub(crate) costs: &'s CostModel,
    pub(crate) index: &'s Index,
    pub(crate) introspection: &'s Introspection,
    /// Visible part of the schema.
    pub(crate) view: &'s View,
}

/// Compiled operation.
#[derive(Debug)]
pub(super) struct Compiled {
    pub(super) plan: Plan,
    /// Valid only for the variables that it was compiled with.
    pub(super) depends: bool,
    /// Number of fields.
    pub(super) fields: usize,
    /// Bytes of constants.
    pub(super) constants: usize,
}

/// Compiles the operation of `collector`.
pub(super) fn compile(facts: &Facts<'_>, collector: &Collector<'_, '_>) -> Result<Compiled, GraphResponse> {
    let operation = collector.tree.operation;
    let Some(root) = facts.schema.root(operation.kind) else {
        let message = "the schema has no operations of this kind";
        return Err(GraphResponse::request_error(
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
        policies: PolicyList::default(),
        slots: Vec::new(),
        faults: Vec::new(),
        reported: 0,
        shared: HashMap::new(),
        abstracts: 0,
        fields: 0,
        constants: 0,
        depends: false,
    };
    let (_, fields) = compiler.object(root, &[operation.selections], None, None)?;
    let plan = Plan {
        kind: operation.kind,
        has_async: fields.iter().any(|field| field.has_async),
        fields,
        metas: compiler.metas.into(),
        places: compiler.places.into(),
        policies: compiler.policies.into(),
        slots: compiler.slots.into(),
        faults: compiler.faults.into(),
        size_hint: AtomicUsize::new(FIRST),
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
    collector: &'c Collector<'c, 't>,
    metas: Vec<Meta>,
    places: Vec<Place>,
    known_places: HashMap<(Option<u32>, &'t str), u32>,
    policies: PolicyList,
    slots: Vec<SlotPlan>,
    faults: Vec<FieldFaults>,
    /// Number of faults.
    reported: usize,
    /// Compiled selections of one position, reused for object types with the same selection.
    shared: HashMap<Below, (Selection, bool)>,
    /// Nesting of interfaces and unions.
    abstracts: usize,
    fields: usize,
    constants: usize,
    depends: bool,
}

/// Field in the schema and in the table of its type.
struct Found<'f> {
    definition: &'f FieldDefinition,
    entry: &'f Entry,
    idx: u16,
    info: &'static FieldInfo,
}

/// Position, type and selection of a value.
type Below = (u32, TypeId, Vec<u32>);

type Sets<'t> = [List<Set<'t>>];

impl<'c, 't> Compiler<'c, 't> {
    /// Compiles the fields of `sets` on an object type, after the optional guard entry.
    fn object(
        &mut self,
        object: TypeId,
        sets: &Sets<'t>,
        parent: Option<u32>,
        entrance: Option<Field>,
    ) -> Result<(&'static str, Arc<[Field]>), GraphResponse> {
        let facts = self.facts;
        // every object that a resolver can return has a table
        let known = facts.index.get(&facts.schema.type_at(object).name);
        let groups = self.collector.collect(object, sets);
        let mut fields = Vec::with_capacity(groups.len() + 1);
        fields.extend(entrance);
        if let Some(entry) = known {
            for group in &groups {
                fields.push(self.field(entry, object, group, parent)?);
            }
        }
        Ok((known.map_or("", |entry| entry.info.name), fields.into()))
    }

    fn field(
        &mut self,
        entry: &Entry,
        object: TypeId,
        group: &Group<'c, 't>,
        parent: Option<u32>,
    ) -> Result<Field, GraphResponse> {
        self.fields += 1;
        if self.fields > FIELDS {
            let message = "the operation selects too many fields, counted per type of each interface";
            return Err(GraphResponse::request_error(ErrorCode::MaxCostExceeded, message));
        }
        match group.field.name.text {
            "__typename" => {
                return Ok(self.constant(group.key, format!("\"{}\"", entry.info.name).as_bytes()));
            }
            "__schema" | "__type" if parent.is_none() => {
                let mut reader = Reader {
                    introspection: self.facts.introspection,
                    view: self.facts.view,
                    collector: self.collector,
                    depends: false,
                    room: CONSTANTS.saturating_sub(self.constants),
                };
                let value = reader.root(group.field, &group.sets);
                self.depends |= reader.depends;
                if value.len() > CONSTANTS.saturating_sub(self.constants) {
                    let message = "the result of introspection is too large";
                    return Err(GraphResponse::request_error(ErrorCode::MaxCostExceeded, message));
                }
                return Ok(self.constant(group.key, &value));
            }
            _ => {}
        }
        let name = group.field.name.text;
        let definition = self.facts.schema.type_at(object).field(name);
        let Some((definition, (idx, info))) = definition.zip(entry.field(name)) else {
            // `build` refuses a schema with such a field
            return Ok(self.constant(group.key, b"null"));
        };
        let found = Found {
            definition,
            entry,
            idx,
            info,
        };
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
            policy: None,
            args: ArgRef::None,
            selection: Selection::Leaf,
            meta: 0,
        }
    }

    /// Compiles a field with a resolver.
    fn resolved(
        &mut self,
        found: &Found<'_>,
        group: &Group<'c, 't>,
        parent: Option<u32>,
    ) -> Result<Field, GraphResponse> {
        let ty = found.definition.ty;
        let place = self.place(parent, group.key, ty.wrappers.lists());
        let number = count(self.metas.len());
        let location = self.collector.tree.lines.location(group.field.at());
        self.metas.push(Meta { place, location });
        let policy = self.policy(found, location, parent);
        let meta = number;
        let args = self.arguments(found, group, FieldIndex { meta, policy });
        let (selection, sel_async) = self.below(ty.named, &group.sets, place)?;
        Ok(Field {
            key: Key::new(group.key),
            idx: found.idx,
            non_null: ty.is_non_null(),
            has_async: found.info.is_async || sel_async,
            sel_async,
            checked: policy.is_some() || matches!(args, ArgRef::Slot(_) | ArgRef::Refused(_)),
            policy,
            args,
            selection,
            meta: number,
        })
    }

    fn arguments(&mut self, found: &Found<'_>, group: &Group<'c, 't>, at: FieldIndex) -> ArgRef {
        let (schema, tree) = (self.facts.schema, self.collector.tree);
        let target = Target {
            at,
            info: found.info,
            definition: found.definition,
        };
        match arguments::prepare(schema, tree, &target, group.field) {
            Prepared::None => ArgRef::None,
            Prepared::Const(arguments, faults) => {
                if !faults.is_empty() {
                    self.faulty(at, faults);
                }
                ArgRef::Const(arguments)
            }
            Prepared::Refused(why) => ArgRef::Refused(why.into()),
            Prepared::Slot(slot) => {
                let at = count(self.slots.len());
                let written = slot.values.iter().filter_map(|value| value.written.as_ref());
                self.constants += written.map(size_of_value).sum::<usize>();
                self.slots.push(slot);
                ArgRef::Slot(at)
            }
        }
    }

    /// Keeps the faults of a field. All fields keep at least one, because a guard decides later
    /// whether the field counts.
    fn faulty(&mut self, at: FieldIndex, mut faults: Vec<Fault>) {
        faults.truncate(MISTAKES.saturating_sub(self.reported).max(1));
        self.reported += faults.len();
        self.constants += faults.iter().map(Fault::size).sum::<usize>();
        self.faults.push(FieldFaults { at, faults });
    }

    /// Guards of a field: its own, those of its return type, and at the root those of the root
    /// type.
    fn policy(&mut self, found: &Found<'_>, location: Location, parent: Option<u32>) -> Option<u16> {
        let returned = &self.facts.schema.type_at(found.definition.ty.named).name;
        let returned = self.facts.index.get(returned);
        let (entry, info) = (found.entry, found.info);
        let of_root = if parent.is_none() { entry.info.guards } else { &[] };
        let returned = returned.map_or(&[][..], |entry| entry.info.guards);
        let name = (entry.info.name, info.name);
        self.policies
            .field([of_root, returned], info.guards, name, location)
    }

    /// Entry that checks the guards of an object type in an interface or union. It writes no
    /// output.
    fn entrance(&mut self, entry: &Entry, place: u32) -> Option<Field> {
        let mut metas = self.metas.iter();
        let location = metas.find(|meta| meta.place == place)?.location;
        let policy = self.policies.object(entry.info, location)?;
        let meta = count(self.metas.len());
        self.metas.push(Meta { place, location });
        Some(Field {
            key: Key::NONE,
            checked: true,
            policy: Some(policy),
            meta,
            ..self.constant("", b"")
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

    /// Compiles the selection on a value of type `name`. Also returns `true` if the selection has
    /// an asynchronous field.
    fn below(&mut self, ty: TypeId, sets: &Sets<'t>, place: u32) -> Result<(Selection, bool), GraphResponse> {
        if !self.facts.schema.type_at(ty).is_composite() {
            return Ok((Selection::Leaf, false));
        }
        if self.abstracts == 0 {
            return self.composite(ty, sets, place);
        }
        // implementing types may narrow a field's type differently, so the type is part of the key
        let key = (place, ty, sets.iter().map(|set| set.id()).collect());
        if let Some(shared) = self.shared.get(&key) {
            return Ok(shared.clone());
        }
        let below = self.composite(ty, sets, place)?;
        self.shared.insert(key, below.clone());
        Ok(below)
    }

    fn composite(
        &mut self,
        ty: TypeId,
        sets: &Sets<'t>,
        place: u32,
    ) -> Result<(Selection, bool), GraphResponse> {
        let is_async = |fields: &[Field]| fields.iter().any(|field| field.has_async);
        let facts = self.facts;
        if facts.schema.type_at(ty).is_object() {
            let (_, fields) = self.object(ty, sets, Some(place), None)?;
            let sel_async = is_async(&fields);
            return Ok((Selection::Object(fields), sel_async));
        }
        self.abstracts += 1;
        let mut types = Vec::new();
        for object in &facts.schema.type_at(ty).possible {
            let entry = facts.index.get(&facts.schema.type_at(*object).name);
            let entrance = entry.and_then(|entry| self.entrance(entry, place));
            types.push(self.object(*object, sets, Some(place), entrance)?);
        }
        self.abstracts -= 1;
        let sel_async = types.iter().any(|(_, fields)| is_async(fields));
        Ok((Selection::Abstract(types.into()), sel_async))
    }
}

fn count(items: usize) -> u32 {
    u32::try_from(items).unwrap_or(u32::MAX)
}
