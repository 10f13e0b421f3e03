//! Query limits: depth, cost, aliases, root fields and tokens, checked before execution.
//!
//! | limit | default | code |
//! |---|---|---|
//! | levels of selection, without introspection | 15 | `MAX_DEPTH_EXCEEDED` |
//! | cost | 10,000 | `MAX_COST_EXCEEDED` |
//! | aliases | 30 | `MAX_ALIASES_EXCEEDED` |
//! | fields at the root | 20 | `MAX_COST_EXCEEDED` |
//! | tokens of the document | 15,000 | `GRAPHQL_PARSE_FAILED` |
//! | list fields of introspection within each other | 2 | `MAX_DEPTH_EXCEEDED` |
//! | operations of a batch | 10 | `BAD_REQUEST` |
//!
//! Batches are also checked as a whole: the costs, aliases and root fields of their operations are
//! added up.
//!
//! Fragments count at each spread. `@skip` and `@include` are ignored, so every limit is an upper
//! bound.
//!
//! # Cost
//!
//! - An object costs 1, a scalar 0. [`FieldCost::weight`] changes that for a field.
//! - A list costs its size times the cost of one entry.
//! - The size is the larger of `first` and `last`. The first of these sources that exists is used:
//!   the literal or the variable's value; the operation's default for the variable; the schema's
//!   default for the argument; the field's [`page size`](FieldCost::page_size); the assumed size,
//!   which is 10 for a list and 20 for a connection (the default of
//!   [`PageLimits`](crate::connection::PageLimits)).
//! - A connection is any object with `edges` and `pageInfo`. It costs its size times one node with
//!   its selection. `edges` and `pageInfo` are free unless they have a weight.
//! - A field that is selected again under the same response key costs at least 1.
//! - A field of an interface costs as much as its most expensive implementation.
//!
//! Only `first` and `last` of type `Int`, on lists and connections, count as sizes. For a field
//! with other size arguments, set a weight or a page size.
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

    /// Limits the operations of one batch, if [batches](crate::engine::EngineBuilder::with_batches)
    /// are enabled. Default: 10.
    #[must_use]
    pub fn with_batch(mut self, operations: usize) -> Self {
        self.batch = operations;
        self
    }

    /// Sets the effect of exceeding a limit. Default: [`LimitMode::Enforce`].
    #[must_use]
    pub fn with_mode(mut self, mode: LimitMode) -> Self {
        self.mode = mode;
        self
    }

    /// Sets the assumed size of a list without another source of its size. Default: 10.
    #[must_use]
    pub fn with_list_size(mut self, list_size: u32) -> Self {
        self.list_size = list_size;
        self
    }

    /// Maximum levels of selection.
    #[must_use]
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// Maximum cost of one operation.
    #[must_use]
    pub fn cost(&self) -> u64 {
        self.cost
    }

    /// Maximum aliases of one operation.
    #[must_use]
    pub fn aliases(&self) -> usize {
        self.aliases
    }

    /// Maximum fields at the root of one operation.
    #[must_use]
    pub fn root_fields(&self) -> usize {
        self.root_fields
    }

    /// Maximum tokens of one document.
    #[must_use]
    pub fn tokens(&self) -> usize {
        self.tokens
    }

    /// Maximum operations of one batch.
    #[must_use]
    pub fn batch(&self) -> usize {
        self.batch
    }

    /// Effect of exceeding a limit.
    #[must_use]
    pub fn mode(&self) -> LimitMode {
        self.mode
    }

    /// Assumed size of a list without another source of its size.
    #[must_use]
    pub fn list_size(&self) -> u32 {
        self.list_size
    }
}
