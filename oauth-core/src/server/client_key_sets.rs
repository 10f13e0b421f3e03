//! Keys at the `jwks_uri` of clients.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, Mutex, PoisonError};

use crate::jose::RemoteKeySet;
use crate::ports::Transport;

/// Largest number of key sets in memory. There is at most one per registered URL.
const CAPACITY: usize = 10_000;

/// JWKS clients, one per URL, which share a transport.
pub(super) struct ClientKeySets {
    transport: Arc<dyn Transport>,
    sets: Mutex<HashMap<String, RemoteKeySet>>,
}

impl ClientKeySets {
    pub(super) fn new(transport: Arc<dyn Transport>) -> Self {
        Self {
            transport,
            sets: Mutex::default(),
        }
    }

    /// Returns the JWKS client for a registered URL; `None` if the URL of the record is invalid.
    pub(super) fn at(&self, uri: &str) -> Option<RemoteKeySet> {
        let mut sets = self.sets.lock().unwrap_or_else(PoisonError::into_inner);
        if sets.len() >= CAPACITY && !sets.contains_key(uri) {
            sets.clear();
        }
        match sets.entry(uri.to_owned()) {
            Entry::Occupied(set) => Some(set.get().clone()),
            Entry::Vacant(vacant) => {
                let set = RemoteKeySet::new(uri.parse().ok()?, Arc::clone(&self.transport));
                Some(vacant.insert(set).clone())
            }
        }
    }
}
