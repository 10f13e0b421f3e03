//! Seals positions into cursors, and opens received cursors.
//!
//! `cursor = BASE64URL(payload tag)`. `tag` is the first half of an HMAC-SHA256 over the payload:
//! 128 bits, which [RFC 2104 §5](https://www.rfc-editor.org/rfc/rfc2104#section-5) allows. A client
//! can read the payload but cannot forge it.

use std::time::{Duration, SystemTime};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use hmac::Mac as _;

use super::{
    CursorBinding, CursorKey, CursorKeyring, Direction, PositionValue,
    encoding::{self, VERSION},
};
use crate::errors::{Problem, ProblemBase, types};

/// Longest cursor in characters.
const MAX_LENGTH: usize = 512;
/// Decoded size of the longest cursor in bytes.
const MAX_BYTES: usize = MAX_LENGTH / 4 * 3;
const TAG_LENGTH: usize = 16;

/// Position in an opened cursor.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct CursorPosition {
    /// Values of the sort columns.
    pub values: Vec<PositionValue>,
    /// Direction of the page, seen from this position.
    pub direction: Direction,
}

impl CursorKeyring {
    /// Seals a position into a cursor of at most 512 URL-safe characters.
    ///
    /// # Errors
    ///
    /// [`PositionTooLong`] if the position does not fit. Sort by shorter values.
    pub fn seal(
        &self,
        position: &[PositionValue],
        direction: Direction,
        binding: &CursorBinding,
        now: SystemTime,
    ) -> Result<String, PositionTooLong> {
        let key = self.current();
        let expires_at = unix_seconds(now).saturating_add(self.lifetime().as_secs());
        let mut bytes = encoding::encode(key.id(), direction, expires_at, binding.digest(), position)
            .ok_or(PositionTooLong)?;
        let tag = key.mac(&bytes).finalize().into_bytes();
        bytes.extend(tag.iter().take(TAG_LENGTH));
        let cursor = URL_SAFE_NO_PAD.encode(bytes);
        if cursor.len() > MAX_LENGTH {
            Err(PositionTooLong)
        } else {
            Ok(cursor)
        }
    }

    /// Opens a cursor that a client sent.
    ///
    /// # Errors
    ///
    /// - [`CursorError::Invalid`] if the cursor is malformed or its signature is wrong. The
    ///   signature is checked before binding and expiry, so that a client with a forged cursor
    ///   learns nothing else.
    /// - [`CursorError::Mismatched`] if the binding differs.
    /// - [`CursorError::Expired`] if the cursor has expired.
    pub fn open(
        &self,
        cursor: &str,
        binding: &CursorBinding,
        now: SystemTime,
    ) -> Result<CursorPosition, CursorError> {
        let mut buffer = [0; MAX_BYTES];
        let payload = self
            .verified(cursor, &mut buffer)
            .and_then(encoding::decode)
            .ok_or(CursorError::Invalid)?;
        if payload.binding != binding.digest() {
            return Err(CursorError::Mismatched);
        }
        if payload.expires_at <= unix_seconds(now) {
            return Err(CursorError::Expired);
        }
        Ok(CursorPosition {
            values: payload.values,
            direction: payload.direction,
        })
    }

    /// Payload of a cursor with a valid tag, decoded into the buffer.
    fn verified<'b>(&self, cursor: &str, buffer: &'b mut [u8; MAX_BYTES]) -> Option<&'b [u8]> {
        if cursor.len() > MAX_LENGTH {
            return None;
        }
        let length = URL_SAFE_NO_PAD.decode_slice(cursor, buffer).ok()?;
        let (payload, tag) = buffer.get(..length)?.split_last_chunk::<TAG_LENGTH>()?;
        let [VERSION, key_id, ..] = payload else {
            return None;
        };
        let is_signed = |key: &CursorKey| key.mac(payload).verify_truncated_left(tag).is_ok();
        self.keys(*key_id).any(is_signed).then_some(payload)
    }
}

/// Whole seconds since 1970; earlier times count as 1970.
fn unix_seconds(time: SystemTime) -> u64 {
    time.duration_since(SystemTime::UNIX_EPOCH)
        .unwrap_or(Duration::ZERO)
        .as_secs()
}

/// Error for a cursor that cannot be used for a request.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CursorError {
    /// The cursor is malformed, was changed, or was not signed by a key of the keyring.
    #[error("invalid cursor")]
    Invalid,
    /// The cursor has expired.
    #[error("expired cursor")]
    Expired,
    /// The cursor was issued for another collection, caller, order or set of filters.
    #[error("cursor belongs to another request")]
    Mismatched,
}

impl CursorError {
    /// Creates the 400 problem for the parameter `after`. Each variant has its own problem type.
    #[must_use]
    pub fn problem(self, base: &ProblemBase) -> Problem {
        self.problem_of("after", base)
    }

    /// Creates the 400 problem for this parameter.
    pub(super) fn problem_of(self, parameter: &'static str, base: &ProblemBase) -> Problem {
        let kind = match self {
            Self::Invalid => types::INVALID_CURSOR,
            Self::Expired => types::EXPIRED_CURSOR,
            Self::Mismatched => types::CURSOR_MISMATCH,
        };
        kind.problem(base).with_extension("parameter", parameter)
    }
}

/// Error for a position that does not fit into a cursor.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("position too long for a cursor")]
pub struct PositionTooLong;
