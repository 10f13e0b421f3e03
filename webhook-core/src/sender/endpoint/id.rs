//! Endpoint identifiers.

use std::{fmt, str::FromStr, sync::Arc};

use crate::ports::Entropy;

const MAX_LENGTH: usize = 256;

/// Identifier of an endpoint: 1 to 256 visible ASCII characters, compared byte for byte.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct EndpointId(Arc<str>);

impl EndpointId {
    /// Generates an id: `ep_` and 128 random bits in hexadecimal.
    #[must_use]
    pub fn generate(entropy: &dyn Entropy) -> Self {
        let mut bytes = [0; 16];
        entropy.fill(&mut bytes);
        Self(format!("ep_{:032x}", u128::from_be_bytes(bytes)).into())
    }

    /// The lowest id in byte order.
    pub(crate) fn first() -> Self {
        Self("!".into())
    }

    /// The id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for EndpointId {
    type Err = InvalidEndpointId;

    fn from_str(text: &str) -> Result<Self, InvalidEndpointId> {
        if (1..=MAX_LENGTH).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic()) {
            Ok(Self(text.into()))
        } else {
            Err(InvalidEndpointId(()))
        }
    }
}

impl TryFrom<String> for EndpointId {
    type Error = InvalidEndpointId;

    fn try_from(text: String) -> Result<Self, InvalidEndpointId> {
        text.parse()
    }
}

impl fmt::Display for EndpointId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Error: an endpoint id is empty, longer than 256 bytes, or contains a space, a control character
/// or a non-ASCII character.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("an endpoint id is 1 to 256 visible ASCII characters")]
pub struct InvalidEndpointId(());
