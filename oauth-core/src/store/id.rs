//! Identifiers of sessions and token families: 128 random bits, written as 22 characters of
//! base64url.

use std::fmt;
use std::str::FromStr;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use crate::ports::Entropy;
use crate::vocabulary::serde_as_text;

macro_rules! id {
    ($(#[$docs:meta])* $name:ident, $(#[$error_docs:meta])* $error:ident) => {
        $(#[$docs])*
        #[derive(Clone, Copy, Eq, Hash, Ord, PartialEq, PartialOrd)]
        pub struct $name([u8; 16]);

        impl $name {
            /// Creates the identifier from its bytes.
            #[must_use]
            pub const fn from_bytes(bytes: [u8; 16]) -> Self {
                Self(bytes)
            }

            /// Returns the bytes of the identifier.
            #[must_use]
            pub const fn as_bytes(&self) -> &[u8; 16] {
                &self.0
            }

            /// Generates a random identifier.
            #[must_use]
            pub fn generate(entropy: &dyn Entropy) -> Self {
                let mut bytes = [0; 16];
                entropy.fill(&mut bytes);
                Self(bytes)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&URL_SAFE_NO_PAD.encode(self.0))
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self)
            }
        }

        impl FromStr for $name {
            type Err = $error;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                let mut bytes = [0; 16];
                match URL_SAFE_NO_PAD.decode_slice(text, &mut bytes) {
                    Ok(16) => Ok(Self(bytes)),
                    _ => Err($error),
                }
            }
        }

        serde_as_text!($name);

        $(#[$error_docs])*
        #[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
        #[error("not an id: expected 22 base64url characters")]
        #[non_exhaustive]
        pub struct $error;
    };
}

id! {
    /// Identifier of a token family: the tokens of one authorization, which are revoked together.
    ///
    /// The identifier is not a secret: it gives no access, and it appears in events.
    ///
    /// ```
    /// use oauth_core::store::FamilyId;
    ///
    /// let id = FamilyId::from_bytes([7; 16]);
    /// assert_eq!(id.to_string().parse(), Ok(id));
    /// ```
    FamilyId,
    /// The text is not a [`FamilyId`].
    InvalidFamilyId
}
id! {
    /// Identifier of a user's session. It does not change when the secret in the cookie is renewed.
    ///
    /// The identifier is not a secret: it gives no access, and it appears in events and in the
    /// user's list of sessions.
    SessionId,
    /// The text is not a [`SessionId`].
    InvalidSessionId
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_read_back_and_anything_else_is_refused() {
        let id = FamilyId::from_bytes([0xfe; 16]);
        assert_eq!(id.to_string().len(), 22);
        assert_eq!(id.to_string().parse(), Ok(id));
        assert_eq!(format!("{id:?}"), format!("FamilyId({id})"));
        for text in [
            "",
            "AAAA",
            "!!!!!!!!!!!!!!!!!!!!!!",
            "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
        ] {
            assert_eq!(text.parse::<FamilyId>(), Err(InvalidFamilyId), "{text}");
        }
    }
}
