//! The cost of an operation.

use std::collections::BTreeMap;

use super::measure::is_introspection;
use crate::compat::{Outline, OutlineField};
use crate::connection::PageLimits;

/// What the schema does not say about the cost of a field.
///
/// ```
/// use graph_core::limits::FieldCost;
///
/// // a report takes as much work as fifty objects
/// let report = FieldCost::weight(50);
/// // the resolver returns 50 entries when the client names no number
/// let search = FieldCost::page_size(50);
/// # let _ = (report, search);
/// ```
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct FieldCost {
    weight: Option<u32>,
    page_size: Option<u32>,
}

impl FieldCost {
    /// The field, or each entry of its list, costs `weight` instead of 1 (an object) or 0 (a scalar).
    #[must_use]
    pub fn weight(weight: u32) -> Self {
        Self::default().with_weight(weight)
    }

    /// The field returns `page_size` entries when the client does not say how many.
    #[must_use]
    pub fn page_size(page_size: u32) -> Self {
        Self::default().with_page_size(page_size)
    }

    /// Sets the weight too.
    #[must_use]
    pub fn with_weight(mut self, weight: u32) -> Self {
        self.weight = Some(weight);
        self
    }

    /// Sets the page size too.
    #[must_use]
    pub fn with_page_size(mut self, page_size: u32) -> Self {
        self.page_size = Some(page_size);
        self
    }
}

/// The costs that the host named, by type and field.
#[derive(Clone, Debug, Default)]
pub(crate) struct CostModel {
    fields: BTreeMap<String, FieldCost>,
}

impl CostModel {
    pub(crate) fn set(&mut self, coordinate: String, cost: FieldCost) {
        self.fields.insert(coordinate, cost);
    }

    pub(crate) fn coordinates(&self) -> impl Iterator<Item = &str> {
        self.fields.keys().map(String::as_str)
    }

    pub(crate) fn cost(&self, outline: &Outline<'_>, list_size: u32) -> u64 {
        let pricing = Pricing {
            model: self,
            list_size: u64::from(list_size),
        };
        pricing.sum(&outline.fields)
    }

    fn named(&self, field: &OutlineField<'_>) -> FieldCost {
        if self.fields.is_empty() {
            return FieldCost::default();
        }
        let coordinate = format!("{}.{}", field.parent, field.name);
        self.fields.get(&coordinate).copied().unwrap_or_default()
    }
}

struct Pricing<'m> {
    model: &'m CostModel,
    list_size: u64,
}

impl Pricing<'_> {
    fn sum<'f>(&self, fields: impl IntoIterator<Item = &'f OutlineField<'f>>) -> u64 {
        fields
            .into_iter()
            .map(|field| self.field(field))
            .fold(0, u64::saturating_add)
    }

    fn field(&self, field: &OutlineField<'_>) -> u64 {
        if is_introspection(field) {
            return 0;
        }
        let named = self.model.named(field);
        let weight = named.weight.map_or(u64::from(field.shape.composite), u64::from);
        let entry = |selected: u64| weight.saturating_add(selected);
        if field.shape.connection {
            let size = size(field, named, u64::from(PageLimits::default().default_size()));
            let (paged, once): (Vec<_>, Vec<_>) = field
                .children
                .iter()
                .partition(|child| matches!(child.name, "edges" | "nodes"));
            let selected = paged
                .into_iter()
                .map(|child| self.page(child))
                .fold(0, u64::saturating_add);
            let once = self.sum(once.into_iter().filter(|child| child.name != "pageInfo"));
            return size.saturating_mul(entry(selected)).saturating_add(once);
        }
        let size = match field.shape.lists {
            0 => 1,
            lists => {
                size(field, named, self.list_size).saturating_mul(self.list_size.saturating_pow(lists - 1))
            }
        };
        size.saturating_mul(entry(self.sum(&field.children)))
    }

    /// What one entry of `edges` or `nodes` selects; the entry itself is counted with its connection.
    fn page(&self, list: &OutlineField<'_>) -> u64 {
        if list.name == "nodes" {
            return self.sum(&list.children);
        }
        let of_edge = list.children.iter().map(|child| match child.name {
            "node" => self.sum(&child.children),
            _ => self.field(child),
        });
        of_edge.fold(0, u64::saturating_add)
    }
}

/// How many entries `field` may return; a negative number asks for nothing that exists and is priced as if it were absent.
fn size(field: &OutlineField<'_>, named: FieldCost, assumed: u64) -> u64 {
    field
        .requested
        .and_then(|requested| u64::try_from(requested).ok())
        .or(named.page_size.map(u64::from))
        .unwrap_or(assumed)
}
