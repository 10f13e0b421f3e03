//! Lua scripts: the server runs each as one atomic step.

use redis::aio::ConnectionManager;
use redis::{FromRedisValue, ScriptInvocation, Value, from_redis_value};

use crate::database::DatabaseError;

/// Encodes a hash as part of a key.
#[cfg(any(feature = "conventions", feature = "oauth"))]
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Runs a script. A result of an unexpected type is `Corrupt`, not a broken connection.
pub(crate) async fn run<T: FromRedisValue>(
    script: &ScriptInvocation<'_>,
    connection: &mut ConnectionManager,
) -> Result<T, DatabaseError> {
    let answer: Value = script.invoke_async(connection).await?;
    // the error would quote the result
    from_redis_value(answer).map_err(|_| DatabaseError::corrupt("an answer of another type"))
}
