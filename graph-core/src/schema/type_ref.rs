//! References to types, for example `[Int!]!`.

/// List and non-null wrappers of a type, from the outermost inward. Two bits each, the outermost
/// in the lowest bits.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(crate) struct Wrappers(u64);

/// One wrapper.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Wrapper {
    List,
    NonNull,
}

const LIST: u64 = 1;
const NON_NULL: u64 = 2;

impl Wrappers {
    pub(crate) const NONE: Self = Self(0);

    /// The wrappers of a list of this type; `None` if they are too many.
    pub(crate) fn in_list(self) -> Option<Self> {
        // one place stays free for a `!`
        (self.0 >> 60 == 0).then_some(Self(self.0 << 2 | LIST))
    }

    /// The wrappers of this type with `!`.
    pub(crate) fn non_null(self) -> Self {
        if self.is_non_null() {
            self
        } else {
            Self(self.0 << 2 | NON_NULL)
        }
    }

    /// Outermost wrapper and the others.
    pub(crate) fn split(self) -> Option<(Wrapper, Self)> {
        let rest = Self(self.0 >> 2);
        match self.0 & 3 {
            LIST => Some((Wrapper::List, rest)),
            NON_NULL => Some((Wrapper::NonNull, rest)),
            _ => None,
        }
    }

    pub(crate) fn is_non_null(self) -> bool {
        self.0 & 3 == NON_NULL
    }

    /// The wrappers without an outer `!`.
    pub(crate) fn nullable(self) -> Self {
        if self.is_non_null() {
            Self(self.0 >> 2)
        } else {
            self
        }
    }

    /// The wrappers of an entry, if this is a list or a non-null list.
    pub(crate) fn entry(self) -> Option<Self> {
        match self.nullable().split() {
            Some((Wrapper::List, entry)) => Some(entry),
            _ => None,
        }
    }

    /// Number of nested lists.
    pub(crate) fn lists(self) -> u32 {
        let mut lists = 0;
        let mut rest = self;
        while let Some(entry) = rest.entry() {
            lists += 1;
            rest = entry;
        }
        lists
    }

    /// Returns `true` if each value of a type with these wrappers is a value of the same type with
    /// the wrappers `other`.
    pub(crate) fn is_within(self, other: Self) -> bool {
        match (self.split(), other.split()) {
            (Some((Wrapper::NonNull, inner)), Some((Wrapper::NonNull, other)))
            | (Some((Wrapper::List, inner)), Some((Wrapper::List, other))) => inner.is_within(other),
            (Some((Wrapper::NonNull, inner)), _) => inner.is_within(other),
            (None, None) => true,
            _ => false,
        }
    }

    /// The type of the name `name` with these wrappers, as text.
    pub(crate) fn around(self, name: &str) -> String {
        match self.split() {
            None => name.to_owned(),
            Some((Wrapper::NonNull, inner)) => inner.around(name) + "!",
            Some((Wrapper::List, inner)) => format!("[{}]", inner.around(name)),
        }
    }
}

/// Index of a type in its [`Schema`](super::Schema).
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub(crate) struct TypeId(pub(super) u32);

/// Named type with wrappers.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(crate) struct TypeRef {
    pub(crate) named: TypeId,
    pub(crate) wrappers: Wrappers,
}

impl TypeRef {
    pub(crate) fn is_non_null(self) -> bool {
        self.wrappers.is_non_null()
    }

    /// The type without an outer `!`.
    pub(crate) fn nullable(self) -> Self {
        let wrappers = self.wrappers.nullable();
        Self { wrappers, ..self }
    }

    /// The type of an entry of this list type.
    pub(crate) fn entry(self) -> Option<Self> {
        let wrappers = self.wrappers.entry()?;
        Some(Self { wrappers, ..self })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrapped(text: &str) -> Wrappers {
        let mut wrappers = Wrappers::NONE;
        for character in text.chars() {
            wrappers = match character {
                ']' => wrappers.in_list().unwrap(),
                '!' => wrappers.non_null(),
                _ => wrappers,
            };
        }
        wrappers
    }

    #[test]
    fn wrappers_print_and_split() {
        for (text, lists) in [("T", 0), ("T!", 0), ("[T]", 1), ("[[T!]!]!", 2), ("[[T]!]", 2)] {
            let wrappers = wrapped(text);
            assert_eq!((wrappers.around("T").as_str(), wrappers.lists()), (text, lists));
        }
        let many = std::iter::successors(Some(Wrappers::NONE), |inner| inner.in_list());
        assert_eq!(many.take(100).count(), 32);
    }

    #[test]
    fn stricter_type_is_within_a_looser_one() {
        for (inner, outer, expected) in [
            ("T!", "T", true),
            ("T", "T!", false),
            ("[T!]!", "[T]", true),
            ("[T]", "[T!]", false),
            ("T", "[T]", false),
            ("[T]", "T", false),
            ("[[T!]]", "[[T]]", true),
        ] {
            assert_eq!(
                wrapped(inner).is_within(wrapped(outer)),
                expected,
                "{inner} in {outer}"
            );
        }
    }
}
