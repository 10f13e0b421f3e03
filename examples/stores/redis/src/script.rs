//! The scripts: each is one step that nothing comes between.

use std::sync::LazyLock;

use redis::aio::ConnectionManager;
use redis::{FromRedisValue, Script, ScriptInvocation, Value, from_redis_value};

use crate::database::DatabaseError;

pub(crate) static ADVANCE: LazyLock<Script> =
    LazyLock::new(|| Script::new(include_str!("scripts/advance.lua")));
pub(crate) static CLAIM: LazyLock<Script> = LazyLock::new(|| Script::new(include_str!("scripts/claim.lua")));
pub(crate) static TAKE: LazyLock<Script> = LazyLock::new(|| Script::new(include_str!("scripts/take.lua")));
pub(crate) static FINISH: LazyLock<Script> =
    LazyLock::new(|| Script::new(include_str!("scripts/finish.lua")));

pub(crate) static CLAIM_KEY: LazyLock<Script> =
    LazyLock::new(|| Script::new(include_str!("scripts/claim_key.lua")));
pub(crate) static COMPLETE_KEY: LazyLock<Script> =
    LazyLock::new(|| Script::new(include_str!("scripts/complete_key.lua")));
pub(crate) static RELEASE_KEY: LazyLock<Script> =
    LazyLock::new(|| Script::new(include_str!("scripts/release_key.lua")));
pub(crate) static SPEND: LazyLock<Script> = LazyLock::new(|| Script::new(include_str!("scripts/spend.lua")));

pub(crate) static SPEND_ONCE: LazyLock<Script> =
    LazyLock::new(|| Script::new(include_str!("scripts/spend_once.lua")));
pub(crate) static PURGE_NAMES: LazyLock<Script> =
    LazyLock::new(|| Script::new(include_str!("scripts/purge_names.lua")));

/// A hash as part of a key.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

pub(crate) static KEEP_TEXT: LazyLock<Script> =
    LazyLock::new(|| Script::new(include_str!("scripts/keep_text.lua")));

/// Runs a script. An answer of another type is what a script of ours never gives, and not a broken connection.
pub(crate) async fn run<T: FromRedisValue>(
    script: &ScriptInvocation<'_>,
    connection: &mut ConnectionManager,
) -> Result<T, DatabaseError> {
    let answer: Value = script.invoke_async(connection).await?;
    // the error would quote it
    from_redis_value(answer).map_err(|_| DatabaseError::corrupt("an answer of another type"))
}
