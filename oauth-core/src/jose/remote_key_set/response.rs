//! JWKS responses.

use std::time::Duration;

use bytes::Bytes;
use http::header::CACHE_CONTROL;
use http::{HeaderMap, Response, StatusCode};

use super::KeysUnavailable;
use crate::exchange::MAX_LENGTH;
use crate::jose::{InvalidKeySet, KeySet};
use crate::ports::TransportError;

/// Reason why a JWKS response has no keys.
#[derive(Clone, Copy, Debug, thiserror::Error)]
enum NoKeys {
    #[error("the jwks endpoint responded with status {0}")]
    Status(StatusCode),
    #[error("the key set is longer than 64 KiB")]
    TooLong,
}

/// Returns the keys and the cache lifetime of the response, see [`max_age`].
pub(super) fn read(
    answer: Result<Response<Bytes>, TransportError>,
) -> Result<(KeySet, Option<Duration>), KeysUnavailable> {
    let response = answer.map_err(KeysUnavailable::new)?;
    if response.status() != StatusCode::OK {
        return Err(KeysUnavailable::new(NoKeys::Status(response.status())));
    }
    if response.body().len() > MAX_LENGTH {
        return Err(KeysUnavailable::new(NoKeys::TooLong));
    }
    let keys = KeySet::parse(response.body()).map_err(|InvalidKeySet| KeysUnavailable::new(InvalidKeySet))?;
    Ok((keys, max_age(response.headers())))
}

/// Returns the shortest `max-age` of `Cache-Control` ([RFC 9111
/// §5.2.2](https://www.rfc-editor.org/rfc/rfc9111#section-5.2.2)); `no-store` and `no-cache` count
/// as zero. `None` if no directive can be parsed.
fn max_age(headers: &HeaderMap) -> Option<Duration> {
    let values = headers
        .get_all(CACHE_CONTROL)
        .into_iter()
        .filter_map(|value| value.to_str().ok());
    let directives = values.flat_map(|value| value.split(',')).map(str::trim);
    directives
        .filter_map(|directive| {
            let (name, argument) = directive.split_once('=').unwrap_or((directive, ""));
            let is = |word: &str| name.eq_ignore_ascii_case(word);
            if is("no-store") || is("no-cache") {
                return Some(Duration::ZERO);
            }
            let seconds = argument.trim_matches('"').parse().ok();
            seconds.filter(|_| is("max-age")).map(Duration::from_secs)
        })
        .min()
}
