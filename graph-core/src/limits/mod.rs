//! What an operation may ask for, judged before anything of it runs.
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
//! The operations of a batch are judged together, too: their costs, aliases and root fields are added up.
//!
//! Fragments count where they are spread. `@skip` and `@include` are not looked at: every limit is an upper bound.
//!
//! # Cost
//!
//! An object costs 1 and a scalar nothing; [`FieldCost::weight`] changes that for a field. A list costs its size times an entry,
//! where the size is the larger of `first` and `last`: as written, or the variable's value, or the operation's default for
//! the variable, or the schema's default for the argument, or else the [`page size`](FieldCost::page_size) of the field, or else
//! an assumed one (10; for a connection 20, the default of [`PageLimits`](crate::connection::PageLimits)). A connection costs its
//! size once per node, with what is selected in the node; its edges and its `pageInfo` are free unless they have a weight. A
//! connection is any object with `edges` and `pageInfo`. A field selected again under the same key costs at least 1: it is
//! looked at again, and run again where juniper executes the operation. A field of an interface costs as much as the dearest type behind it.
//!
//! Only arguments `first` and `last` of type `Int` are sizes, and only of lists and connections: give a field that is sized
//! otherwise a weight or a page size of its own.
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

/// The limits of one endpoint.
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
    /// At most `depth` levels of selection.
    #[must_use]
    pub fn with_depth(mut self, depth: usize) -> Self {
        self.depth = depth;
        self
    }

    /// At most `cost` for one operation.
    #[must_use]
    pub fn with_cost(mut self, cost: u64) -> Self {
        self.cost = cost;
        self
    }

    /// At most `aliases` in one operation.
    #[must_use]
    pub fn with_aliases(mut self, aliases: usize) -> Self {
        self.aliases = aliases;
        self
    }

    /// At most `root_fields` selected at the root.
    #[must_use]
    pub fn with_root_fields(mut self, root_fields: usize) -> Self {
        self.root_fields = root_fields;
        self
    }

    /// At most `tokens` in one document.
    #[must_use]
    pub fn with_tokens(mut self, tokens: usize) -> Self {
        self.tokens = tokens;
        self
    }

    /// At most `operations` in one batch, where [batches](crate::engine::EngineBuilder::with_batches) are served.
    #[must_use]
    pub fn with_batch(mut self, operations: usize) -> Self {
        self.batch = operations;
        self
    }

    /// What becomes of an operation that exceeds one.
    #[must_use]
    pub fn with_mode(mut self, mode: LimitMode) -> Self {
        self.mode = mode;
        self
    }

    /// The size assumed for a list that nothing says more about.
    #[must_use]
    pub fn with_list_size(mut self, list_size: u32) -> Self {
        self.list_size = list_size;
        self
    }

    /// Levels of selection.
    #[must_use]
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// The budget of one operation.
    #[must_use]
    pub fn cost(&self) -> u64 {
        self.cost
    }

    /// Aliases in one operation.
    #[must_use]
    pub fn aliases(&self) -> usize {
        self.aliases
    }

    /// Fields selected at the root.
    #[must_use]
    pub fn root_fields(&self) -> usize {
        self.root_fields
    }

    /// Tokens of one document.
    #[must_use]
    pub fn tokens(&self) -> usize {
        self.tokens
    }

    /// Operations of one batch.
    #[must_use]
    pub fn batch(&self) -> usize {
        self.batch
    }

    /// What becomes of an operation that exceeds one.
    #[must_use]
    pub fn mode(&self) -> LimitMode {
        self.mode
    }

    /// The size assumed for a list that nothing says more about.
    #[must_use]
    pub fn list_size(&self) -> u32 {
        self.list_size
    }
}
