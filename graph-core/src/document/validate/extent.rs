//! Size of an operation with its fragments expanded.

use std::collections::HashMap;

use crate::document::parse::{Ast, Definition, Fragment, List, Selection};

/// Fields and levels of an expanded operation.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Extent {
    pub(crate) fields: usize,
    /// Levels of selection sets, with one more for each fragment spread.
    pub(crate) depth: usize,
}

/// Largest size of an operation or fragment of `ast`. A fragment that spreads itself counts once,
/// and levels below `limit` are not counted.
pub(crate) fn extent(ast: &Ast<'_>, limit: usize) -> Extent {
    let mut sizes = Sizes {
        ast,
        fragments: ast
            .fragments()
            .map(|fragment| (fragment.name.text, fragment))
            .collect(),
        known: HashMap::new(),
        limit,
    };
    let mut all = Extent::default();
    for definition in &ast.definitions {
        let one = match definition {
            Definition::Operation(operation) => sizes.of(operation.selections, 0),
            Definition::Fragment(fragment) => sizes.fragment(fragment.name.text, 0),
            Definition::TypeSystem { .. } => Extent::default(),
        };
        all.fields = all.fields.max(one.fields);
        all.depth = all.depth.max(one.depth);
    }
    all
}

struct Sizes<'w, 't> {
    ast: &'w Ast<'t>,
    fragments: HashMap<&'t str, &'w Fragment<'t>>,
    /// Sizes of fragments; of zero while a fragment is measured.
    known: HashMap<&'t str, Extent>,
    limit: usize,
}

impl<'t> Sizes<'_, 't> {
    fn of(&mut self, selections: List<Selection<'t>>, level: usize) -> Extent {
        let mut all = Extent::default();
        if level > self.limit {
            return all;
        }
        for selection in self.ast.selections(selections) {
            let one = match selection {
                Selection::Field(field) if field.selections.is_empty() => Extent { fields: 1, depth: 0 },
                Selection::Field(field) => {
                    let below = self.of(field.selections, level + 1);
                    let fields = below.fields.saturating_add(1);
                    Extent { fields, ..below }
                }
                Selection::Inline(inline) => self.of(inline.selections, level + 1),
                Selection::Spread(spread) => self.fragment(spread.name.text, level + 1),
            };
            all.fields = all.fields.saturating_add(one.fields);
            all.depth = all.depth.max(one.depth);
        }
        all.depth = all.depth.saturating_add(1);
        all
    }

    fn fragment(&mut self, name: &'t str, level: usize) -> Extent {
        if let Some(known) = self.known.get(name) {
            return *known;
        }
        self.known.insert(name, Extent::default());
        let extent = match self.fragments.get(name) {
            Some(fragment) => self.of(fragment.selections, level),
            None => Extent::default(),
        };
        self.known.insert(name, extent);
        extent
    }
}
