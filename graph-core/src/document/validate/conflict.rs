//! Search for the conflicts of a selection set in the order of graphql-js, for their messages.

use std::collections::HashMap;
use std::rc::Rc;

use indexmap::{IndexMap, IndexSet};

use super::overlap::{Overlap, Selected, Set};
use crate::document::parse::Selection;
use crate::response::MISTAKES;

/// Maximum number of compared pairs in one document.
const PAIRS: usize = 50_000;

/// Maximum levels of the search. Cycles of fragments lead deeper.
const LEVELS: usize = 200;

/// Maximum length of a reason in characters, and number of its positions on one side.
const REASON: usize = 1_000;
const PLACES: usize = 20;

/// Message of the conflict of the response key `key`.
pub(super) fn message(key: &str, reason: &str) -> String {
    let key = abbreviated(key);
    format!(
        "Fields \"{key}\" conflict because {reason}. Use different aliases on the fields to fetch both if this was intentional."
    )
}

fn abbreviated(text: &str) -> String {
    match text.char_indices().nth(REASON) {
        Some((end, _)) => format!("{}...", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

struct Conflict<'t> {
    key: &'t str,
    reason: String,
    one: Vec<u32>,
    other: Vec<u32>,
}

/// Fields of a selection set and the fragments that it spreads, without those of the fragments.
struct Collected<'w, 't> {
    fields: IndexMap<&'t str, Vec<Selected<'w, 't>>>,
    fragments: IndexSet<&'t str>,
}

/// State of the search in one document.
#[derive(Default)]
pub(super) struct Search<'w, 't> {
    pairs: usize,
    level: usize,
    sets: HashMap<(Option<crate::schema::TypeId>, u32), Rc<Collected<'w, 't>>>,
    /// Compared fragments, with the exclusiveness of the comparison.
    fragments: HashMap<(&'t str, &'t str), bool>,
    /// Compared sets and fragments.
    with_fragments: HashMap<(*const Collected<'w, 't>, &'t str), bool>,
}

/// Document, and whether the compared fields have parents that no object has together.
#[derive(Clone, Copy)]
struct How<'o, 'w, 't> {
    overlap: &'o Overlap<'w, 't>,
    is_exclusive: bool,
}

impl<'o, 'w, 't> How<'o, 'w, 't> {
    fn new(overlap: &'o Overlap<'w, 't>) -> Self {
        Self {
            overlap,
            is_exclusive: false,
        }
    }

    /// The same for two fields and everything below them.
    fn below(self, one: &Selected<'w, 't>, other: &Selected<'w, 't>) -> Self {
        let is_exclusive = self.is_exclusive || self.overlap.are_exclusive(one.parent, other.parent);
        Self { is_exclusive, ..self }
    }
}

/// The search was too long.
struct TooMany;

type Found = Result<(), TooMany>;

impl<'w, 't> Search<'w, 't> {
    /// All conflicts in `set`; `None` if there are too many pairs to compare.
    pub(super) fn conflicts(
        &mut self,
        overlap: &Overlap<'w, 't>,
        set: Set<'t>,
    ) -> Option<Vec<(String, Vec<u32>)>> {
        let mut found = Vec::new();
        self.level = 0;
        self.within(overlap, set, &mut found).ok()?;
        let found = found.into_iter().map(|conflict: Conflict<'_>| {
            let places = conflict.one.into_iter().chain(conflict.other).collect();
            (message(conflict.key, &conflict.reason), places)
        });
        Some(found.collect())
    }

    fn within(&mut self, overlap: &Overlap<'w, 't>, set: Set<'t>, found: &mut Vec<Conflict<'t>>) -> Found {
        let collected = self.collected(overlap, set);
        for (key, fields) in &collected.fields {
            for (at, one) in fields.iter().enumerate() {
                for other in fields.iter().skip(at + 1) {
                    self.pair(How::new(overlap), key, (one, other), found)?;
                    if found.len() >= MISTAKES {
                        return Ok(());
                    }
                }
            }
        }
        for (at, name) in collected.fragments.iter().enumerate() {
            self.with_fragment(How::new(overlap), &collected, name, found)?;
            for other in collected.fragments.iter().skip(at + 1) {
                self.fragment_pair(How::new(overlap), (name, other), found)?;
            }
        }
        Ok(())
    }

    /// Compares the fields of `collected` with those of a fragment and of the fragments in it.
    fn with_fragment(
        &mut self,
        how: How<'_, 'w, 't>,
        collected: &Rc<Collected<'w, 't>>,
        name: &'t str,
        found: &mut Vec<Conflict<'t>>,
    ) -> Found {
        self.deeper(|search| search.with_fragment_here(how, collected, name, found))
    }

    fn with_fragment_here(
        &mut self,
        how: How<'_, 'w, 't>,
        collected: &Rc<Collected<'w, 't>>,
        name: &'t str,
        found: &mut Vec<Conflict<'t>>,
    ) -> Found {
        self.spend(1)?;
        if collected.fields.is_empty() {
            return Ok(());
        }
        let compared = self.with_fragments.get(&(Rc::as_ptr(collected), name));
        if compared.is_some_and(|compared| !compared || how.is_exclusive) {
            return Ok(());
        }
        self.with_fragments
            .insert((Rc::as_ptr(collected), name), how.is_exclusive);
        let Some(other) = self.of_fragment(how.overlap, name) else {
            return Ok(());
        };
        if Rc::ptr_eq(collected, &other) {
            return Ok(());
        }
        self.sets_between(how, (collected, &other), found)?;
        for name in &other.fragments {
            self.with_fragment(how, collected, name, found)?;
        }
        Ok(())
    }

    fn fragment_pair(
        &mut self,
        how: How<'_, 'w, 't>,
        (one, other): (&'t str, &'t str),
        found: &mut Vec<Conflict<'t>>,
    ) -> Found {
        self.deeper(|search| search.fragment_pair_here(how, (one, other), found))
    }

    fn fragment_pair_here(
        &mut self,
        how: How<'_, 'w, 't>,
        (one, other): (&'t str, &'t str),
        found: &mut Vec<Conflict<'t>>,
    ) -> Found {
        self.spend(2)?;
        let is_known = |pair| {
            let compared = self.fragments.get(&pair);
            compared.is_some_and(|compared| how.is_exclusive || !compared)
        };
        if one == other || is_known((one, other)) || is_known((other, one)) {
            return Ok(());
        }
        self.fragments.insert((one, other), how.is_exclusive);
        let (Some(first), Some(second)) = (
            self.of_fragment(how.overlap, one),
            self.of_fragment(how.overlap, other),
        ) else {
            return Ok(());
        };
        self.sets_between(how, (&first, &second), found)?;
        for name in &second.fragments {
            self.fragment_pair(how, (one, name), found)?;
        }
        for name in &first.fragments {
            self.fragment_pair(how, (name, other), found)?;
        }
        Ok(())
    }

    fn sets_between(
        &mut self,
        how: How<'_, 'w, 't>,
        (one, other): (&Collected<'w, 't>, &Collected<'w, 't>),
        found: &mut Vec<Conflict<'t>>,
    ) -> Found {
        self.spend(one.fields.len())?;
        for (key, fields) in &one.fields {
            for field in fields {
                for other in other.fields.get(key).into_iter().flatten() {
                    self.pair(how, key, (field, other), found)?;
                }
            }
        }
        Ok(())
    }

    fn pair(
        &mut self,
        how: How<'_, 'w, 't>,
        key: &'t str,
        (one, other): (&Selected<'w, 't>, &Selected<'w, 't>),
        found: &mut Vec<Conflict<'t>>,
    ) -> Found {
        self.deeper(|search| search.pair_here(how, key, (one, other), found))
    }

    fn pair_here(
        &mut self,
        how: How<'_, 'w, 't>,
        key: &'t str,
        (one, other): (&Selected<'w, 't>, &Selected<'w, 't>),
        found: &mut Vec<Conflict<'t>>,
    ) -> Found {
        self.spend(2)?;
        let how = how.below(one, other);
        if let Some(reason) = how.overlap.reason(how.is_exclusive, one, other) {
            found.push(Conflict {
                key,
                reason,
                one: vec![one.field.at()],
                other: vec![other.field.at()],
            });
            return Ok(());
        }
        if one.field.selections.is_empty() || other.field.selections.is_empty() {
            return Ok(());
        }
        let mut below = Vec::new();
        let first = self.collected(how.overlap, (one.below(), one.field.selections));
        let second = self.collected(how.overlap, (other.below(), other.field.selections));
        self.sets_between(how, (&first, &second), &mut below)?;
        for name in &second.fragments {
            self.with_fragment(how, &first, name, &mut below)?;
        }
        for name in &first.fragments {
            self.with_fragment(how, &second, name, &mut below)?;
        }
        for name in &first.fragments {
            for other in &second.fragments {
                self.fragment_pair(how, (name, other), &mut below)?;
            }
        }
        if !below.is_empty() {
            let reasons = below.iter().map(|conflict| {
                let key = abbreviated(conflict.key);
                format!("subfields \"{key}\" conflict because {}", conflict.reason)
            });
            found.push(Conflict {
                key,
                reason: abbreviated(&joined(reasons)),
                one: places(one, below.iter().map(|conflict| &conflict.one)),
                other: places(other, below.iter().map(|conflict| &conflict.other)),
            });
        }
        Ok(())
    }

    fn of_fragment(&mut self, overlap: &Overlap<'w, 't>, name: &str) -> Option<Rc<Collected<'w, 't>>> {
        let fragment = overlap.fragments.get(name)?;
        let on = overlap.schema.id(fragment.on.text);
        Some(self.collected(overlap, (on, fragment.selections)))
    }

    fn collected(&mut self, overlap: &Overlap<'w, 't>, set: Set<'t>) -> Rc<Collected<'w, 't>> {
        let known = self.sets.entry((set.0, set.1.id()));
        let collected = known.or_insert_with(|| {
            let mut collected = Collected {
                fields: IndexMap::new(),
                fragments: IndexSet::new(),
            };
            collect(overlap, set, &mut collected);
            Rc::new(collected)
        });
        Rc::clone(collected)
    }

    /// Calls `search` one level deeper.
    fn deeper(&mut self, search: impl FnOnce(&mut Self) -> Found) -> Found {
        if self.level >= LEVELS {
            return Err(TooMany);
        }
        self.level += 1;
        let found = search(self);
        self.level -= 1;
        found
    }

    fn spend(&mut self, pairs: usize) -> Found {
        self.pairs += pairs;
        if self.pairs > PAIRS { Err(TooMany) } else { Ok(()) }
    }
}

fn collect<'w, 't>(overlap: &Overlap<'w, 't>, (parent, selections): Set<'t>, into: &mut Collected<'w, 't>) {
    for selection in overlap.ast.selections(selections) {
        match selection {
            Selection::Field(field) => {
                let selected = overlap.selected(parent, field);
                into.fields.entry(field.key()).or_default().push(selected);
            }
            Selection::Spread(spread) => {
                into.fragments.insert(spread.name.text);
            }
            Selection::Inline(inline) => {
                let on = inline.on.map_or(parent, |on| overlap.schema.id(on.text));
                collect(overlap, (on, inline.selections), into);
            }
        }
    }
}

/// Joins reasons up to the maximum length.
fn joined(reasons: impl Iterator<Item = String>) -> String {
    let mut all = String::new();
    for reason in reasons {
        all.push_str(if all.is_empty() { "" } else { " and " });
        all.push_str(&reason);
        if all.chars().count() > REASON {
            break;
        }
    }
    all
}

/// Position of a field, and those of the conflicts below it.
fn places<'c>(selected: &Selected<'_, '_>, below: impl Iterator<Item = &'c Vec<u32>>) -> Vec<u32> {
    let mut places = vec![selected.field.at()];
    for side in below {
        let room = PLACES - places.len();
        places.extend(side.iter().skip(side.len().saturating_sub(room)));
        if places.len() >= PLACES {
            break;
        }
    }
    places
}
