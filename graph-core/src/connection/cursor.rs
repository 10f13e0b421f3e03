//! Cursors: opaque, signed, and bound to a field and its arguments.
//!
//! A cursor is the base64url encoding of a 16-byte tag, the optional expiry in seconds, and the
//! position. The tag is HMAC-SHA-256, truncated to 16 bytes, over the length-prefixed field, bound
//! values and position, followed by the expiry.

use std::fmt::{self, Display};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use zeroize::Zeroizing;

use super::request::{PageArguments, PageLimits, PageRequest};
use crate::error::GraphError;
use crate::guard::Principal;

const TAG: usize = 16;

/// Secret key that signs cursors: at least 32 random bytes, the same on every instance.
#[derive(Clone)]
pub struct CursorKey(Zeroizing<Vec<u8>>);

impl fmt::Debug for CursorKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CursorKey(..)")
    }
}

impl TryFrom<&[u8]> for CursorKey {
    type Error = InvalidCursorKey;

    fn try_from(secret: &[u8]) -> Result<Self, InvalidCursorKey> {
        if secret.len() < 32 {
            return Err(InvalidCursorKey);
        }
        Ok(Self(Zeroizing::new(secret.to_vec())))
    }
}

/// Error of a [`CursorKey`] with fewer than 32 bytes.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("cursor key is too short: at least 32 bytes are required")]
pub struct InvalidCursorKey;

/// Signs and verifies the cursors of an endpoint. The host keeps a `Cursors` in its context value.
#[derive(Clone, Debug)]
pub struct Cursors {
    keys: Arc<Keys>,
}

#[derive(Clone, Debug)]
struct Keys {
    current: CursorKey,
    previous: Vec<CursorKey>,
}

impl Cursors {
    /// Creates the cursors of an endpoint, signed with `key`.
    #[must_use]
    pub fn new(key: CursorKey) -> Self {
        let keys = Keys {
            current: key,
            previous: Vec::new(),
        };
        Self { keys: Arc::new(keys) }
    }

    /// Also accepts cursors signed with `key`, for key rotation. Each call adds a key.
    ///
    /// To rotate, pass a new key to [`new`](Self::new) and the old key here. Remove the old key
    /// when clients no longer use its cursors.
    #[must_use]
    pub fn with_previous(mut self, key: CursorKey) -> Self {
        Arc::make_mut(&mut self.keys).previous.push(key);
        self
    }

    /// Returns the cursors of one field, named `Type.field`.
    #[must_use]
    pub fn field(&self, coordinate: &str) -> FieldCursors {
        let mut context = Vec::new();
        part(&mut context, coordinate.as_bytes());
        FieldCursors {
            keys: Arc::clone(&self.keys),
            context,
            time: None,
        }
    }
}

/// Cursors of one field and one set of arguments.
#[derive(Clone, Debug)]
pub struct FieldCursors {
    keys: Arc<Keys>,
    /// Bytes covered by the tag in addition to the position.
    context: Vec<u8>,
    time: Option<Time>,
}

/// Seconds since 1970.
#[derive(Clone, Copy, Debug)]
struct Time {
    now: u64,
    /// Expiry of new cursors.
    end: u64,
}

/// Reason for refusing a cursor.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Unopened {
    /// Forged, or of another field or other arguments.
    Foreign,
    TooOld,
}

impl FieldCursors {
    /// Binds the cursors to the value of the argument `name`. A cursor of another value is refused.
    ///
    /// # Security
    ///
    /// Bind every filter and sort argument. If the list depends on the principal, also call
    /// [`bind_to_principal`](Self::bind_to_principal).
    #[must_use]
    pub fn bind_to(mut self, name: &str, value: impl Display) -> Self {
        part(&mut self.context, name.as_bytes());
        part(&mut self.context, value.to_string().as_bytes());
        self
    }

    /// Binds the cursors to the principal. A cursor of another principal is refused.
    #[must_use]
    pub fn bind_to_principal(self, principal: Option<&Principal>) -> Self {
        match principal {
            Some(principal) => self.bind_to("\0subject", principal.subject()),
            None => self.bind_to("\0anonymous", ""),
        }
    }

    /// Sets an expiry on new cursors (`now` plus `lifetime`, in whole seconds), and refuses expired
    /// cursors and cursors without an expiry. Default: cursors do not expire.
    #[must_use]
    pub fn expire_after(mut self, now: SystemTime, lifetime: Duration) -> Self {
        let now = now.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        self.time = Some(Time {
            now,
            end: now.saturating_add(lifetime.as_secs()),
        });
        self
    }

    /// Validates the paging `arguments` of the field.
    ///
    /// Without `first` and `last` the page has the default size and goes forward. If only `before`
    /// is given, it goes backward.
    ///
    /// # Errors
    ///
    /// `BAD_USER_INPUT` in these cases:
    ///
    /// - both `first` and `last` are given;
    /// - `first` or `last` is negative or above the maximum;
    /// - a cursor is forged, expired, or of another field or other arguments.
    pub fn request(self, limits: PageLimits, arguments: PageArguments) -> Result<PageRequest, GraphError> {
        PageRequest::new(self, limits, arguments)
    }

    pub(super) fn sign(&self, position: &str) -> String {
        let end = self.time.map(|time| time.end.to_be_bytes());
        let end = end.as_ref().map_or(&[][..], |end| end);
        let full = self
            .mac(&self.keys.current, end, position.as_bytes())
            .finalize()
            .into_bytes();
        let mut cursor: Vec<u8> = full.into_iter().take(TAG).collect();
        cursor.extend_from_slice(end);
        cursor.extend_from_slice(position.as_bytes());
        URL_SAFE_NO_PAD.encode(cursor)
    }

    /// Verifies `cursor` and returns its position.
    pub(super) fn open(&self, cursor: &str) -> Result<String, Unopened> {
        let bytes = URL_SAFE_NO_PAD.decode(cursor).map_err(|_| Unopened::Foreign)?;
        let split = |bytes: &[u8], at: usize| {
            let (front, back) = bytes.split_at_checked(at).ok_or(Unopened::Foreign)?;
            Ok((front.to_vec(), back.to_vec()))
        };
        let (tag, signed) = split(&bytes, TAG)?;
        let (end, position) = split(&signed, if self.time.is_some() { size_of::<u64>() } else { 0 })?;
        let mut keys = std::iter::once(&self.keys.current).chain(&self.keys.previous);
        let is_signed = |key: &CursorKey| {
            let mac = self.mac(key, &end, &position);
            mac.verify_truncated_left(&tag).is_ok()
        };
        if !keys.any(is_signed) {
            return Err(Unopened::Foreign);
        }
        if let (Some(time), Ok(end)) = (self.time, <[u8; 8]>::try_from(end))
            && u64::from_be_bytes(end) <= time.now
        {
            return Err(Unopened::TooOld);
        }
        String::from_utf8(position).map_err(|_| Unopened::Foreign)
    }

    fn mac(&self, key: &CursorKey, end: &[u8], position: &[u8]) -> Hmac<Sha256> {
        #[expect(clippy::expect_used, reason = "HMAC takes a key of any length")]
        let mut mac = Hmac::<Sha256>::new_from_slice(&key.0).expect("HMAC takes a key of any length");
        mac.update(&self.context);
        mac.update(&(position.len() as u64).to_be_bytes());
        mac.update(position);
        // appended after length-prefixed parts, so an absent expiry is unambiguous
        mac.update(end);
        mac
    }
}

/// Appends `bytes` with a length prefix, so that different lists of parts never collide.
fn part(context: &mut Vec<u8>, bytes: &[u8]) {
    context.extend_from_slice(&(bytes.len() as u64).to_be_bytes());
    context.extend_from_slice(bytes);
}
