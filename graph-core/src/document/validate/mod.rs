//! Validation of a document against the schema
//! ([Validation](https://spec.graphql.org/September2025/#sec-Validation)).
//!
//! One walk visits every node and applies all rules to it. The order, the messages and the
//! positions of errors are those of graphql-js, without its suggestions, which could name hidden
//! parts of the schema. One case is stricter than graphql-js and equals the specification: a
//! nullable variable in a non-null `@oneOf` input object.
//!
//! | module | section of the specification |
//! |---|---|
//! | `definitions` | 5.1 Documents, 5.2 Operations |
//! | `fields` | 5.3.1 Field Selections, 5.3.3 Leaf Field Selections |
//! | `overlap`, `conflict` | 5.3.2 Field Selection Merging |
//! | `arguments` | 5.4 Arguments |
//! | `fragments` | 5.5 Fragments |
//! | `values`, `literal` | 5.6 Values |
//! | `directives` | 5.7 Directives |
//! | `variables` | 5.8 Variables |
//! | `defer` | the directive `@defer` of incremental delivery |

mod arguments;
mod conflict;
mod defer;
mod definitions;
mod directives;
mod extent;
mod fields;
mod fragments;
mod literal;
mod overlap;
mod values;
mod variables;
mod walk;

pub(crate) use self::extent::extent;
pub(crate) use self::literal::{float, object, untyped};
use self::walk::Walk;
use super::parse::Ast;
use crate::response::{MISTAKES, cut_message};
use crate::schema::Schema;

/// Violation of a rule.
#[derive(Debug, Eq, PartialEq)]
pub(crate) struct Mistake {
    pub(crate) message: String,
    /// Byte offsets in the text.
    pub(crate) at: Vec<u32>,
}

impl Mistake {
    fn new(message: String, at: Vec<u32>) -> Self {
        let message = cut_message(message);
        Self { message, at }
    }
}

/// Returns up to 100 violations, in the order of graphql-js.
pub(crate) fn validate(schema: &Schema, ast: &Ast<'_>) -> Vec<Mistake> {
    let mut walk = Walk::new(schema, ast);
    walk.document();
    let mut mistakes = walk.finished();
    mistakes.truncate(MISTAKES);
    mistakes
}
