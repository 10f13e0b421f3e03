//! Batched loading.

use std::collections::HashMap;
use std::sync::Arc;

use async_graphql::dataloader::Loader;

use crate::store::Store;

/// Loads authors by id.
pub struct Authors(pub Arc<Store>);

impl Loader<i32> for Authors {
    type Value = String;
    type Error = Arc<std::io::Error>;

    async fn load(&self, keys: &[i32]) -> Result<HashMap<i32, String>, Self::Error> {
        Ok(self.0.authors(keys).into_iter().collect())
    }
}
