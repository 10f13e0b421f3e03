//! Compiles an operation to a plan.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use indexmap::IndexMap;
use juniper::OperationType;

use super::arguments::{self, Prepared, Target};
use super::collect::{Collector, Deferred, Group, Set};
use super::index::{Entry, Index};
use super::introspection::{Introspection, Reader};
use super::parse::ParseLimits;
use super::policies::PolicyList;
use super::size_of_value;
use super::view::View;
use crate::error::ErrorCode;
use crate::executor::FieldInfo;
use crate::executor::plan::{
    ArgRef, DeferredFragment, DeferredGroup, Field, FieldFaults, FieldMeta as Meta, Place, Plan, Selection,
    SlotPlan, path_size,
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
    /// `true` if plans mark the fields with a resolver.
    pub(crate) observed: bool,
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
        resolvers: Vec::new(),
        places: Vec::new(),
        known_places: HashMap::new(),
        policies: PolicyList::default(),
        slots: Vec::new(),
        faults: Vec::new(),
        reported: 0,
        shared: HashMap::new(),
        abstracts: 0,
        found: Vec::new(),
        fragments: Vec::new(),
        deferred: Vec::new(),
        group: None,
        fields: 0,
        constants: 0,
        depends: false,
    };
    let (_, fields) = compiler.object(root, &[operation.selections.into()], None, None)?;
    let plan = Plan {
        kind: operation.kind,
        has_async: fields.iter().any(|field| field.has_async),
        fields,
        metas: compiler.metas.into(),
        resolvers: compiler.resolvers.into(),
        places: compiler.places.into(),
        policies: compiler.policies.into(),
        slots: compiler.slots.into(),
        faults: compiler.faults.into(),
        deferred: compiler.deferred.into(),
        fragments: compiler.fragments.into(),
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
    /// Object type and name of the fields by index of `metas`, if resolvers are observed.
    resolvers: Vec<(&'static str, &'static str)>,
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
    /// Deferred fragments, as they were collected.
    found: Vec<Deferred>,
    /// The same fragments with their positions.
    fragments: Vec<DeferredFragment>,
    deferred: Vec<DeferredGroup>,
    /// Deferred group that is being compiled.
    group: Option<u32>,
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

/// Position, type, deferred group and selection of a value.
type Below = (u32, TypeId, Option<u32>, Vec<(u32, Option<u32>)>);

type Sets<'t> = [Set<'t>];

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
        // the root fields of a mutation run in series
        let is_serial = parent.is_none() && self.collector.tree.operation.kind == OperationType::Mutation;
        let found = Some(&mut self.found).filter(|_| !is_serial);
        let groups = self.collector.collect(object, sets, found);
        self.place_fragments(parent);
        let mut fields = Vec::with_capacity(groups.len() + 1);
        // the guards' entry is also a mark; without fields there is nothing to separate
        if facts.observed && parent.is_some() && entrance.is_none() && !groups.is_empty() {
            fields.push(self.entry_mark());
        }
        fields.extend(entrance);
        if let Some(entry) = known {
            let around = self.fragments_of_group();
            let mut later: IndexMap<Vec<u32>, Vec<&Group<'c, 't>>> = IndexMap::new();
            for group in &groups {
                let fragments = self.outermost(group);
                if fragments == around {
                    fields.push(self.field(entry, object, group, parent)?);
                } else {
                    later.entry(fragments).or_default().push(group);
                }
            }
            for part in later {
                fields.push(self.deferred(part, entry, object, parent)?);
            }
        }
        Ok((known.map_or("", |entry| entry.info.name), fields.into()))
    }

    /// Records the position of the fragments that were found last.
    fn place_fragments(&mut self, place: Option<u32>) {
        let lists = self.lists(place);
        let known = self.fragments.len();
        self.fields += self.found.len() - known;
        let found = self.found.iter_mut().skip(known);
        self.fragments.extend(found.map(|found| DeferredFragment {
            label: found.label.take(),
            parent: found.parent,
            place,
            lists,
        }));
    }

    /// Number of lists from the root to a value.
    fn lists(&self, mut place: Option<u32>) -> u32 {
        let mut lists = 0;
        while let Some(around) = place.and_then(|at| self.places.get(usize::try_from(at).ok()?)) {
            lists += around.lists;
            place = around.parent;
        }
        lists
    }

    /// Deferred fragments of the group that is being compiled.
    fn fragments_of_group(&self) -> Vec<u32> {
        let group = self.group.and_then(|at| usize::try_from(at).ok());
        let group = group.and_then(|at| self.deferred.get(at));
        group.map_or_else(Vec::new, |group| group.fragments.to_vec())
    }

    /// Deferred fragments of a field, sorted, without those inside others. Empty if the field is
    /// also selected outside of all fragments.
    fn outermost(&self, group: &Group<'_, '_>) -> Vec<u32> {
        let all: Option<BTreeSet<u32>> = group.fragments.iter().copied().collect();
        let all = all.unwrap_or_default();
        let parent = |fragment: u32| {
            let fragment = self.fragments.get(usize::try_from(fragment).ok()?)?;
            fragment.parent
        };
        let is_outermost = |fragment: &u32| {
            let mut around = std::iter::successors(parent(*fragment), |around| parent(*around));
            !around.any(|around| all.contains(&around))
        };
        all.iter().copied().filter(is_outermost).collect()
    }

    /// Compiles the fields of a deferred group, which belong to the same fragments.
    fn deferred(
        &mut self,
        (fragments, groups): (Vec<u32>, Vec<&Group<'c, 't>>),
        entry: &Entry,
        object: TypeId,
        place: Option<u32>,
    ) -> Result<Field, GraphResponse> {
        let number = count(self.deferred.len());
        self.fields += 1;
        let known = fragments
            .iter()
            .filter_map(|at| self.fragments.get(usize::try_from(*at).ok()?));
        let of_fragments = known.map(|fragment| fragment.overhead(&self.places));
        let overhead = of_fragments.sum::<usize>() + path_size(&self.places, place);
        self.deferred.push(DeferredGroup {
            fragments: fragments.into(),
            place,
            lists: self.lists(place),
            overhead,
        });
        let around = self.group.replace(number);
        let fields = groups
            .into_iter()
            .map(|group| self.field(entry, object, group, place));
        let fields = fields.collect::<Result<Arc<[Field]>, _>>();
        self.group = around;
        Ok(Field {
            key: Key::NONE,
            idx: Field::DEFERRED,
            has_async: true,
            sel_async: true,
            selection: Selection::Object(fields?),
            meta: number,
            ..self.constant("", b"")
        })
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
            observed: false,
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
        let location = self.collector.tree.lines.location(group.field.at());
        let names = (found.entry.info.name, found.info.name);
        let number = self.meta(place, location, names);
        let observed = self.facts.observed && !found.info.is_property;
        let policy = self.policy(found, location, parent);
        let args = self.arguments(found, group, number);
        let (selection, sel_async) = self.below(ty.named, &group.sets, (place, location))?;
        let key = Key::new(group.key);
        self.constants += key.heap();
        Ok(Field {
            key,
            idx: found.idx,
            non_null: ty.is_non_null(),
            has_async: found.info.is_async || sel_async,
            sel_async,
            checked: observed || policy.is_some() || matches!(args, ArgRef::Slot(_) | ArgRef::Refused(_)),
            observed,
            policy,
            args,
            selection,
            meta: number,
        })
    }

    fn arguments(&mut self, found: &Found<'_>, group: &Group<'c, 't>, meta: u32) -> ArgRef {
        let (schema, tree) = (self.facts.schema, self.collector.tree);
        let target = Target {
            meta,
            info: found.info,
            definition: found.definition,
        };
        match arguments::prepare(schema, tree, &target, group.field) {
            Prepared::None => ArgRef::None,
            Prepared::Const(arguments, faults) => {
                if !faults.is_empty() {
                    self.faulty(meta, faults);
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

    /// Keeps the faults of a field. All fields keep at least one, because a guard can later exclude
    /// any of the others.
    fn faulty(&mut self, meta: u32, mut faults: Vec<Fault>) {
        faults.truncate(MISTAKES.saturating_sub(self.reported).max(1));
        self.reported += faults.len();
        self.constants += faults.iter().map(Fault::size).sum::<usize>();
        self.faults.push(FieldFaults { meta, faults });
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
    fn entrance(&mut self, entry: &Entry, (place, location): (u32, Location)) -> Option<Field> {
        let policy = self.policies.object(entry.info, location)?;
        // a guarded member counts like a field
        self.fields += 1;
        let meta = self.meta(place, location, (entry.info.name, ""));
        Some(Field {
            policy: Some(policy),
            meta,
            ..self.entry_mark()
        })
    }

    /// Entry at the start of an object. It ends the observation of the resolver that returned it.
    fn entry_mark(&mut self) -> Field {
        Field {
            key: Key::NONE,
            checked: true,
            ..self.constant("", b"")
        }
    }

    /// Adds the data of a field; returns its index.
    fn meta(&mut self, place: u32, location: Location, names: (&'static str, &'static str)) -> u32 {
        let number = count(self.metas.len());
        self.metas.push(Meta {
            place,
            location,
            group: self.group,
        });
        if self.facts.observed {
            self.resolvers.push(names);
        }
        number
    }

    fn place(&mut self, parent: Option<u32>, key: &'t str, lists: u32) -> u32 {
        let next = count(self.places.len());
        let known = *self.known_places.entry((parent, key)).or_insert(next);
        if known == next {
            self.constants += key.len();
            let key = key.into();
            self.places.push(Place { parent, key, lists });
        }
        known
    }

    /// Compiles the selection on a value of type `name`. Also returns `true` if the selection has
    /// an asynchronous field.
    fn below(
        &mut self,
        ty: TypeId,
        sets: &Sets<'t>,
        (place, location): (u32, Location),
    ) -> Result<(Selection, bool), GraphResponse> {
        if !self.facts.schema.type_at(ty).is_composite() {
            return Ok((Selection::Leaf, false));
        }
        if self.abstracts == 0 {
            return self.composite(ty, sets, (place, location));
        }
        // implementing types may narrow a field's type differently, so the type is part of the key
        let sets_of = sets.iter().map(|set| (set.list.id(), set.fragment));
        let key = (place, ty, self.group, sets_of.collect());
        if let Some(shared) = self.shared.get(&key) {
            return Ok(shared.clone());
        }
        let below = self.composite(ty, sets, (place, location))?;
        self.shared.insert(key, below.clone());
        Ok(below)
    }

    fn composite(
        &mut self,
        ty: TypeId,
        sets: &Sets<'t>,
        (place, location): (u32, Location),
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
            let entrance = entry.and_then(|entry| self.entrance(entry, (place, location)));
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
