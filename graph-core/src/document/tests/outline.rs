//! Memory of outlines.

use std::sync::Arc;

use super::{Graph, LIMITS};
use crate::document::operation::{OperationTree, parsed};
use crate::limits::outline;

/// G19, G22: the fields below a condition share it, however long the name of its variable is.
#[test]
fn fields_share_the_conditions_around_them() {
    let graph = Graph::new();
    let fields = "__typename ".repeat(100);
    let text = format!(
        "query ($on: Boolean!) {{ ... @include(if: $on) {{ {fields} user @skip(if: $on) {{ id }} }} }}"
    );
    let ast = parsed(&text, LIMITS).unwrap();
    let tree = OperationTree::new(&ast, None).unwrap();
    let outline = outline(&graph.schema, &graph.costs, &tree);
    let (own, shared) = outline.fields.split_last().unwrap();
    assert_eq!((own.conditions.len(), shared.len()), (2, 100));
    let first = &shared[0].conditions;
    assert_eq!(first.len(), 1);
    assert!(shared.iter().all(|field| Arc::ptr_eq(&field.conditions, first)));
}
