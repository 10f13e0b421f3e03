//! Stable names of enum variants, for stores and logs.

/// Error: the text names no variant.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("unknown term")]
pub struct UnknownTerm;

/// Implements `ALL`, `as_str`, `Display` and `FromStr` with stable names for a fieldless enum.
macro_rules! terms {
    ($set:ident { $($member:ident => $word:literal),+ $(,)? }) => {
        impl $set {
            /// All variants, in the order of declaration.
            pub const ALL: [Self; [$($word),+].len()] = [$(Self::$member),+];

            /// Stable name of this variant, for stores.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$member => $word),+
                }
            }
        }

        impl std::fmt::Display for $set {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl std::str::FromStr for $set {
            type Err = $crate::sender::UnknownTerm;

            fn from_str(word: &str) -> Result<Self, Self::Err> {
                Self::ALL
                    .into_iter()
                    .find(|member| member.as_str() == word)
                    .ok_or($crate::sender::UnknownTerm)
            }
        }
    };
}

pub(super) use terms;
