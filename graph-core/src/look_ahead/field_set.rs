//! Set of fields of one object type.

use std::marker::PhantomData;

use super::{FieldRef, Selectable};

/// Set of fields of the object type `T`.
///
/// ```
/// use graph_core::GraphObject;
/// use graph_core::look_ahead::FieldSet;
///
/// #[derive(GraphObject)]
/// #[graphql(look_ahead)]
/// struct Customer {
///     id: i32,
///     name: String,
/// }
///
/// let mut fields = FieldSet::<Customer>::default();
/// fields.insert(|customer| customer.name);
/// assert!(fields.contains(|customer| customer.name));
/// assert!(!fields.contains(|customer| customer.id));
/// assert!(fields.names().eq(["name"]));
/// ```
pub struct FieldSet<T: ?Sized> {
    /// One bit for each field index. The last word is not zero: equal sets have equal words.
    words: Vec<u64>,
    of: PhantomData<fn(&T)>,
}

/// Bits of a word.
const BITS: u16 = 64;

impl<T: Selectable> FieldSet<T> {
    /// Adds the field.
    pub fn insert<A, V: ?Sized>(&mut self, field: impl FnOnce(&T::Fields) -> FieldRef<T, A, V>) {
        self.insert_index(field(&T::FIELDS).index());
    }

    /// Returns `true` if the set has the field.
    pub fn contains<A, V: ?Sized>(&self, field: impl FnOnce(&T::Fields) -> FieldRef<T, A, V>) -> bool {
        self.contains_index(field(&T::FIELDS).index())
    }

    /// Returns the GraphQL names of the fields, in the order of the schema.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        let all = T::NAMES.iter().copied().zip(0..);
        all.filter_map(|(name, index)| self.contains_index(index).then_some(name))
    }
}

impl<T: ?Sized> FieldSet<T> {
    /// Returns `true` if the set has no field.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// Adds the fields of `other`.
    pub fn union_with(&mut self, other: &Self) {
        if self.words.len() < other.words.len() {
            self.words.resize(other.words.len(), 0);
        }
        for (word, more) in self.words.iter_mut().zip(&other.words) {
            *word |= more;
        }
    }

    /// Returns `true` if the set has every field of `other`.
    #[must_use]
    pub fn is_superset(&self, other: &Self) -> bool {
        let mut pairs = self.words.iter().zip(&other.words);
        self.words.len() >= other.words.len() && pairs.all(|(word, of_other)| of_other & !word == 0)
    }

    pub(super) fn insert_index(&mut self, index: u16) {
        let at = usize::from(index / BITS);
        if self.words.len() <= at {
            self.words.resize(at + 1, 0);
        }
        if let Some(word) = self.words.get_mut(at) {
            *word |= 1 << (index % BITS);
        }
    }

    fn contains_index(&self, index: u16) -> bool {
        let word = self.words.get(usize::from(index / BITS));
        word.is_some_and(|word| word & 1 << (index % BITS) != 0)
    }
}

impl<T: ?Sized> Default for FieldSet<T> {
    fn default() -> Self {
        Self {
            words: Vec::new(),
            of: PhantomData,
        }
    }
}

impl<T: ?Sized> Clone for FieldSet<T> {
    fn clone(&self) -> Self {
        Self {
            words: self.words.clone(),
            of: PhantomData,
        }
    }
}

impl<T: ?Sized> PartialEq for FieldSet<T> {
    fn eq(&self, other: &Self) -> bool {
        self.words == other.words
    }
}

impl<T: ?Sized> Eq for FieldSet<T> {}

impl<T: Selectable> std::fmt::Debug for FieldSet<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.names()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Any;

    fn set(indices: &[u16]) -> FieldSet<Any> {
        let mut set = FieldSet::default();
        indices.iter().for_each(|index| set.insert_index(*index));
        set
    }

    #[test]
    fn sets_of_unequal_length_are_compared_and_united() {
        let (low, high) = (set(&[0, 63]), set(&[64, 200]));
        assert!(!low.is_superset(&high) && !high.is_superset(&low));
        let mut both = low.clone();
        both.union_with(&high);
        assert!(both == set(&[0, 63, 64, 200]));
        assert!(both.is_superset(&low) && both.is_superset(&high));
        let mut other_way = high;
        other_way.union_with(&low);
        assert!(other_way == both);
        assert!(low.is_superset(&set(&[])) && set(&[]).is_empty());
        assert!(!set(&[]).is_superset(&low));
    }
}
