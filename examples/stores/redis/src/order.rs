//! Latest position of each resource (W9): one key per resource, without expiry.

use std::sync::LazyLock;

use async_trait::async_trait;
use redis::Script;
use webhook_core::ports::StoreError;
use webhook_core::receiver::{Advance, LatestSeen, Position, ResourceKey};

use crate::database::{Database, DatabaseError};
use crate::script::run;

static ADVANCE: LazyLock<Script> = LazyLock::new(|| Script::new(include_str!("scripts/advance.lua")));

#[async_trait]
impl LatestSeen for Database {
    async fn advance(&self, resource: &ResourceKey, position: Position) -> Result<Advance, StoreError> {
        let ResourceKey { source, resource } = resource;
        let mut advance = ADVANCE.key(self.key(format_args!("latest:{}:{source}:{resource}", source.len())));
        advance.arg(format!("{:020}", position.as_u64()));
        let advance = self.run(|mut connection| async move {
            match run(&advance, &mut connection).await? {
                0 => Ok(Advance::Newer),
                1 => Ok(Advance::Same),
                2 => Ok(Advance::Older),
                other => Err(DatabaseError::corrupt(format!("unexpected result {other}"))),
            }
        });
        Ok(advance.await?)
    }
}
