//! [Fragments](https://spec.graphql.org/September2025/#sec-Validation.Fragments).

use std::collections::{HashMap, HashSet};

use indexmap::IndexSet;

use super::Mistake;
use super::walk::Walk;
use crate::document::parse::{Fragment, Inline, List, Name, Selection, Spread};
use crate::response::MISTAKES;
use crate::schema::TypeId;

impl<'w, 't> Walk<'w, 't> {
    pub(super) fn fragment_rules(&mut self, fragment: &'w Fragment<'t>) {
        let (name, on) = (fragment.name, fragment.on);
        // 5.5.1.3 Fragments on Object, Interface or Union Types
        if self.is_not_composite(on.text) {
            let message = format!(
                "Fragment \"{}\" cannot condition on non composite type \"{}\".",
                name.text, on.text
            );
            self.report(message, [on.at]);
        }
        // 5.5.1.1 Fragment Name Uniqueness
        let first = self.ast.fragments().find(|other| other.name.text == name.text);
        if let Some(first) = first.filter(|first| first.at != fragment.at) {
            let message = format!("There can be only one fragment named \"{}\".", name.text);
            self.report(message, [first.name.at, name.at]);
        }
    }

    fn is_not_composite(&self, name: &str) -> bool {
        self.schema.type_named(name).is_some_and(|ty| !ty.is_composite())
    }

    /// 5.5.1.2 Fragment Spread Type Existence, also for variables.
    pub(super) fn known_type(&mut self, name: Name<'t>) {
        if self.schema.id(name.text).is_none() {
            self.report(format!("Unknown type \"{}\".", name.text), [name.at]);
        }
    }

    pub(super) fn inline_rules(&mut self, parent: Option<TypeId>, inline: &'w Inline<'t>) {
        let Some(on) = inline.on else { return };
        // 5.5.1.3 Fragments on Object, Interface or Union Types
        if self.is_not_composite(on.text) {
            let message = format!("Fragment cannot condition on non composite type \"{}\".", on.text);
            self.report(message, [on.at]);
        }
        if let Some((parent, on)) = self.impossible(parent, on.text) {
            let message = format!(
                "Fragment cannot be spread here as objects of type \"{parent}\" can never be of type \"{on}\"."
            );
            self.report(message, [inline.at]);
        }
    }

    pub(super) fn spread_rules(&mut self, parent: Option<TypeId>, spread: &'w Spread<'t>) {
        let name = spread.name;
        // 5.5.2.1 Fragment Spread Target Defined
        let Some(fragment) = self.fragments.get(name.text) else {
            self.report(format!("Unknown fragment \"{}\".", name.text), [name.at]);
            return;
        };
        if let Some((parent, on)) = self.impossible(parent, fragment.on.text) {
            let message = format!(
                "Fragment \"{}\" cannot be spread here as objects of type \"{parent}\" can never be of type \"{on}\".",
                name.text
            );
            self.report(message, [spread.at]);
        }
    }

    /// 5.5.2.3 Fragment Spread Is Possible: the names of two types that no object has together.
    fn impossible(&self, parent: Option<TypeId>, on: &str) -> Option<(&'w str, &'w str)> {
        let (parent, on) = (parent?, self.schema.id(on)?);
        let is_composite = self.schema.type_at(on).is_composite();
        let is_possible = !is_composite || self.schema.overlap(parent, on);
        let name = |id| self.schema.type_at(id).name.as_str();
        (!is_possible).then(|| (name(parent), name(on)))
    }

    /// 5.5.1.4 Fragments Must Be Used.
    pub(super) fn unused_fragments(&self, mistakes: &mut Vec<Mistake>) {
        let roots = self.ast.operations().map(|operation| operation.selections);
        let used = self.reached(roots);
        for fragment in self.ast.fragments() {
            if !used.contains(fragment.name.text) {
                let message = format!("Fragment \"{}\" is never used.", fragment.name.text);
                mistakes.push(Mistake::new(message, vec![fragment.at]));
            }
        }
    }

    /// Names of the fragments that are spread in `roots`, directly or through others.
    pub(super) fn reached(&self, roots: impl Iterator<Item = List<Selection<'t>>>) -> IndexSet<&'t str> {
        let mut names: IndexSet<_> = roots
            .flat_map(|root| self.spreads(root))
            .map(|spread| spread.name.text)
            .collect();
        let mut next = 0;
        while let Some(name) = names.get_index(next) {
            if let Some(below) = self.below.get(name) {
                names.extend(below.iter().copied());
            }
            next += 1;
        }
        names
    }

    /// Returns `true` if a fragment spreads itself, directly or through others. Unlike
    /// [`cycles`](Self::cycles), it is right also if two fragments have one name.
    pub(super) fn has_cycles(&self) -> bool {
        let known = |names: &Vec<&'t str>| {
            let names = names.iter().copied();
            names
                .filter(|name| self.fragments.contains_key(name))
                .collect::<HashSet<_>>()
        };
        let below: HashMap<_, _> = self
            .below
            .iter()
            .map(|(name, names)| (*name, known(names)))
            .collect();
        let mut uses: HashMap<&str, usize> = HashMap::new();
        for name in below.values().flatten() {
            *uses.entry(name).or_default() += 1;
        }
        // removes fragments that no other one spreads, until only cycles are left
        let mut unused: Vec<_> = below.keys().filter(|name| !uses.contains_key(*name)).collect();
        let mut removed = 0;
        while let Some(name) = unused.pop() {
            removed += 1;
            for name in below.get(name).into_iter().flatten() {
                if let Some(left) = uses.get_mut(name) {
                    *left -= 1;
                    if *left == 0 {
                        unused.push(name);
                    }
                }
            }
        }
        removed < below.len()
    }

    /// 5.5.2.2 Fragment Spreads Must Not Form Cycles: the mistakes by the position of the fragment
    /// at which the search found them.
    pub(super) fn cycles(&self) -> HashMap<u32, Vec<Mistake>> {
        let mut search = Search {
            walk: self,
            visited: HashSet::new(),
            path: Vec::new(),
            mistakes: Vec::new(),
        };
        let mut cycles = HashMap::new();
        for fragment in self.ast.fragments() {
            search.from(fragment);
            let found = std::mem::take(&mut search.mistakes);
            if !found.is_empty() {
                cycles.insert(fragment.at, found);
            }
        }
        cycles
    }
}

/// Depth-first search along spreads, with a stack of its own.
struct Search<'s, 'w, 't> {
    walk: &'s Walk<'w, 't>,
    visited: HashSet<&'t str>,
    path: Vec<Step<'w, 't>>,
    mistakes: Vec<Mistake>,
}

/// Fragment of the path, with its spreads and the one that is followed.
struct Step<'w, 't> {
    name: &'t str,
    spreads: Vec<&'w Spread<'t>>,
    next: usize,
}

impl<'w, 't> Search<'_, 'w, 't> {
    fn from(&mut self, fragment: &'w Fragment<'t>) {
        self.enter(fragment);
        while let Some(step) = self.path.last_mut() {
            let Some(spread) = step.spreads.get(step.next).copied() else {
                self.path.pop();
                continue;
            };
            step.next += 1;
            let name = spread.name.text;
            match self.path.iter().position(|step| step.name == name) {
                Some(first) => self.cycle(first, name),
                None => {
                    if let Some(fragment) = self.walk.fragments.get(name) {
                        self.enter(fragment);
                    }
                }
            }
        }
    }

    fn enter(&mut self, fragment: &'w Fragment<'t>) {
        if self.visited.insert(fragment.name.text) {
            self.path.push(Step {
                name: fragment.name.text,
                spreads: self.walk.spreads(fragment.selections),
                next: 0,
            });
        }
    }

    fn cycle(&mut self, first: usize, name: &str) {
        if self.mistakes.len() >= MISTAKES {
            return;
        }
        let steps = self.path.get(first..).unwrap_or_default().iter();
        let spreads: Vec<_> = steps.filter_map(|step| step.spreads.get(step.next - 1)).collect();
        let between = spreads.iter().take(spreads.len() - 1);
        let via: Vec<_> = between
            .map(|spread| format!("\"{}\"", spread.name.text))
            .collect();
        let via = if via.is_empty() {
            String::new()
        } else {
            format!(" via {}", via.join(", "))
        };
        let message = format!("Cannot spread fragment \"{name}\" within itself{via}.");
        let at = spreads.iter().map(|spread| spread.at).collect();
        self.mistakes.push(Mistake::new(message, at));
    }
}
