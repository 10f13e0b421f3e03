//! Cost of field collection for wide selections.

use std::cell::Cell;

use juniper::{EmptyMutation, EmptySubscription, GraphQLObject, RootNode};

use super::Collector;
use crate::document::operation::{OperationTree, parsed};
use crate::document::parse::ParseLimits;
use crate::schema::Schema;

thread_local! {
    /// Number of comparisons of response keys on this thread.
    static COMPARED: Cell<usize> = const { Cell::new(0) };
}

pub(super) fn compared() {
    COMPARED.set(COMPARED.get() + 1);
}

#[derive(GraphQLObject)]
struct Query {
    sum: i32,
}

/// Number of groups that `text` selects, and number of key comparisons.
fn collected(text: &str) -> (usize, usize) {
    let root = Query { sum: 1 };
    let root = RootNode::new(root, EmptyMutation::<()>::new(), EmptySubscription::<()>::new());
    let schema = Schema::new(&root.schema);
    let limits = ParseLimits {
        tokens: 100_000,
        depth: 64,
    };
    let ast = parsed(text, limits).unwrap();
    let tree = OperationTree::new(&ast, None).unwrap();
    let collector = Collector {
        schema: &schema,
        tree: &tree,
        variables: &|_| None,
        everything: false,
        defers: false,
    };
    COMPARED.set(0);
    let groups = collector.collect(
        schema.id("Query").unwrap(),
        &[tree.operation.selections.into()],
        None,
    );
    (groups.len(), COMPARED.get())
}

/// G19: the cost of field collection is linear in the width of the selection.
#[test]
fn a_wide_selection_is_collected_in_linear_work() {
    for width in [10, 1_000, 7_000] {
        let once: String = (0..width).map(|at| format!("a{at}: sum ")).collect();
        // first without, then with repeated keys
        for (text, found) in [
            (format!("{{ {once} }}"), 0),
            (format!("{{ {once} {once} }}"), width),
        ] {
            let (groups, compared) = collected(&text);
            assert_eq!(groups, width);
            assert!(
                (found..=found + width).contains(&compared),
                "{compared} comparisons of {width} keys"
            );
        }
    }
}
