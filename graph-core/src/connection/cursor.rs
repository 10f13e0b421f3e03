//! Cursors: opaque to the client, signed, and bound to one field and its arguments.
//!
//! A cursor is base64url of a 16-byte tag, the second in which it ends if it does, and the position. The tag is HMAC-SHA-256 over
//! the field, what it is bound to and the position, each with its length in front, and that second, cut to 16 bytes.

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

/// The secret that signs cursors: 32 random bytes or more, the same on every instance.
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

/// A cursor key is shorter than 32 bytes.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("a cursor key has at least 32 bytes")]
pub struct InvalidCursorKey;

/// Signs and checks the cursors of an endpoint; a host keeps one in the value that its resolvers share.
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
    /// Cursors signed with `key`.
    #[must_use]
    pub fn new(key: CursorKey) -> Self {
        let keys = Keys {
            current: key,
            previous: Vec::new(),
        };
        Self { keys: Arc::new(keys) }
    }

    /// Opens cursors of this key, too. To rotate, sign with a new one and keep that of before for as long as clients page by its cursors.
    #[must_use]
    pub fn with_previous(mut self, key: CursorKey) -> Self {
        Arc::make_mut(&mut self.keys).previous.push(key);
        self
    }

    /// The cursors of one field, named `Type.field`.
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

/// The cursors of one field and one set of arguments.
#[derive(Clone, Debug)]
pub struct FieldCursors {
    keys: Arc<Keys>,
    /// What the tag covers beside the position.
    context: Vec<u8>,
    time: Option<Time>,
}

/// Seconds since 1970.
#[derive(Clone, Copy, Debug)]
struct Time {
    now: u64,
    /// When cursors end that are made now.
    end: u64,
}

/// Why a cursor is refused.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Unopened {
    /// Somebody else's, of another field, or of other arguments.
    Foreign,
    TooOld,
}

impl FieldCursors {
    /// Binds the cursors to the argument `name`: one made under another value is refused.
    ///
    /// # Security
    ///
    /// Bind every filter and sort argument, and [who asks](Self::bound_to_principal) where the list depends on it.
    #[must_use]
    pub fn bound_to(mut self, name: &str, value: impl Display) -> Self {
        part(&mut self.context, name.as_bytes());
        part(&mut self.context, value.to_string().as_bytes());
        self
    }

    /// Binds the cursors to who asks: one that was made for somebody else is refused.
    #[must_use]
    pub fn bound_to_principal(self, principal: Option<&Principal>) -> Self {
        match principal {
            Some(principal) => self.bound_to("\0subject", principal.subject()),
            None => self.bound_to("\0anonymous", ""),
        }
    }

    /// Lets the cursors that are made now end after `lifetime`, in whole seconds; and refuses those that have no end.
    #[must_use]
    pub fn expiring(mut self, now: SystemTime, lifetime: Duration) -> Self {
        let now = now.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        self.time = Some(Time {
            now,
            end: now.saturating_add(lifetime.as_secs()),
        });
        self
    }

    /// Checks the paging `arguments` of the field.
    ///
    /// # Errors
    ///
    /// `BAD_USER_INPUT` when both `first` and `last` are given, when one is negative or above the maximum, and when a cursor is not
    /// one of this field and these arguments, or is too old.
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

    /// The position in `cursor`, if this field made it.
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
        // behind what has a length: without an end nothing is there
        mac.update(end);
        mac
    }
}

/// Appends `bytes` with their length in front, so that no two lists of parts look alike.
fn part(context: &mut Vec<u8>, bytes: &[u8]) {
    context.extend_from_slice(&(bytes.len() as u64).to_be_bytes());
    context.extend_from_slice(bytes);
}
