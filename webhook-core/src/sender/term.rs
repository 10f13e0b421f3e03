//! The words by which a store and a log know the crate's closed sets.

/// A text that names no member of the set it was read as.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("not one of the known terms")]
pub struct UnknownTerm;

/// Gives a fieldless enum its stable words: `ALL`, `as_str`, `Display`, `FromStr`.
macro_rules! terms {
    ($set:ident { $($member:ident => $word:literal),+ $(,)? }) => {
        impl $set {
            /// Every member, in the order of declaration.
            pub const ALL: [Self; [$($word),+].len()] = [$(Self::$member),+];

            /// The stable word for this member, as a store keeps it.
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
