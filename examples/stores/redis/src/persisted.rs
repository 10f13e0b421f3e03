//! Texts of automatic persisted queries (G13): one key per text, which expires on the server some
//! minutes after its end.

use std::sync::{Arc, LazyLock};
use std::time::SystemTime;

use async_trait::async_trait;
use graph_core::persisted::{DocumentHash, KeepOutcome, PersistedDocument, PersistedStore};
use graph_core::ports::StoreError;
use redis::{AsyncCommands, Script};

use crate::database::{Database, DatabaseError};
use crate::instant::{digits, keep};
use crate::script::run;

static KEEP_TEXT: LazyLock<Script> = LazyLock::new(|| Script::new(include_str!("scripts/keep_text.lua")));

/// Number of digits of an end, which stand before the text.
const DIGITS: usize = 20;

#[async_trait]
impl PersistedStore for Database {
    async fn text(&self, hash: &DocumentHash, now: SystemTime) -> Result<Option<Arc<str>>, StoreError> {
        let key = self.key(format_args!("text:{hash}"));
        let found = self.run(|mut connection| async move {
            let found: Option<Vec<u8>> = connection.get(key).await?;
            found.map(stored).transpose()
        });
        let alive = |(end, text): (String, Arc<str>)| (digits(now) < end).then_some(text);
        Ok(found.await?.and_then(alive))
    }

    async fn keep(&self, document: &PersistedDocument, now: SystemTime) -> Result<KeepOutcome, StoreError> {
        let mut invocation = KEEP_TEXT.key(self.key(format_args!("text:{}", document.hash)));
        invocation
            .arg(digits(now))
            .arg(digits(document.expires_at))
            .arg(keep(document.expires_at, now))
            .arg(&*document.text);
        let kept = self.run(|mut connection| async move {
            match run(&invocation, &mut connection).await? {
                0 => Ok(KeepOutcome::New),
                1 => Ok(KeepOutcome::Known),
                other => Err(DatabaseError::corrupt(format!("unexpected result {other}"))),
            }
        });
        Ok(kept.await?)
    }
}

/// Splits a value into the end and the text.
fn stored(value: Vec<u8>) -> Result<(String, Arc<str>), DatabaseError> {
    let value = String::from_utf8(value).map_err(|_| DatabaseError::corrupt("a text that is not UTF-8"))?;
    match value.split_at_checked(DIGITS) {
        Some((end, text)) if end.bytes().all(|byte| byte.is_ascii_digit()) => {
            Ok((end.to_owned(), text.into()))
        }
        _ => Err(DatabaseError::corrupt("a text without its end")),
    }
}
