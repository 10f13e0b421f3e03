//! Ids of traces and spans.

use std::fmt;

use crate::{hex, ports::Entropy};

/// Defines an id of random bytes that are not all zero.
macro_rules! id {
    ($(#[$meta:meta])* $name:ident($length:literal)) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Eq, Hash, PartialEq)]
        pub struct $name([u8; $length]);

        impl $name {
            /// Bytes of the id.
            #[must_use]
            pub const fn as_bytes(&self) -> &[u8; $length] {
                &self.0
            }

            pub(super) fn generate(entropy: &dyn Entropy) -> Self {
                let mut bytes = [0; $length];
                entropy.fill(&mut bytes);
                if bytes == [0; $length] {
                    // zero is no id
                    bytes = [1; $length];
                }
                Self(bytes)
            }

            /// Parses hexadecimal digits in lower case. Zero is no id.
            pub(super) fn parse(text: &[u8]) -> Option<Self> {
                hex::parse(text).filter(|bytes| *bytes != [0; $length]).map(Self)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self)
            }
        }
    };
}

id! {
    /// Id of a trace: 16 bytes that are not all zero, as 32 hexadecimal digits.
    TraceId(16)
}

id! {
    /// Id of one request within a trace: 8 bytes that are not all zero, as 16 hexadecimal digits.
    SpanId(8)
}
