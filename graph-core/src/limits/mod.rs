//! Query limits: depth, cost, aliases, root fields and tokens, checked before execution.
//!
//! | limit | default | code |
//! |---|---|---|
//! | levels of selection, without introspection | 15 | `MAX_DEPTH_EXCEEDED` |
//! | cost | 10,000 | `MAX_COST_EXCEEDED` |
//! | aliases | 30 | `MAX_ALIASES_EXCEEDED` |
//! | fields at the root | 20 | `MAX_COST_EXCEEDED` |
//! | tokens of the document | 15,000 | `GRAPHQL_PARSE_FAILED` |
//! | operations of a batch | 10 | `BAD_REQUEST` |
//!
//! These limits are fixed:
//!
//! | limit | value | code |
//! |---|---|---|
//! | nested list fields in introspection | 2 | `MAX_DEPTH_EXCEEDED` |
//! | levels of selection in the parser | 64 | `MAX_DEPTH_EXCEEDED` |
//! | fields of an operation in the parser | 15,000 | `MAX_COST_EXCEEDED` |
//! | fields of a compiled operation | 20,000 | `MAX_COST_EXCEEDED` |
//! | result of introspection | 16 MiB | `MAX_COST_EXCEEDED` |
//!
//! The parser counts the levels of introspection, too, and one level for each fragment spread. A
//! compiled operation counts a field of an interface once for each object type.
//!
//! The limits of cost, aliases and root fields also apply to the sum over a batch.
//!
//! Fragments count at each spread. Selections with `@skip` or `@include` always count.
//!
//! # Cost
//!
//! - An object costs 1, a scalar 0. [`FieldCost::weight`] changes that for a field.
//! - A list costs its size times the cost of one entry.
//! - A connection is any object with `edges` and `pageInfo`. It costs its size times one node with
//!   its selection. `edges` and `pageInfo` are free unless they have a weight.
//! - A field that is selected again under the same response key costs at least 1.
//! - A field of an interface costs as much as its most expensive implementation.
//!
//! The size of a list or connection is the first of these values that exists and is not negative:
//!
//! 1. the larger of the arguments `first` and `last`, if their type is `Int`. Each is the literal,
//!    else the value of the variable, else the variable's default in the operation, else the
//!    argument's default in the schema;
//! 2. the field's [`page size`](FieldCost::page_size);
//! 3. the assumed size: 10 for a list ([`Limits::with_list_size`]), 20 for a connection.
//!
//! For nested lists, rules 1 and 2 apply only to the innermost list. Each outer list has the
//! assumed size of a list. For a field with other size arguments, set a weight or a page size.
//!
//! ```
//! use graph_core::limits::Limits;
//!
//! let limits = Limits::default().with_depth(8).with_cost(2_000);
//! assert_eq!(limits.depth(), 8);
//! assert_eq!(limits.cost(), 2_000);
//! ```

mod cost;
mod estimate;
mod measure;
mod mode;
mod outline;

pub(crate) use self::cost::CostModel;
pub use self::cost::FieldCost;
pub use self::estimate::{Estimate, LimitLog, Measured};
pub use self::mode::LimitMode;
pub(crate) use self::outline::{Outline, OutlineField, outline};

/// Maximum levels of selection of a definition, with one more for each fragment spread, and maximum
/// nesting of values.
pub(crate) const EXPANDED_DEPTH: usize = 64;

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
            batch: 10,
            list_size: 10,
            mode: LimitMode::Enforce,
        }
    }
}

impl Limits {
    /// Limits the levels of selection. Default: 15; above 64 the parser's limit applies.
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
