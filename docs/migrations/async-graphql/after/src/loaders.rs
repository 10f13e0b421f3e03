//! Batched loading.

use std::collections::HashMap;
use std::sync::Arc;

use graph_core::{Batch, GraphError};

use crate::store::Store;

/// Loads authors by id.
pub struct Authors(pub Arc<Store>);

impl Batch for Authors {
    type Key = i32;
    type Value = String;

    async fn load(&self, keys: Vec<i32>) -> Result<HashMap<i32, String>, GraphError> {
        Ok(self.0.authors(&keys).into_iter().collect())
    }
}
