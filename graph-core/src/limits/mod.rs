//! Query limits: depth, cost, aliases, root fields and tokens, checked before execution.
//!
//! | limit | default | code |
//! |---|---|---|
//! | levels of selection, without introspection | 15 | `MAX_DEPTH_EXCEEDED` |
//! | cost | 10,000 | `MAX_COST_EXCEEDED` |
//! | aliases | 30 | `MAX_ALIASES_EXCEEDED` |
//! | fields at the root | 20 | `MAX_COST_EXCEEDED` |
//! | tokens of the document | 15,000 | `GRAPHQL_PARSE_FAILED` |
//! | values in the variables | 10,000 | `MAX_VALUES_EXCEEDED` |
//! | bytes of the response | 16 MiB | `MAX_RESPONSE_SIZE_EXCEEDED` |
//! | operations of a batch | 10 | `BAD_REQUEST` |
//!
//! These limits are fixed:
//!
//! | limit | value | code |
//! |---|---|---|
//! | nested list fields in introspection | 2 | `MAX_DEPTH_EXCEEDED` |
//! | levels of selection, values or list types in a document | 64, or the depth if that is larger | `MAX_DEPTH_EXCEEDED` |
//! | fields of an operation or fragment | 15,000 | `MAX_COST_EXCEEDED` |
//! | fields of a compiled operation | 20,000 | `MAX_COST_EXCEEDED` |
//! | result of introspection | 16 MiB | `MAX_COST_EXCEEDED` |
//!
//! The levels of a document include those of introspection, and one for each fragment spread. A
//! compiled operation counts a field of an interface once for each object type.
//!
//! The limits of cost, aliases and root fields also apply to the sum over a batch.
//!
//! Fragments count at each spread. Selections that `@skip` or `@include` excludes do not count.
//!
//! Each scalar, list and object in the variables is a value. The limit of the response is checked
//! while the response is written: the value that exceeds it is null, as are all lists behind it,
//! and one error says so. The errors of fields, with their paths, have a limit of the same size.
//! Beyond it, one error says so, further fields fail without an error, and further lists are null.
//! The other limits are checked before any resolver runs.
//!
//! # Cost
//!
//! - An object costs 1, a scalar 0. [`FieldCost::weight`] changes that for a field.
//! - A list costs its size times the cost of one entry.
//! - A connection is any object with `edges` and `pageInfo`. It costs its size times one node with
//!   its selection. `edges` and `pageInfo` are free unless they have a weight.
//! - A field that is selected again under the same response key costs at least 1.
//! - A field of an interface costs as much as its most expensive implementation.
//! - A root field of a mutation costs at least 10.
//! - A list in an argument costs its length, unless it sets the size of the field. This includes
//!   lists in input objects and in other lists, but not in custom scalars.
//!
//! The size of a list or connection is the first of these values that exists and is not negative:
//!
//! 1. the largest of the slicing arguments: `first`, `last` and those of
//!    [`FieldCost::sliced_by`]. Each is the literal, else the value of the variable, else the
//!    variable's default in the operation, else the argument's default in the schema;
//! 2. without slicing arguments, the length of the longest list in an argument;
//! 3. the field's [`page size`](FieldCost::page_size);
//! 4. the assumed size: 10 for a list ([`Limits::with_list_size`]), 20 for a connection.
//!
//! For nested lists, rules 1 to 3 apply only to the innermost list. Each outer list has the
//! assumed size of a list.
//!
//! ```
//! use graph_core::limits::Limits;
//!
//! let limits = Limits::default().with_depth(8).with_cost(2_000);
//! assert_eq!(limits.depth(), 8);
//! assert_eq!(limits.cost(), 2_000);
//! ```

mod cost;
mod entries;
mod estimate;
mod measure;
mod mode;
mod outline;
mod size;

pub(crate) use self::cost::CostModel;
pub use self::cost::FieldCost;
pub use self::estimate::{Estimate, LimitLog, Measured};
pub use self::mode::LimitMode;
pub(crate) use self::outline::{Outline, OutlineField, outline};
use crate::document::parse::ParseLimits;

/// Minimum of the parser's limit of nesting.
const NESTING: usize = 64;

/// Maximum number of fields of a definition with its fragments expanded.
pub(crate) const EXPANDED_FIELDS: usize = 15_000;

/// Limits of one endpoint.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Limits {
    depth: usize,
    cost: u64,
    aliases: usize,
    root_fields: usize,
    tokens: usize,
    values: usize,
    response_bytes: usize,
    batch: usize,
    list_size: u32,
    mode: LimitMode,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            depth: 15,
            cost: 10_000,
            aliases: 30,
            root_fields: 20,
            tokens: 15_000,
            values: 10_000,
            response_bytes: 16 << 20,
            batch: 10,
            list_size: 10,
            mode: LimitMode::Enforce,
        }
    }
}

impl Limits {
    /// Limits the levels of selection. Default: 15.
    #[must_use]
    pub fn with_depth(mut self, depth: usize) -> Self {
        self.depth = depth;
        self
    }

    /// Limits the cost of one operation. Default: 10,000.
    #[must_use]
    pub fn with_cost(mut self, cost: u64) -> Self {
        self.cost = cost;
        self
    }

    /// Limits the aliases of one operation. Default: 30.
    #[must_use]
    pub fn with_aliases(mut self, aliases: usize) -> Self {
        self.aliases = aliases;
        self
    }

    /// Limits the fields at the root of one operation. Default: 20.
    #[must_use]
    pub fn with_root_fields(mut self, root_fields: usize) -> Self {
        self.root_fields = root_fields;
        self
    }

    /// Limits the tokens of one document. Default: 15,000.
    #[must_use]
    pub fn with_tokens(mut self, tokens: usize) -> Self {
        self.tokens = tokens;
        self
    }

    /// Limits the values in the variables of one operation: scalars, lists and objects. Default:
    /// 10,000.
    #[must_use]
    pub fn with_values(mut self, values: usize) -> Self {
        self.values = values;
        self
    }

    /// Limits the bytes of `data` in a response, and separately those of the errors of its fields.
    /// Default: 16 MiB each.
    ///
    /// The response of an operation that exceeds the limit is partial: see
    /// [the limits](crate::limits). The limit applies in every [mode](Self::with_mode).
    #[must_use]
    pub fn with_response_bytes(mut self, bytes: usize) -> Self {
        self.response_bytes = bytes;
        self
    }

    /// Limits the operations of one batch, if [batches](crate::engine::EngineBuilder::with_batches)
    /// are enabled. Default: 10.
    #[must_use]
    pub fn with_batch(mut self, operations: usize) -> Self {
        self.batch = operations;
        self
    }

    /// Sets the effect of an exceeded limit. Default: [`LimitMode::Enforce`].
    #[must_use]
    pub fn with_mode(mut self, mode: LimitMode) -> Self {
        self.mode = mode;
        self
    }

    /// Sets the assumed size of a list, in entries. Default: 10.
    ///
    /// It applies if neither an argument nor [`FieldCost::page_size`] gives the size.
    #[must_use]
    pub fn with_list_size(mut self, list_size: u32) -> Self {
        self.list_size = list_size;
        self
    }

    /// Limits of the parser.
    pub(crate) fn of_parser(&self) -> ParseLimits {
        ParseLimits {
            tokens: self.tokens,
            depth: self.depth.max(NESTING),
        }
    }

    /// Returns the maximum levels of selection.
    #[must_use]
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// Returns the maximum cost of one operation.
    #[must_use]
    pub fn cost(&self) -> u64 {
        self.cost
    }

    /// Returns the maximum number of aliases of one operation.
    #[must_use]
    pub fn aliases(&self) -> usize {
        self.aliases
    }

    /// Returns the maximum number of root fields of one operation.
    #[must_use]
    pub fn root_fields(&self) -> usize {
        self.root_fields
    }

    /// Returns the maximum number of tokens of one document.
    #[must_use]
    pub fn tokens(&self) -> usize {
        self.tokens
    }

    /// Returns the maximum number of values in the variables of one operation.
    #[must_use]
    pub fn values(&self) -> usize {
        self.values
    }

    /// Returns the maximum bytes of `data` in a response.
    #[must_use]
    pub fn response_bytes(&self) -> usize {
        self.response_bytes
    }

    /// Returns the maximum number of operations of one batch.
    #[must_use]
    pub fn batch(&self) -> usize {
        self.batch
    }

    /// Returns the effect of an exceeded limit.
    #[must_use]
    pub fn mode(&self) -> LimitMode {
        self.mode
    }

    /// Returns the assumed size of a list, in entries.
    #[must_use]
    pub fn list_size(&self) -> u32 {
        self.list_size
    }
}
