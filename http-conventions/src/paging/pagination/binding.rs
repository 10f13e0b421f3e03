//! What a cursor belongs to.

use std::sync::OnceLock;

use sha2::{Digest as _, Sha256};

use crate::digest::LengthPrefixed as _;

/// The request a cursor continues: collection, caller, order and filters.
///
/// A cursor opens only under the binding it was made with. Filters count as a set: their order does not matter.
#[derive(Clone, Debug)]
pub struct CursorBinding {
    route: Box<str>,
    principal: Box<str>,
    sort: Box<str>,
    filters: Vec<(Box<str>, Box<str>)>,
    /// Empty until it is asked for.
    digest: OnceLock<[u8; 16]>,
}

impl CursorBinding {
    /// A collection and the caller who reads it, tenant included.
    ///
    /// The route is the path as it was asked for, ids included (`/v1/customers/cus_1/charges`): a cursor of one
    /// customer's charges must not continue another's.
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

    /// In this order, in any notation that names it.
    #[must_use]
    pub fn with_sort(mut self, sort: &str) -> Self {
        self.sort = sort.into();
        self.digest = OnceLock::new();
        self
    }

    /// With this filter, in the form the host understood it.
    #[must_use]
    pub fn with_filter(mut self, name: &str, value: &str) -> Self {
        self.filters.push((name.into(), value.into()));
        self.digest = OnceLock::new();
        self
    }

    /// Half the SHA-256 of it all; worked out once, as a page that is neither first nor last asks twice.
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
