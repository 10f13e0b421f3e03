//! Cost of an operation.

use std::collections::BTreeMap;

use juniper::{OperationType, Variables};

use super::entries::EntryCounts;
use super::measure::is_introspection;
use super::outline::{Outline, OutlineField, Shape};
use crate::connection::PageLimits;
use crate::schema::Schema;

/// Minimum cost of a root field of a mutation.
const CHANGE: u64 = 10;

/// Weight, page size and slicing arguments of a field, for
/// [`with_field_cost`](crate::engine::EngineBuilder::with_field_cost).
///
/// ```
/// use graph_core::limits::FieldCost;
///
/// // a report is as expensive as fifty objects
/// let report = FieldCost::weight(50);
/// // the resolver returns 50 entries by default
/// let search = FieldCost::page_size(50);
/// // `users(ids: [..])` returns one entry for each id, `search(input: { limit: 5 })` five
/// let users = FieldCost::sliced_by(["ids"]);
/// let search = FieldCost::sliced_by(["input.limit"]);
/// # let _ = (report, search, users);
/// ```
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct FieldCost {
    weight: Option<u32>,
    page_size: Option<u32>,
    slicing: Vec<String>,
}

impl FieldCost {
    /// Creates a cost with a weight: the cost of the field, or of each entry of its list. Default:
    /// 1 for an object, 0 for a scalar.
    #[must_use]
    pub fn weight(weight: u32) -> Self {
        Self::default().with_weight(weight)
    }

    /// Creates a cost with a page size: the number of entries that the field returns if no argument
    /// sets it. Default: 10 for a list, 20 for a connection.
    #[must_use]
    pub fn page_size(page_size: u32) -> Self {
        Self::default().with_page_size(page_size)
    }

    /// Creates a cost with slicing arguments: arguments besides `first` and `last` that set the
    /// number of entries. A name with dots is a field of an input object, for example
    /// `input.limit`. The size is the value of a number or the length of a list.
    #[must_use]
    pub fn sliced_by(arguments: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self::default().with_slicing(arguments)
    }

    /// Adds [slicing arguments](Self::sliced_by).
    #[must_use]
    pub fn with_slicing(mut self, arguments: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.slicing.extend(arguments.into_iter().map(Into::into));
        self
    }

    /// Sets the [weight](Self::weight).
    #[must_use]
    pub fn with_weight(mut self, weight: u32) -> Self {
        self.weight = Some(weight);
        self
    }

    /// Sets the [page size](Self::page_size).
    #[must_use]
    pub fn with_page_size(mut self, page_size: u32) -> Self {
        self.page_size = Some(page_size);
        self
    }
}

/// Costs that the host has set, by `Type.field`.
#[derive(Clone, Debug, Default)]
pub(crate) struct CostModel {
    fields: BTreeMap<String, FieldCost>,
    /// Object types of each interface: candidates for the resolver of an interface's field.
    implementers: BTreeMap<String, Vec<String>>,
}

impl CostModel {
    pub(crate) fn set(&mut self, coordinate: String, cost: FieldCost) {
        self.fields.insert(coordinate, cost);
    }

    pub(crate) fn coordinates(&self) -> impl Iterator<Item = &str> {
        self.fields.keys().map(String::as_str)
    }

    /// Slicing arguments that the schema does not have, as `Type.field(argument)`.
    pub(crate) fn unknown_arguments(&self, schema: &Schema) -> Vec<String> {
        let declared = self.fields.iter().filter_map(|(coordinate, cost)| {
            let field = schema.coordinate(coordinate)?;
            let paths = cost
                .slicing
                .iter()
                .filter(|path| !schema.has_argument(field, path));
            Some(paths.map(move |path| format!("{coordinate}({path})")))
        });
        declared.flatten().collect()
    }

    /// Applies the cost of an object's field to selections through its interfaces, and the cost of
    /// an interface's field to its objects without a cost of their own.
    pub(crate) fn with_implementers(mut self, implementers: BTreeMap<String, Vec<String>>) -> Self {
        let mut inherited: BTreeMap<String, FieldCost> = BTreeMap::new();
        for (coordinate, cost) in &self.fields {
            let Some((parent, field)) = coordinate.split_once('.') else {
                continue;
            };
            for object in implementers.get(parent).into_iter().flatten() {
                let known = inherited.entry(format!("{object}.{field}")).or_default();
                known.weight = known.weight.max(cost.weight);
                known.page_size = known.page_size.max(cost.page_size);
                known.slicing.extend_from_slice(&cost.slicing);
            }
        }
        for (coordinate, cost) in inherited {
            self.fields.entry(coordinate).or_insert(cost);
        }
        self.implementers = implementers;
        self
    }

    /// Slicing arguments of the field, also those of the object types that may resolve it.
    pub(crate) fn slicing(&self, parent: &str, field: &str) -> Vec<String> {
        let objects = self.implementers.get(parent).into_iter().flatten();
        let parents = std::iter::once(parent).chain(objects.map(String::as_str));
        let costs = parents.filter_map(|parent| self.fields.get(&format!("{parent}.{field}")));
        costs.flat_map(|cost| cost.slicing.iter().cloned()).collect()
    }

    pub(crate) fn cost<'m>(&'m self, outline: &'m Outline, list_size: u32, variables: &'m Variables) -> u64 {
        let pricing = Pricing {
            model: self,
            variables,
            counts: EntryCounts::default(),
            list_size: u64::from(list_size),
        };
        let least = match outline.kind {
            OperationType::Mutation => CHANGE,
            OperationType::Query | OperationType::Subscription => 0,
        };
        let roots = outline.fields.iter().filter(|field| field.is_included(variables));
        roots
            .map(|field| {
                pricing
                    .field(field)
                    .max(if is_introspection(field) { 0 } else { least })
            })
            .fold(0, u64::saturating_add)
    }

    /// Highest `price` of `field` among the object types that may resolve it.
    fn dearest(&self, field: &OutlineField, price: impl Fn(&FieldCost) -> u64) -> u64 {
        let unnamed = FieldCost::default();
        if self.fields.is_empty() {
            return price(&unnamed);
        }
        let of = |parent: &str| {
            let coordinate = format!("{parent}.{}", field.name);
            price(self.fields.get(&coordinate).unwrap_or(&unnamed))
        };
        match self.implementers.get(field.parent.as_str()) {
            Some(objects) => objects.iter().map(|object| of(object)).fold(0, u64::max),
            None => of(&field.parent),
        }
    }
}

struct Pricing<'m> {
    model: &'m CostModel,
    variables: &'m Variables,
    counts: EntryCounts<'m>,
    list_size: u64,
}

impl<'m> Pricing<'m> {
    fn sum(&self, fields: impl IntoIterator<Item = &'m OutlineField>) -> u64 {
        fields
            .into_iter()
            .filter(|field| field.is_included(self.variables))
            .map(|field| self.field(field))
            .fold(0, u64::saturating_add)
    }

    fn field(&self, field: &'m OutlineField) -> u64 {
        // scalars cost 0, but a repeated resolver call costs 1
        let least = u64::from(field.repeated);
        if is_introspection(field) {
            return least;
        }
        let (entry, once) = if field.shape.connection {
            self.connection(&field.children)
        } else {
            (self.sum(&field.children), 0)
        };
        let price = self.model.dearest(field, |named| {
            let weight = named.weight.map_or(u64::from(field.shape.composite), u64::from);
            let page = self
                .entries(field, named)
                .saturating_mul(weight.saturating_add(entry));
            page.saturating_add(once)
        });
        let lists = self.lists_around(field).saturating_mul(price);
        let arguments = self.lengths(field).saturating_add(self.entries_inside(field));
        lists.saturating_add(arguments).max(least)
    }

    /// Number of entries in the lists inside the arguments of `field`, without slicing arguments.
    fn entries_inside(&self, field: &'m OutlineField) -> u64 {
        let all = field.entries.iter();
        let all = all.map(|entries| self.counts.measured(entries, self.variables));
        let slices = field.inner_slices.iter();
        let slices = slices.filter_map(|size| size.measured(self.variables));
        let all = all.fold(0, u64::saturating_add);
        all.saturating_sub(slices.fold(0, u64::saturating_add))
    }

    /// Number of entries in the list arguments of `field` that do not set its size.
    fn lengths(&self, field: &OutlineField) -> u64 {
        if field.shape.is_list() && !field.is_sliced {
            return 0;
        }
        let lengths = field
            .lists
            .iter()
            .filter_map(|size| size.measured(self.variables));
        lengths.fold(0, u64::saturating_add)
    }

    /// Returns the cost of one node without its own weight, and the cost of the connection without
    /// its nodes.
    fn connection(&self, children: &'m [OutlineField]) -> (u64, u64) {
        let (mut entry, mut once) = (0_u64, 0_u64);
        for child in children.iter().filter(|child| child.is_included(self.variables)) {
            match child.name.as_str() {
                "edges" => {
                    let of_edge = child
                        .children
                        .iter()
                        .filter(|child| child.is_included(self.variables));
                    let of_edge = of_edge.map(|child| match child.name.as_str() {
                        "node" => self.part(child),
                        _ => self.field(child),
                    });
                    let own = self.part_weight(child);
                    entry = of_edge.fold(entry.saturating_add(own), u64::saturating_add);
                }
                "nodes" => entry = entry.saturating_add(self.part(child)),
                "pageInfo" => once = once.saturating_add(self.part(child)),
                _ => once = once.saturating_add(self.field(child)),
            }
        }
        (entry, once)
    }

    /// Cost of a part of a connection; the part itself is free, because nodes are counted once.
    fn part(&self, part: &'m OutlineField) -> u64 {
        self.part_weight(part).saturating_add(self.sum(&part.children))
    }

    fn part_weight(&self, part: &OutlineField) -> u64 {
        let weight = |named: &FieldCost| named.weight.map_or(0, u64::from);
        self.model.dearest(part, weight).max(u64::from(part.repeated))
    }

    /// Maximum number of entries of the innermost list, or of the connection.
    fn entries(&self, field: &OutlineField, named: &FieldCost) -> u64 {
        match field.shape {
            Shape { connection: true, .. } => {
                self.size(field, named, u64::from(PageLimits::default().default_size()))
            }
            Shape { lists: 0, .. } => 1,
            _ => self.size(field, named, self.list_size),
        }
    }

    /// Maximum number of lists or connections around the innermost one.
    fn lists_around(&self, field: &OutlineField) -> u64 {
        let Shape {
            lists, connection, ..
        } = field.shape;
        let around = if connection {
            lists
        } else {
            lists.saturating_sub(1)
        };
        self.list_size.saturating_pow(around)
    }

    /// Number of entries that `field` may return. A list without a slicing argument has as many
    /// entries as its longest list argument.
    fn size(&self, field: &OutlineField, named: &FieldCost, assumed: u64) -> u64 {
        let lengths = || {
            let lengths = field
                .lists
                .iter()
                .filter_map(|size| size.measured(self.variables));
            // an empty list often means that nothing is filtered
            lengths.max().filter(|length| *length > 0 && !field.is_sliced)
        };
        field
            .requested(self.variables)
            .or_else(lengths)
            .or(named.page_size.map(u64::from))
            .unwrap_or(assumed)
    }
}
