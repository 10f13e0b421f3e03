//! Cursors: opaque to the client, signed, and bound to one field and its arguments.
//!
//! A cursor is base64url of a 16-byte tag and the position. The tag is HMAC-SHA-256 over the field, what it is bound to and the
//! position, each with its length in front, cut to 16 bytes.

use std::fmt::{self, Display};
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use zeroize::Zeroizing;

use super::request::{PageArguments, PageLimits, PageRequest};
use crate::error::GraphError;

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
    key: Arc<CursorKey>,
}

impl Cursors {
    /// Cursors signed with `key`.
    #[must_use]
    pub fn new(key: CursorKey) -> Self {
        Self { key: Arc::new(key) }
    }

    /// The cursors of one field, named `Type.field`.
    #[must_use]
    pub fn field(&self, coordinate: &str) -> FieldCursors {
        let mut context = Vec::new();
        part(&mut context, coordinate.as_bytes());
        FieldCursors {
            key: Arc::clone(&self.key),
            context,
        }
    }
}

/// The cursors of one field and one set of arguments.
#[derive(Clone, Debug)]
pub struct FieldCursors {
    key: Arc<CursorKey>,
    /// What the tag covers beside the position.
    context: Vec<u8>,
}

impl FieldCursors {
    /// Binds the cursors to the argument `name`: one made under another value is refused.
    ///
    /// # Security
    ///
    /// Bind every filter and sort argument, and the principal's subject where the list depends on who asks.
    #[must_use]
    pub fn bound_to(mut self, name: &str, value: impl Display) -> Self {
        part(&mut self.context, name.as_bytes());
        part(&mut self.context, value.to_string().as_bytes());
        self
    }

    /// Checks the paging `arguments` of the field.
    ///
    /// # Errors
    ///
    /// `BAD_USER_INPUT` when both `first` and `last` are given, when one is negative or above the maximum, and when a cursor is not
    /// one of this field and these arguments.
    pub fn request(self, limits: PageLimits, arguments: PageArguments) -> Result<PageRequest, GraphError> {
        PageRequest::new(self, limits, arguments)
    }

    pub(super) fn sign(&self, position: &str) -> String {
        let mut cursor = self.tag(position.as_bytes()).to_vec();
        cursor.extend_from_slice(position.as_bytes());
        URL_SAFE_NO_PAD.encode(cursor)
    }

    /// The position in `cursor`, if this field made it.
    pub(super) fn open(&self, cursor: &str) -> Option<String> {
        let bytes = URL_SAFE_NO_PAD.decode(cursor).ok()?;
        let (tag, position) = bytes.split_at_checked(TAG)?;
        self.mac(position).verify_truncated_left(tag).ok()?;
        String::from_utf8(position.to_vec()).ok()
    }

    fn tag(&self, position: &[u8]) -> [u8; TAG] {
        let full = self.mac(position).finalize().into_bytes();
        std::array::from_fn(|at| full.get(at).copied().unwrap_or_default())
    }

    fn mac(&self, position: &[u8]) -> Hmac<Sha256> {
        #[expect(clippy::expect_used, reason = "HMAC takes a key of any length")]
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.key.0).expect("HMAC takes a key of any length");
        mac.update(&self.context);
        mac.update(&(position.len() as u64).to_be_bytes());
        mac.update(position);
        mac
    }
}

/// Appends `bytes` with their length in front, so that no two lists of parts look alike.
fn part(context: &mut Vec<u8>, bytes: &[u8]) {
    context.extend_from_slice(&(bytes.len() as u64).to_be_bytes());
    context.extend_from_slice(bytes);
}
