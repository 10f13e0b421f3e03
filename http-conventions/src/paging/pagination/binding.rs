//! Binding of a cursor to its request.

use std::sync::OnceLock;

use sha2::{Digest as _, Sha256};

use crate::digest::LengthPrefixed as _;

/// The request that a cursor belongs to: collection, caller, order and filters.
///
/// A cursor opens only under the binding that it was sealed with. The order of filters does not
/// matter.
#[derive(Clone, Debug)]
pub struct CursorBinding {
    route: Box<str>,
    principal: Box<str>,
    sort: Box<str>,
    filters: Vec<(Box<str>, Box<str>)>,
    /// Computed on first use.
    digest: OnceLock<[u8; 16]>,
}

impl CursorBinding {
    /// Creates a binding to a collection and a caller. `principal` must include the tenant.
    ///
    /// `route` is the path of the request with its ids (`/v1/customers/cus_1/charges`), not the
    /// route template. Otherwise a cursor for one customer would open for another.
    #[must_use]
    pub fn new(route: &str, principal: &str) -> Self {
        Self {
            route: route.into(),
            principal: principal.into(),
            sort: "".into(),
            filters: Vec::new(),
            digest: OnceLock::new(),
        }
    }

    /// Sets the sort order. The text can be anything that differs for each order. Default: empty.
    #[must_use]
    pub fn with_sort(mut self, sort: &str) -> Self {
        self.sort = sort.into();
        self.digest = OnceLock::new();
        self
    }

    /// Adds a filter. Normalize the value first: two spellings of a value count as different
    /// filters.
    #[must_use]
    pub fn with_filter(mut self, name: &str, value: &str) -> Self {
        self.filters.push((name.into(), value.into()));
        self.digest = OnceLock::new();
        self
    }

    /// First half of the SHA-256 of the binding. It is cached, because most pages need it twice.
    pub(super) fn digest(&self) -> [u8; 16] {
        *self.digest.get_or_init(|| self.digested())
    }

    fn digested(&self) -> [u8; 16] {
        let mut filters: Vec<_> = self.filters.iter().collect();
        filters.sort_unstable();
        let mut digest = Sha256::new_with_prefix(b"cursor binding 1")
            .chain_field(self.route.as_bytes())
            .chain_field(self.principal.as_bytes())
            .chain_field(self.sort.as_bytes());
        for (name, value) in filters {
            digest = digest.chain_field(name.as_bytes()).chain_field(value.as_bytes());
        }
        first_half(digest.finalize().into())
    }
}

fn first_half(digest: [u8; 32]) -> [u8; 16] {
    let mut half = [0; 16];
    half.iter_mut().zip(digest).for_each(|(to, from)| *to = from);
    half
}
